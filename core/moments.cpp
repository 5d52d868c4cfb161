#include "moments.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace parsimon {

namespace {

// Rows per pass. Their numbers stay in the processor's first cache.
constexpr std::size_t piece = 128;
// Columns per pass. Each sum waits for its last addition, so several go on side by side.
constexpr std::size_t beside = 4;

// Where the means and the deviations after each value go.
struct After {
    double means[piece], deviations[piece];
};

// As `learn_any` for k columns, with up to `piece` values each: not the first ones, none missing,
// and as many before in each column. Only the two sums go row by row. Every other pass has no
// branch and no chain, so compilers vectorise it. Each number comes from the same operations in the
// same order, so the bits are the same.
template <std::size_t k>
void learn_complete(Moments* moments, const double* const* values, std::size_t n, After* after) {
    double counts[piece], shares[piece], sums[k][piece];
    for (std::size_t i = 0; i < n; ++i)
        counts[i] = moments[0].count + static_cast<double>(static_cast<int>(i) + 1);
    for (std::size_t i = 0; i < n; ++i) shares[i] = 1.0 - 1.0 / counts[i];
    double shift[k], sum[k], before[k];
    for (std::size_t j = 0; j < k; ++j) {
        shift[j] = moments[j].shift;
        sum[j] = moments[j].total;
        before[j] = sum[j] / moments[j].count;
    }
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < k; ++j) sums[j][i] = sum[j] += values[j][i] - shift[j];
    for (std::size_t j = 0; j < k; ++j) {
        moments[j].total = sum[j];
        sum[j] = moments[j].squares;
        double* means = after[j].means;  // without the shift at first
        for (std::size_t i = 0; i < n; ++i) means[i] = sums[j][i] / counts[i];
        const double apart = values[j][0] - shift[j] - before[j];
        sums[j][0] = apart * apart * shares[0];
        for (std::size_t i = 1; i < n; ++i) {
            const double apart = values[j][i] - shift[j] - means[i - 1];
            sums[j][i] = apart * apart * shares[i];
        }
        for (std::size_t i = 0; i < n; ++i) means[i] += shift[j];
    }
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < k; ++j) sums[j][i] = sum[j] += sums[j][i];
    for (std::size_t j = 0; j < k; ++j) {
        moments[j].squares = sum[j];
        moments[j].count += static_cast<double>(n);
        double* deviations = after[j].deviations;
        for (std::size_t i = 0; i < n; ++i) deviations[i] = std::sqrt(sums[j][i] / counts[i]);
    }
}

// Adds values, some of which may be missing. means and deviations (n,) are those after each value.
void learn_any(Moments& moments, const double* values, std::size_t n, double* means,
               double* deviations) {
    auto [count, shift, total, squares] = moments;
    double before = total / std::max(count, 1.0);
    for (std::size_t i = 0; i < n; ++i) {
        const double value = values[i];
        if (!std::isnan(value)) {
            if (count == 0.0) shift = value;
            count += 1.0;
            const double z = value - shift, apart = z - before;
            total += z;
            squares += apart * apart * (1.0 - 1.0 / count);
            before = total / count;
        }
        means[i] = before + (count > 0.0 ? shift : 0.0);
        deviations[i] = std::sqrt(squares / std::max(count, 1.0));
    }
    moments = {count, shift, total, squares};
}

bool any_missing(const double* values, std::size_t n) {
    bool found = false;
    for (std::size_t i = 0; i < n; ++i) found |= values[i] != values[i];
    return found;
}

// Adds up to `piece` values to each of k <= `beside` columns.
void learn_piece(Moments* moments, const double* const* values, std::size_t k, std::size_t n,
                 After* after) {
    bool complete = n > 8 && moments[0].count > 0.0;
    for (std::size_t j = 0; j < k; ++j)
        complete = complete && moments[j].count == moments[0].count && !any_missing(values[j], n);
    if (complete && k == beside) return learn_complete<beside>(moments, values, n, after);
    for (std::size_t j = 0; j < k; ++j) {
        if (moments[j].count > 0.0 && n > 8 && !any_missing(values[j], n))
            learn_complete<1>(moments + j, values + j, n, after + j);
        else
            learn_any(moments[j], values[j], n, after[j].means, after[j].deviations);
    }
}

}  // namespace

double Moments::mean() const { return total / std::max(count, 1.0) + (count > 0.0 ? shift : 0.0); }
double Moments::deviation() const { return std::sqrt(squares / std::max(count, 1.0)); }

void learn(Moments& moments, const double* values, std::size_t n, double* means,
           double* deviations) {
    means[0] = moments.mean();
    deviations[0] = moments.deviation();
    After after;
    for (std::size_t first = 0; first < n; first += piece) {
        const std::size_t rows = std::min(piece, n - first);
        const double* some = values + first;
        learn_piece(&moments, &some, 1, rows, &after);
        std::copy_n(after.means, rows, means + first + 1);
        std::copy_n(after.deviations, rows, deviations + first + 1);
    }
}

void add(Moments& moments, const double* values, std::size_t n) {
    After after;
    for (std::size_t first = 0; first < n; first += piece) {
        const double* some = values + first;
        learn_piece(&moments, &some, 1, std::min(piece, n - first), &after);
    }
}

void learn_standardised(Moments* moments, const double* const* values, std::size_t k, std::size_t n,
                        double clip, double* out, std::size_t width, const std::size_t* places) {
    After after[beside];
    const double* some[beside];
    for (std::size_t first = 0; first < n; first += piece) {
        const std::size_t rows = std::min(piece, n - first);
        for (std::size_t j = 0; j < k; j += beside) {
            const std::size_t columns = std::min(beside, k - j);
            for (std::size_t c = 0; c < columns; ++c) some[c] = values[j + c] + first;
            learn_piece(moments + j, some, columns, rows, after);
            for (std::size_t c = 0; c < columns; ++c)
                standardise(some[c], rows, after[c].means, after[c].deviations, 1, clip,
                            out + first * width + places[j + c], width);
        }
    }
}

void standardise(const double* values, std::size_t n, const double* means, const double* deviations,
                 std::size_t pace, double clip, double* out, std::size_t step) {
    for (std::size_t i = 0; i < n; ++i) {
        const double deviation = deviations[i * pace];
        const double scaled =
            (values[i] - means[i * pace]) /
            (deviation > 0.0 ? deviation : std::numeric_limits<double>::infinity());
        out[i * step] = std::isnan(scaled) ? 0.0 : std::clamp(scaled, -clip, clip);
    }
}

std::int64_t first_above(const double* values, std::size_t n, double largest) {
    for (std::size_t first = 0; first < n; first += piece) {
        const std::size_t last = std::min(first + piece, n);
        bool found = false;
        for (std::size_t i = first; i < last; ++i) found |= std::abs(values[i]) > largest;
        for (std::size_t i = first; found && i < last; ++i)
            if (std::abs(values[i]) > largest) return static_cast<std::int64_t>(i);
    }
    return -1;
}

}  // namespace parsimon
