// A symmetric matrix M = T + T', with T lower triangular, stored by rows as in factor.hpp. A
// product with M is one pass over T, half the numbers of M.
//
// CONVENTION, as for TriangularFactor: vectors passed in have room for whole panels, with finite
// numbers there. Capacity changes only in `reserve`. Nothing else allocates.
//
// Rows and columns can also be removed lazily (`forget`). Row i is then at place places_[i] of
// `used_` places. `tidy` moves all rows to their own places, in one pass.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "buffer.hpp"
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
        places_.resize(capacity);
    }
    std::size_t nbytes() const {
        return rows_.capacity() * sizeof(double) + places_.capacity() * sizeof(std::size_t);
    }

    // Appends a row and column: values (size,), or zeros if null, then the diagonal entry.
    void append(const double* values, double diagonal) {
        if (used_ == places_.size()) tidy();
        double* last = rows_.data() + simd::row_start(used_);
        std::fill(last, last + simd::padded(used_ + 1), 0.0);
        for (std::size_t j = 0; values && j < size_; ++j) last[places_[j]] = values[j];
        last[used_] = 0.5 * diagonal;
        places_[size_++] = used_++;
    }
    // Row i, (size,).
    void row(std::size_t i, double* out) const {
        const std::size_t place = places_[i];
        const double* own = rows_.data() + simd::row_start(place);
        for (std::size_t j = 0; j < i; ++j) out[j] = own[places_[j]];
        out[i] = 2.0 * own[place];
        for (std::size_t j = i + 1; j < size_; ++j)
            out[j] = rows_[simd::row_start(places_[j]) + place];
    }
    // Removes row and column j, but leaves their places empty until `tidy`. Until then, only
    // `append`, `row` and `forget` may be called.
    void forget(std::size_t j) {
        std::copy(places_.begin() + static_cast<std::ptrdiff_t>(j) + 1,
                  places_.begin() + static_cast<std::ptrdiff_t>(size_),
                  places_.begin() + static_cast<std::ptrdiff_t>(j));
        --size_;
    }
    void tidy() {
        for (std::size_t i = 0; used_ > size_ && i < size_; ++i) {
            const double* from = rows_.data() + simd::row_start(places_[i]);
            double* to = rows_.data() + simd::row_start(i);
            for (std::size_t j = 0; j <= i; ++j) to[j] = from[places_[j]];
            std::fill(to + i + 1, to + simd::padded(i + 1), 0.0);
        }
        used_ = size_;
        std::iota(places_.begin(), places_.end(), std::size_t{0});
    }
    // Removes row and column j.
    void remove(std::size_t j) {
        for (std::size_t i = j + 1; i < size_; ++i) {
            const double* from = rows_.data() + simd::row_start(i);
            double* to = rows_.data() + simd::row_start(i - 1);
            std::copy_n(from, j, to);
            std::copy(from + j + 1, from + i + 1, to + j);
        }
        used_ = --size_;
    }
    // Writes or reads a matrix of `size` rows (state.hpp). Reading requires capacity for them.
    void visit(StateVisitor visitor, std::size_t size) {
        visitor.version(0);
        tidy();
        visitor.pieces("rows", size, [this](std::size_t i) {
            return std::pair(rows_.data() + simd::row_start(i), i + 1);
        });
        used_ = size_ = size;
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
    // The same for many vectors, in less time. The result differs by rounding. Only y needs room
    // for whole panels.
    void multiply_many(const double* x, std::size_t x_stride, std::size_t count, double* y,
                       std::size_t y_stride) const {
        simd::loops().symmetric_products(rows_.data(), size_, x, x_stride, count, y, y_stride);
    }

private:
    std::size_t size_ = 0, used_ = 0;
    Buffer<double> rows_;
    std::vector<std::size_t> places_;
};

}  // namespace parsimon
