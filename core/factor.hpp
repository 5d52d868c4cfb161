// A positive definite matrix P held as P = R'R, with R lower triangular with positive diagonal, by
// rows.
//
// The dictionary's inverse Gram matrix and the covariance of recursive least squares are both such
// matrices. Held as R they cannot lose symmetry or definiteness to rounding, which the explicit
// matrix does.
//
// CONVENTION
// - Row i has i + 1 entries and then zeros to whole panels (simd/loops.hpp); R is the unique such
// factor, in the order of the centres.
// - Vectors handed in have room for whole panels and finite numbers there, whatever they are.
// - The diagonal of P is kept at hand. Where a subtraction takes most of an entry's digits, that
// entry is summed anew.
// - Capacity changes only in `reserve`; nothing else allocates.
#pragma once

#include <cstddef>
#include <vector>

#include "simd/loops.hpp"
#include "state.hpp"

namespace parsimon {

class TriangularFactor {
public:
    std::size_t size() const { return size_; }
    void reserve(std::size_t capacity);
    std::size_t nbytes() const;
    double* row(std::size_t i) { return rows_.data() + simd::row_start(i); }
    const double* row(std::size_t i) const { return rows_.data() + simd::row_start(i); }
    // P_kk for all k.
    const double* diagonal() const { return diagonal_.data(); }
    void sum_diagonal();  // anew, from the columns

    // New last row: scale * values (size,), then the diagonal entry.
    void append(double scale, const double* values, double diagonal);

    // t_i = R_i h and a = sum_i t_i R_i for rows first..last-1; returns their sum of t_i^2. From
    // the first row on: a = P h, the sum h'P h.
    double multiply(std::size_t first, std::size_t last, const double* h, double* t,
                    double* a) const;

    // Columns js of P, each (size,) at its place in `out`. One sweep; at most `most_at_once`. `t`:
    // room for as many columns.
    void columns(const std::size_t* js, std::size_t count, std::size_t stride, double* t,
                 double* out) const;

    // P <- scale^2 P, then P <- P - P a a'P / (noise + a'P a): what an observation a'v + e tells of
    // v (e of variance `noise`, 0 allowed). Leaves P a in k, (size,), with P as scaled, and returns
    // noise + a'P a. One sweep, Carlson's form.
    double absorb(const double* a, double noise, double scale, double* k);

    // Removes coordinate j by conditioning: P_(-j,-j) - P_(-j,j) P_(j,-j) / P_jj. Leaves column j
    // of the old P divided by sqrt(P_jj) in `carry` (size,).
    void remove(std::size_t j) { remove(&j, 1); }
    // Removes several, rising, in one sweep. At most `most_at_once`.
    void remove(const std::size_t* js, std::size_t count);
    static constexpr std::size_t most_at_once = 8;
    const double* carry() const { return carry_.data(); }

    // v'P v
    double squared_norm(const double* v) const;

    // P <- scale^2 P
    void scale(double scale);

    // For undoing remove(j): what it changes, `tail(j)` numbers.
    std::size_t tail(std::size_t j) const {
        return simd::row_start(size_) - simd::row_start(j) + 2 * size_;
    }
    void save_tail(std::size_t j, double* out) const;
    void restore_tail(std::size_t j, const double* saved, std::size_t size);

    // Of `size` coordinates, for which there is room.
    void visit(StateVisitor visitor, std::size_t size);
    void require_sound() const;

private:
    // Turns `rows` rows from i on, with the carry, into where they belong once the columns js
    // (`gone` of them, all < i) have left.
    void turn_up(simd::Turn* turns, std::size_t i, std::size_t rows, const std::size_t* js,
                 std::size_t gone, double* carry);
    void lower_diagonal(std::size_t k, double amount);
    double column_square(std::size_t k) const;

    std::size_t size_ = 0;
    std::vector<double> rows_, carry_;
    std::vector<double> diagonal_,
        summed_;  // P_kk, and the largest it has been since it was last summed
};

}  // namespace parsimon
