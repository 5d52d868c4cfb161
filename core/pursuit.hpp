// Destructive matching pursuit: repeatedly projects out the cheapest centre. It works on columns of
// P, the inverse of the Gram matrix.
//
// After centre j is projected out, the weights are w - P_j w_j / P_jj, where P_j is column j of P.
// The inverse becomes P - P_j P_j' / P_jj. P itself is not changed: `correct` applies earlier
// removals to a column when it is needed.
//
// CONVENTION
// - `diagonal` is the diagonal of P after the removals. It is 0 for removed centres, so that their
//   cost is not finite.
// - Columns of removed centres must stay in memory until the pursuit ends.
// - Costs are squared RKHS norms of the changes of f. They add up, because nested projections are
//   orthogonal.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "simd/loops.hpp"

namespace parsimon {

// One pursuit over m centres. It changes the caller's weights, `diagonal` and `squares` in place.
class Pursuit {
public:
    static constexpr std::size_t most = 128;  // largest number of removals
    // The weights of all outputs.
    struct Weights {
        double* data;  // output c of centre j at c * stride + j
        std::size_t n_outputs, stride;
    };

    // `diagonal` (m,) is the diagonal of P, and squares_j (m,) = ||w_j||^2, summed over the
    // outputs.
    Pursuit(std::size_t m, Weights weights, double* diagonal, double* squares)
        : m_(m), weights_(weights), diagonal_(diagonal), squares_(squares) {}

    // The squared RKHS norm by which f changes if centre j is projected out.
    double cost(std::size_t j) const { return squares_[j] / diagonal_[j]; }
    // The first centre with the least cost, or m if no cost is finite.
    std::size_t cheapest() const { return simd::loops().least_ratio(squares_, diagonal_, m_); }

    // Replaces column j of the original P (m,) by column j after the removals so far.
    void correct(double* column, std::size_t j) const {
        double factors[most];
        for (std::size_t r = 0; r < count_; ++r)
            factors[r] = columns_[r][j] / columns_[r][removed_[r]];
        simd::loops().subtract_multiples(column, columns_.data(), factors, count_, m_);
        for (std::size_t r = 0; r < count_; ++r) column[removed_[r]] = 0.0;
    }
    // Whether enough digits are left if centre j is removed. `column` is its corrected column. No
    // entry of the new diagonal may be below `share` times its entry in `before`.
    bool keeps_digits(const double* column, std::size_t j, const double* before,
                      double share) const {
        const double pivot = 1.0 / column[j];
        const auto keep = [&](std::size_t first, std::size_t last) {
            return simd::loops().keeps_share(diagonal_ + first, column + first, pivot,
                                             before + first, share, last - first);
        };
        return column[j] > share * before[j] && keep(0, j) && keep(j + 1, m_);
    }
    // Projects out centre j, given its corrected column. Returns the cost.
    double project_out(std::size_t j, const double* column) {
        const double pivot = 1.0 / column[j], paid = squares_[j] * pivot;
        constexpr std::size_t piece = 64;  // outputs per pass
        double factors[piece];
        simd::loops().take_squares(pivot, column, diagonal_, m_);
        std::fill_n(squares_, m_, 0.0);
        for (std::size_t first = 0; first < weights_.n_outputs; first += piece) {
            const std::size_t n = std::min(piece, weights_.n_outputs - first);
            double* W = weights_.data + first * weights_.stride;
            for (std::size_t c = 0; c < n; ++c) factors[c] = W[c * weights_.stride + j] / column[j];
            simd::loops().eliminate(column, factors, n, weights_.stride, W, squares_, m_);
            for (std::size_t c = 0; c < n; ++c) W[c * weights_.stride + j] = 0.0;
        }
        diagonal_[j] = squares_[j] = 0.0;
        columns_[count_] = column;
        removed_[count_++] = j;
        return paid;
    }
    // The number of removals, and the removed centres in order.
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
