// Kernel rows of kernels of the squared distance, by inner products:
//
//     ||x - c||^2 = ||x||^2 + ||c||^2 - 2 x'c.
//
// A product takes one operation per feature where a difference takes two. But where x and c nearly
// coincide, the subtraction cancels digits. So each value is tested, and summed from differences
// where the test fails. The test depends only on x and c, as the value does.
//
// With n features, u = 2^-53 and s = ||x||^2 + ||c||^2, the rounding error of the sum is at most
// (1.125 n + 8) u s: the inner product contributes n u s, because 2 |x'c| <= s, and the two norms,
// which are summed in 16 lanes, at most n u s / 8. A relative change of k(x, c) is at most the
// `steepness` of the kernel times the change of the sum.
//
// Predictions can also use products in single precision (single_products.hpp). Their error is
// larger, so they have limits of their own. Included only by loops.cpp, once per instruction set.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "simd/kernel_rows.hpp"
#include "simd/loops.hpp"
#include "simd/pack.hpp"
#include "simd/shapes.hpp"
#include "simd/single_products.hpp"
#include "simd/sweeps.hpp"
#include "simd/vectors.hpp"

namespace parsimon::simd::PARSIMON_ISA {
namespace {

template <class Kernel, std::size_t... I>
double steepness_of(const Shape& shape, std::index_sequence<I...>) {
    return Kernel::steepness(shape.parameters[I]...);
}
template <class Kernel>
double steepness_of(const Shape& shape) {
    return steepness_of<Kernel>(shape, std::make_index_sequence<n_parameters<Kernel>>{});
}

// Whether products are accurate enough, for a kernel of this steepness.
struct Accuracy {
    double steepness;
    double error;  // of a kernel value, relative, in units of s
    double most;   // the largest error that is allowed
    // Below this steepness times distance, 1 - k(x, c) would lose digits. Differences are used.
    double least;

    // The largest error is small beside the floor below which a sample counts as dependent on the
    // centres (dictionary.hpp).
    static Accuracy of_doubles(double steepness, std::size_t n) {
        const double factor = 1.125 * static_cast<double>(n) + 8.0;
        return {steepness, steepness * factor * 0x1p-53, 0x1p-38, 0x1p-18};
    }
    // For products in single precision, where the norms add nothing that counts. The second bound
    // on the error excludes points of norms above 2^60, because sums of them could overflow.
    static Accuracy of_singles(double steepness) {
        constexpr double most = 0x1p-13, factor = SingleSums::span + 8;
        const double error = steepness * factor * 0x1p-24;
        return {steepness, std::max(error, most * 0x1p-120), most, 0x1p-8};
    }

    bool enough(double s, double square) const {
        return error * s <= most && steepness * square >= least;
    }
    // The number of lanes, by lane, that are not accurate enough.
    PARSIMON_INLINE Pack failures(const Pack& s, const Pack& square) const {
        const Part zero = one::broadcast(0.0), unit = one::broadcast(1.0);
        const Part above = one::broadcast(most), below = one::broadcast(least);
        const Part by_size = one::broadcast(error), by_square = one::broadcast(steepness);
        Pack r;
        for (std::size_t p = 0; p < parts; ++p) {
            const Part near = by_square * square.v[p] >= below ? zero : unit;
            r.v[p] = by_size * s.v[p] <= above ? near : unit;
        }
        return r;
    }
};

// Sums of products in double precision, with centres stored as T.
template <class T>
struct DoubleSums {
    static constexpr std::size_t span = 128;
    static constexpr std::size_t wide = parts == 1 ? 8 : 4, panel_tile = parts == 1 ? 3 : 1;

    // Features that are not zero in all rows of a tile. Zeros add nothing to a product, so that
    // rows with many of them take less time.
    struct Features {
        std::uint32_t at[span];
        std::size_t count = 0;

        void find(const Rows& x, std::size_t row, std::size_t n_rows, std::size_t first,
                  std::size_t last) {
            count = 0;
            const auto note = [this](std::size_t f, bool some) {
                at[count] = static_cast<std::uint32_t>(f);
                count += some;
            };
            const double* start = x.data + row * x.stride;
            std::size_t f = first;
            for (; f + lanes <= last; f += lanes) {
                Pack sizes = absolute(load(start + f));
                for (std::size_t r = 1; r < n_rows; ++r)
                    sizes = sizes + absolute(load(start + r * x.stride + f));
                double found[lanes];
                store(found, sizes);
                for (std::size_t l = 0; l < lanes; ++l) note(f + l, found[l] != 0.0);
            }
            for (; f < last; ++f) {
                bool some = false;
                for (std::size_t r = 0; r < n_rows; ++r) some |= start[r * x.stride + f] != 0.0;
                note(f, some);
            }
        }
    };

