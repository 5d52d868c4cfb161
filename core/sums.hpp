// What an update has learned of the samples besides f, as sums over them: the sums of several
// models add up to the sums of all their samples.
//
// Every sample t is written as a vector a_t over the centres. A merge changes the centres, and with
// them the vectors: a_t becomes B'a_t, where B (m_i, m) belongs to model i. An update says which B
// is right for it (`Coordinates`) and gives its sums; whoever merges forms
//
//     sum_i n_i B_i' squares_i B_i,    sum_i n_i B_i' moments_i,    sum_i p_i B_i' terms_i
//
// with n_i how often the samples of model i count and p_i the share of its function, and hands the
// totals to the update of the merged model. So only the update knows how it stores them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace parsimon {

struct Sums {
    enum class Coordinates {
        none,          // nothing is kept besides f
        rows,          // a_t = (k(x_t, d_j))_j. A centre that a model lacks counts as 0.
        combinations,  // k(x_t, .) = sum_j a_tj k(d_j, .), up to its distance to the span
        weights,       // as combinations, but `factor` belongs to the weights: K factor'factor K
    };
    Coordinates coordinates = Coordinates::none;
    std::size_t size = 0;       // m, the centres
    std::size_t n_outputs = 0;  // C
    // R (m, m), lower triangular, with (sum_t a_t a_t')^-1 = R'R.
    std::vector<double> factor;
    // sum_t a_t a_t' (m, m) itself, for updates that keep it too; else empty.
    std::vector<double> squares;
    // (q, m): sum_t z_t a_t for numbers z_t that do not depend on the output.
    std::vector<double> moments;
    // (q, C, m): the same for numbers that do.
    std::vector<double> output_moments;
    // (q, C, m): coefficients of functions, which add up like the weights do.
    std::vector<double> terms;
    std::uint64_t steps = 0;  // of all models together
    std::uint64_t age = 0;    // the largest of all models
};

}  // namespace parsimon
