// How points, triangles and vectors are laid out in memory for the inner loops (loops.hpp).
#pragma once

#include <algorithm>
#include <cstddef>

namespace parsimon::simd {

constexpr std::size_t panel_width = 8;  // points in a panel
// If this many rows are evaluated at a time, each centre is read from memory only once for them.
constexpr std::size_t row_block = 64;

// With at least this many features, squared distances are computed from inner products, where that
// is accurate (kernel_products.hpp).
constexpr std::size_t least_for_products = 32;

// n rounded up to whole panels.
constexpr std::size_t padded(std::size_t n) {
    return (n + panel_width - 1) / panel_width * panel_width;
}

// Start of row i in a lower triangle stored by rows. Each row is padded with zeros to whole panels,
// so that eight consecutive rows have the same length.
constexpr std::size_t row_start(std::size_t i) {
    const std::size_t block = i / panel_width;
    return panel_width * panel_width / 2 * block * (block + 1) +
           i % panel_width * panel_width * (block + 1);
}

// Index of number f of point j, for points of `depth` numbers stored in panels of eight.
constexpr std::size_t place(std::size_t j, std::size_t f, std::size_t depth) {
    return (j / panel_width * depth + f) * panel_width + j % panel_width;
}

// Points in panels of eight, padded with zeros. Features are stored in double or in single
// precision. Computations are in double, unless `coarse` allows products of floats. Extra numbers
// of a kernel (kernels.hpp) are always double.
struct Panels {
    const double* doubles = nullptr;  // (count, n_features, 8), or null
    const float* singles = nullptr;   // (count, n_features, 8), or null; one of the two is set
    const double* extras = nullptr;   // (count, n_extras, 8)
    // (count, 8) squared norms of the features, or null: then distances are sums of differences
    const double* norms = nullptr;
    std::size_t count = 0;
    std::size_t n_features = 0;
    std::size_t n_extras = 0;
    std::size_t points = 0;  // number of points; the loops evaluate the other places too
    std::size_t before = 0;  // places of the first panel before the first point
    // Whether inner products of singles may be in single precision (single_products.hpp)
    bool coarse = false;

    // The panels first..last-1.
    Panels part(std::size_t first, std::size_t last) const {
        const auto from = [first](const auto* data, std::size_t depth) {
            return data ? data + first * depth * panel_width : nullptr;
        };
        const std::size_t start = first * panel_width, end = last * panel_width,
                          begin = std::max(before, start);
        Panels result = *this;
        result.doubles = from(doubles, n_features);
        result.singles = from(singles, n_features);
        result.extras = from(extras, n_extras);
        result.norms = from(norms, 1);
        result.count = last - first;
        result.before = begin - start;
        result.points = std::max(begin, std::min(before + points, end)) - begin;
        return result;
    }
    double feature(std::size_t j, std::size_t f) const {
        const std::size_t at = place(j, f, n_features);
        return singles ? singles[at] : doubles[at];
    }
};

// Points in rows.
struct Rows {
    const double* data;  // (count, stride)
    std::size_t count;
    std::size_t stride;
};

// A block of kernel values: out[r * stride + j], j < 8 * panels.count.
struct Block {
    double* data;
    std::size_t stride;
};

// A plane rotation of a row `in` with a vector v: out = c in - s v, then v = s in + c v. v is
// carried on to the next row. `out` may be `in`.
struct Turn {
    double c, s;
    const double* in;
    double* out;
};

// Several vectors over the columns of a matrix, eight columns at a time: column c of vector k is at
// (c / 8 * count + k) * 8 + c % 8. `data` has room for whole panels.
struct Tiles {
    double* data;
    std::size_t count;
};
// The most vectors of one pass, and the distance between the rows of their factors.
constexpr std::size_t most_vectors = 40;
// The most rows of one pass.
constexpr std::size_t most_rows = 32;

// The vectors of `turn_rows` in the columns that they remove, and their entries there.
struct Pivots {
    double at[most_vectors][most_vectors] = {};  // vector k in the column of vector l
    double square[most_vectors] = {};            // sigma_k^2
    double inverse[most_vectors] = {};           // 1 / sigma_k^2, or 0
};

// Numbers that are left out of a vector: up to `most_vectors`, as masks of aligned groups of eight.
struct Gaps {
    Gaps(const std::size_t* places, std::size_t n) {
        for (std::size_t k = 0; k < n; ++k) {
            const std::size_t group = places[k] / panel_width;
            if (count == 0 || groups[count - 1] != group) {
                groups[count] = group;
                kept[count++] = 0xff;
            }
            kept[count - 1] &= static_cast<unsigned char>(~(1u << places[k] % panel_width));
        }
    }
    std::size_t count = 0;
    std::size_t groups[most_vectors];  // ascending
    unsigned char kept[most_vectors];  // bit l says whether number l of the group is kept
};

}  // namespace parsimon::simd
