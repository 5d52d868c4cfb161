// The sums over all samples that an update keeps besides f. Sums of several models add up, so that
// a merged model can be computed from them.
//
// An update writes every sample t as a vector a_t over the centres. A merge changes the centres,
// and so the vectors: a_t becomes B_i'a_t, where the matrix B_i (m_i, m) belongs to model i with
// m_i centres. An update tells which B_i is right for it (`Coordinates`) and returns its sums. The
// merge computes
//
//     sum_i n_i B_i' squares_i B_i,    sum_i n_i B_i' moments_i,    sum_i p_i B_i' terms_i,
//
// where n_i is the weight of the samples of model i and p_i the weight of its function. It passes
// the totals to the update of the merged model. So only the update knows how it stores them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace parsimon {

// The sums of one update over m centres and C outputs.
struct Sums {
    // What the vectors a_t are.
    enum class Coordinates {
        none,          // the update keeps nothing besides f
        rows,          // a_t = (k(x_t, d_j))_j; a centre that a model lacks counts as 0
        combinations,  // k(x_t, .) = sum_j a_tj k(d_j, .), up to the distance to the span
        weights,  // as combinations, but `factor` is that of the weights: (sum a a')^-1 = K R'R K
    };
    Coordinates coordinates = Coordinates::none;
    std::size_t size = 0;       // m, the centres
    std::size_t n_outputs = 0;  // C
    // R (m, m), lower triangular, with (sum_t a_t a_t')^-1 = R'R.
    std::vector<double> factor;
    // sum_t a_t a_t' (m, m), if the update keeps it too, otherwise empty.
    std::vector<double> squares;
    // (q, m): q sums sum_t z_t a_t, with numbers z_t that do not depend on the output.
    std::vector<double> moments;
    // (q, C, m): the same with numbers z_t that depend on the output.
    std::vector<double> output_moments;
    // (q, C, m): coefficients of functions. They add up like the weights.
    std::vector<double> terms;
    // (C,), or empty: the variance of the noise of each output, and from how many errors
    // (noise.hpp).
    std::vector<double> noise, n_errors;
    std::uint64_t steps = 0;  // sum over the models
    std::uint64_t age = 0;    // maximum over the models
};

}  // namespace parsimon
