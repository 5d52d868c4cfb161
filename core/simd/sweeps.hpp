// Products of many vectors with a triangular matrix, and the removal of many coordinates, in one
// pass over the matrix. Included only by loops.cpp, once per instruction set. loops.hpp describes
// the public functions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "simd/loops.hpp"
#include "simd/pack.hpp"
#include "simd/triangles.hpp"

namespace parsimon::simd::PARSIMON_ISA {
namespace {

constexpr std::size_t part_width = lanes / parts;
// Vectors of a tile, and registers per vector. The tile leaves registers for the rows.
constexpr std::size_t tile_vectors = 8, tile_parts = parts == 1 ? 2 : 1;

// Rows of a triangle, as `sweep_rows` takes them: groups of eight rows of equal length.
struct RowGroups {
    double* data;
    std::size_t n_rows;
    std::size_t length;  // of the rows of the first group
};

// Adds `rows` times `b` to K vectors, in the columns of W registers from `column` on, for the
// groups from `first` on. With `Turns`, each row is changed too, before the next vector. `begins`
// says that these are the first vectors.
template <bool Turns, std::size_t K, std::size_t W>
PARSIMON_INLINE void sweep_tile(const RowGroups& rows, std::size_t first, std::size_t column,
                                bool begins, const double* a, const double* b,
                                double* const (&v)[W]) {
    Part held[W][K];
    PARSIMON_UNROLL
    for (std::size_t w = 0; w < W; ++w) PARSIMON_UNROLL
    for (std::size_t k = 0; k < K; ++k) held[w][k] = one::load(v[w] + k * lanes);
    std::size_t length = rows.length;
    double* row = rows.data + column;
    for (std::size_t r = 0; r < first * group; r += group, length += lanes) row += group * length;
    for (std::size_t r = first * group; r < rows.n_rows; ++r) {
        Part x[W];
        PARSIMON_UNROLL
        for (std::size_t w = 0; w < W; ++w) {
            x[w] = one::load(row + w * part_width);
            // The columns of the next tile. Hardware does not foresee steps from row to row.
            if (begins) PARSIMON_PREFETCH(row + (W + w) * part_width);
        }
        PARSIMON_UNROLL
        for (std::size_t k = 0; k < K; ++k) {
            const Part gain = one::broadcast(b[r * most_vectors + k]);
            if constexpr (Turns) {
                const Part gone = one::broadcast(a[r * most_vectors + k]);
                PARSIMON_UNROLL
                for (std::size_t w = 0; w < W; ++w) {
                    const Part before = x[w];
                    x[w] = one::fma(gone, held[w][k], before);
                    held[w][k] = one::fma(gain, before, held[w][k]);
                }
            } else {
                PARSIMON_UNROLL
                for (std::size_t w = 0; w < W; ++w) held[w][k] = one::fma(gain, x[w], held[w][k]);
            }
        }
        if constexpr (Turns) PARSIMON_UNROLL
        for (std::size_t w = 0; w < W; ++w) one::store(row + w * part_width, x[w]);
        row += length;
        if (r % group == group - 1) length += lanes;
    }
    PARSIMON_UNROLL
    for (std::size_t w = 0; w < W; ++w) PARSIMON_UNROLL
    for (std::size_t k = 0; k < K; ++k) one::store(v[w] + k * lanes, held[w][k]);
}

template <bool Turns>
PARSIMON_INLINE void sweep_rows(const RowGroups& rows, const double* a, const double* b,
                                const Tiles& v, std::size_t used, std::size_t from,
                                std::size_t to) {
    const auto in_columns = [&]<std::size_t W>(std::size_t column, std::size_t first) {
        double* place[W];
        for (std::size_t k = 0; k < used; k += tile_vectors) {
            for (std::size_t w = 0; w < W; ++w) {
                const std::size_t c = column + w * part_width;
                place[w] = v.data + (c / lanes * v.count + k) * lanes + c % lanes;
            }
            with_count<tile_vectors>(std::min(tile_vectors, used - k), [&]<std::size_t K>() {
                sweep_tile<Turns, K, W>(rows, first, column, k == 0, a + k, b + k, place);
            });
        }
    };
    const std::size_t end = std::min(to, rows.length + (rows.n_rows - 1) / group * lanes),
                      whole = std::min(to, rows.length);
    std::size_t column = from;
    for (; column + tile_parts * part_width <= whole; column += tile_parts * part_width)
        in_columns.template operator()<tile_parts>(column, 0);
    for (; column < end; column += part_width) {
        const std::size_t first = column < rows.length ? 0 : (column - rows.length) / lanes + 1;
        in_columns.template operator()<1>(column, first);
    }
}

void add_rows(const double* rows, std::size_t n_rows, std::size_t length, const double* b,
              const Tiles& v, std::size_t used, std::size_t from, std::size_t to) {
    // Without turns, the rows are only read.
    sweep_rows<false>({const_cast<double*>(rows), n_rows, length}, b, b, v, used, from, to);
}

void turn_rows_together(double* rows, std::size_t n_rows, std::size_t length, const double* a,
                        const double* b, const Tiles& v, std::size_t used, std::size_t from,
                        std::size_t to) {
    sweep_rows<true>({rows, n_rows, length}, a, b, v, used, from, to);
}

void scale_to(double scale, const double* in, double* out, std::size_t n) {
    const Part factor = one::broadcast(scale);
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) store(out + i, times(factor, load(in + i)));
    for (; i < n; ++i) out[i] = scale * in[i];
}

void scale_without(double scale, const double* in, const Gaps& gaps, double* out, std::size_t n) {
    const Part factor = one::broadcast(scale);
    std::size_t i = 0;
    for (std::size_t g = 0; g < gaps.count && gaps.groups[g] * lanes < n; ++g) {
        for (; i < gaps.groups[g] * lanes; i += lanes, out += lanes)
            store(out, times(factor, load(in + i)));
        out += store_kept(out, times(factor, load(in + i)), gaps.kept[g]);
        i += lanes;
    }
    for (; i < n; i += lanes, out += lanes) store(out, times(factor, load(in + i)));
}

// The turns of all rows with vector k. B packs of columns, from that of k on, can change.
template <std::size_t B>
PARSIMON_INLINE void plan_turn(Pivots& pivots, double* entries, std::size_t n_rows, std::size_t k,
                               double* a, double* b, double* weights) {
    const std::size_t from = k / lanes * lanes;
    double square = pivots.square[k], inverse = pivots.inverse[k];
    Pack at[B];
    PARSIMON_UNROLL
    for (std::size_t l = 0; l < B; ++l) at[l] = load(pivots.at[k] + from + l * lanes);
    for (std::size_t r = 0; r < n_rows; ++r) {
        double* y = entries + r * most_vectors;
        const double e = y[k];
        double& gone = a[r * most_vectors + k];
        double& gain = b[r * most_vectors + k];
        gone = gain = 0.0;
        if (e == 0.0) continue;
        const double before = square;
        gone = -e * inverse;
        gain = weights[r] * e;
        square = before + gain * e;
        inverse = 1.0 / square;
        weights[r] *= before * inverse;
        const Part minus = one::broadcast(gone), plus = one::broadcast(gain);
        PARSIMON_UNROLL
        for (std::size_t l = 0; l < B; ++l) {
            const Pack x = load(y + from + l * lanes);
            store(y + from + l * lanes, fma(minus, at[l], x));
            at[l] = fma(plus, x, at[l]);
        }
    }
    pivots.square[k] = square;
    pivots.inverse[k] = inverse;
    PARSIMON_UNROLL
    for (std::size_t l = 0; l < B; ++l) store(pivots.at[k] + from + l * lanes, at[l]);
}

void plan_turns(Pivots& pivots, double* entries, std::size_t n_rows, std::size_t used, double* a,
                double* b, double* scale) {
    std::fill_n(scale, n_rows, 1.0);
    for (std::size_t k = 0; k < used; ++k)
        with_count<most_vectors / lanes>(padded(used) / lanes - k / lanes, [&]<std::size_t B>() {
            plan_turn<B>(pivots, entries, n_rows, k, a, b, scale);
        });
    for (std::size_t r = 0; r < n_rows; ++r) scale[r] = std::sqrt(scale[r]);
}

// Dot products of eight rows with the vectors in the lanes of W registers.
template <std::size_t N, std::size_t W>
PARSIMON_INLINE void dots_tile(const double* rows, std::size_t length, std::size_t columns,
                               const double* h, std::size_t stride, double* t) {
    Part sums[N][W];
    PARSIMON_UNROLL
    for (std::size_t r = 0; r < N; ++r) PARSIMON_UNROLL
    for (std::size_t w = 0; w < W; ++w) sums[r][w] = one::broadcast(0.0);
    for (std::size_t j = 0; j < columns; ++j) {
        Part x[W];
        PARSIMON_UNROLL
        for (std::size_t w = 0; w < W; ++w) x[w] = one::load(h + j * stride + w * part_width);
        PARSIMON_UNROLL
        for (std::size_t r = 0; r < N; ++r) {
            const Part s = one::broadcast(rows[r * length + j]);
            PARSIMON_UNROLL
            for (std::size_t w = 0; w < W; ++w) sums[r][w] = one::fma(s, x[w], sums[r][w]);
        }
    }
    PARSIMON_UNROLL
    for (std::size_t r = 0; r < N; ++r) PARSIMON_UNROLL
    for (std::size_t w = 0; w < W; ++w)
        one::store(t + r * most_vectors + w * part_width, sums[r][w]);
}

void multiply_rows(const double* rows, std::size_t n_rows, std::size_t length, std::size_t columns,
                   const double* h, std::size_t width, double* t) {
    with_count<group>(n_rows, [&]<std::size_t N>() {
        std::size_t w = 0;
        for (; w + tile_parts * part_width <= width; w += tile_parts * part_width)
            dots_tile<N, tile_parts>(rows, length, columns, h + w, width, t + w);
        for (; w < width; w += part_width)
            dots_tile<N, 1>(rows, length, columns, h + w, width, t + w);
    });
}

void subtract_multiples(double* y, const double* const* v, const double* factors, std::size_t count,
                        std::size_t n) {
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        Pack x = load(y + i);
        for (std::size_t k = 0; k < count; ++k)
            x = fma(one::broadcast(-factors[k]), load(v[k] + i), x);
        store(y + i, x);
    }
    for (; i < n; ++i)
        for (std::size_t k = 0; k < count; ++k) y[i] -= factors[k] * v[k][i];
}

