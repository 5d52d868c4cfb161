// Products and other loops over vectors. Included only by loops.cpp, once per instruction set.
// loops.hpp describes the public functions.
#pragma once

#include <cstddef>

#include "simd/loops.hpp"
#include "simd/pack.hpp"

namespace parsimon::simd::PARSIMON_ISA {
namespace {

// x'y. Two sums run in parallel, because each fma waits for the one before.
PARSIMON_INLINE double inline_dot(const double* x, const double* y, std::size_t n) {
    Pack even = broadcast(0.0), odd = broadcast(0.0);
    std::size_t i = 0;
    for (; i + 2 * lanes <= n; i += 2 * lanes) {
        even = fma(load(x + i), load(y + i), even);
        odd = fma(load(x + i + lanes), load(y + i + lanes), odd);
    }
    if (i + lanes <= n) {
        even = fma(load(x + i), load(y + i), even);
        i += lanes;
    }
    double total = sum(even + odd);
    for (; i < n; ++i) total += x[i] * y[i];
    return total;
}

PARSIMON_INLINE void inline_axpy(double scale, const double* x, double* y, std::size_t n) {
    const Pack s = broadcast(scale);
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) store(y + i, fma(s, load(x + i), load(y + i)));
    for (; i < n; ++i) y[i] += scale * x[i];
}

double dot(const double* x, const double* y, std::size_t n) { return inline_dot(x, y, n); }

// x'y for N vectors y: x is read once, and more sums run in parallel. Each has the bits of `dot`.
template <std::size_t N>
PARSIMON_INLINE void dot_some(const double* x, const double* y, std::size_t stride, std::size_t n,
                              double* out) {
    Pack even[N], odd[N];
    PARSIMON_UNROLL
    for (std::size_t k = 0; k < N; ++k) even[k] = odd[k] = broadcast(0.0);
    const auto add = [&](std::size_t i, Pack* sums) {
        const Pack v = load(x + i);
        PARSIMON_UNROLL
        for (std::size_t k = 0; k < N; ++k) sums[k] = fma(v, load(y + k * stride + i), sums[k]);
    };
    std::size_t i = 0;
    for (; i + 2 * lanes <= n; i += 2 * lanes) {
        add(i, even);
        add(i + lanes, odd);
    }
    if (i + lanes <= n) {
        add(i, even);
        i += lanes;
    }
    for (std::size_t k = 0; k < N; ++k) {
        out[k] = sum(even[k] + odd[k]);
        for (std::size_t l = i; l < n; ++l) out[k] += x[l] * y[k * stride + l];
    }
}

void dot_each(const double* x, const double* y, std::size_t count, std::size_t stride,
              std::size_t n, double* out) {
    constexpr std::size_t together = parts == 1 ? 5 : 2;
    std::size_t k = 0;
    for (; k + together <= count; k += together)
        dot_some<together>(x, y + k * stride, stride, n, out + k);
    for (; k < count; ++k) out[k] = dot(x, y + k * stride, n);
}

void axpy(double scale, const double* x, double* y, std::size_t n) { inline_axpy(scale, x, y, n); }

void scale(double scale, double* x, std::size_t n) {
    const Part s = one::broadcast(scale);
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) store(x + i, times(s, load(x + i)));
    for (; i < n; ++i) x[i] *= scale;
}

double max_abs(const double* x, std::size_t n) {
    Pack best = broadcast(0.0);
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) best = maximum(best, absolute(load(x + i)));
    if (i < n) best = maximum(best, absolute(load_some(x + i, n - i)));
    double v[lanes];
    store(v, best);
    double result = v[0];
    for (std::size_t k = 1; k < lanes; ++k) result = v[k] > result ? v[k] : result;
    return result;
}

}  // namespace
}  // namespace parsimon::simd::PARSIMON_ISA
