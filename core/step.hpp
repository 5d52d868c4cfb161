// The data of one step of the training loop: a batch of samples.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dictionary.hpp"

namespace parsimon {

// One sample of a step, with its prediction, gradient and proposed coefficient.
struct Sample {
    Look* look = nullptr;
    // (n_targets,) the target and (n_outputs,) the prediction as the loss sees them: without or
    // with the intercept, and in units of the targets (offset.hpp). Only losses use them.
    const double *y = nullptr, *at = nullptr;
    double weight = 1.0;         // a factor on the sample's loss, >= 0
    double* f = nullptr;         // (n_outputs,) f(x) before the step, without the intercept
    double* gradient = nullptr;  // (n_outputs,) gradient of the loss
    // (n_outputs,) the weight that the update proposes for the sample as a centre
    double* coefficient = nullptr;
    bool admitted = false;
    double variance = 1.0;  // of the observation before the step, in units of the noise
};

// Whether a proposed coefficient of the sample is not zero.
inline bool proposes(const Sample& sample, std::size_t n_outputs) {
    return std::any_of(sample.coefficient, sample.coefficient + n_outputs,
                       [](double c) { return c != 0.0; });
}

// A step and its samples.
struct Step {
    std::vector<Sample> samples;
    std::size_t size = 0;      // samples in this step
    std::size_t whole = 1;     // samples in a full batch; the last batch may be smaller
    std::uint64_t number = 0;  // number of this step, from 1 on
    double rate = 0.0;         // learning rate of this step
    // The first `learned` outputs learn. The others are means of these, and nothing is proposed for
    // them.
    std::size_t learned = 0;
    double kept = 1.0;       // the factor by which intercepts of classes shrink
    double unit = 1.0;       // of the targets; thresholds of f are multiples of it
    double constant = 0.0;   // the constant kernel of the intercept, which takes part in steps
    bool variances = false;  // whether the update shall set the variance of each sample
    double spent = 0.0;      // squared RKHS error made by projections in this step

    Sample* begin() { return samples.data(); }
    Sample* end() { return samples.data() + size; }
};

}  // namespace parsimon
