// Limits for the numbers of a stored state.
//
// A state can come from a file that someone edited. Learning bounds what a state can hold: targets
// are at most 1e100, kernel values are from 1e-100 to 1e80, and sample weights from 1e-20 to 1e20.
// The limits below allow everything that these bounds lead to. They also keep predictions and
// further steps finite.
#pragma once

#include <cmath>
#include <cstddef>

#include "input.hpp"

namespace parsimon::sound {

constexpr double largest_target = 1e100;
constexpr double largest_weight = 1e230;  // |w_j|
constexpr double largest_norm =
    1e170;  // sum_j |w_j| sqrt(k(d_j, d_j)), which bounds |f(x)| / sqrt(k(x, x))
constexpr double largest_atom = 1e150;      // the same sum for an atom (atoms.hpp)
constexpr double largest_entry = 1e130;     // of a triangular factor
constexpr double least_pivot = 1e-130;      // of the diagonal of a triangular factor
constexpr double largest_deviation = 1e80;  // of a weight, times sqrt(k(d_j, d_j))
constexpr double largest_count = 1e100;     // of sums of sample weights
constexpr double least_ridge = 1e-40;       // of a centre that stands for one sample
constexpr double largest_ridge = 1e60;      // the same
constexpr double same = 1e-6;   // allowed relative difference between builds and processors
constexpr double drift = 1e-2;  // allowed relative error of a factor
// For a model without centres. Its file holds no weights that would show the number of outputs.
constexpr std::size_t most_outputs = 1'000'000;
constexpr std::size_t most_centres = std::size_t{1} << 31;

// Throws InputError unless every |value| <= largest. NaN is refused too.
inline void require_within(const double* values, std::size_t n, double largest, const char* what) {
    for (std::size_t i = 0; i < n; ++i)
        if (!(std::fabs(values[i]) <= largest))
            refuse("the state's ", what, " hold ", values[i], ": at most ", largest,
                   " is possible");
}

}  // namespace parsimon::sound
