// Running means and standard deviations of columns, and columns in their units.
//
// CONVENTION
// - Of a column, over the `count` values that were there: `shift` is the first of them, `total` the
// sum of x - shift, `squares` the sum of
//   (x - mean)^2, which grows as in Welford's recursion, by terms that are never negative.
// - NaN is a value that is not there. Sums run in the order of the rows, so a block equals its
// rows, bit for bit.
#pragma once

#include <cstddef>

namespace parsimon {

struct Moments {
    double count, shift, total, squares;
    double mean() const;
    double deviation() const;
};

// Takes n values; means and deviations (n + 1,) are those before the first and after each.
void learn(Moments& moments, const double* values, std::size_t n, double* means,
           double* deviations);

// out[i * step] = (value - mean) / deviation within [-clip, clip]; 0 where the value is not there
// or nothing varied. Means and deviations go on by `pace` a row: 0 is the same for all.
void standardise(const double* values, std::size_t n, const double* means, const double* deviations,
                 std::size_t pace, double clip, double* out, std::size_t step);

}  // namespace parsimon
