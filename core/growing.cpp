#include "growing.hpp"

#include <algorithm>
#include <cmath>

namespace parsimon {

void GrowingUpdate::reserve(std::size_t capacity) {
    factor_.reserve(capacity);
    z_.resize(capacity);
    t_.resize(capacity);
    row_.resize(capacity);
}

void GrowingUpdate::open(Dictionary& dictionary, Step& step) {
    for (Sample& sample : step)
        for (std::size_t c = 0; c < dictionary.n_outputs(); ++c)
            sample.coefficient[c] = -sample.gradient[c];
}

double GrowingUpdate::observe(const Look& look) {
    const std::size_t m = factor_.size();
    const double square = scale_ * scale_;
    std::fill_n(z_.data(), simd::padded(m), 0.0);
    const double total = factor_.multiply(0, m, look.h, t_.data(), z_.data());
    for (std::size_t i = 0; i < m; ++i) z_[i] *= square;
    return square * total;
}

void GrowingUpdate::forget(double share) {
    if (share == 1.0) return;
    scale_ *= std::sqrt(share);
    if (scale_ >= smallest_scale) return;
    factor_.fade(scale_, least);
    scale_ = 1.0;
}

void GrowingUpdate::grow(Dictionary& dictionary, Look& look, double* error, double r) {
    const double root = 1.0 / (std::sqrt(r) * scale_);
    factor_.append(-root, z_.data(), root);
    for (std::size_t c = 0; c < dictionary.n_outputs(); ++c) {
        error[c] /= r;
        simd::loops().axpy(-error[c], z_.data(), dictionary.weights(c), dictionary.size());
    }
    dictionary.append(look, error);
}

void GrowingUpdate::set_sums(Dictionary&, const Sums&) {
    refuse(
        "models of this kind cannot be merged or compressed, because their covariance belongs to "
        "their own samples; set_budget evicts centres");
}

void GrowingUpdate::require_sound(Dictionary& dictionary) const {
    if (!(scale_ >= smallest_scale && scale_ <= 1.0)) refuse("the state's scale is ", scale_);
    factor_.require_sound();
    double total = 0.0;
    for (std::size_t j = 0; j < dictionary.size(); ++j)
        total += scale_ * std::sqrt(factor_.diagonal()[j]) * std::sqrt(dictionary.diagonal()[j]);
    if (!(total <= sound::largest_deviation))
        refuse("the state's covariance is too large: its deviations sum to ", total);
}

void TrackerUpdate::step(Dictionary& dictionary, Sample& sample, Step&) {
    if (sample.weight == 0.0) return;
    Look& look = *sample.look;
    const std::size_t m = dictionary.size(), C = dictionary.n_outputs();
    const double root = std::sqrt(forgetting_), noise = ratio_ / sample.weight;
    double* error = sample.coefficient;
    forget(forgetting_);
    for (std::size_t c = 0; forgetting_ < 1.0 && c < C; ++c) {
        double* w = dictionary.weights(c);
        for (std::size_t j = 0; j < m; ++j) w[j] *= root;
        error[c] += (1.0 - root) * sample.f[c];
    }
    const double r = noise + value_variance(look.kxx, observe(look));
    noise_.learn(error, r / ratio_);
    dictionary.project(look);
    if (sample.admitted && !(dictionary.schur(look) < jitter_)) {
        grow(dictionary, look, error, r);
        return;
    }
    const double each = 1.0 / (std::sqrt(r) * scale_);
    for (std::size_t i = 0; i < m; ++i) row_[i] = look.a[i] - z_[i];
    for (std::size_t c = 0; c < C; ++c)
        simd::loops().axpy(error[c] / r, row_.data(), dictionary.weights(c), m);
    for (std::size_t i = 0; i < m; ++i) row_[i] *= each;
    factor_.add(row_.data());
}

std::size_t TrackerUpdate::least_needed(Dictionary& dictionary) {
    const double* diagonal = dictionary.factor().diagonal();
    return dictionary.least(
        [diagonal](std::size_t j, double square) { return square / diagonal[j] / diagonal[j]; });
}

void TrackerUpdate::removing(Dictionary&, std::size_t j, const double* n) {
    factor_.project_out(j, n, row_.data());  // `Dictionary::project_out` moves the weights
}

void TrackerUpdate::require_sound(Dictionary& dictionary) const {
    GrowingUpdate::require_sound(dictionary);
    noise_.require_sound();
}

void ExtendedUpdate::step(Dictionary& dictionary, Sample& sample, Step&) {
    if (sample.weight == 0.0) return;
    Look& look = *sample.look;
    if (Dictionary::negligible(look.kxx)) return;  // there is nothing to learn
    const double noise = std::max(noise_, floor * look.kxx), own = noise / sample.weight,
                 a = transition_, u = a * a + state_noise_ * noise;
    const double r = own + std::max(look.kxx - observe(look), 0.0);
    grow(dictionary, look, sample.coefficient, r);
    forget(a * a / u);
    for (std::size_t c = 0; a != 1.0 && c < dictionary.n_outputs(); ++c) {
        double* w = dictionary.weights(c);
        for (std::size_t j = 0; j < dictionary.size(); ++j) w[j] *= a;
    }
    const double b = forgetting_, l = ridge_;
    // The first rho of the paper is not the one that the recursion gives for rho = ridge.
    const double next = begun_ ? b * noise / u : b * b * l * b / (a * a * b + l * state_noise_);
    // A state that shrinks makes the noise grow without bound, in units of the state.
    noise_ = std::min(next, most_noise);
    begun_ = 1;
}

void ExtendedUpdate::removing(Dictionary& dictionary, std::size_t j, const double*) {
    // Without observation j, E loses row and column j by conditioning, and w -= E_j w_j / E_jj.
    factor_.remove(j);
    const double* carry = factor_.carry();
    for (std::size_t c = 0; c < dictionary.n_outputs(); ++c) {
        double* w = dictionary.weights(c);
        const double own = w[j];
        simd::loops().axpy(-own / carry[j], carry, w, dictionary.size());
        w[j] = own;
    }
}

void ExtendedUpdate::require_sound(Dictionary& dictionary) const {
    GrowingUpdate::require_sound(dictionary);
    if (!(noise_ >= 0.0 && noise_ <= sound::largest_ridge)) refuse("the state's noise is ", noise_);
}

}  // namespace parsimon
