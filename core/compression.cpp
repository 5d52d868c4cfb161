#include "compression.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "squares.hpp"

namespace parsimon {
namespace {

// The centre with the least squared norm ||w_j||^2 k(d_j, d_j).
std::size_t smallest(const Dictionary& dictionary) {
    return dictionary.least(
        [&](std::size_t j, double square) { return square * dictionary.diagonal()[j]; });
}

// The best single centre z = h x + (1 - h) y to replace u k(x, .) + v k(y, .), for a Gaussian
// kernel. h in [0, 1] maximises `kept`. With k = k(x, y), k(x, z) = k^((1-h)^2) and
// k(y, z) = k^(h^2).
struct Pair {
    double uu, uv, vv, k;  // ||u||^2, u'v, ||v||^2 and k(x, y)

    // The squared norm of the change if `kept` is kept.
    double lost(double kept) const { return uu + vv + 2.0 * uv * k - kept; }
    // If the centres are too far apart, the smaller one, x, is as good as dropped.
    bool apart() const { return !(k > 1e-30); }
};
struct Merge {
    double h, kept;  // kept = ||u k(x, z) + v k(y, z)||^2
};
Merge best_merge(const Pair& pair) {
    const auto [uu, uv, vv, k] = pair;
    if (pair.apart()) return {0.0, vv};
    const double log_k = std::log(k);
    const auto kept = [&](double h) {
        const double x = std::exp((1.0 - h) * (1.0 - h) * log_k), y = std::exp(h * h * log_k);
        return uu * x * x + 2.0 * uv * x * y + vv * y * y;
    };
    // Golden section search. If there are two maxima, one near each end, it finds only one of them.
    // So the ends are compared too.
    constexpr double ratio = 0.6180339887498949;
    double low = 0.0, high = 1.0, a = high - ratio, b = low + ratio, at_a = kept(a), at_b = kept(b);
    for (int i = 0; i < 22; ++i) {
        if (at_a < at_b) {
            low = a;
            a = b;
            at_a = at_b;
            b = low + ratio * (high - low);
            at_b = kept(b);
        } else {
            high = b;
            b = a;
            at_b = at_a;
            a = high - ratio * (high - low);
            at_a = kept(a);
        }
    }
    Merge best{0.5 * (low + high), kept(0.5 * (low + high))};
    for (const double end : {0.0, 1.0})
        if (kept(end) > best.kept) best = {end, kept(end)};
    return best;
}

// An upper bound of `kept` over all h, in a fraction of the time of best_merge. At h = i / n,
// k(x, z) = q^((n-i)^2) and k(y, z) = q^(i^2) with q = k^(1/n^2). Between these points `kept`
// exceeds its values there by at most `bend` / (8 n^2), where `bend` bounds its second derivative.
double most_kept(const Pair& pair) {
    const auto [uu, uv, vv, k] = pair;
    if (pair.apart()) return vv;
    constexpr std::size_t n = 32;
    constexpr double square = n * n, rounding = 1e-12;
    const double log_k = std::log(k), q = std::exp(log_k / square);
    double powers[n + 1] = {1.0}, factor = q;  // q^(i^2), q^(2i+1)
    for (std::size_t i = 0; i < n; ++i, factor *= q * q) powers[i + 1] = powers[i] * factor;
    double most = 0.0;
    for (std::size_t i = 0; i <= n; ++i) {
        const double x = powers[n - i], y = powers[i];
        most = std::max(most, uu * x * x + 2.0 * uv * x * y + vv * y * y);
    }
    const double bend = -4.0 * log_k * (uu + vv + 2.0 * std::fabs(uv) * std::sqrt(k));
    return most + bend / (8.0 * square) + rounding * (uu + vv);
}

}  // namespace

void SmallestCompression::compress(Dictionary& dictionary, Update&, Step& step) {
    while (dictionary.size() > budget_) {
        const std::size_t j = smallest(dictionary);
        step.spent += dictionary.squared_weight(j) * dictionary.diagonal()[j];
        dictionary.drop(j);
    }
}

void MergeCompression::compress(Dictionary& dictionary, Update&, Step& step) {
    while (dictionary.size() > budget_) step.spent += merge(dictionary);
}

void MergeCompression::make_ready(const Dictionary& dictionary) {
    row_.resize(std::max(row_.size(), simd::padded(dictionary.capacity())));
    for (auto* array : {&bounds_, &crosses_, &squares_}) array->resize(row_.size());
    x_.resize(dictionary.n_features());
    z_.resize(dictionary.n_features());
    w_.resize(dictionary.n_outputs());
    if (!looks_) looks_.emplace(1, dictionary);
    looks_->fit(dictionary);
}

std::size_t MergeCompression::nbytes() const {
    return (4 * row_.capacity() + x_.capacity() + z_.capacity() + w_.capacity()) * sizeof(double) +
           (looks_ ? looks_->nbytes() : 0);
}

double MergeCompression::merge(Dictionary& dictionary) {
    const std::size_t m = dictionary.size(), C = dictionary.n_outputs(),
                      first = smallest(dictionary);
    const double own = dictionary.squared_weight(first);
    if (m == 1) {
        dictionary.drop(0);
        return own;
    }
    make_ready(dictionary);
    dictionary.gram_row(first, row_.data());
    std::fill_n(crosses_.begin(), m, 0.0);
    for (std::size_t c = 0; c < C; ++c) {
        const double *w = dictionary.weights(c), ours = w[first];
        for (std::size_t j = 0; j < m; ++j) crosses_[j] += ours * w[j];
    }
    sum_squares(dictionary.weights(0), C, dictionary.capacity(), m, squares_.data());
    const auto pair = [&](std::size_t j) { return Pair{own, crosses_[j], squares_[j], row_[j]}; };
    // A search is needed only for those that can lose less than the most promising one.
    std::size_t other = first == 0 ? 1 : 0;  // a valid index even if all losses are NaN
    std::size_t promising = other;
    for (std::size_t j = 0; j < m; ++j) {
        if (j == first) continue;
        const Pair both = pair(j);
        bounds_[j] = both.lost(most_kept(both));
        if (bounds_[j] < bounds_[promising]) promising = j;
    }
    const Pair likely = pair(promising);
    const double enough = likely.lost(best_merge(likely).kept);
    Merge best{};
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < m; ++j) {
        if (j == first || bounds_[j] > enough) continue;
        const Pair both = pair(j);
        const Merge found = best_merge(both);
        const double lost = both.lost(found.kept);
        if (lost < least) {
            least = lost;
            best = found;
            other = j;
        }
    }
    const bool moves = best.h > 0.0;
    if (moves) {
        const double log_k = std::log(row_[other]),
                     from_first = std::exp((1.0 - best.h) * (1.0 - best.h) * log_k),
                     from_other = std::exp(best.h * best.h * log_k);
        dictionary.centre(first, x_.data());
        dictionary.centre(other, z_.data());
        for (std::size_t i = 0; i < z_.size(); ++i) z_[i] = best.h * x_[i] + (1.0 - best.h) * z_[i];
        for (std::size_t c = 0; c < C; ++c)
            w_[c] = from_first * dictionary.weights(c)[first] +
                    from_other * dictionary.weights(c)[other];
    }
    // First project the smaller centre onto the other, then move the other to z. If the factor
    // refuses z, the other stays where it is.
    for (std::size_t c = 0; c < C; ++c)
        dictionary.weights(c)[other] += row_[other] * dictionary.weights(c)[first];
    dictionary.drop(first);
    if (moves) dictionary.replace(other - (other > first), z_.data(), w_.data(), *looks_);
    return std::max(0.0, least);
}

}  // namespace parsimon
