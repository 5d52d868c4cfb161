#include "dual_ascent.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace parsimon {
namespace {

constexpr std::size_t rooms_in_box = 9;
constexpr double least_bend = 1e-280;  // of a direction; one of less is no direction but rounding

}  // namespace

void DualAscentUpdate::resize(std::size_t n_outputs, std::size_t capacity) {
    std::vector<double> kept(n_kept * n_outputs * capacity, 0.0);
    for (std::size_t what = 0; what < n_kept; ++what)
        for (std::size_t c = 0; c < n_outputs_; ++c)
            std::copy_n(this->kept(static_cast<Kept>(what), c), gram_.size(), kept.begin() + (what * n_outputs + c) * capacity);
    std::vector<double> room((2 * n_outputs + (std::isinf(box_) ? 1 : rooms_in_box)) * capacity, 0.0);
    targets_.resize(n_outputs);
    kept_ = std::move(kept);
    room_ = std::move(room);
    n_outputs_ = n_outputs;
    capacity_ = capacity;
}

void DualAscentUpdate::reserve(std::size_t capacity) {
    covariance_.reserve(capacity);
    gram_.reserve(capacity);
    counts_.reserve(capacity);
    ones_.resize(capacity);
    resize(n_outputs_, capacity);
}

std::size_t DualAscentUpdate::nbytes() const {
    return covariance_.nbytes() + gram_.nbytes() + counts_.nbytes() +
           (ones_.capacity() + kept_.capacity() + room_.capacity() + targets_.capacity()) * sizeof(double);
}

void DualAscentUpdate::removing(Dictionary&, std::size_t, const double*) {
    throw std::logic_error("the centres of this update never leave");
}

void DualAscentUpdate::open(Dictionary& dictionary, Step& step) {
    if (dictionary.n_outputs() != n_outputs_) resize(dictionary.n_outputs(), capacity_);
    for (Sample& sample : step)
        for (std::size_t c = 0; c < n_outputs_; ++c) sample.coefficient[c] = -sample.gradient[c];
}

void DualAscentUpdate::step(Dictionary& dictionary, Sample& sample, Step&) {
    const std::size_t m = dictionary.size();
    if (sample.weight == 0.0 || (m == 0 && !sample.admitted)) return;
    Look& look = *sample.look;
    for (std::size_t c = 0; c < n_outputs_; ++c) targets_[c] = sample.f[c] - sample.gradient[c] / curvature_;
    if (sample.admitted) {
        covariance_.append(0.0, look.h, 1.0 / std::sqrt(sample.weight));
        counts_.append(nullptr, sample.weight);
        gram_.append(look.h, look.kxx);
        ones_[m] = sample.weight;
        for (std::size_t c = 0; c < n_outputs_; ++c) {
            kept(sum, c)[m] = 0.0;
            kept(target, c)[m] = sample.weight * targets_[c];
            kept(value, c)[m] = sample.f[c];
            kept(gap, c)[m] = targets_[c] - sample.f[c];
            kept(residual_, c)[m] = sample.weight * kept(gap, c)[m];
        }
        dictionary.append(look, nullptr);
        if (m == 0) {
            for (std::size_t c = 0; c < n_outputs_; ++c) begin(dictionary, c);
            return;
        }
    } else {
        const auto& loops = simd::loops();
        dictionary.project(look);
        const double alpha = covariance_.absorb(look.a, 1.0 / sample.weight);
        counts_.add_outer(sample.weight, look.a);
        loops.axpy(sample.weight, look.a, ones_.data(), m);
        for (std::size_t c = 0; c < n_outputs_; ++c) {
            // The least-squares fit follows its error in this sample: v += Q a (y - a'v) / alpha, v = f + gap.
            const double error = targets_[c] - loops.dot(look.a, kept(value, c), m);
            loops.axpy((error - loops.dot(look.a, kept(gap, c), m)) / alpha, covariance_.gain(), kept(gap, c), m);
            loops.axpy(sample.weight * error, look.a, kept(residual_, c), m);
            loops.axpy(sample.weight * targets_[c], look.a, kept(target, c), m);
        }
    }
    climb(dictionary);
}

// The first sample, as Table 2 has it: alpha* = max(0, y / k), alpha = max(0, -y / k).
void DualAscentUpdate::begin(Dictionary& dictionary, std::size_t c) {
    const double k = dictionary.diagonal()[0], w = clipped(targets_[c] / k);
    dictionary.weights(c)[0] = w;
    kept(sum, c)[0] = std::fabs(w);
    kept(value, c)[0] = k * w;
    kept(gap, c)[0] = targets_[c] - k * w;
    kept(residual_, c)[0] = ones_[0] * kept(gap, c)[0];
}

void DualAscentUpdate::climb(Dictionary& dictionary) {
    const auto& loops = simd::loops();
    const std::size_t m = gram_.size();
    if (m == 0) return;
    double *q = room(0), *counted = room(n_outputs_);  // K r, and A'A K r, of all outputs
    gram_.multiply(kept(residual_, 0), n_outputs_, capacity_, q);
    counts_.multiply(q, n_outputs_, capacity_, counted);
    for (std::size_t c = 0; c < n_outputs_; ++c, q += capacity_, counted += capacity_) {
        const double *r = kept(residual_, c), *z = kept(gap, c);
        const double slope = loops.dot(r, z, m), bend = loops.dot(r, q, m), spread = loops.dot(q, counted, m);
        const bool rises = slope > 0.0 && bend >= least_bend;
        if (!std::isinf(box_)) {
            climb_in_box(dictionary, c, rises ? slope / bend : 0.0);
            continue;
        }
        if (!rises || !(spread >= least_bend)) continue;
        const double eta = best_ == Best::dual ? slope / bend : bend / spread;
        loops.axpy(eta, r, dictionary.weights(c), m);
        loops.axpy(eta, q, kept(value, c), m);
        loops.axpy(-eta, q, kept(gap, c), m);
        loops.axpy(-eta, counted, kept(residual_, c), m);
        loops.axpy(-eta * epsilon_, ones_.data(), kept(sum, c), m);
    }
    if (++steps_ % renewal == 0) renew(dictionary);
}

