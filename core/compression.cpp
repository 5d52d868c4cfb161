#include "compression.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace parsimon {
namespace {

// The centre with the least squared norm ||w_j||^2 k(d_j, d_j).
std::size_t smallest(const Dictionary& dictionary) {
    return dictionary.least(
        [&](std::size_t j, double square) { return square * dictionary.diagonal()[j]; });
}

// The best single centre z = h x + (1 - h) y to replace u k(x, .) + v k(y, .), for a Gaussian
// kernel. h in [0, 1] maximises `kept`. With k = k(x, y), k(x, z) = k^((1-h)^2) and
// k(y, z) = k^(h^2). The arguments of best_merge are ||u||^2, u'v, ||v||^2 and log k.
struct Merge {
    double h, kept;  // kept = ||u k(x, z) + v k(y, z)||^2
};
Merge best_merge(double uu, double uv, double vv, double log_k) {
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
    x_.resize(dictionary.n_features());
    z_.resize(dictionary.n_features());
    w_.resize(dictionary.n_outputs());
    if (!looks_) looks_.emplace(1, dictionary);
    looks_->fit(dictionary);
}

std::size_t MergeCompression::nbytes() const {
    return (row_.capacity() + x_.capacity() + z_.capacity() + w_.capacity()) * sizeof(double) +
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
    std::size_t other = first == 0 ? 1 : 0;  // a valid index even if all losses are NaN
    Merge best{};
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < m; ++j) {
        if (j == first) continue;
        double cross = 0.0;
        for (std::size_t c = 0; c < C; ++c)
            cross += dictionary.weights(c)[first] * dictionary.weights(c)[j];
        const double theirs = dictionary.squared_weight(j), k = row_[j];
        // If the centres are too far apart, the smaller one is as good as dropped.
        const Merge found =
            k > 1e-30 ? best_merge(own, cross, theirs, std::log(k)) : Merge{0.0, theirs};
        const double lost = own + theirs + 2.0 * cross * k - found.kept;
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
