#include "factor.hpp"

#include <algorithm>
#include <cmath>

#include "simd/loops.hpp"

namespace parsimon {

void TriangularFactor::reserve(std::size_t capacity) {
    rows_.resize(simd::row_start(capacity));
    carry_.resize(simd::padded(capacity));
}

void TriangularFactor::append(double scale, const double* values, double diagonal) {
    double* last = row(size_);
    for (std::size_t i = 0; i < size_; ++i) last[i] = scale * values[i];
    last[size_] = diagonal;
    std::fill(last + size_ + 1, last + simd::padded(size_ + 1), 0.0);
    ++size_;
}

double TriangularFactor::multiply(std::size_t first, std::size_t last, const double* h, double* t, double* a) const {
    return simd::loops().project(rows_.data(), first, last, h, t, a);
}

double TriangularFactor::absorb(const double* a, double noise, double scale, double* k) {
    std::fill_n(k, simd::padded(size_), 0.0);
    return simd::loops().absorb(rows_.data(), size_, a, noise, scale, k);
}

void TriangularFactor::add_to_leading(std::size_t n, double* v) {
    // Rotated into the rows from the diagonal of the last backwards: above <- c above + s v, v <- c v - s above.
    for (std::size_t i = n; i-- > 0;) {
        double* above = row(i);
        const double radius = std::sqrt(above[i] * above[i] + v[i] * v[i]);
        if (radius == 0.0) continue;
        simd::loops().rotate(above[i] / radius, v[i] / radius, v, above, v, i);
        above[i] = radius;
    }
}

void TriangularFactor::condition_out(std::size_t j) {
    const auto& loops = simd::loops();
    std::copy_n(row(j), j + 1, carry_.begin());
    for (std::size_t i = j + 1; i < size_; ++i) {
        const double* next = row(i);
        double* kept = row(i - 1);  // ends where `next` begins
        const double pivot = carry_[j], entry = next[j];
        const double radius = std::sqrt(pivot * pivot + entry * entry), c = pivot / radius, s = entry / radius;
        carry_[i] = 0.0;
        loops.rotate(c, s, next, carry_.data(), kept, j);
        carry_[j] = radius;
        loops.rotate(c, s, next + j + 1, carry_.data() + j + 1, kept + j, i - j);
    }
    --size_;
}

void TriangularFactor::leave_out(std::size_t j) {
    // Without column j, rows j + 1.. are rows j.. of a triangle; what is left of row j is rotated into the rows above, from the diagonal
    // backwards.
    std::copy_n(row(j), j, carry_.begin());
    for (std::size_t i = j + 1; i < size_; ++i) {
        const double* next = row(i);
        double* kept = row(i - 1);
        std::copy_n(next, j, kept);
        std::copy_n(next + j + 1, i - j, kept + j);
    }
    --size_;
    add_to_leading(j, carry_.data());
}

double TriangularFactor::squared_norm(const double* v) const {
    double total = 0.0;
    for (std::size_t i = 0; i < size_; ++i) {
        const double t = simd::loops().dot(row(i), v, i + 1);
        total += t * t;
    }
    return total;
}

void TriangularFactor::diagonal(double* out) const {
    std::fill_n(out, simd::padded(size_), 0.0);
    simd::loops().column_squares(rows_.data(), size_, out);
}

double TriangularFactor::diagonal(std::size_t k) const {
    double total = 0.0;
    for (std::size_t i = k; i < size_; ++i) total += row(i)[k] * row(i)[k];
    return total;
}

void TriangularFactor::save_tail(std::size_t j, double* out) const { std::copy_n(row(j), tail(j), out); }

void TriangularFactor::restore_tail(std::size_t j, const double* saved, std::size_t size) {
    size_ = size;
    std::copy_n(saved, tail(j), row(j));
}

}  // namespace parsimon
