// Reading, writing and checking a dictionary, and maintenance of its factor.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "dictionary.hpp"
#include "sizes.hpp"
#include "sound.hpp"

namespace parsimon {
namespace {

// A random sign that depends only on the seed and the index (SplitMix64).
double random_sign(std::uint64_t seed, std::uint64_t i) {
    std::uint64_t z = seed * 0x9e3779b97f4a7c15ULL + (i + 1) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return (z ^ (z >> 31)) & 1 ? 1.0 : -1.0;
}

}  // namespace

double Dictionary::drift() {
    const auto& loops = simd::loops();
    const std::size_t m = size_, stride = simd::padded(m);
    auto work = scratch_.take(4 * stride);
    double *z = work.data(), *product = z + stride, *t = product + stride, *a = t + stride;
    // In units of sqrt(k(d_i, d_i)), so that the result does not depend on the scale of the kernel.
    // With pairs, k(d_i, d_i) can be 0.
    const auto unit = [this](std::size_t i) {
        return std::sqrt(needs_.pairs ? diagonal_[i] + ridges_[i] : diagonal_[i]);
    };
    for (std::size_t i = 0; i < m; ++i) z[i] = random_sign(changes_, i) / unit(i);
    for (std::size_t first = 0; first < m; first += simd::panel_width) {
        const std::size_t count = std::min(simd::panel_width, m - first);
        auto points = scratch_.take(count * depth()), rows = scratch_.take(count * stride);
        for (std::size_t r = 0; r < count; ++r)
            points_.copy(first + r, points.data() + r * depth());
        kernel_rows({points.data(), count, depth()}, {rows.data(), stride}, scratch_);
        for (std::size_t r = 0; r < count; ++r)
            product[first + r] =
                loops.dot(rows.data() + r * stride, z, m) + ridge_of(first + r) * z[first + r];
    }
    std::fill_n(a, stride, 0.0);
    std::fill(product + m, product + stride, 0.0);
    factor_.multiply(0, m, product, t, a);
    double largest = 0.0;
    for (std::size_t i = 0; i < m; ++i) {
        const double error = std::fabs(a[i] - z[i]) * unit(i);
        if (!(error <= largest)) largest = error;  // NaN counts as the largest
        if (std::isnan(largest)) return std::numeric_limits<double>::infinity();
    }
    return largest;
}

void Dictionary::maintain() {
    if (!needs_.factor || changes_ < next_probe_) return;
    next_probe_ = changes_ + probe_interval();
    if (!(drift() <= drift_limit))
        rebuild();
    else
        factor_.sum_diagonal();
}

void Dictionary::visit(StateVisitor visitor) {
    visitor.version(0);
    const std::size_t m = visitor.size("centres", size_, sound::most_centres), d = n_features_;
    if (visitor.reading()) {
        visitor.expect_points("points", m, d);
        visitor.expect("weights", expected(m, n_outputs_));
        visitor.expect("diagonal", m);
        if (needs_.pairs) visitor.expect("ridges", m);
        if (needs_.factor) visitor.part("factor").expect("rows", expected_triangle(m));
        if (needs_.neighbours) visitor.expect("neighbours", m);
        make_room(m);
    }
    std::vector<double> points(m * d);
    for (std::size_t j = 0; !visitor.reading() && j < m; ++j) centre(j, points.data() + j * d);
    visitor.points("points", points.data(), m, d);
    if (visitor.reading()) {
        require_finite(points.data(), m, d, "the state's points", kernel_->single());
        std::vector<double> point(m > 0 ? depth() : 0);
        for (std::size_t j = 0; j < m; ++j) {
            annotate(*kernel_, points.data() + j * d, 1, d, depth(), point.data(), scratch_);
            points_.append(point.data());
        }
    }
    size_ = m;
    visitor.pieces("weights", n_outputs_,
                   [this, m](std::size_t c) { return std::pair(weights(c), m); });
    visitor.numbers("diagonal", diagonal_.data() + points_.gap(), m);
    for (std::size_t j = 0; j < m; ++j)
        if (diagonal()[j] < 0.0) refuse("the state's kernel values are not those of a kernel");
    if (needs_.pairs) visitor.numbers("ridges", ridges_.data(), m);
    if (needs_.factor) factor_.visit(visitor.part("factor"), m);
    if (needs_.neighbours) {
        std::vector<double> nearest(neighbour_.begin(),
                                    neighbour_.begin() + static_cast<std::ptrdiff_t>(m));
        visitor.numbers("neighbours", nearest.data(), m);
        visitor.numbers("coherences", neighbour_coherence_.data(), m);
        for (std::size_t j = 0; j < m; ++j) {
            if (!(nearest[j] >= 0.0 && nearest[j] < static_cast<double>(m)))
                refuse("the state's neighbours are not centres");
            neighbour_[j] = static_cast<std::size_t>(nearest[j]);
            if (!(neighbour_coherence_[j] >= 0.0 && neighbour_coherence_[j] <= 1.0 + sound::same))
                refuse("the state's coherences hold ", neighbour_coherence_[j]);
        }
    }
    visitor.count("changes", changes_);
    visitor.count("next_probe", next_probe_);
    visitor.count("rebuilds", rebuilds_);
}

void Dictionary::require_sound() {
    if (size_ == 0) return;
    for (std::size_t j = 0; j < size_; ++j) {
        auto point = scratch_.take(depth());
        double kxx = 0.0;
        points_.copy(j, point.data());
        // This includes the numbers that the kernel added to the point.
        sound::require_within(point.data(), depth(), std::numeric_limits<double>::max(), "centres");
        kernel_->diagonal({point.data(), 1, depth()}, n_features_, 0, &kxx, scratch_);
        if (!(kxx >= 0.0 && kxx <= largest_kernel_value))
            refuse("the kernel value of the state's centre ", j, " is ", kxx);
        if (!(std::fabs(kxx - diagonal()[j]) <= sound::same * kxx))
            refuse("the state's kernel values are not those of its kernel: ", diagonal()[j],
                   " and ", kxx, " at centre ", j);
    }
    for (std::size_t j = 0; needs_.pairs && j < size_; ++j)
        if (!(ridges_[j] >= sound::least_ridge && ridges_[j] <= sound::largest_ridge))
            refuse("the state's ridges hold ", ridges_[j]);
    for (std::size_t c = 0; c < n_outputs_; ++c) {
        sound::require_within(weights(c), size_, sound::largest_weight, "weights");
        double norm = 0.0;
        for (std::size_t j = 0; j < size_; ++j)
            norm += std::fabs(weights(c)[j]) * std::sqrt(diagonal()[j]);
        if (!(norm <= sound::largest_norm))
            refuse("the state's weights are too large to predict with: their norms sum to ", norm);
    }
    if (!needs_.factor) return;
    factor_.require_sound();
    if (!(drift() <= sound::drift)) refuse("the state's factor is not that of its centres");
}

void Dictionary::rebuild() {
    const std::size_t m = size_, stride = simd::padded(m);
    auto work = scratch_.take(3 * stride);
    double *row = work.data(), *t = row + stride, *a = t + stride;
    // A second factor, because a kernel that throws must leave the old factor intact.
    TriangularFactor fresh;
    fresh.reserve(capacity_);
    for (std::size_t i = 0; i < m; ++i) {
        gram_row(i, row);
        std::fill_n(a, stride, 0.0);
        // Every centre was accepted, so its residual was positive. Rounding must not make it
        // negative.
        const double least = (needs_.pairs ? 0.1 * floor_of_pairs : 1e-2 * floor) * diagonal_[i],
                     own = diagonal_[i] + ridge_of(i) - fresh.multiply(0, i, row, t, a),
                     inverse = 1.0 / std::sqrt(std::max(own, least));
        fresh.append(-inverse, a, inverse);
    }
    factor_ = std::move(fresh);
    ++rebuilds_;
}

}  // namespace parsimon
