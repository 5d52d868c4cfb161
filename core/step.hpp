// What travels through the loop: a step (a batch of samples) and its samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dictionary.hpp"

namespace parsimon {

struct Sample {
    Look* look = nullptr;
    const double* y = nullptr;      // (n_outputs,)
    double weight = 1.0;            // a factor on the sample's loss, >= 0
    double* f = nullptr;            // (n_outputs,) prediction before the step
    double* gradient = nullptr;     // (n_outputs,) of the loss at f
    double* coefficient = nullptr;  // (n_outputs,) what the update proposes as the sample's own weight
    bool admitted = false;
};

struct Step {
    std::vector<Sample> samples;
    std::size_t size = 0;    // samples of this step; a last batch may be short
    std::uint64_t seen = 0;  // samples seen before it
    double rate = 0.0;       // learning rate of this step
    double spent = 0.0;      // squared RKHS error made by projections in this step

    Sample* begin() { return samples.data(); }
    Sample* end() { return samples.data() + size; }
};

}  // namespace parsimon
