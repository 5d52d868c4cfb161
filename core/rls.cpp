#include "rls.hpp"

#include <algorithm>
#include <cmath>

#include "sound.hpp"

namespace parsimon {

void Covariance::reserve(std::size_t capacity) {
    factor_.reserve(capacity);
    gain_.resize(capacity);
}

std::size_t Covariance::nbytes() const {
    return factor_.nbytes() + gain_.capacity() * sizeof(double);
}

void Covariance::pass() {
    if (forgetting_ < 1.0) scale_ = 1.0 / std::sqrt(forgetting_);
}

double Covariance::absorb(const double* a, double noise) {
    const double alpha = factor_.absorb(a, noise, scale_, gain_.data());
    scale_ = 1.0;
    return alpha;
}

void Covariance::hold(const double* a, double variance, double cap) {
    const double target = 0.5 * cap;
    absorb(a, target / (1.0 - target / variance));  // variance noise / (noise + variance) = target
}

void Covariance::append(double factor, const double* values, double diagonal) {
    if (scale_ != 1.0) factor_.scale(scale_);
    scale_ = 1.0;
    factor_.append(factor, values, diagonal);
}

void Covariance::set_factor(const double* R, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) factor_.append(1.0, R + i * size, R[i * size + i]);
    factor_.sum_diagonal();
    scale_ = 1.0;
}

void Covariance::copy_factor(double* R) const {
    const std::size_t m = factor_.size();
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j <= i; ++j) R[i * m + j] = scale_ * factor_.row(i)[j];
}

void Covariance::require_sound() const {
    // The scale is 1, or 1 / sqrt(forgetting) after `pass`.
    if (!(scale_ >= 1.0 && scale_ <= (1.0 + sound::same) / std::sqrt(forgetting_)))
        refuse("the state's covariance has the scale ", scale_);
    factor_.require_sound();
}

void RLSUpdate::require_sound(Dictionary& dictionary) const {
    covariance_.require_sound();
    noise_.require_sound();
    double total = 0.0;
    for (std::size_t j = 0; j < dictionary.size(); ++j)
        total +=
            std::sqrt(covariance_.factor().diagonal()[j]) * std::sqrt(dictionary.diagonal()[j]);
    if (!(total <= sound::largest_deviation))
        refuse("the state's covariance is too large: its deviations sum to ", total);
}

void RLSUpdate::reserve(std::size_t capacity) {
    covariance_.reserve(capacity);
    row_.resize(capacity);
}

std::size_t RLSUpdate::nbytes() const {
    return covariance_.nbytes() + noise_.nbytes() +
           (row_.capacity() + new_weights_.capacity()) * sizeof(double);
}

void RLSUpdate::open(Dictionary& dictionary, Step& step) {
    new_weights_.resize(dictionary.n_outputs());
    for (Sample& sample : step)
        for (std::size_t c = 0; c < dictionary.n_outputs(); ++c)
            sample.coefficient[c] = -sample.gradient[c];
}

void RLSUpdate::step(Dictionary& dictionary, Sample& sample, Step& step) {
    Look& look = *sample.look;
    if (sample.weight == 0.0) {
        if (step.variances) sample.variance = variance(dictionary, look);
        return;
    }
    const double outside = step.variances ? this->outside(dictionary, look) : 0.0;
    covariance_.pass();
    explained_ = -1.0;
    asked_ = step.variances;
    if (!sample.admitted || !enter(dictionary, sample)) {
        const double alpha = covariance_.absorb(look.h, 1.0 / sample.weight);
        if (explained_ < 0.0) explained_ = covariance_.before();
        noise_.learn(sample.gradient, alpha);
        for (std::size_t c = 0; c < dictionary.n_outputs(); ++c)
            simd::loops().axpy(-sample.gradient[c] / alpha, covariance_.gain(),
                               dictionary.weights(c), look.n_known);
    }
    if (step.variances) sample.variance = 1.0 + explained_ + outside;
    if (covariance_.forgetting() < 1.0) hold(dictionary);
}

Sums RLSUpdate::sums(const Dictionary& dictionary) const {
    Sums sums;
    sums.coordinates = coordinates();
    sums.size = covariance_.size();
    sums.n_outputs = dictionary.n_outputs();
    sums.factor.resize(numbers(sums.size, sums.size));
    covariance_.copy_factor(sums.factor.data());
    sums.noise = noise_.means();
    sums.n_errors = noise_.counts();
    return sums;
}

