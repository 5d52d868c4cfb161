// A symmetric matrix M = T + T', with T lower triangular, by rows as in factor.hpp: one sweep over
// half the numbers is a product.
//
// CONVENTION: as for TriangularFactor. Vectors handed in have room for whole panels and finite
// numbers there; capacity changes only in `reserve`, and nothing else allocates.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "simd/loops.hpp"
#include "sizes.hpp"
#include "state.hpp"

namespace parsimon {

class SymmetricMatrix {
public:
    std::size_t size() const { return size_; }
    void reserve(std::size_t capacity) {
        numbers(capacity, capacity + simd::panel_width);  // more than the rows take
        rows_.resize(simd::row_start(capacity));
    }
    std::size_t nbytes() const { return rows_.capacity() * sizeof(double); }

    // New last row and column: values (size,), zeros if null, then the diagonal entry.
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
    // Row and column j leave.
    void remove(std::size_t j) {
        for (std::size_t i = j + 1; i < size_; ++i) {
            const double* from = rows_.data() + simd::row_start(i);
            double* to = rows_.data() + simd::row_start(i - 1);
            std::copy_n(from, j, to);
            std::copy(from + j + 1, from + i + 1, to + j);
        }
        --size_;
    }
    // Of `size` rows, for which there is room.
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
    // y = M x for `count` vectors, one after every `stride` numbers.
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
