// Groups of rows of a factor, for the operations on several vectors at once.
#pragma once

#include <algorithm>
#include <cstddef>

#include "factor.hpp"
#include "simd/loops.hpp"

namespace parsimon::groups {

constexpr std::size_t width = simd::panel_width, most = simd::most_vectors;

// Calls work(i, rows) for groups of up to `most_rows` rows, from the panel of row `first` on.
template <class Work>
void in_groups(std::size_t first, std::size_t size, Work&& work) {
    for (std::size_t i = first / width * width; i < size; i += simd::most_rows)
        work(i, std::min(simd::most_rows, size - i));
}

// Copies columns js[0..used-1] of `rows` rows from row i on. A column after the end of a row is 0.
inline void copy_entries(const TriangularFactor& factor, std::size_t i, std::size_t rows,
                         const std::size_t* js, std::size_t used, double* entries) {
    for (std::size_t r = 0; r < rows; ++r) {
        const double* row = factor.row(i + r);
        double* line = entries + r * most;
        for (std::size_t k = 0; k < used; ++k) line[k] = js[k] <= i + r ? row[js[k]] : 0.0;
        std::fill(line + used, line + simd::padded(used), 0.0);
    }
}

// The products of a group of rows with the vectors in `across`, in rows of `most` numbers.
inline void multiply_rows(const TriangularFactor& factor, std::size_t i, std::size_t rows,
                          const double* across, std::size_t padded, double* found) {
    for (std::size_t r = 0; r < rows; r += width) {
        const std::size_t end = std::min(r + width, rows);
        simd::loops().multiply_rows(factor.row(i + r), end - r, simd::padded(i + r + 1), i + end,
                                    across, padded, found + r * most);
    }
}

}  // namespace parsimon::groups
