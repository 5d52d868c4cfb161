// Running means and standard deviations of columns, and standardised columns.
//
// CONVENTION
// - NaN marks a missing value. It changes no sum.
// - For a column with `count` values x, `shift` is the first value, `total` the sum of x - shift,
//   and `squares` the sum of (x - mean)^2. `squares` is updated by Welford's recursion, whose terms
//   are never negative.
// - Sums run in the order of the rows. So a block gives the same bits as its rows one by one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace parsimon {

// The sums of one column. mean() is 0 without values; deviation() is sqrt(squares / count).
struct Moments {
    double count, shift, total, squares;
    double mean() const;
    double deviation() const;
};

// Adds n values to the moments. means and deviations (n + 1,) receive the mean and the deviation
// before the first value and after each value.
void learn(Moments& moments, const double* values, std::size_t n, double* means,
           double* deviations);

// The same without the mean and the deviation after each value.
void add(Moments& moments, const double* values, std::size_t n);

// out[i * step] = (value_i - mean) / deviation, clipped to [-clip, clip]. It is 0 if the value is
// missing or the deviation is 0. Row i uses means[i * pace] and deviations[i * pace], so with
// pace = 0 all rows use the first entry.
void standardise(const double* values, std::size_t n, const double* means, const double* deviations,
                 std::size_t pace, double clip, double* out, std::size_t step);

// Adds n values of each of k columns to the moments of that column. Value i of column j goes to
// out[i * width + places[j]], standardised by the moments after it.
void learn_standardised(Moments* moments, const double* const* values, std::size_t k, std::size_t n,
                        double clip, double* out, std::size_t width, const std::size_t* places);

// The first of n values whose size is above `largest`, or -1. NaN is not.
std::int64_t first_above(const double* values, std::size_t n, double largest);

}  // namespace parsimon
