// Squares of weights, summed over the outputs.
#pragma once

#include <algorithm>
#include <cstddef>

namespace parsimon {

// sums_i = sum_c W_ci^2 for i < n. Row c of W (n_outputs, n), the weights of output c, begins at W
// + c * stride.
inline void sum_squares(const double* W, std::size_t n_outputs, std::size_t stride, std::size_t n,
                        double* sums) {
    std::fill_n(sums, n, 0.0);
    for (std::size_t c = 0; c < n_outputs; ++c) {
        const double* w = W + c * stride;
        for (std::size_t i = 0; i < n; ++i) sums[i] += w[i] * w[i];
    }
}

}  // namespace parsimon
