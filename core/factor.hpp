// A positive definite matrix P held as P = R'R, with R lower triangular with positive diagonal, by rows.
//
// The dictionary's inverse Gram matrix and the covariance of recursive least squares are both such matrices. Held as R they cannot lose
// symmetry or definiteness to rounding, which the explicit matrix does.
//
// CONVENTION
// - Row i has i + 1 entries and then zeros to whole panels (simd/loops.hpp); R is the unique such factor, in the order of the centres.
// - Vectors handed in have room for whole panels and finite numbers there, whatever they are.
// - Capacity changes only in `reserve`; nothing else allocates.
#pragma once

#include <cstddef>
#include <vector>

#include "simd/loops.hpp"

namespace parsimon {

class TriangularFactor {
public:
    std::size_t size() const { return size_; }
    void reserve(std::size_t capacity);
    std::size_t nbytes() const { return (rows_.capacity() + carry_.capacity()) * sizeof(double); }
    double* row(std::size_t i) { return rows_.data() + simd::row_start(i); }
    const double* row(std::size_t i) const { return rows_.data() + simd::row_start(i); }
    void clear() { size_ = 0; }

    // New last row: scale * values (size,), then the diagonal entry.
    void append(double scale, const double* values, double diagonal);

    // t_i = R_i h and a = sum_i t_i R_i for rows first..last-1; returns their sum of t_i^2. From the first row on: a = P h, the sum h'P h.
    double multiply(std::size_t first, std::size_t last, const double* h, double* t, double* a) const;

    // P <- scale^2 P, then P <- P - P a a'P / (noise + a'P a): what an observation a'v + e tells of v (e of variance `noise`, 0 allowed).
    // Leaves P a in k, (size,), with P as scaled, and returns noise + a'P a. One sweep, Carlson's form.
    double absorb(const double* a, double noise, double scale, double* k);

    // Removes coordinate j by conditioning: P_(-j,-j) - P_(-j,j) P_(j,-j) / P_jj. Leaves column j of the old P divided by sqrt(P_jj) in
    // `carry` (size,).
    void condition_out(std::size_t j);
    // Removes coordinate j by leaving it out: P_(-j,-j).
    void leave_out(std::size_t j);
    const double* carry() const { return carry_.data(); }

    // v'P v
    double squared_norm(const double* v) const;

    // P_kk for all k: sums of squares of the columns.
    void diagonal(double* out) const;
    double diagonal(std::size_t k) const;

    // For undoing condition_out(j): rows from j on.
    std::size_t tail(std::size_t j) const { return simd::row_start(size_) - simd::row_start(j); }
    void save_tail(std::size_t j, double* out) const;
    void restore_tail(std::size_t j, const double* saved, std::size_t size);

private:
    void add_to_leading(std::size_t n, double* v);  // to the leading part of P, v v' with v (n,); v is used up

    std::size_t size_ = 0;
    std::vector<double> rows_, carry_;
};

}  // namespace parsimon
