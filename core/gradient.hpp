// The derivative of a kernel expansion f_c(x) = sum_j w_jc k(x, d_j) with respect to x.
//
//     df_c(x)/dx_i = sum_j w_jc dk(x, d_j)/dx_i
//
// CONVENTION
// - The slopes of a kernel do not depend on the output. They are computed once for all outputs.
// - The gradient of a row depends on that row only. In a block it has the same bits.
// - For a kernel that rounds points, it is the derivative at the rounded point.
#pragma once

#include <cstddef>

#include "kernels.hpp"
#include "points.hpp"

namespace parsimon {

// Centres and their weights. Weight j of output c is at weights[c * stride + j].
struct Expansion {
    const Kernel& kernel;
    simd::Panels centres;
    const double* weights;
    std::size_t stride;
    std::size_t n_outputs;
};

// Computes df/dx of the points x (n, n_features), into out (n, n_outputs, n_features). Throws
// InputError if the kernel has no derivative.
void gradient(const Expansion& f, const double* x, std::size_t n, double* out);

}  // namespace parsimon
