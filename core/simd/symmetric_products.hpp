// Products of a symmetric matrix T + T' with many vectors. Included only by loops.cpp, once per
// instruction set. loops.hpp describes the public function.
//
// A block of columns of the matrix is copied into panels of eight rows, the half that is not stored
// by turning squares of T over. Then all vectors are multiplied by the block, in tiles whose sums
// are in registers. A sum runs over the columns in order, so it does not depend on other vectors.
#pragma once

#include <algorithm>
#include <cstddef>

#include "simd/loops.hpp"
#include "simd/pack.hpp"
#include "simd/transpose.hpp"
#include "simd/triangles.hpp"

namespace parsimon::simd::PARSIMON_ISA {
namespace {

// Tiles: vectors and panels whose sums fit in the registers. Columns of a block: a tile of panels
// then stays in the first-level cache.
constexpr std::size_t symmetric_vectors = parts == 1 ? 8 : 6, symmetric_panels = parts == 1 ? 3 : 1,
                      symmetric_columns = 128 / symmetric_panels / lanes * lanes;

// out[j * stride + r] = rows[r * length + j] for the first n rows of eight, and 0 for the others.
PARSIMON_INLINE void turn_over(const double* rows, std::size_t n, std::size_t length, double* out,
                               std::size_t stride) {
    Pack square[lanes];
    PARSIMON_UNROLL
    for (std::size_t r = 0; r < lanes; ++r)
        square[r] = r < n ? load(rows + r * length) : broadcast(0.0);
    transpose(square);
    PARSIMON_UNROLL
    for (std::size_t j = 0; j < lanes; ++j) store(out + j * stride, square[j]);
}

// Copies columns first..last-1 of panel `panel` of T + T' (m, m), `stride` apart.
inline void copy_panel(const double* T, std::size_t m, std::size_t panel, std::size_t first,
                       std::size_t last, double* out, std::size_t stride) {
    const std::size_t i = panel * lanes, rows = std::min(lanes, m - i);
    std::size_t j = first;
    for (; j < last && j < i; j += lanes, out += lanes * stride)  // left of the diagonal
        turn_over(T + row_start(i) + j, rows, padded(i + 1), out, stride);
    if (j < last && j == i) {
        const double* square = T + row_start(i) + i;
        const std::size_t length = padded(i + 1);
        for (std::size_t c = 0; c < rows; ++c)
            for (std::size_t r = 0; r < lanes; ++r)
                out[c * stride + r] =
                    r < rows ? square[r * length + c] + square[c * length + r] : 0.0;
        j += rows;
        out += rows * stride;
    }
    for (; j < last; ++j, out += stride) store(out, load(T + row_start(j) + i));
}

// y += (a block of Q panels and `columns` columns) x for R vectors, or = if `begins`.
template <std::size_t R, std::size_t Q>
PARSIMON_INLINE void symmetric_tile(const double* block, std::size_t columns, bool begins,
                                    const double* x, std::size_t x_stride, double* y,
                                    std::size_t y_stride) {
    Pack acc[R][Q];
    PARSIMON_UNROLL
    for (std::size_t r = 0; r < R; ++r) PARSIMON_UNROLL
    for (std::size_t q = 0; q < Q; ++q)
        acc[r][q] = begins ? broadcast(0.0) : load(y + r * y_stride + q * lanes);
    for (std::size_t j = 0; j < columns; ++j) {
        Pack a[Q];
        PARSIMON_UNROLL
        for (std::size_t q = 0; q < Q; ++q) a[q] = load(block + (j * Q + q) * lanes);
        PARSIMON_UNROLL
        for (std::size_t r = 0; r < R; ++r) {
            const Part v = one::broadcast(x[r * x_stride + j]);
            PARSIMON_UNROLL
            for (std::size_t q = 0; q < Q; ++q) acc[r][q] = fma(v, a[q], acc[r][q]);
        }
    }
    PARSIMON_UNROLL
    for (std::size_t r = 0; r < R; ++r) PARSIMON_UNROLL
    for (std::size_t q = 0; q < Q; ++q) store(y + r * y_stride + q * lanes, acc[r][q]);
}

template <std::size_t Q>
void symmetric_block(const double* T, std::size_t m, std::size_t panel, const double* x,
                     std::size_t x_stride, std::size_t count, double* y, std::size_t y_stride) {
    alignas(64) double block[symmetric_columns * symmetric_panels * lanes];
    for (std::size_t first = 0; first < m; first += symmetric_columns) {
        const std::size_t last = std::min(first + symmetric_columns, m);
        for (std::size_t q = 0; q < Q; ++q)
            copy_panel(T, m, panel + q, first, last, block + q * lanes, Q * lanes);
        for (std::size_t c = 0; c < count; c += symmetric_vectors)
            with_count<symmetric_vectors>(
                std::min(symmetric_vectors, count - c), [&]<std::size_t R>() {
                    symmetric_tile<R, Q>(block, last - first, first == 0, x + c * x_stride + first,
                                         x_stride, y + c * y_stride + panel * lanes, y_stride);
                });
    }
}

void symmetric_products(const double* T, std::size_t m, const double* x, std::size_t x_stride,
                        std::size_t count, double* y, std::size_t y_stride) {
    const std::size_t panels = padded(m) / lanes;
    std::size_t panel = 0;
    for (; panel + symmetric_panels <= panels; panel += symmetric_panels)
        symmetric_block<symmetric_panels>(T, m, panel, x, x_stride, count, y, y_stride);
    if (panel < panels)
        with_count<symmetric_panels>(panels - panel, [&]<std::size_t Q>() {
            symmetric_block<Q>(T, m, panel, x, x_stride, count, y, y_stride);
        });
}

}  // namespace
}  // namespace parsimon::simd::PARSIMON_ISA
