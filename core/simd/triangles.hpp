// Products with triangular matrices stored by rows. Included only by loops.cpp,
// once per instruction set. loops.hpp describes the public functions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "simd/loops.hpp"
#include "simd/pack.hpp"
#include "simd/vectors.hpp"

namespace parsimon::simd::PARSIMON_ISA {
namespace {

// Up to eight rows of the same padded length are processed together. This changes no result: each
// dot product has its own sum, and a vector that all rows add to receives them in order.
constexpr std::size_t group = panel_width;

// t_r = row_r h for N rows of the same length.
template <std::size_t N>
PARSIMON_INLINE void dots(const double* rows, std::size_t length, const double* h, double (&t)[N]) {
    // As many sums as fit in the registers
    constexpr std::size_t most = parts == 1 ? 8 : 4, width = N < most ? N : most;
    for (std::size_t first = 0; first < N; first += width) {
        const double* row = rows + first * length;
        Pack acc[width];
        for (std::size_t r = 0; r < width; ++r) acc[r] = broadcast(0.0);
        for (std::size_t j = 0; j < length; j += lanes) {
            const Pack v = load(h + j);
            for (std::size_t r = 0; r < width; ++r)
                if (first + r < N) acc[r] = fma(load(row + r * length + j), v, acc[r]);
        }
        for (std::size_t r = 0; r < width && first + r < N; ++r) t[first + r] = sum(acc[r]);
    }
}

// a += sum_r t_r row_r for N rows of the same length.
template <std::size_t N>
PARSIMON_INLINE void combine_rows(const double* rows, std::size_t length, const double* t,
                                  double* a) {
    Part scale[N];
    for (std::size_t r = 0; r < N; ++r) scale[r] = one::broadcast(t[r]);
    for (std::size_t j = 0; j < length; j += lanes) {
        Pack v = load(a + j);
        for (std::size_t r = 0; r < N; ++r) v = fma(scale[r], load(rows + r * length + j), v);
        store(a + j, v);
    }
}

// `measure` for N rows from row i on. Returns their sum of t_r^2.
template <std::size_t N>
PARSIMON_INLINE double measure_rows(const double* S, std::size_t i, const double* h, double* t) {
    double f[N];
    dots<N>(S + row_start(i), padded(i + 1), h, f);
    double squares = 0.0;
    for (std::size_t r = 0; r < N; ++r) {
        t[i + r] = f[r];
        squares += f[r] * f[r];
    }
    return squares;
}

// Calls function<n>(), for an n <= N that is known only at run time.
template <std::size_t N, class Function>
PARSIMON_INLINE auto with_count(std::size_t n, Function&& function) {
    if constexpr (N > 1)
        if (n < N) return with_count<N - 1>(n, function);
    return function.template operator()<N>();
}

// Calls function<N>(i) for groups of N rows from `first` to `last` that do not cross a panel.
template <class Function>
PARSIMON_INLINE void in_groups(std::size_t first, std::size_t last, Function&& function) {
    for (std::size_t i = first; i < last;) {
        const std::size_t end = i / group * group + group, count = (end < last ? end : last) - i;
        with_count<group>(count, [&]<std::size_t N>() { function.template operator()<N>(i); });
        i += count;
    }
}

double project(const double* S, std::size_t first, std::size_t last, const double* h, double* t,
               double* a) {
    double squares = 0.0;
    in_groups(first, last, [&]<std::size_t N>(std::size_t i) {
        squares += measure_rows<N>(S, i, h, t);
        // While the rows are in the cache
        combine_rows<N>(S + row_start(i), padded(i + 1), t + i, a);
    });
    return squares;
}

double measure(const double* S, std::size_t first, std::size_t last, const double* h, double* t) {
    double squares = 0.0;
    in_groups(first, last,
              [&]<std::size_t N>(std::size_t i) { squares += measure_rows<N>(S, i, h, t); });
    return squares;
}

void combine(const double* S, std::size_t first, std::size_t last, const double* t, double* a) {
    in_groups(first, last, [&]<std::size_t N>(std::size_t i) {
        combine_rows<N>(S + row_start(i), padded(i + 1), t + i, a);
    });
}

double squared_norm(const double* S, std::size_t m, const double* h) {
    double total = 0.0;
    in_groups(0, m, [&]<std::size_t N>(std::size_t i) {
        double f[N];
        dots<N>(S + row_start(i), padded(i + 1), h, f);
        for (std::size_t r = 0; r < N; ++r) total += f[r] * f[r];
    });
    return total;
}

// The factors with which a row takes part in `absorb`.
struct Absorbing {
    static constexpr std::size_t most = 4 * group;  // rows, whose numbers stay in the cache
    double keep[most], gone[most], gain[most];
};

// Computes the factors of n rows from their products f with a, and updates alpha, which is noise
// plus the squares of earlier rows, and `square`, the squares alone, not scaled:
//
//     row <- sqrt(alpha / next) row - f / sqrt(alpha next) k,    then k += f row with the old row.
//
// Without noise, the first row with f != 0 becomes zero.
PARSIMON_INLINE void absorbing(const double* f, std::size_t n, double scale, double& alpha,
                               double& square, Absorbing& factors) {
    double seen[Absorbing::most], roots[Absorbing::most + lanes];
    double* next = roots + 1;
    roots[0] = std::sqrt(alpha);
    for (std::size_t r = 0; r < n; ++r) {
        seen[r] = scale * f[r];
        square += f[r] * f[r];
        alpha += seen[r] * seen[r];
        next[r] = alpha;
    }
    for (std::size_t r = n; r < padded(n); ++r) seen[r] = next[r] = 0.0;
    for (std::size_t r = 0; r < n; r += lanes) store(next + r, square_root(load(next + r)));
    for (std::size_t r = 0; r < n; ++r) {
        const double product = roots[r] * next[r];
        factors.keep[r] = scale * (next[r] > 0.0 ? roots[r] / next[r] : 1.0);
        factors.gone[r] = product > 0.0 ? -seen[r] / product : 0.0;
        factors.gain[r] = scale * seen[r];
    }
}

// Applies the factors from `at` on to N rows of the same length.
template <std::size_t N>
PARSIMON_INLINE void absorb_rows(double* rows, std::size_t length, const Absorbing& factors,
                                 std::size_t at, double* k) {
    // Each row needs three factors: eight or four rows fit in the registers.
    constexpr std::size_t most = parts == 1 ? 8 : 4, width = N < most ? N : most;
    for (std::size_t first = 0; first < N; first += width) {
        double* row = rows + first * length;
        Part keep[width], gone[width], gain[width];
        for (std::size_t r = 0; r < width && first + r < N; ++r) {
            keep[r] = one::broadcast(factors.keep[at + first + r]);
            gone[r] = one::broadcast(factors.gone[at + first + r]);
            gain[r] = one::broadcast(factors.gain[at + first + r]);
        }
        for (std::size_t j = 0; j < length; j += lanes) {
            Pack v = load(k + j);
            for (std::size_t r = 0; r < width && first + r < N; ++r) {
                const Pack old = load(row + r * length + j);
                store(row + r * length + j, fma(gone[r], v, times(keep[r], old)));
                v = fma(gain[r], old, v);
            }
            store(k + j, v);
        }
    }
}

double absorb(double* R, std::size_t m, const double* a, double noise, double scale, double* k,
              double& square) {
    double alpha = noise, f[Absorbing::most];
    Absorbing factors;
    for (std::size_t first = 0; first < m; first += Absorbing::most) {
        const std::size_t last = first + Absorbing::most < m ? first + Absorbing::most : m;
        in_groups(first, last, [&]<std::size_t N>(std::size_t i) {
            double own[N];
            dots<N>(R + row_start(i), padded(i + 1), a, own);
            for (std::size_t r = 0; r < N; ++r) f[i - first + r] = own[r];
        });
        absorbing(f, last - first, scale, alpha, square, factors);
        in_groups(first, last, [&]<std::size_t N>(std::size_t i) {
            absorb_rows<N>(R + row_start(i), padded(i + 1), factors, i - first, k);
        });
    }
    return alpha;
}

// `turn` for N rows.
template <std::size_t N>
PARSIMON_INLINE void turn_rows(const Turn* turns, double* v, std::size_t n) {
    constexpr std::size_t width = lanes / parts;
    Part c[N], s[N], minus_s[N];
    // Local copies, because the compiler must assume that a store can change what `turns` points
    // to.
    const double* in[N];
    double* out[N];
    for (std::size_t r = 0; r < N; ++r) {
        in[r] = turns[r].in;
        out[r] = turns[r].out;
        c[r] = one::broadcast(turns[r].c);
        s[r] = one::broadcast(turns[r].s);
        minus_s[r] = one::broadcast(-turns[r].s);
    }
    std::size_t i = 0;
    for (; i + width <= n; i += width) {
        Part carried = one::load(v + i);
        for (std::size_t r = 0; r < N; ++r) {
            const Part x = one::load(in[r] + i);
            const Part turned = one::fma(minus_s[r], carried, c[r] * x);
            carried = one::fma(c[r], carried, s[r] * x);
            one::store(out[r] + i, turned);
        }
        one::store(v + i, carried);
    }
    for (; i < n; ++i)
        for (std::size_t r = 0; r < N; ++r) {
            const double x = in[r][i], y = v[i];
            out[r][i] = turns[r].c * x - turns[r].s * y;
            v[i] = turns[r].s * x + turns[r].c * y;
        }
}

void turn(const Turn* turns, std::size_t count, double* v, std::size_t n) {
    if (count == 4)
        turn_rows<4>(turns, v, n);
    else
        for (std::size_t r = 0; r < count; ++r) turn_rows<1>(turns + r, v, n);
}

// Vectors that are multiplied by a group of rows at a time: as many as the registers hold.
constexpr std::size_t vector_tile = parts == 1 ? 4 : 1;

// `symmetric` for N rows from row i on and V vectors. No result depends on V.
template <std::size_t N, std::size_t V>
PARSIMON_INLINE void symmetric_rows(const double* T, std::size_t i, const double* x,
                                    std::size_t stride, double* y) {
    const double* rows = T + row_start(i);
    const std::size_t length = padded(i + 1);
    double f[V][N];
    if constexpr (V == 1) {
        dots<N>(rows, length, x, f[0]);
        combine_rows<N>(rows, length, x + i, y);
    } else {
        constexpr std::size_t width = 4;
        static_assert(N % width == 0);
        // Each number of the rows that is loaded serves all vectors.
        for (std::size_t first = 0; first < N; first += width) {
            const double* row = rows + first * length;
            Pack acc[V][width], own[width];
            for (auto& each : acc)
                for (Pack& one : each) one = broadcast(0.0);
            for (std::size_t j = 0; j < length; j += lanes) {
                for (std::size_t r = 0; r < width; ++r) own[r] = load(row + r * length + j);
                for (std::size_t c = 0; c < V; ++c) {
                    const Pack v = load(x + c * stride + j);
                    for (std::size_t r = 0; r < width; ++r) acc[c][r] = fma(own[r], v, acc[c][r]);
                }
            }
            for (std::size_t c = 0; c < V; ++c)
                for (std::size_t r = 0; r < width; ++r) f[c][first + r] = sum(acc[c][r]);
        }
        for (std::size_t first = 0; first < N; first += width) {
            const double* row = rows + first * length;
            Part scale[V][width];
            for (std::size_t c = 0; c < V; ++c)
                for (std::size_t r = 0; r < width; ++r)
                    scale[c][r] = one::broadcast(x[c * stride + i + first + r]);
            for (std::size_t j = 0; j < length; j += lanes) {
                Pack own[width];
                for (std::size_t r = 0; r < width; ++r) own[r] = load(row + r * length + j);
                for (std::size_t c = 0; c < V; ++c) {
                    Pack v = load(y + c * stride + j);
                    for (std::size_t r = 0; r < width; ++r) v = fma(scale[c][r], own[r], v);
                    store(y + c * stride + j, v);
                }
            }
        }
    }
    for (std::size_t c = 0; c < V; ++c)
        for (std::size_t r = 0; r < N; ++r) y[c * stride + i + r] += f[c][r];
}

void symmetric(const double* T, std::size_t m, const double* x, std::size_t count,
               std::size_t stride, double* y) {
    in_groups(0, m, [&]<std::size_t N>(std::size_t i) {
        for (std::size_t c = 0; c < count;) {  // all vectors while the rows are in the cache
            const double* in = x + c * stride;
            double* out = y + c * stride;
            constexpr std::size_t most = N == group ? vector_tile : 1;
            const std::size_t some = count - c < most ? count - c : most;
            with_count<most>(some,
                             [&]<std::size_t V>() { symmetric_rows<N, V>(T, i, in, stride, out); });
            c += some;
        }
    });
}

// `add_outer` for N rows from row i on. The diagonal of T holds half the diagonal of T + T', and
// the padding stays zero.
template <std::size_t N>
PARSIMON_INLINE void add_outer_rows(double* T, std::size_t i, double scale, const double* a) {
    const std::size_t length = padded(i + 1);
    double* rows = T + row_start(i);
    Part factor[N];
    double diagonal[N];
    for (std::size_t r = 0; r < N; ++r) {
        const double own = scale * a[i + r];
        factor[r] = one::broadcast(own);
        diagonal[r] = rows[r * length + i + r] + 0.5 * own * a[i + r];
    }
    for (std::size_t j = 0; j < length; j += lanes) {
        const Pack v = load(a + j);
        for (std::size_t r = 0; r < N; ++r)
            store(rows + r * length + j, fma(factor[r], v, load(rows + r * length + j)));
    }
    for (std::size_t r = 0; r < N; ++r) {
        double* row = rows + r * length;
        row[i + r] = diagonal[r];
        for (std::size_t j = i + r + 1; j < length; ++j) row[j] = 0.0;
    }
}

void add_outer(double* T, std::size_t m, double scale, const double* a) {
    in_groups(0, m, [&]<std::size_t N>(std::size_t i) { add_outer_rows<N>(T, i, scale, a); });
}

void column_squares(const double* S, std::size_t m, double* sums) {
    for (std::size_t i = 0; i < m; ++i) {
        const double* row = S + row_start(i);
        for (std::size_t j = 0; j <= i; j += lanes) {
            const Pack v = load(row + j);
            store(sums + j, fma(v, v, load(sums + j)));
        }
    }
}

}  // namespace
}  // namespace parsimon::simd::PARSIMON_ISA
