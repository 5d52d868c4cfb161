// Predictions of several learners for the same rows, and their combination, without learning.
//
// These give the same bits as the functions of mixtures in Python, which also learn.
#pragma once

#include <cstddef>
#include <vector>

namespace parsimon {

// What a learner sees of a row: `first`, then the features. All are multiplied by `scale`, if it is
// not empty. Then it has one number per input.
struct View {
    std::vector<double> first, scale;

    std::size_t n_inputs(std::size_t n_features) const { return first.size() + n_features; }
    // Writes the inputs of a row of n features to out.
    void see(const double* features, std::size_t n, double* out) const;
};

// The combination of E numbers p_e, none of them NaN:
//   clip(mean + deviation * sum_e w_e clip(p_e, lowest, highest), low, high).
// The sum is in the order of the experts.
struct WeightedSum {
    std::vector<double> weights;
    double lowest, highest, mean, deviation, low, high;

    // The numbers are `step` apart in memory.
    double combine(const double* p, std::size_t step) const;
};

}  // namespace parsimon
