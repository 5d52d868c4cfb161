#include "fourier.hpp"

#include <algorithm>
#include <cmath>

#include "input.hpp"
#include "simd/loops.hpp"
#include "updates.hpp"

namespace parsimon {

FourierFilter::FourierFilter(const double* frequencies, const double* phases, std::size_t count,
                             std::size_t n_features, std::size_t n_outputs, bool intercept,
                             double step_size)
    : Filter(n_features, n_outputs, intercept),
      step_size_(step_size),
      frequencies_(numbers(count, n_features)),
      phases_(phases, phases + count),
      weights_(numbers(count, n_outputs)),
      phi_(count) {
    for (std::size_t j = 0; j < count; ++j)
        for (std::size_t i = 0; i < n_features; ++i)
            frequencies_[i * count + j] = frequencies[j * n_features + i];
    for (const double frequency : frequencies_)
        largest_frequency_ = std::max(largest_frequency_, std::fabs(frequency));
}

void FourierFilter::angles(const double* x, double* out) const {
    const std::size_t D = size();
    std::copy(phases_.begin(), phases_.end(), out);
    for (std::size_t i = 0; i < n_features_; ++i)
        simd::loops().axpy(x[i], frequencies_.data() + i * D, out, D);
}

void FourierFilter::features(const double* x, double* out) const {
    const double scale = std::sqrt(2.0 / static_cast<double>(size()));
    angles(x, out);
    for (std::size_t j = 0; j < size(); ++j) out[j] = scale * std::cos(out[j]);
}

void FourierFilter::check_inputs(const double* x, std::size_t n) const {
    require_finite(x, n, n_features_, "X");
    for (std::size_t i = 0; i < n; ++i) {
        double total = 0.0;
        for (std::size_t k = 0; k < n_features_; ++k) total += std::fabs(x[i * n_features_ + k]);
        if (!(total * largest_frequency_ <= largest_angle))
            refuse("row ", i, " of X is too large for the frequencies of the features: ",
                   "scale the columns of X, or use a smaller gamma");
    }
}

void FourierFilter::look(const double* x, double* f) {
    features(x, phi_.data());
    for (std::size_t c = 0; c < n_outputs_; ++c)
        f[c] = simd::loops().dot(phi_.data(), weights_.data() + c * size(), size());
}

void FourierFilter::step(const double* error, double weight) {
    double rate = step_size_;
    if (weight != 1.0) {
        // One step removes this share of the error.
        const double share = rate * simd::loops().dot(phi_.data(), phi_.data(), size());
        rate = share > 0.0 ? rate * repeated(share, weight) / share : rate * weight;
    }
    for (std::size_t c = 0; c < n_outputs_; ++c)
        simd::loops().axpy(rate * error[c], phi_.data(), weights_.data() + c * size(), size());
}

void FourierFilter::evaluate(const double* x, std::size_t n, double* out) const {
    std::vector<double> phi(size());
    for (std::size_t i = 0; i < n; ++i) {
        features(x + i * n_features_, phi.data());
        for (std::size_t c = 0; c < n_outputs_; ++c)
            out[i * n_outputs_ + c] =
                simd::loops().dot(phi.data(), weights_.data() + c * size(), size());
    }
}

void FourierFilter::gradient(const double* x, std::size_t n, double* out) const {
    const std::size_t D = size();
    const double scale = -std::sqrt(2.0 / static_cast<double>(D));
    std::vector<double> sine(D), terms(D);
    for (std::size_t i = 0; i < n; ++i) {
        angles(x + i * n_features_, sine.data());
        for (double& angle : sine) angle = scale * std::sin(angle);
        for (std::size_t c = 0; c < n_outputs_; ++c) {
            for (std::size_t j = 0; j < D; ++j) terms[j] = sine[j] * weights_[c * D + j];
            for (std::size_t k = 0; k < n_features_; ++k)
                out[(i * n_outputs_ + c) * n_features_ + k] =
                    simd::loops().dot(terms.data(), frequencies_.data() + k * D, D);
        }
    }
}

void FourierFilter::copy_weights(double* out) const {
    for (std::size_t j = 0; j < size(); ++j)
        for (std::size_t c = 0; c < n_outputs_; ++c)
            out[j * n_outputs_ + c] = weights_[c * size() + j];
}

void FourierFilter::copy_points(double* out) const {
    for (std::size_t j = 0; j < size(); ++j)
        for (std::size_t i = 0; i < n_features_; ++i)
            out[j * n_features_ + i] = frequencies_[i * size() + j];
}

void FourierFilter::require_sound_features() {
    sound::require_within(weights_.data(), weights_.size(), sound::largest_norm, "weights");
}

std::size_t FourierFilter::nbytes_of_features() const {
    return sizeof *this +
           (frequencies_.capacity() + phases_.capacity() + weights_.capacity() + phi_.capacity()) *
               sizeof(double);
}

}  // namespace parsimon
