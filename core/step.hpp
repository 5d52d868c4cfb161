// What travels through the loop: a step (a batch of samples) and its samples.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dictionary.hpp"

namespace parsimon {

struct Sample {
    Look* look = nullptr;
    const double* y = nullptr;   // (n_targets,) for the loss alone: its length is the loss's
    double weight = 1.0;         // a factor on the sample's loss, >= 0
    double* f = nullptr;         // (n_outputs,) prediction before the step
    double* gradient = nullptr;  // (n_outputs,) of the loss at f
    double* coefficient =
        nullptr;  // (n_outputs,) what the update proposes as the sample's own weight
    bool admitted = false;
};

// Whether the update proposes anything for the sample.
inline bool proposes(const Sample& sample, std::size_t n_outputs) {
    return std::any_of(sample.coefficient, sample.coefficient + n_outputs,
                       [](double c) { return c != 0.0; });
}

struct Step {
    std::vector<Sample> samples;
    std::size_t size = 0;      // samples of this step
    std::size_t whole = 1;     // samples of a whole batch; a last one may be short
    std::uint64_t number = 0;  // of batches begun before, plus one
    double rate = 0.0;         // learning rate of this step
    std::size_t learned =
        0;  // outputs that learn; those after them follow, and nothing is proposed for them
    double spent = 0.0;  // squared RKHS error made by projections in this step

    Sample* begin() { return samples.data(); }
    Sample* end() { return samples.data() + size; }
};

}  // namespace parsimon
