// Combining the predictions of several models, called experts, row by row.
//
// CONVENTION
// - Row i is combined with what was learned from the rows before it. Then it is learned. So a block
//   gives the same bits as its rows one by one.
// - Expert e gives a number, or one number per class, for each row. NaN means that the expert
//   sleeps. A sleeping expert counts as the mean of the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace parsimon {

// Solves (A + ridge I) x = b with A (size, size) symmetric and positive semidefinite.
class RidgeSolver {
public:
    explicit RidgeSolver(std::size_t size) : size_(size), factor_(size * size) {}
    void solve(const double* A, double ridge, const double* b, double* x);

private:
    std::size_t size_;
    std::vector<double> factor_;
};

// Stacking: weights w of the experts minimise
//   sum_t c_t (y_t - p_t'w)^2 + ridge ||w - 1/E||^2,
// where c_t is 1 for the last row. Row t multiplies the c of earlier rows by 1 - 1 / m with
// m = min(memory, first_memory + t / 2). The first rows are forgotten faster, because experts
// improve most there.
// The ridge is not forgotten, so the weights return to equal ones where experts agree.
struct Stack {
    std::size_t n_experts;
    double memory, ridge;
    static constexpr double first_memory = 50.0;

    // squares (E, E) and products (E,) are the sums of p p' and of p (y - mean of p).
    void weights(const double* squares, const double* products, double* out) const;
    // Combines predictions p (n, E) into out (n,), and learns each row with its target (n,). `seen`
    // rows came before. All numbers must be finite.
    void run(const double* p, const double* targets, std::size_t n, std::uint64_t seen,
             double* squares, double* products, double* out) const;
};

// A running mean of each column, in which later rows count more: row t has a weight proportional to
// t^2 at first, and the mean is over `memory` rows in the long run.
struct RecentMean {
    std::size_t n_columns;
    double memory;
    static constexpr double power = 2.0;

    // Learns values (n, n_columns), and writes the means before each row to out (n, n_columns). The
    // state (n_columns + 1,) holds the means, then the number of rows so far.
    void run(const double* values, std::size_t n, double* state, double* out) const;
};

// Probabilities of classes, combined in two ways.
// - Logarithmic pool: p ~ prod_e p_e^(w_e). The weights w follow the logarithmic loss by online
//   Newton steps with a ridge towards 1/E, as in `Stack`.
// - Bayes' mixture: p = sum_e v_e p_e, v_e ~ exp(-L_e), L_e the discounted loss of expert e.
// The two are mixed by their own discounted losses.
//
// An expert is scored if it gives scores f instead of probabilities. Then p_e = softmax(a_e f), and
// the scale a_e follows the loss in the same way.
struct Pool {
    std::size_t n_experts, n_classes;
    double forgetting, ridge;
    double memory;  // rows over which past losses count
    std::span<const double> scored;

    static constexpr double floor = 1e-3;  // part of each expert's probability that is uniform
    static constexpr double first_scale = 4.0, least_scale = 0.1, largest_scale = 100.0;

    // The rows of the state (E + 5, E): weights, scales, their squares, losses, the losses of the
    // two combinations, then the squares of the weights.
    static constexpr std::size_t n_rows = 5;
    void begin(double* state) const;
    // outputs (n, E, C), labels (n,). `known` classes exist before the first row. A new class has
    // the next number. out (n, C); a class that does not exist yet has probability 0.
    void run(const double* outputs, const std::int64_t* labels, std::size_t known, std::size_t n,
             double* state, double* out) const;
    // The same without learning.
    void combine(const double* outputs, std::size_t known, std::size_t n, const double* state,
                 double* out) const;
    // The weights of the pool times its share, plus those of the mixture times its share, (E,).
    void shares(const double* state, double* out) const;

private:
    struct Row;
    void combine_row(const double* outputs, std::size_t known, const double* state, Row& row,
                     double* out) const;
    void learn_row(const double* outputs, std::size_t label, std::size_t known, double* state,
                   Row& row) const;
};

// Two predictions from the labels alone: the discounted frequency of each class, and of each class
// after the last label. table (C + 1, C) has the frequencies, then those after each label.
struct LabelHistory {
    std::size_t n_classes;
    static constexpr double memory = 0.9995, transition_memory = 0.998;

    // `previous` is the last label, or -1. out (n, 2, C).
    void run(const std::int64_t* labels, std::size_t known, std::size_t n, std::int64_t& previous,
             double* table, double* out) const;
    void predict(std::size_t known, std::int64_t previous, const double* table, double* out) const;
};

}  // namespace parsimon
