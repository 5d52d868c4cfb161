#include "updates.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace parsimon {

void Update::shift(Dictionary& dictionary, std::size_t c, double rise) {
    if (dictionary.has_factor()) dictionary.shift(c, -rise);
}

void propose_steps(const Dictionary& dictionary, Step& step, double step_size) {
    step.rate = step_size;
    for (Sample& sample : step)
        for (std::size_t c = 0; c < dictionary.n_outputs(); ++c)
            sample.coefficient[c] = -step_size * sample.gradient[c];
}

double repeated(double share, double weight) {
    if (weight == 1.0) return share;
    // Between whole weights, the sign of (1 - share)^weight turns smoothly if it is negative.
    const double left = 1.0 - share;
    if (left > 0.0) return -std::expm1(weight * std::log1p(-share));
    return 1.0 - std::pow(-left, weight) * std::cos(std::numbers::pi * weight);
}

void NLMSUpdate::open(Dictionary& dictionary, Step& step) {
    propose_steps(dictionary, step, step_size_);
}

void NLMSUpdate::step(Dictionary& dictionary, Sample& sample, Step&) {
    Look& look = *sample.look;
    if (sample.admitted) dictionary.append(look, nullptr);
    const auto& loops = simd::loops();
    const double square = loops.dot(look.h, look.h, look.n_known), energy = ridge_ + square;
    if (!(energy >= least_energy)) return;
    // One step removes step_size square / energy of the error.
    const double share = step_size_ * (square / energy),
                 times = sample.weight == 1.0 || !(share > 0.0)
                             ? sample.weight
                             : repeated(share, sample.weight) / share;
    for (std::size_t c = 0; c < dictionary.n_outputs(); ++c)
        loops.axpy(times * sample.coefficient[c] / energy, look.h, dictionary.weights(c),
                   look.n_known);
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
    // The first rates 1 / (alpha t) are huge. So intercepts shrink too, or they would stay huge.
    step.kept = power_ == 1.0 ? kept : 1.0;
    for (Sample& sample : step) {
        // How far the prediction at this sample moves, in units of the gradient. All samples of the
        // batch count as equal to this one. So a batch of copies moves no further.
        const double reach = step.rate * sample.weight * (sample.look->kxx + step.constant);
        if (!invariant_) {
            loss_->limit(sample.at, sample.y, reach, sample.gradient, step.learned);
        } else if (reach > 0.0) {
            loss_->flow(sample.at, sample.y, reach, sample.gradient, step.learned);
            for (std::size_t c = 0; step.unit != 1.0 && c < step.learned; ++c)
                sample.gradient[c] *= step.unit;
        }
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
    // Every proposed term is projected later, whether its sample is admitted or not. Projecting
    // them together needs only one pass over the factor, which threads can share.
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
