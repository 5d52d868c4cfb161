#include "updates.hpp"

#include <algorithm>
#include <cmath>

namespace parsimon {

void propose_steps(const Dictionary& dictionary, Step& step, double step_size) {
    step.rate = step_size;
    for (Sample& sample : step)
        for (std::size_t c = 0; c < dictionary.n_outputs(); ++c)
            sample.coefficient[c] = -step_size * sample.weight * sample.gradient[c];
}

void NLMSUpdate::open(Dictionary& dictionary, Step& step) {
    propose_steps(dictionary, step, step_size_);
}

void NLMSUpdate::step(Dictionary& dictionary, Sample& sample, Step&) {
    Look& look = *sample.look;
    if (sample.admitted) dictionary.append(look, nullptr);
    const auto& loops = simd::loops();
    const double energy = ridge_ + loops.dot(look.h, look.h, look.n_known);
    if (!(energy >= least_energy)) return;
    for (std::size_t c = 0; c < dictionary.n_outputs(); ++c)
        loops.axpy(sample.coefficient[c] / energy, look.h, dictionary.weights(c), look.n_known);
}

void GradientUpdate::open(Dictionary& dictionary, Step& step) {
    // A batch that is not full takes a smaller step, so that each sample has the same effect as in
    // a full batch.
    const double part = static_cast<double>(step.size) / static_cast<double>(step.whole);
    step.rate =
        part *
        (power_ == 0.0
             ? step_size_
             : step_size_ * std::pow(1.0 + static_cast<double>(step.number - 1) / delay_, -power_));
    const double share = step.rate / static_cast<double>(step.size),
                 kept = 1.0 - step.rate * shrinkage_;
    for (Sample& sample : step) {
        // The limit assumes that all samples of the batch equal this one. So a batch of copies
        // keeps the limit too.
        loss_->limit(sample.f, sample.y, step.rate * sample.weight * sample.look->kxx,
                     sample.gradient, step.learned);
        for (std::size_t c = 0; c < dictionary.n_outputs(); ++c)
            sample.coefficient[c] = 0.0 - share * sample.weight * sample.gradient[c];  // not -0.0
    }
    if (shrinkage_ == 0.0) return;
    for (std::size_t c = 0; c < step.learned; ++c) {
        double* w = dictionary.weights(c);
        for (std::size_t j = 0; j < dictionary.size(); ++j) w[j] *= kept;
    }
}

void GradientUpdate::step(Dictionary& dictionary, Sample& sample, Step& step) {
    if (sample.admitted)
        dictionary.append(*sample.look, sample.coefficient);
    else
        learn_unadmitted(dictionary, sample, step);
}

void ProjectedGradientUpdate::open(Dictionary& dictionary, Step& step) {
    GradientUpdate::open(dictionary, step);
    if (step.size == 1) return;
    // Every proposed term is projected later, whether its sample is admitted or not. Projecting
    // them together needs only one pass over the factor.
    looks_.clear();
    for (Sample& sample : step)
        if (proposes(sample, dictionary.n_outputs())) looks_.push_back(sample.look);
    dictionary.project(looks_.data(), looks_.size());
}

void ProjectedGradientUpdate::learn_unadmitted(Dictionary& dictionary, Sample& sample, Step& step) {
    if (!proposes(sample, dictionary.n_outputs())) return;
    Look& look = *sample.look;
    dictionary.project(look);
    for (std::size_t c = 0; c < dictionary.n_outputs(); ++c) {
        const double coefficient = sample.coefficient[c];
        simd::loops().axpy(coefficient, look.a, dictionary.weights(c), look.n_known);
        step.spent += coefficient * coefficient * std::max(0.0, look.residual);
    }
}

void QuantizedGradientUpdate::learn_unadmitted(Dictionary& dictionary, Sample& sample, Step&) {
    if (dictionary.size() == 0) return;
    dictionary.find_nearest(*sample.look);
    for (std::size_t c = 0; c < dictionary.n_outputs(); ++c)
        dictionary.weights(c)[sample.look->nearest] += sample.coefficient[c];
}

}  // namespace parsimon
