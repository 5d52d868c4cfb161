// Products of several vectors at a time: a number that is loaded is used more than once. Included
// only by loops.cpp, once per instruction set. loops.hpp describes the public functions.
#pragma once

#include <algorithm>
#include <cstddef>

#include "simd/loops.hpp"
#include "simd/pack.hpp"
#include "simd/transpose.hpp"

namespace parsimon::simd::PARSIMON_ISA {
namespace {

// R times Q inner products. The order of each sum depends only on n.
template <std::size_t R, std::size_t Q>
PARSIMON_INLINE void dot_tile(const double* x, std::size_t x_stride, const double* y,
                              std::size_t y_stride, std::size_t n, double (&out)[R * Q]) {
    Pack even[R * Q], odd[R * Q];
    PARSIMON_UNROLL
    for (std::size_t i = 0; i < R * Q; ++i) even[i] = odd[i] = broadcast(0.0);
    const auto add = [&](Pack(&sums)[R* Q], auto&& read) {
        Pack other[Q];
        PARSIMON_UNROLL
        for (std::size_t q = 0; q < Q; ++q) other[q] = read(y + q * y_stride);
        PARSIMON_UNROLL
        for (std::size_t r = 0; r < R; ++r) {
            const Pack own = read(x + r * x_stride);
            PARSIMON_UNROLL
            for (std::size_t q = 0; q < Q; ++q)
                sums[r * Q + q] = fma(own, other[q], sums[r * Q + q]);
        }
    };
    std::size_t i = 0;
    for (; i + 2 * lanes <= n; i += 2 * lanes) {
        add(even, [i](const double* p) { return load(p + i); });
        add(odd, [i](const double* p) { return load(p + i + lanes); });
    }
    if (i + lanes <= n) {
        add(even, [i](const double* p) { return load(p + i); });
        i += lanes;
    }
    if (i < n) add(odd, [i, n](const double* p) { return load_some(p + i, n - i); });
    PARSIMON_UNROLL
    for (std::size_t t = 0; t < R * Q; ++t) even[t] = even[t] + odd[t];
    if constexpr (R * Q == lanes)
        eight_sums(even, out);
    else
        for (std::size_t t = 0; t < R * Q; ++t) out[t] = sum(even[t]);
}

void products(const double* x, std::size_t x_stride, const double* y, std::size_t y_stride,
              std::size_t count, std::size_t n, double* out, std::size_t out_stride) {
    constexpr std::size_t R = parts == 1 ? 2 : 1, Q = parts == 1 ? 4 : 2;
    const auto tile = [&]<std::size_t rows, std::size_t columns>(std::size_t k, std::size_t l) {
        double found[rows * columns];
        dot_tile<rows, columns>(x + k * x_stride, x_stride, y + l * y_stride, y_stride, n, found);
        for (std::size_t r = 0; r < rows; ++r)
            std::copy_n(found + r * columns, columns, out + (k + r) * out_stride + l);
    };
    for (std::size_t k = 0; k < count; k += R) {
        const std::size_t last = k + R < count ? k + R : count;  // rows k..last-1
        std::size_t l = 0;
        // Beyond the diagonal there are more products than are asked for.
        for (; last == k + R && l < last && l + Q <= count; l += Q)
            tile.template operator()<R, Q>(k, l);
        for (; l < last; ++l)
            for (std::size_t r = k; r < last; ++r) tile.template operator()<1, 1>(r, l);
    }
}

}  // namespace
}  // namespace parsimon::simd::PARSIMON_ISA
