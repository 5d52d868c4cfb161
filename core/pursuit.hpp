// Destructive matching pursuit over columns of P, the inverse of a Gram matrix: the cheapest centre
// is projected out, again and again.
//
// Without centre j the weights are w - P_j w_j / P_jj, and the inverse is P - P_j P_j' / P_jj. P
// itself stays as it is: what removals have taken from a column is subtracted when it is needed.
//
// CONVENTION
// - `diagonal` is that of P after the removals, 0 for centres that are gone, which so have no cost.
// - Columns of removed centres stay where they are until the pursuit ends.
// - Costs are squared RKHS norms. As nested projections are orthogonal, they add up.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "simd/loops.hpp"
#include "squares.hpp"

namespace parsimon {

class Pursuit {
public:
    static constexpr std::size_t most = 128;  // removals
    struct Weights {
        double* data;  // output c of centre j at c * stride + j
        std::size_t n_outputs, stride;
    };

    // m centres. `squares` has ||w_j||^2, summed over the outputs.
    Pursuit(std::size_t m, Weights weights, double* diagonal, double* squares)
        : m_(m), weights_(weights), diagonal_(diagonal), squares_(squares) {}

    double cost(std::size_t j) const { return squares_[j] / diagonal_[j]; }
    // The first of least cost; m if no cost is a finite number.
    std::size_t cheapest() const {
        std::size_t best = m_;
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t j = 0; j < m_; ++j)
            if (cost(j) < least) {
                least = cost(j);
                best = j;
            }
        return best;
    }

    // Column j of P as it was becomes what it is after the removals, piece by piece.
    void correct(double* column, std::size_t j) const {
        constexpr std::size_t piece = 1024;  // that stays in the cache
        for (std::size_t first = 0; first < m_; first += piece)
            for (std::size_t r = 0; r < count_; ++r)
                simd::loops().axpy(-columns_[r][j] / columns_[r][removed_[r]], columns_[r] + first,
                                   column + first, std::min(piece, m_ - first));
    }
    // Whether the corrected column j has kept its digits, and so would the diagonal without j: no
    // entry falls below that share of what it was `before`.
    bool keeps_digits(const double* column, std::size_t j, const double* before,
                      double share) const {
        const double pivot = 1.0 / column[j];
        bool kept = column[j] > share * before[j];
        for (std::size_t i = 0; i < m_ && kept; ++i)
            kept = i == j || diagonal_[i] == 0.0 ||
                   diagonal_[i] - column[i] * column[i] * pivot > share * before[i];
        return kept;
    }
    // Projects out centre j with its corrected column, and returns the cost.
    double project_out(std::size_t j, const double* column) {
        const double pivot = 1.0 / column[j], paid = squares_[j] * pivot;
        for (std::size_t i = 0; i < m_; ++i) diagonal_[i] -= column[i] * column[i] * pivot;
        for (std::size_t c = 0; c < weights_.n_outputs; ++c) {
            double* w = weights_.data + c * weights_.stride;
            simd::loops().axpy(-w[j] / column[j], column, w, m_);
            w[j] = 0.0;
        }
        sum_squares(weights_.data, weights_.n_outputs, weights_.stride, m_, squares_);
        columns_[count_] = column;
        removed_[count_++] = j;
        for (std::size_t r = 0; r < count_; ++r) diagonal_[removed_[r]] = 0.0;
        return paid;
    }
    std::size_t count() const { return count_; }
    const std::size_t* removed() const { return removed_.data(); }

private:
    std::size_t m_, count_ = 0;
    Weights weights_;
    double *diagonal_, *squares_;
    std::array<const double*, most> columns_;
    std::array<std::size_t, most> removed_;
};

}  // namespace parsimon
