#include "updates.hpp"

namespace parsimon {

void NLMSUpdate::open(Dictionary& dictionary, Step& step) {
    step.rate = step_size_;
    for (Sample& sample : step)
        for (std::size_t c = 0; c < dictionary.n_outputs(); ++c) sample.coefficient[c] = -step_size_ * sample.gradient[c];
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

}  // namespace parsimon
