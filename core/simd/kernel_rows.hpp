// Kernel rows: points against panels of centres. Included only by loops.cpp, once per instruction
// set.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "simd/loops.hpp"
#include "simd/pack.hpp"
#include "simd/shapes.hpp"

namespace parsimon::simd::PARSIMON_ISA {
namespace {

// The number of parameters of a kernel's `value`, and a call of `value` with these parameters.
template <class... Parameters>
constexpr std::size_t count_parameters(Pack (*)(const Pack&, Parameters...)) {
    return sizeof...(Parameters);
}
template <class Kernel>
constexpr std::size_t n_parameters = count_parameters(&Kernel::value);

template <class Kernel, std::size_t... I>
PARSIMON_INLINE Pack value_of(const Pack& sum, const Shape& shape, std::index_sequence<I...>) {
    return Kernel::value(sum, shape.parameters[I]...);
}
template <class Kernel>
PARSIMON_INLINE Pack value_of(const Pack& sum, const Shape& shape) {
    return value_of<Kernel>(sum, shape, std::make_index_sequence<n_parameters<Kernel>>{});
}

// Features first..last-1 of a sum over n features. A sum over several spans is kept in the output
// block between them.
struct Span {
    std::size_t first, last, n;
};

// The features of the centres, stored as T.
template <class T>
struct Stored {
    const T* data;  // (count, depth, 8)
    std::size_t count, depth;
};

// Evaluates R rows against Q panels, with all sums in registers. A value depends only on its own
// row and centre, not on R, Q or the spans.
template <class Kernel, std::size_t R, std::size_t Q, class T>
PARSIMON_INLINE void tile(const Rows& x, std::size_t row, const Stored<T>& centres,
                          std::size_t panel, const Span& span, const Shape& shape,
                          const Block& out) {
    const double* point[R];
    const T* centre[Q];
    const auto place = [&](std::size_t r, std::size_t q) {
        return out.data + (row + r) * out.stride + (panel + q) * lanes;
    };
    for (std::size_t r = 0; r < R; ++r) point[r] = x.data + (row + r) * x.stride;
    for (std::size_t q = 0; q < Q; ++q)
        centre[q] = centres.data + (panel + q) * centres.depth * lanes;
    Pack acc[R][Q];
    for (std::size_t r = 0; r < R; ++r)
        for (std::size_t q = 0; q < Q; ++q)
            acc[r][q] = span.first == 0 ? broadcast(0.0) : load(place(r, q));
    for (std::size_t f = span.first; f < span.last; ++f) {
        Pack c[Q];
        for (std::size_t q = 0; q < Q; ++q) c[q] = load(centre[q] + f * lanes);
        for (std::size_t r = 0; r < R; ++r) {
            const Pack v = broadcast(point[r][f]);
            for (std::size_t q = 0; q < Q; ++q) acc[r][q] = Kernel::add(acc[r][q], c[q], v);
        }
    }
    for (std::size_t r = 0; r < R; ++r)
        for (std::size_t q = 0; q < Q; ++q)
            store(place(r, q),
                  span.last == span.n ? value_of<Kernel>(acc[r][q], shape) : acc[r][q]);
}

// Loops over blocks of rows, then spans of features, then groups of panels. The rows of a block fit
// in the second-level cache. The panels of a group fit in the first-level cache.
template <class Kernel, class T>
void sweep(const Rows& x, const Stored<T>& centres, std::size_t n_features, const Shape& shape,
           const Block& out) {
    constexpr std::size_t row_tile = 4, panel_tile = 4, span_length = 1024, near_values = 2048;
    const std::size_t whole = x.count / row_tile * row_tile;
    for (std::size_t block = 0; block < whole; block += row_block) {
        const std::size_t end = block + row_block < whole ? block + row_block : whole;
        for (std::size_t f = 0; f == 0 || f < n_features; f += span_length) {
            const Span span = {f, f + span_length < n_features ? f + span_length : n_features,
                               n_features};
            const std::size_t near = near_values / lanes / (span.last - f + 1) + 1;
            for (std::size_t p = 0; p < centres.count; p += near) {
                const std::size_t last = p + near < centres.count ? p + near : centres.count;
                for (std::size_t row = block; row < end; row += row_tile)
                    for (std::size_t q = p; q < last; ++q)
                        tile<Kernel, row_tile, 1>(x, row, centres, q, span, shape, out);
            }
        }
    }
    const Span all = {0, n_features, n_features};
    for (std::size_t row = whole; row < x.count; ++row) {
        std::size_t p = 0;
        for (; p + panel_tile <= centres.count; p += panel_tile)
            tile<Kernel, 1, panel_tile>(x, row, centres, p, all, shape, out);
        for (; p < centres.count; ++p) tile<Kernel, 1, 1>(x, row, centres, p, all, shape, out);
    }
}

}  // namespace
}  // namespace parsimon::simd::PARSIMON_ISA
