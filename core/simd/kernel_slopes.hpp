// Derivatives of kernels: slopes, and sums of them over the centres.
// Included by loops.cpp, which is compiled once per instruction set.
#pragma once

#include <cstddef>
#include <utility>

#include "simd/kernel_products.hpp"
#include "simd/kernel_rows.hpp"
#include "simd/loops.hpp"
#include "simd/pack.hpp"
#include "simd/shapes.hpp"

namespace parsimon::simd::PARSIMON_ISA {
namespace {

template <class Kernel, std::size_t... I>
PARSIMON_INLINE Pack slope_of(const Pack& sum, const Pack& value, const Shape& shape,
                              std::index_sequence<I...>) {
    return Kernel::slope(sum, value, shape.parameters[I]...);
}

// Writes the sums to `slopes` first, and then replaces them.
template <class Kernel>
void differentiate(const Rows& x, const Panels& centres, std::size_t n_features, const Shape& shape,
                   const Block& values, const Block& slopes) {
    evaluate<Plain<typename Kernel::Sum>>(x, centres, n_features, shape, slopes);
    for (std::size_t r = 0; r < x.count; ++r)
        for (std::size_t j = 0; j < centres.count * lanes; j += lanes) {
            double* place = slopes.data + r * slopes.stride + j;
            const Pack sum = load(place), value = value_of<Kernel>(sum, shape);
            store(values.data + r * values.stride + j, value);
            store(place, slope_of<Kernel>(sum, value, shape,
                                          std::make_index_sequence<n_parameters<Kernel>>{}));
        }
}

template <class Kernel>
constexpr Differentiate differentiate_of() {
    if constexpr (requires { &Kernel::slope; })
        return differentiate<Kernel>;
    else
        return nullptr;
}

// R rows and F features, with all sums in registers. Each sum adds the panels in order, for any R
// and F.
template <class Sum, std::size_t R, std::size_t F, class T>
PARSIMON_INLINE void accumulate_tile(const Rows& x, std::size_t row, const Stored<T>& centres,
                                     std::size_t feature, const Block& a, const Block& out) {
    const T* centre = centres.data + feature * lanes;
    const double* factors = a.data + row * a.stride;
    Pack point[R][F], acc[R][F];
    for (std::size_t r = 0; r < R; ++r)
        for (std::size_t f = 0; f < F; ++f) {
            point[r][f] = broadcast(x.data[(row + r) * x.stride + feature + f]);
            acc[r][f] = broadcast(0.0);
        }
    for (std::size_t p = 0; p < centres.count; ++p) {
        Pack c[F];
        for (std::size_t f = 0; f < F; ++f) c[f] = load(centre + (p * centres.depth + f) * lanes);
        for (std::size_t r = 0; r < R; ++r) {
            const Pack factor = load(factors + r * a.stride + p * lanes);
            for (std::size_t f = 0; f < F; ++f)
                acc[r][f] = fma(factor, Sum::derivative(c[f], point[r][f]), acc[r][f]);
        }
    }
    for (std::size_t r = 0; r < R; ++r)
        for (std::size_t f = 0; f < F; ++f)
            out.data[(row + r) * out.stride + feature + f] += Sum::factor * sum(acc[r][f]);
}

template <class Sum, std::size_t F, class T>
PARSIMON_INLINE void accumulate_features(const Rows& x, const Stored<T>& centres,
                                         std::size_t feature, const Block& a, const Block& out) {
    constexpr std::size_t row_tile = parts == 1 ? 4 : 2;  // as many as there are registers for
    std::size_t row = 0;
    for (; row + row_tile <= x.count; row += row_tile)
        accumulate_tile<Sum, row_tile, F>(x, row, centres, feature, a, out);
    for (; row < x.count; ++row) accumulate_tile<Sum, 1, F>(x, row, centres, feature, a, out);
}

// A few features at a time, so that those of all centres stay in the first-level cache.
template <class Sum, class T>
void accumulate_all(const Rows& x, const Stored<T>& centres, std::size_t n_features, const Block& a,
                    const Block& out) {
    constexpr std::size_t feature_tile = 2;
    std::size_t f = 0;
    for (; f + feature_tile <= n_features; f += feature_tile)
        accumulate_features<Sum, feature_tile>(x, centres, f, a, out);
    for (; f < n_features; ++f) accumulate_features<Sum, 1>(x, centres, f, a, out);
}

template <class Sum>
void accumulate(const Rows& x, const Panels& centres, std::size_t n_features, const Block& a,
                const Block& out) {
    if (centres.singles)
        accumulate_all<Sum>(x, Stored<float>{centres.singles, centres.count, centres.n_features},
                            n_features, a, out);
    else
        accumulate_all<Sum>(x, Stored<double>{centres.doubles, centres.count, centres.n_features},
                            n_features, a, out);
}

}  // namespace
}  // namespace parsimon::simd::PARSIMON_ISA