bool keeps_share(const double* values, const double* column, double pivot, const double* before,
                 double share, std::size_t n) {
    Pack failed = broadcast(0.0);
    const Part zero = one::broadcast(0.0), unit = one::broadcast(1.0),
               least = one::broadcast(share);
    const Part scale = one::broadcast(-pivot);
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        const Pack old = load(values + i), c = load(column + i);
        const Pack now = fma(times(scale, c), c, old), bound = times(least, load(before + i));
        for (std::size_t p = 0; p < parts; ++p) {
            const Part fails = now.v[p] > bound.v[p] ? zero : unit;
            failed.v[p] = failed.v[p] + (old.v[p] == zero ? zero : fails);
        }
    }
    bool kept = sum(failed) == 0.0;
    for (; i < n; ++i)
        kept = kept &&
               (values[i] == 0.0 || values[i] - column[i] * column[i] * pivot > share * before[i]);
    return kept;
}

void take_squares(double scale, const double* x, double* y, std::size_t n) {
    const Part factor = one::broadcast(-scale);
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        const Pack v = load(x + i);
        store(y + i, fma(times(factor, v), v, load(y + i)));
    }
    for (; i < n; ++i) y[i] -= scale * x[i] * x[i];
}

void eliminate(const double* column, const double* factors, std::size_t n_outputs,
               std::size_t stride, double* W, double* squares, std::size_t n) {
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        const Pack c = load(column + i);
        Pack total = load(squares + i);
        for (std::size_t k = 0; k < n_outputs; ++k) {
            double* w = W + k * stride + i;
            const Pack left = fma(one::broadcast(-factors[k]), c, load(w));
            store(w, left);
            total = fma(left, left, total);
        }
        store(squares + i, total);
    }
    for (; i < n; ++i)
        for (std::size_t k = 0; k < n_outputs; ++k) {
            double& w = W[k * stride + i];
            w -= factors[k] * column[i];
            squares[i] += w * w;
        }
}

PARSIMON_INLINE double lowest(const Pack& a) {
    double v[lanes];
    store(v, a);
    double least = v[0];
    for (std::size_t i = 1; i < lanes; ++i) least = v[i] < least ? v[i] : least;
    return least;
}

std::size_t least_ratio(const double* x, const double* y, std::size_t n) {
    constexpr std::size_t piece = 8 * lanes;
    const Pack infinite = broadcast(HUGE_VAL);
    std::size_t best = n;
    double least = HUGE_VAL;
    std::size_t i = 0;
    for (; i + piece <= n; i += piece) {
        Pack lane = infinite;
        // A comparison with NaN is false, so that NaN never becomes the least.
        for (std::size_t j = i; j < i + piece; j += lanes)
            lane = minimum(load(x + j) / load(y + j), lane);
        const double found = lowest(lane);
        if (!(found < least)) continue;
        least = found;
        for (best = i; x[best] / y[best] != found;) ++best;
    }
    for (; i < n; ++i)
        if (x[i] / y[i] < least) {
            least = x[i] / y[i];
            best = i;
        }
    return best;
}

}  // namespace
}  // namespace parsimon::simd::PARSIMON_ISA
