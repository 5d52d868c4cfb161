// The width of prediction intervals on a stream, by adaptive conformal inference (Gibbs & Candes
// 2021) over a window of scores.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace parsimon {

// A score tells how wrong a prediction was, in units of a scale. An interval is the prediction plus
// and minus `width` scales. The width is the quantile of the last `window` scores at the level 1 -
// a. After each score, with target share m of intervals that miss,
//
//     a <- a + rate (m - (1 if the interval missed, else 0)).
//
// So the share of misses tends to m: if intervals miss more often, a falls and they become wider.
// If the window has no score that is large enough, the width is the largest score. It
// grows further if a is negative.
//
// CONVENTION
// - The state is an array of `size()` numbers: a, the number of scores so far, the last scores as a
//   ring, and for each whether its interval missed (0 or 1).
// - Row i gets the width before its score is learned. So a block gives the same bits as its rows.
struct Calibrator {
    std::size_t window;
    double misses, rate;   // the share m, and the rate
    double highest = 1.0;  // the largest a

    std::size_t size() const;
    void begin(double* state) const {
        std::fill_n(state, size(), 0.0);
        state[0] = misses;
    }
    // Learns scores (n,) and writes the width before each to widths (n,). A score that is NaN is
    // left out. If missed (n,) is not null, it tells which intervals missed (0 or 1). Otherwise, or
    // if it is NaN, an interval missed if its score is above the present width.
    void run(const double* scores, const double* missed, std::size_t n, double* state,
             double* widths) const {
        run(scores, missed, n, state, widths, nullptr);
    }
    // The same for intervals `centre` - width `scale` to `centre` + width `scale`, with the scores
    // |target - centre| / scale. An interval missed if the target is not between the ends, which
    // are written to low and high. All arrays are (n,).
    struct Ends {
        const double *centres, *scales, *targets;
        double *low, *high;
    };
    void run(const double* scores, const double* missed, std::size_t n, double* state,
             double* widths, const Ends* ends) const;
    // The width for the next row. It is infinite before the first score.
    double width(const double* state) const;

private:
    std::size_t kept(const double* state) const;
    std::vector<double> sorted(const double* state) const;
    double width(double a, const std::vector<double>& scores) const;
};

}  // namespace parsimon
