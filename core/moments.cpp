#include "moments.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace parsimon {

namespace {

// Rows per pass. Their numbers stay in the processor's first cache.
constexpr std::size_t piece = 256;

// As `learn_any`, for up to `piece` values after the first, none of which is missing. Only the two
// sums go row by row. Every other pass has no branch and no chain, so compilers vectorise it. Each
// number comes from the same operations in the same order, so the bits are the same.
void learn_complete(Moments& moments, const double* values, std::size_t n, double* means,
                    double* deviations) {
    double counts[piece], befores[piece + 1], sums[piece];
    const double shift = moments.shift;
    befores[0] = moments.total / moments.count;
    for (std::size_t i = 0; i < n; ++i)
        counts[i] = moments.count + static_cast<double>(static_cast<int>(i) + 1);
    for (std::size_t i = 0; i < n; ++i) {
        moments.total += values[i] - shift;
        sums[i] = moments.total;
    }
    for (std::size_t i = 0; i < n; ++i) befores[i + 1] = sums[i] / counts[i];
    for (std::size_t i = 0; i < n; ++i) {
        const double apart = values[i] - shift - befores[i];
        sums[i] = apart * apart * (1.0 - 1.0 / counts[i]);
    }
    for (std::size_t i = 0; i < n; ++i) {
        moments.squares += sums[i];
        sums[i] = moments.squares;
    }
    for (std::size_t i = 0; i < n; ++i) {
        means[i] = befores[i + 1] + shift;
        deviations[i] = std::sqrt(sums[i] / counts[i]);
    }
    moments.count += static_cast<double>(n);
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

// Adds up to `piece` values. means and deviations (n,) are those after each value.
void learn_piece(Moments& moments, const double* values, std::size_t n, double* means,
                 double* deviations) {
    const bool complete = n > 8 && moments.count > 0.0 && !any_missing(values, n);
    (complete ? learn_complete : learn_any)(moments, values, n, means, deviations);
}

}  // namespace

double Moments::mean() const { return total / std::max(count, 1.0) + (count > 0.0 ? shift : 0.0); }
double Moments::deviation() const { return std::sqrt(squares / std::max(count, 1.0)); }

void learn(Moments& moments, const double* values, std::size_t n, double* means,
           double* deviations) {
    means[0] = moments.mean();
    deviations[0] = moments.deviation();
    for (std::size_t i = 0; i < n; i += piece)
        learn_piece(moments, values + i, std::min(piece, n - i), means + i + 1, deviations + i + 1);
}

void add(Moments& moments, const double* values, std::size_t n) {
    double means[piece], deviations[piece];
    for (std::size_t i = 0; i < n; i += piece)
        learn_piece(moments, values + i, std::min(piece, n - i), means, deviations);
}

void learn_standardised(Moments* moments, const double* const* values, std::size_t k, std::size_t n,
                        double clip, double* out, std::size_t width, const std::size_t* places) {
    double means[piece], deviations[piece];
    for (std::size_t first = 0; first < n; first += piece)
        for (std::size_t j = 0; j < k; ++j) {
            const std::size_t rows = std::min(piece, n - first);
            learn_piece(moments[j], values[j] + first, rows, means, deviations);
            standardise(values[j] + first, rows, means, deviations, 1, clip,
                        out + first * width + places[j], width);
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
