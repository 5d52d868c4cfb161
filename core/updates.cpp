#include "updates.hpp"

#include <algorithm>

namespace parsimon {

void NLMSUpdate::open(Dictionary& dictionary, Step& step) {
    step.rate = step_size_;
    for (Sample& sample : step)
        for (std::size_t c = 0; c < dictionary.n_outputs(); ++c) sample.coefficient[c] = -step_size_ * sample.weight * sample.gradient[c];
}

void NLMSUpdate::step(Dictionary& dictionary, Sample& sample, Step&) {
    Look& look = *sample.look;
    if (sample.admitted) dictionary.append(look, nullptr);
    const auto& loops = simd::loops();
    const double energy = ridge_ + loops.dot(look.h, look.h, look.known);
    if (!(energy >= least_energy)) return;
    for (std::size_t c = 0; c < dictionary.n_outputs(); ++c)
        loops.axpy(sample.coefficient[c] / energy, look.h, dictionary.weights(c), look.known);
}

void GradientUpdate::open(Dictionary& dictionary, Step& step) {
    step.rate = step_size_;
    const double share = -step_size_ / static_cast<double>(step.size), kept = 1.0 - step_size_ * shrinkage_;
    for (Sample& sample : step)
        for (std::size_t c = 0; c < dictionary.n_outputs(); ++c) sample.coefficient[c] = share * sample.weight * sample.gradient[c];
    if (shrinkage_ == 0.0) return;
    for (std::size_t c = 0; c < dictionary.n_outputs(); ++c) {
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

void ProjectedGradientUpdate::learn_unadmitted(Dictionary& dictionary, Sample& sample, Step& step) {
    Look& look = *sample.look;
    dictionary.project(look);
    for (std::size_t c = 0; c < dictionary.n_outputs(); ++c) {
        const double coefficient = sample.coefficient[c];
        simd::loops().axpy(coefficient, look.a, dictionary.weights(c), look.known);
        step.spent += coefficient * coefficient * std::max(0.0, look.residual);
    }
}

void QuantizedGradientUpdate::learn_unadmitted(Dictionary& dictionary, Sample& sample, Step&) {
    if (dictionary.size() == 0) return;
    dictionary.find_nearest(*sample.look);
    for (std::size_t c = 0; c < dictionary.n_outputs(); ++c) dictionary.weights(c)[sample.look->nearest] += sample.coefficient[c];
}

}  // namespace parsimon
