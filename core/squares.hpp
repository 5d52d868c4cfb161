// Squares of weights, summed over the outputs.
#pragma once

#include <cstddef>

#include "simd/loops.hpp"

namespace parsimon {

// sums_i = sum_c W_ci^2 for i < n. Row c of W (n_outputs, n), the weights of output c, begins at W
// + c * stride.
inline void sum_squares(const double* W, std::size_t n_outputs, std::size_t stride, std::size_t n,
                        double* sums) {
    simd::loops().sum_squares(W, n_outputs, stride, n, sums);
}

}  // namespace parsimon
