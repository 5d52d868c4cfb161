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

}  // namespace

void SmallestCompression::compress(Dictionary& dictionary, Update&, Step& step) {
    while (dictionary.size() > budget_) {
        const std::size_t j = smallest(dictionary);
        step.spent += dictionary.squared_weight(j) * dictionary.diagonal()[j];
        dictionary.drop(j);
    }
}

void MergeCompression::compress(Dictionary& dictionary, Update&, Step& step) {
    while (dictionary.size() > budget_) {
        const Plan best = plan(dictionary);
        step.spent += merge(dictionary, best);
    }
}

void MergingPursuitCompression::compress(Dictionary& dictionary, Update&, Step& step) {
    const double eps = step.unit * parsimony_ * std::pow(step.rate, power_);
    double moved = std::sqrt(step.spent);
    while (dictionary.size() > 0) {
        const bool over = dictionary.size() > budget_;
        if (!over && !(moved < eps)) return;
        const Plan best = plan(dictionary);
        if (!over && !(moved + std::sqrt(best.lost) <= eps)) return;
        const double lost = merge(dictionary, best);
        moved += std::sqrt(lost);
        step.spent += lost;
    }
}

void Merging::make_ready(const Dictionary& dictionary) {
    row_.resize(std::max(row_.size(), simd::padded(dictionary.capacity())));
    for (auto* array : {&places_, &kept_, &crosses_, &squares_}) array->resize(row_.size());
    x_.resize(dictionary.n_features());
    z_.resize(dictionary.n_features());
    w_.resize(dictionary.n_outputs());
    if (!looks_) looks_.emplace(1, dictionary);
    looks_->fit(dictionary);
    if (!nearby_.empty()) nearby_.make_ready(dictionary);
}

std::size_t Merging::nbytes() const {
    return (5 * row_.capacity() + x_.capacity() + z_.capacity() + w_.capacity()) * sizeof(double) +
           (looks_ ? looks_->nbytes() : 0) + nearby_.nbytes();
}

Merging::Plan Merging::plan(Dictionary& dictionary) {
    const std::size_t m = dictionary.size(), C = dictionary.n_outputs(),
                      first = smallest(dictionary);
    const double own = dictionary.squared_weight(first);
    if (m == 1) return {0, 0, 0.0, own};
    make_ready(dictionary);
    dictionary.gram_row(first, row_.data());
    const auto compare = [&](std::size_t from, std::size_t to) {
        const std::size_t n = to - from;
        double* crosses = crosses_.data() + from;
        std::fill_n(crosses, n, 0.0);
        for (std::size_t c = 0; c < C; ++c) {
            const double *w = dictionary.weights(c) + from, ours = dictionary.weights(c)[first];
            for (std::size_t j = 0; j < n; ++j) crosses[j] += ours * w[j];
        }
        sum_squares(dictionary.weights(0) + from, C, dictionary.capacity(), n,
                    squares_.data() + from);
        simd::loops().merges(own, crosses, squares_.data() + from, row_.data() + from, n,
                             places_.data() + from, kept_.data() + from);
    };
    // The search for the best place takes as long as some 100 multiply-adds per centre.
    constexpr std::size_t search = 100, piece = 256;
    if (dictionary.team().shares(m, 2 * C + search))
        dictionary.team().in_pieces(m, piece, compare);
    else
        compare(0, m);
    std::size_t other = first == 0 ? 1 : 0;  // a valid index even if all losses are NaN
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < m; ++j) {
        // The squared norm of the change of f
        const double lost = own + squares_[j] + 2.0 * crosses_[j] * row_[j] - kept_[j];
        if (j != first && lost < least) {
            least = lost;
            other = j;
        }
    }
    return {first, other, std::isinf(least) ? 0.0 : places_[other], std::max(0.0, least)};
}

double Merging::merge(Dictionary& dictionary, const Plan& plan) {
    const auto [first, other, h, lost] = plan;
    if (first == other) {
        dictionary.drop(first);
        return lost;
    }
    if (!nearby_.empty()) nearby_.note(dictionary, first, other);
    const std::size_t C = dictionary.n_outputs();
    const bool moves = h > 0.0;
    if (moves) {
        const double log_k = std::log(row_[other]),
                     from_first = std::exp((1.0 - h) * (1.0 - h) * log_k),
                     from_other = std::exp(h * h * log_k);
        dictionary.centre(first, x_.data());
        dictionary.centre(other, z_.data());
        for (std::size_t i = 0; i < z_.size(); ++i) z_[i] = h * x_[i] + (1.0 - h) * z_[i];
        for (std::size_t c = 0; c < C; ++c)
            w_[c] = from_first * dictionary.weights(c)[first] +
                    from_other * dictionary.weights(c)[other];
    }
    // First project the smaller centre onto the other, then move the other to z. If the factor
    // refuses z, the other stays where it is.
    for (std::size_t c = 0; c < C; ++c)
        dictionary.weights(c)[other] += row_[other] * dictionary.weights(c)[first];
    dictionary.drop(first);
    std::size_t merged = other - (other > first);
    if (moves && dictionary.replace(merged, z_.data(), w_.data(), *looks_))
        merged = dictionary.size() - 1;
    return nearby_.empty() ? lost : std::max(0.0, lost - nearby_.project(dictionary, merged));
}

}  // namespace parsimon
