// Several vectors, columns or removals in one pass over the factor.
#include <algorithm>
#include <cmath>

#include "factor.hpp"
#include "factor_groups.hpp"
#include "simd/loops.hpp"

namespace parsimon {
using groups::in_groups, groups::copy_entries, groups::most, groups::width;

void TriangularFactor::multiply(const Vectors& vectors, double* squares, double* across,
                                double* sums) const {
    // Not structured bindings, which lambdas cannot capture everywhere
    const double* const* h = vectors.h;
    const std::size_t count = vectors.count;
    double *const *t = vectors.t, *const *a = vectors.a;
    const std::size_t padded = simd::padded(count);
    const simd::Tiles tiles{sums, count};
    std::fill_n(sums, simd::padded(size_) * count, 0.0);
    std::fill_n(squares, count, 0.0);
    simd::loops().lay_across(h, count, 0, size_, across);
    double found[simd::most_rows * most];
    in_groups(0, size_, [&](std::size_t i, std::size_t rows) {
        groups::multiply_rows(*this, i, rows, across, padded, found);
        simd::loops().add_rows(row(i), rows, simd::padded(i + 1), found, tiles, count, 0,
                               simd::padded(i + rows));
        simd::loops().lay_along(found, rows, count, t, i);
        for (std::size_t r = 0; r < rows; ++r)
            for (std::size_t k = 0; k < count; ++k)
                squares[k] += found[r * most + k] * found[r * most + k];
    });
    for (std::size_t k = 0; k < count; ++k) copy_vector(tiles, k, a[k]);
}

void TriangularFactor::copy_vector(const simd::Tiles& tiles, std::size_t k, double* out) const {
    for (std::size_t i = 0; i < size_; i += width)
        std::copy_n(tiles.data + i * tiles.count + k * width, width, out + i);
}

simd::Tiles TriangularFactor::columns(const std::size_t* js, std::size_t count, double* out) const {
    const simd::Tiles tiles{out, count};
    std::fill_n(out, simd::padded(size_) * count, 0.0);
    double entries[simd::most_rows * most];
    std::size_t used = 0;
    in_groups(js[0], size_, [&](std::size_t i, std::size_t rows) {
        while (used < count && js[used] < i + rows) ++used;
        copy_entries(*this, i, rows, js, used, entries);
        simd::loops().add_rows(row(i), rows, simd::padded(i + 1), entries, tiles, used, 0,
                               simd::padded(i + rows));
    });
    return tiles;
}

void TriangularFactor::remove(const std::size_t* js, std::size_t count, double* work) {
    if (count == 1) return remove(js[0]);
    // As for one coordinate, but all carries rotate a group of rows while the group is in the
    // cache. Rotations without square roots need half the operations. The factors of all rotations
    // of the group follow from its columns js alone.
    const auto& loops = simd::loops();
    const simd::Tiles carries{work, count};
    std::fill_n(work, simd::padded(size_) * count, 0.0);
    const simd::Gaps gaps(js, count);
    simd::Pivots pivots;
    constexpr std::size_t most_rows = simd::most_rows;
    double entries[most_rows * most], a[most_rows * most], b[most_rows * most], scale[most_rows];
    std::size_t used = 0, gone = 0;
    in_groups(js[0], size_, [&](std::size_t i, std::size_t rows) {
        while (used < count && js[used] < i + rows) ++used;
        copy_entries(*this, i, rows, js, used, entries);
        loops.plan_turns(pivots, entries, rows, used, a, b, scale);
        loops.turn_rows(row(i), rows, simd::padded(i + 1), a, b, carries, used, 0,
                        simd::padded(i + rows));
        for (std::size_t r = 0; r < rows; ++r) {
            if (gone < count && js[gone] == i + r) {
                ++gone;
                continue;
            }
            // To its new place, without the removed columns
            const std::size_t place = i + r - gone;
            double* out = row(place);
            loops.scale_without(scale[r], row(i + r), gaps, out, simd::padded(i + r + 1));
            std::fill(out + place + 1, out + simd::padded(place + 1), 0.0);
        }
    });
    take_from_diagonal(js, count, carries, pivots);
}

void TriangularFactor::take_from_diagonal(const std::size_t* js, std::size_t count,
                                          const simd::Tiles& carries, const simd::Pivots& pivots) {
    bool cancelled = false;
    std::size_t left = 0;
    for (std::size_t i = 0; i < size_; i += width) {
        double lost[width] = {};
        for (std::size_t c = 0; c < count; ++c) {
            const double* g = carries.data + i * count + c * width;
            for (std::size_t l = 0; l < width; ++l) lost[l] += g[l] * g[l] * pivots.inverse[c];
        }
        for (std::size_t l = 0; l < std::min(width, size_ - i); ++l) {
            if (left < count && js[left] == i + l) {
                ++left;
                continue;
            }
            const std::size_t k = i + l - left;
            diagonal_[k] = diagonal_[i + l] - lost[l];
            summed_[k] = summed_[i + l];
            cancelled |= lacks_digits(k);
        }
    }
    size_ -= count;
    if (cancelled) sum_cancelled();
}

}  // namespace parsimon
