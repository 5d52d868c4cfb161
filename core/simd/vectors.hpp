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

double combine_two(double a, const double* x, double b, const double* y, double* out,
                   std::size_t n) {
    const Part of_x = one::broadcast(a), of_y = one::broadcast(b);
    Pack total = broadcast(0.0);
    const auto combined = [&](const Pack& u, const Pack& v) {
        const Pack r = fma(of_y, v, times(of_x, u));
        total = fma(r, r, total);
        return r;
    };
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) store(out + i, combined(load(x + i), load(y + i)));
    if (const std::size_t rest = n - i; rest > 0)
        store_some(out + i, combined(load_some(x + i, rest), load_some(y + i, rest)), rest);
    return sum(total);
}

void step(double scale, const double* x, double* y, const double* w, double* z, std::size_t n,
          double* squares) {
    const Part s = one::broadcast(scale);
    Pack before = broadcast(0.0), after = broadcast(0.0);
    const auto changed = [&](const Pack& u, const Pack& v) {
        const Pack r = fma(s, u, v);
        before = fma(v, v, before);
        after = fma(r, r, after);
        return r;
    };
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        store(y + i, changed(load(x + i), load(y + i)));
        store(z + i, fma(s, load(w + i), load(z + i)));
    }
    if (const std::size_t rest = n - i; rest > 0) {
        store_some(y + i, changed(load_some(x + i, rest), load_some(y + i, rest)), rest);
        store_some(z + i, fma(s, load_some(w + i, rest), load_some(z + i, rest)), rest);
    }
    squares[0] = sum(before);
    squares[1] = sum(after);
}

// Adds the squares of N rows of W (N, n), as `change` returns them, to `sums`, or begins there.
// change(r, i, count, w) gets up to eight numbers of row r from column i on.
template <std::size_t N, class Change>
PARSIMON_INLINE void add_squares(const double* W, std::size_t stride, std::size_t n, bool begins,
                                 double* sums, Change&& change) {
    const auto add = [&](std::size_t i, std::size_t rest, Pack total, auto&& read) {
        PARSIMON_UNROLL
        for (std::size_t r = 0; r < N; ++r) {
            const Pack v = change(r, i, rest, read(W + r * stride + i));
            total = total + v * v;
        }
        return total;
    };
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes)
        store(sums + i, add(i, lanes, begins ? broadcast(0.0) : load(sums + i),
                            [](const double* p) { return load(p); }));
    if (const std::size_t rest = n - i; rest > 0)
        store_some(sums + i,
                   add(i, rest, begins ? broadcast(0.0) : load_some(sums + i, rest),
                       [rest](const double* p) { return load_some(p, rest); }),
                   rest);
}

// Calls work<n>(c) for groups of n = 4 rows, then for single rows.
template <class Work>
PARSIMON_INLINE void in_rows(std::size_t count, Work&& work) {
    std::size_t c = 0;
    for (; c + 4 <= count; c += 4) work.template operator()<4>(c);
    for (; c < count; ++c) work.template operator()<1>(c);
}

void sum_squares(const double* W, std::size_t count, std::size_t stride, std::size_t n,
                 double* sums) {
    if (count == 0)
        for (std::size_t i = 0; i < n; ++i) sums[i] = 0.0;
    in_rows(count, [&]<std::size_t N>(std::size_t c) {
        add_squares<N>(W + c * stride, stride, n, c == 0, sums,
                       [](std::size_t, std::size_t, std::size_t, const Pack& w) { return w; });
    });
}

void scale_and_add(double scale, const double* factors, const double* x, double* W,
                   std::size_t count, std::size_t stride, std::size_t n, double* sums) {
    const Part s = one::broadcast(scale);
    in_rows(count, [&]<std::size_t N>(std::size_t c) {
        double* rows = W + c * stride;
        Part factor[N];
        for (std::size_t r = 0; r < N; ++r) factor[r] = one::broadcast(factors[c + r]);
        add_squares<N>(rows, stride, n, c == 0, sums,
                       [&](std::size_t r, std::size_t i, std::size_t rest, const Pack& w) {
                           double* place = rows + r * stride + i;
                           const bool whole = rest == lanes;
                           const Pack v =
                               fma(factor[r], whole ? load(x + i) : load_some(x + i, rest),
                                   times(s, w));
                           whole ? store(place, v) : store_some(place, v, rest);
                           return v;
                       });
    });
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