void DualAscentUpdate::renew(Dictionary& dictionary) {
    double* t = room(0);
    for (std::size_t c = 0; c < n_outputs_; ++c) {
        gram_.multiply(dictionary.weights(c), 1, capacity_, kept(value, c));
        residual(c, kept(residual_, c));
        std::fill_n(kept(gap, c), simd::padded(gram_.size()), 0.0);
        covariance_.factor().multiply(0, gram_.size(), kept(residual_, c), t, kept(gap, c));
    }
}

void DualAscentUpdate::climb_in_box(Dictionary& dictionary, std::size_t c, double eta) {
    const auto& loops = simd::loops();
    const std::size_t m = gram_.size(), first = 2 * n_outputs_;
    double *ones = room(first), *bent = room(first + 1), *t = room(first + 2), *w = dictionary.weights(c);
    const double* z = kept(gap, c);
    Move along{room(first + 3), room(first + 4), room(first + 5), 0.0}, gradient{room(first + 6), room(first + 7), room(first + 8), 0.0};
    fit_ones(ones, t);
    try_in_box(w, c, kept(residual_, c), ones_.data(), eta, along);
    gram_.multiply(z, 1, capacity_, bent);
    const double bend = loops.dot(z, bent, m);
    try_in_box(w, c, z, ones, bend >= least_bend ? loops.dot(z, z, m) / bend : 1.0 / dictionary.diagonal()[0], gradient);
    const Move& better = along.rise >= gradient.rise ? along : gradient;
    if (!(better.rise > 0.0)) return;
    loops.axpy(1.0, better.w, w, m);
    loops.axpy(1.0, better.s, kept(sum, c), m);
    loops.axpy(1.0, better.f, kept(value, c), m);
    loops.axpy(-1.0, better.f, kept(gap, c), m);
    counts_.multiply(better.f, 1, capacity_, bent);
    loops.axpy(-1.0, bent, kept(residual_, c), m);
}

void DualAscentUpdate::try_in_box(const double* weights, std::size_t c, const double* w, const double* s, double scale, Move& move) {
    const auto& loops = simd::loops();
    const std::size_t m = gram_.size();
    const double *sums = kept(sum, c), *ones = room(2 * n_outputs_), half = 0.5 * scale;
    for (std::size_t j = 0; j < m; ++j) {
        const double star = 0.5 * (sums[j] + weights[j]), plain = 0.5 * (sums[j] - weights[j]);
        const double by_star = clipped(star + half * (w[j] - epsilon_ * s[j])) - star;
        const double by_plain = clipped(plain - half * (w[j] + epsilon_ * s[j])) - plain;
        move.w[j] = by_star - by_plain;
        move.s[j] = by_star + by_plain;
    }
    std::fill(move.w + m, move.w + simd::padded(m), 0.0);
    gram_.multiply(move.w, 1, capacity_, move.f);
    const double slope = loops.dot(move.w, kept(gap, c), m) - epsilon_ * loops.dot(move.s, ones, m);
    const double bend = loops.dot(move.w, move.f, m);
    const double part = !(slope > 0.0) ? 0.0 : bend > slope ? slope / bend : 1.0;
    move.rise = part * (slope - 0.5 * part * bend);
    if (part == 1.0) return;
    for (double* array : {move.w, move.s, move.f})
        for (std::size_t j = 0; j < m; ++j) array[j] *= part;
}

void DualAscentUpdate::fit_ones(double* out, double* t) const {
    std::fill_n(out, simd::padded(gram_.size()), 0.0);
    covariance_.factor().multiply(0, gram_.size(), ones_.data(), t, out);
}

void DualAscentUpdate::alpha(const Dictionary& dictionary, std::size_t c, double* out) const {
    for (std::size_t j = 0; j < gram_.size(); ++j) out[j] = clipped(0.5 * (kept(sum, c)[j] - dictionary.weights(c)[j]));
}

void DualAscentUpdate::alpha_star(const Dictionary& dictionary, std::size_t c, double* out) const {
    for (std::size_t j = 0; j < gram_.size(); ++j) out[j] = clipped(0.5 * (kept(sum, c)[j] + dictionary.weights(c)[j]));
}

void DualAscentUpdate::residual(std::size_t c, double* out) const {
    counts_.multiply(kept(value, c), 1, capacity_, out);
    for (std::size_t j = 0; j < gram_.size(); ++j) out[j] = kept(target, c)[j] - out[j];
}

double DualAscentUpdate::dual(const Dictionary& dictionary, std::size_t c) const {
    const std::size_t m = gram_.size();
    std::vector<double> ones(capacity_), t(capacity_);
    fit_ones(ones.data(), t.data());
    const double *w = dictionary.weights(c), *f = kept(value, c), *z = kept(gap, c);
    double fit = 0.0, zone = 0.0;
    for (std::size_t j = 0; j < m; ++j) {
        fit += w[j] * (z[j] + 0.5 * f[j]);
        zone += kept(sum, c)[j] * ones[j];
    }
    return fit - epsilon_ * zone;
}

}  // namespace parsimon
