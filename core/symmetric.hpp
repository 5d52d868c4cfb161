// A symmetric matrix M = T + T', with T lower triangular, stored by rows as in factor.hpp. A
// product with M is one pass over T, half the numbers of M.
//
// CONVENTION, as for TriangularFactor: vectors passed in have room for whole panels, with finite
// numbers there. Capacity changes only in `reserve`. Nothing else allocates.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "simd/loops.hpp"
#include "sizes.hpp"
#include "state.hpp"

namespace parsimon {

// The matrix M (size, size).
class SymmetricMatrix {
public:
    std::size_t size() const { return size_; }
    void reserve(std::size_t capacity) {
        numbers(capacity, capacity + simd::panel_width);  // throws if the size overflows
        rows_.resize(simd::row_start(capacity));
    }
    std::size_t nbytes() const { return rows_.capacity() * sizeof(double); }

    // Appends a row and column: values (size,), or zeros if null, then the diagonal entry.
    void append(const double* values, double diagonal) {
        double* last = rows_.data() + simd::row_start(size_);
        std::fill(last, last + simd::padded(size_ + 1), 0.0);
        if (values) std::copy_n(values, size_, last);
        last[size_++] = 0.5 * diagonal;
    }
    // Row i, (size,).
    void row(std::size_t i, double* out) const {
        const double* own = rows_.data() + simd::row_start(i);
        std::copy_n(own, i, out);
        out[i] = 2.0 * own[i];
        for (std::size_t j = i + 1; j < size_; ++j) out[j] = rows_[simd::row_start(j) + i];
    }
    // Removes row and column j.
    void remove(std::size_t j) {
        for (std::size_t i = j + 1; i < size_; ++i) {
            const double* from = rows_.data() + simd::row_start(i);
            double* to = rows_.data() + simd::row_start(i - 1);
            std::copy_n(from, j, to);
            std::copy(from + j + 1, from + i + 1, to + j);
        }
        --size_;
    }
    // Writes or reads a matrix of `size` rows (state.hpp). Reading requires capacity for them.
    void visit(StateVisitor visitor, std::size_t size) {
        visitor.version(0);
        visitor.pieces("rows", size, [this](std::size_t i) {
            return std::pair(rows_.data() + simd::row_start(i), i + 1);
        });
        size_ = size;
    }
    // M <- M + scale a a'
    void add_outer(double scale, const double* a) {
        simd::loops().add_outer(rows_.data(), size_, scale, a);
    }
    // y = M x for `count` vectors x, `stride` apart.
    void multiply(const double* x, std::size_t count, std::size_t stride, double* y) const {
        for (std::size_t c = 0; c < count; ++c)
            std::fill_n(y + c * stride, simd::padded(size_), 0.0);
        simd::loops().symmetric(rows_.data(), size_, x, count, stride, y);
    }

private:
    std::size_t size_ = 0;
    std::vector<double> rows_;
};

}  // namespace parsimon
