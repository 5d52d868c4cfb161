// Products of several vectors at a time: a number that is loaded is used more than once. Included
// only by loops.cpp, once per instruction set. loops.hpp describes the public functions.
#pragma once

#include <cstddef>

#include "simd/loops.hpp"
#include "simd/pack.hpp"
#include "simd/triangles.hpp"

namespace parsimon::simd::PARSIMON_ISA {
namespace {

// R times Q inner products of vectors that are `stride` apart, with the bits of `dot`.
template <std::size_t R, std::size_t Q>
PARSIMON_INLINE void dot_tile(const double* x, const double* y, std::size_t stride, std::size_t n,
                              double (&out)[R][Q]) {
    Pack even[R][Q], odd[R][Q];
    for (std::size_t r = 0; r < R; ++r)
        for (std::size_t q = 0; q < Q; ++q) even[r][q] = odd[r][q] = broadcast(0.0);
    const auto add = [&](Pack(&sums)[R][Q], std::size_t i) {
        Pack other[Q];
        for (std::size_t q = 0; q < Q; ++q) other[q] = load(y + q * stride + i);
        for (std::size_t r = 0; r < R; ++r) {
            const Pack own = load(x + r * stride + i);
            for (std::size_t q = 0; q < Q; ++q) sums[r][q] = fma(own, other[q], sums[r][q]);
        }
    };
    std::size_t i = 0;
    for (; i + 2 * lanes <= n; i += 2 * lanes) {
        add(even, i);
        add(odd, i + lanes);
    }
    if (i + lanes <= n) {
        add(even, i);
        i += lanes;
    }
    for (std::size_t r = 0; r < R; ++r)
        for (std::size_t q = 0; q < Q; ++q) {
            double total = sum(even[r][q] + odd[r][q]);
            for (std::size_t j = i; j < n; ++j) total += x[r * stride + j] * y[q * stride + j];
            out[r][q] = total;
        }
}

void products(const double* x, const double* y, std::size_t count, std::size_t stride,
              std::size_t n, double* out, std::size_t out_stride) {
    constexpr std::size_t R = parts == 1 ? 2 : 1, Q = parts == 1 ? 4 : 2;
    for (std::size_t k = 0; k < count; k += R) {
        const std::size_t last = k + R < count ? k + R : count;  // rows k..last-1
        std::size_t l = 0;
        // Beyond the diagonal there are more products than are asked for.
        for (; last == k + R && l < last && l + Q <= count; l += Q) {
            double tile[R][Q];
            dot_tile<R, Q>(x + k * stride, y + l * stride, stride, n, tile);
            for (std::size_t r = 0; r < R; ++r)
                for (std::size_t q = 0; q < Q; ++q) out[(k + r) * out_stride + l + q] = tile[r][q];
        }
        for (; l < last; ++l)
            for (std::size_t r = k; r < last; ++r)
                out[r * out_stride + l] = inline_dot(x + r * stride, y + l * stride, n);
    }
}

}  // namespace
}  // namespace parsimon::simd::PARSIMON_ISA