    // Adds the products of R rows and Q panels over a span to `out`, or begins there.
    template <std::size_t R, std::size_t Q>
    static PARSIMON_INLINE void add(const Rows& x, std::size_t row, const Stored<T>& centres,
                                    std::size_t panel, std::size_t first, const Features& features,
                                    const Block& out) {
        const double* point[R];
        const T* centre = centres.data + panel * centres.depth * lanes;
        const std::size_t apart = centres.depth * lanes;
        PARSIMON_UNROLL
        for (std::size_t r = 0; r < R; ++r) point[r] = x.data + (row + r) * x.stride;
        double* place = out.data + row * out.stride + panel * lanes;
        Pack acc[R][Q];
        PARSIMON_UNROLL
        for (std::size_t r = 0; r < R; ++r) PARSIMON_UNROLL
        for (std::size_t q = 0; q < Q; ++q)
            acc[r][q] = first == 0 ? broadcast(0.0) : load(place + r * out.stride + q * lanes);
        for (std::size_t i = 0; i < features.count; ++i) {
            const std::size_t f = features.at[i];
            Pack c[Q];
            PARSIMON_UNROLL
            for (std::size_t q = 0; q < Q; ++q) c[q] = load(centre + q * apart + f * lanes);
            PARSIMON_UNROLL
            for (std::size_t r = 0; r < R; ++r) {
                const Part v = one::broadcast(point[r][f]);
                PARSIMON_UNROLL
                for (std::size_t q = 0; q < Q; ++q) acc[r][q] = fma(v, c[q], acc[r][q]);
            }
        }
        PARSIMON_UNROLL
        for (std::size_t r = 0; r < R; ++r) PARSIMON_UNROLL
        for (std::size_t q = 0; q < Q; ++q) store(place + r * out.stride + q * lanes, acc[r][q]);
    }
};

// Products of up to `row_block` rows from `row` on with all panels. Rows are taken in tiles, so
// that all sums of a tile are in registers. The features of a span and a few panels stay in the
// first-level cache.
template <class Sums, class T>
void products(const Rows& x, std::size_t row, std::size_t end, const Stored<T>& centres,
              std::size_t n_features, const Block& out) {
    constexpr std::size_t wide = Sums::wide, panel_tile = Sums::panel_tile;
    constexpr std::size_t most_tiles = row_block / wide + 4;
    struct RowTile {
        std::size_t row, rows;
        typename Sums::Features features;
    } tiles[most_tiles];
    std::size_t n_tiles = 0;
    for (std::size_t r = row; r < end; ++n_tiles) {
        const std::size_t rows = end - r >= wide ? wide : end - r >= 4 ? 4 : 1;
        tiles[n_tiles].row = r;
        tiles[n_tiles].rows = rows;
        r += rows;
    }
    for (std::size_t f = 0; f < n_features; f += Sums::span) {
        const std::size_t last = f + Sums::span < n_features ? f + Sums::span : n_features;
        for (std::size_t t = 0; t < n_tiles; ++t)
            tiles[t].features.find(x, tiles[t].row, tiles[t].rows, f, last);
        const auto at = [&]<std::size_t Q>(std::size_t panel) {
            for (std::size_t t = 0; t < n_tiles; ++t) {
                const RowTile& now = tiles[t];
                if (now.rows == wide)
                    Sums::template add<wide, Q>(x, now.row, centres, panel, f, now.features, out);
                else if (now.rows == 4)
                    Sums::template add<4, Q>(x, now.row, centres, panel, f, now.features, out);
                else
                    Sums::template add<1, Q>(x, now.row, centres, panel, f, now.features, out);
            }
        };
        std::size_t panel = 0;
        for (; panel + panel_tile <= centres.count; panel += panel_tile)
            at.template operator()<panel_tile>(panel);
        for (; panel < centres.count; ++panel) at.template operator()<1>(panel);
    }
}

// Squared distances in `out` from the products there, and from differences where these are needed.
template <class T>
void distances(const Rows& x, std::size_t row, double norm, const Stored<T>& centres,
               const double* norms, std::size_t n_features, const Accuracy& accuracy,
               const Block& out) {
    constexpr std::size_t together = 8;  // panels that are tested together
    double* line = out.data + row * out.stride;
    for (std::size_t p = 0; p < centres.count; p += together) {
        const std::size_t end = std::min(p + together, centres.count);
        Pack failed = broadcast(0.0);
        for (std::size_t q = p; q < end; ++q) {
            const Pack s = broadcast(norm) + load(norms + q * lanes);
            const Pack square = fma(one::broadcast(-2.0), load(line + q * lanes), s);
            failed = failed + accuracy.failures(s, square);
            store(line + q * lanes, square);
        }
        if (sum(failed) == 0.0) continue;
        for (std::size_t q = p; q < end; ++q) {
            double* squares = line + q * lanes;
            const Pack s = broadcast(norm) + load(norms + q * lanes);
            if (sum(accuracy.failures(s, load(squares))) == 0.0) continue;
            double exact[lanes];
            const Stored<T> panel{centres.data + q * centres.depth * lanes, 1, centres.depth};
            tile<Plain<SquaredDistance>, 1, 1>({x.data + row * x.stride, 1, x.stride}, 0, panel, 0,
                                               {0, n_features, n_features}, {}, {exact, lanes});
            for (std::size_t l = 0; l < lanes; ++l)
                if (!accuracy.enough(norm + norms[q * lanes + l], squares[l]))
                    squares[l] = exact[l];
        }
    }
}

// out[r, j] = k(x_r, c_j), by products where they are accurate.
template <class Kernel, class Sums, class T>
void sweep_products(const Rows& x, const Stored<T>& centres, const double* norms,
                    std::size_t n_features, const Shape& shape, const Accuracy& accuracy,
                    const Block& out) {
    Pack least = broadcast(HUGE_VAL);
    for (std::size_t p = 0; p < centres.count; ++p) least = minimum(load(norms + p * lanes), least);
    double squares[row_block];
    for (std::size_t row = 0; row < x.count; row += row_block) {
        const std::size_t end = std::min(row + row_block, x.count);
        double smallest = HUGE_VAL;
        for (std::size_t r = row; r < end; ++r) {
            squares[r - row] = dot(x.data + r * x.stride, x.data + r * x.stride, n_features);
            smallest = std::min(smallest, squares[r - row]);
        }
        // If all values need differences, products are not computed in vain.
        if (accuracy.error * (smallest + lowest(least)) > accuracy.most) {
            sweep<Kernel>({x.data + row * x.stride, end - row, x.stride}, centres, n_features,
                          shape, {out.data + row * out.stride, out.stride});
            continue;
        }
        products<Sums>(x, row, end, centres, n_features, out);
        for (std::size_t r = row; r < end; ++r) {
            distances(x, r, squares[r - row], centres, norms, n_features, accuracy, out);
            for (std::size_t p = 0; p < centres.count; ++p) {
                double* place = out.data + r * out.stride + p * lanes;
                store(place, value_of<Kernel>(load(place), shape));
            }
        }
    }
}

// out[r, j] = k(x_r, c_j) for one kernel and centres stored as T. Products are used with many
// features, if the norms of the centres are known. They are in single precision if `coarse`. Very
// steep kernels are excluded, because of the numbers that a float is too small for.
template <class Kernel, class T>
void evaluate_stored(const Rows& x, const Stored<T>& centres, const double* norms, bool coarse,
                     std::size_t n_features, const Shape& shape, const Block& out) {
    if constexpr (requires { &Kernel::steepness; })
        if (n_features >= least_for_products && norms) {
            const double steepness = steepness_of<Kernel>(shape);
            if constexpr (sizeof(T) == sizeof(float))
                if (coarse && steepness <= 0x1p90)
                    return sweep_products<Kernel, SingleSums>(x, centres, norms, n_features, shape,
                                                              Accuracy::of_singles(steepness), out);
            return sweep_products<Kernel, DoubleSums<T>>(
                x, centres, norms, n_features, shape, Accuracy::of_doubles(steepness, n_features),
                out);
        }
    sweep<Kernel>(x, centres, n_features, shape, out);
}

// The same with centres in single or double precision.
template <class Kernel>
void evaluate(const Rows& x, const Panels& centres, std::size_t n_features, const Shape& shape,
              const Block& out) {
    const auto with = [&]<class T>(const T* data) {
        evaluate_stored<Kernel>(x, Stored<T>{data, centres.count, centres.n_features},
                                centres.norms, centres.coarse, n_features, shape, out);
    };
    if (centres.singles)
        with(centres.singles);
    else
        with(centres.doubles);
}

}  // namespace
}  // namespace parsimon::simd::PARSIMON_ISA