void RLSUpdate::set_sums(Dictionary&, const Sums& sums) {
    if (sums.factor.size() != sums.size * sums.size) refuse("the sums have no factor");
    covariance_.set_factor(sums.factor.data(), sums.size);
    noise_.adopt(sums.noise, sums.n_errors);
}

double RLSUpdate::evict(Dictionary& dictionary, std::size_t j) {
    dictionary.drop(j);  // `removing` updates the other weights
    return 0.0;
}

void RLSUpdate::removing(Dictionary& dictionary, std::size_t j, const double*) {
    // Least squares with the constraint w_j = 0: w -= P_j w_j / P_jj.
    covariance_.remove(j);
    const double* carry = covariance_.factor().carry();
    for (std::size_t c = 0; c < dictionary.n_outputs(); ++c) {
        double* w = dictionary.weights(c);
        const double own = w[j];
        simd::loops().axpy(-own / carry[j], carry, w, dictionary.size());
        w[j] = own;
    }
}

bool SpanRLSUpdate::enter(Dictionary& dictionary, Sample& sample) {
    if (budget_ == 0 || dictionary.size() < budget_) return make_centre(dictionary, sample);
    const std::size_t j = least_needed(dictionary);
    const double least = dictionary.squared_weight(j) / covariance_.variance(j);
    return compete(dictionary, sample, margin * least);
}

void SpanRLSUpdate::removing(Dictionary& dictionary, std::size_t j, const double* n) {
    if (budget_ > 0)
        covariance_.project_out(j, n, row_.data());  // `Dictionary::project_out` moves the weights
    else
        RLSUpdate::removing(dictionary, j, n);
}

bool SpanRLSUpdate::compete(Dictionary& dictionary, Sample& sample, double least) {
    if (ridge_ == 0.0) return learn_and_compete(dictionary, sample, least, 0.0);
    // With the names of `make_centre`, the need is ||change||^2 / alpha.
    const double precision = ridge_ + sample.weight, share = sample.weight / precision;
    const double alpha = 1.0 / precision + covariance_.variance(sample.look->h);
    double squares = 0.0;
    for (std::size_t c = 0; c < dictionary.n_outputs(); ++c) {
        const double change = share * (sample.f[c] - sample.gradient[c]) - sample.f[c];
        squares += change * change;
    }
    return squares / alpha > least && make_centre(dictionary, sample);
}

bool SpanRLSUpdate::learn_and_compete(Dictionary& dictionary, Sample& sample, double least,
                                      double penalty) {
    // Let w be the present weights and u that of the new centre, y = h'w + residual u + noise.
    // Given u, this is one more observation of h'w, and changes their covariance as if there were
    // no u. With e = y - h'w, u has the mean e / total and the variance alpha / (residual total).
    // The other weights change by -u row.
    Look& look = *sample.look;
    const std::size_t m = dictionary.size(), C = dictionary.n_outputs();
    const double alpha = covariance_.absorb(look.h, 1.0 / sample.weight), residual = look.residual,
                 total = penalty * alpha + residual;
    explained_ = covariance_.before();
    noise_.learn(sample.gradient, alpha + residual / penalty);
    double squares = 0.0;
    for (std::size_t c = 0; c < C; ++c) {
        squares += sample.gradient[c] * sample.gradient[c];
        simd::loops().axpy(-sample.gradient[c] / alpha, covariance_.gain(), dictionary.weights(c),
                           m);
    }
    if (!(squares / alpha * (residual / total) > least)) return true;
    const double gain = residual / alpha, root = std::sqrt(alpha / residual / total);
    dictionary.project(look);
    for (std::size_t i = 0; i < m; ++i) row_[i] = gain * covariance_.gain()[i] + look.a[i];
    covariance_.append(-root, row_.data(), root);
    for (std::size_t c = 0; c < C; ++c) {
        new_weights_[c] = -sample.gradient[c] / total;
        simd::loops().axpy(-new_weights_[c], row_.data(), dictionary.weights(c), m);
    }
    dictionary.append(look, new_weights_.data());
    return true;
}

bool SpanRLSUpdate::make_centre(Dictionary& dictionary, Sample& sample) {
    // The value of f at the new centre is estimated by v = weight y / (ridge + weight), with
    // variance 1 / (ridge + weight). The new weight is (v - h'w) / residual, and the other weights
    // change by -a times the new weight. Given the new weight, the other weights have the
    // covariance that remains after their value h'w is observed with this variance.
    Look& look = *sample.look;
    dictionary.project(look);
    const std::size_t m = dictionary.size();
    const double variance = 1.0 / (ridge_ + sample.weight), share = sample.weight * variance;
    const double alpha = covariance_.absorb(look.h, variance),
                 root = std::sqrt(alpha) / look.residual, gain = look.residual / alpha;
    explained_ = covariance_.before();
    for (std::size_t i = 0; i < m; ++i) row_[i] = gain * covariance_.gain()[i] + look.a[i];
    covariance_.append(-root, row_.data(), root);
    for (std::size_t c = 0; c < dictionary.n_outputs(); ++c) {
        const double change = share * (sample.f[c] - sample.gradient[c]) - sample.f[c];
        new_weights_[c] = change / look.residual;
        simd::loops().axpy(-new_weights_[c], look.a, dictionary.weights(c), m);
    }
    dictionary.append(look, new_weights_.data());
    return true;
}

bool NormRLSUpdate::make_centre(Dictionary& dictionary, Sample& sample) {
    // Given the other values, the new value has mean h'w and variance residual / ridge. So the new
    // weight has mean 0 and variance 1 / (ridge residual), and the others change by -a times it.
    Look& look = *sample.look;
    dictionary.project(look);
    const double root = 1.0 / std::sqrt(ridge_ * look.residual);
    if (asked_) explained_ = covariance_.factor().squared_norm(look.h);
    covariance_.append_unscaled(-root, look.a, root);
    dictionary.append(look, nullptr);
    return false;
}

double SpanRLSUpdate::doubling() const {
    return std::log(2.0) / -std::log(covariance_.forgetting());
}

void SpanRLSUpdate::hold(Dictionary& dictionary) {
    if (static_cast<double>(++since_) <
        std::min(static_cast<double>(dictionary.size()), doubling()))
        return;
    since_ = 0;
    for (std::size_t j = 0; j < dictionary.size(); ++j) hold_value(dictionary, j);
}

void SpanRLSUpdate::hold_value(Dictionary& dictionary, std::size_t j) {
    dictionary.gram_row(j, row_.data());
    const double variance = covariance_.factor().squared_norm(row_.data());
    const double most = largest_variance(dictionary, j);
    if (variance > most) covariance_.hold(row_.data(), variance, most);
}

void NormRLSUpdate::hold(Dictionary& dictionary) {
    const double samples = doubling() / static_cast<double>(dictionary.size());  // per centre
    if (static_cast<double>(++since_) < std::floor(samples)) return;
    since_ = 0;
    for (auto due = static_cast<std::size_t>(std::ceil(1.0 / samples)); due > 0; --due) {
        if (next_ >= end_) {
            next_ = 0;
            end_ = dictionary.size();
        }
        hold_value(dictionary, next_++);
    }
}

void NormRLSUpdate::removing(Dictionary& dictionary, std::size_t j, const double* n) {
    SpanRLSUpdate::removing(dictionary, j, n);
    next_ -= j < next_;
    end_ -= j < end_;
}

bool RowRLSUpdate::enter(Dictionary& dictionary, Sample& sample) {
    Look& look = *sample.look;
    if (ridge_ == 0.0) {
        // Without a ridge the new weight makes the error of this sample zero: w = e / k(x, x). Its
        // variance follows from the variance of e.
        const double alpha = covariance_.absorb(look.h, 1.0 / sample.weight),
                     root = std::sqrt(alpha);
        explained_ = covariance_.before();
        covariance_.append(-1.0 / root, covariance_.gain(), root / look.kxx);
        for (std::size_t c = 0; c < dictionary.n_outputs(); ++c)
            new_weights_[c] = -sample.gradient[c] / look.kxx;
        dictionary.append(look, new_weights_.data());
        return true;
    }
    if (asked_) explained_ = covariance_.factor().squared_norm(look.h);
    covariance_.append(0.0, look.h, 1.0 / std::sqrt(ridge_));
    dictionary.append(look, nullptr);
    return false;
}

void RowRLSUpdate::hold(Dictionary& dictionary) {
    const double *variance = covariance_.factor().diagonal(), *kernel = dictionary.diagonal();
    for (std::size_t j = 0; j < dictionary.size(); ++j) {
        const double cap = windup / (ridge_ > 0.0 ? ridge_ : kernel[j] * kernel[j]);
        if (!(variance[j] > cap)) continue;
        std::fill_n(row_.begin(), simd::padded(dictionary.size()), 0.0);
        row_[j] = 1.0;
        covariance_.hold(row_.data(), variance[j], cap);
    }
}

}  // namespace parsimon
