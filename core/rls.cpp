#include "rls.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace parsimon {
namespace {

void propose(const Dictionary& dictionary, Step& step) {
    for (Sample& sample : step)
        for (std::size_t c = 0; c < dictionary.n_outputs(); ++c) sample.coefficient[c] = -sample.gradient[c];
}

// What is left of a sum of squares after a subtraction; zero, a mark, where most of its digits are gone.
double remainder_of(double before, double gone) {
    const double after = before - gone;
    return after > 1e-6 * before ? after : 0.0;
}

}  // namespace

Covariance::Covariance(double forgetting) : forgetting_(forgetting), refresh_(1) {
    // Each step multiplies the rounding error of the running diagonal by 1 / forgetting: not beyond 1e8 times.
    if (forgetting < 1.0) refresh_ = static_cast<std::uint64_t>(std::clamp(std::log(1e8) / -std::log(forgetting), 1.0, 64.0));
}

void Covariance::reserve(std::size_t capacity) {
    factor_.reserve(capacity);
    for (auto* array : {&diagonal_, &caps_, &gain_, &unit_}) array->resize(capacity);
}

std::size_t Covariance::nbytes() const {
    return factor_.nbytes() + (diagonal_.capacity() + caps_.capacity() + gain_.capacity() + unit_.capacity()) * sizeof(double);
}

void Covariance::pass() {
    if (forgetting_ == 1.0) return;
    if (steps_++ % refresh_ == 0) factor_.diagonal(diagonal_.data());
    scale_ = 1.0 / std::sqrt(forgetting_);
    for (std::size_t i = 0; i < size(); ++i) diagonal_[i] /= forgetting_;
}

double Covariance::hold() {
    if (forgetting_ == 1.0) return 0.0;
    for (std::size_t i = 0; i < size(); ++i) {
        if (!(diagonal_[i] > caps_[i])) continue;
        diagonal_[i] = factor_.diagonal(i);
        if (!(diagonal_[i] > caps_[i])) continue;
        const double target = 0.5 * caps_[i], noise = target / (1.0 - target / diagonal_[i]);  // P noise / (noise + P) = target
        unit_[i] = 1.0;
        const double alpha = absorb(unit_.data(), noise);
        unit_[i] = 0.0;
        diagonal_[i] = factor_.diagonal(i);
        return alpha;
    }
    return 0.0;
}

void Covariance::apply_scale() {
    if (scale_ == 1.0) return;
    for (std::size_t i = 0; i < size(); ++i) {
        double* row = factor_.row(i);
        for (std::size_t j = 0; j <= i; ++j) row[j] *= scale_;
    }
    scale_ = 1.0;
}

double Covariance::absorb(const double* a, double noise) {
    const double alpha = factor_.absorb(a, noise, scale_, gain_.data());
    scale_ = 1.0;
    if (forgetting_ < 1.0)
        for (std::size_t i = 0; i < size(); ++i) {
            const double after = diagonal_[i] - gain_[i] * gain_[i] / alpha;
            diagonal_[i] = after > 1e-3 * diagonal_[i] ? after : factor_.diagonal(i);
        }
    return alpha;
}

void Covariance::append(double factor, const double* values, double diagonal, double cap) {
    apply_scale();
    const std::size_t m = size();
    factor_.append(factor, values, diagonal);
    caps_[m] = cap;
    if (forgetting_ == 1.0) return;
    const double* row = factor_.row(m);
    for (std::size_t i = 0; i < m; ++i) diagonal_[i] += row[i] * row[i];
    diagonal_[m] = diagonal * diagonal;
}

void Covariance::remove_coordinate(std::size_t j) {
    const auto begin = caps_.begin() + static_cast<std::ptrdiff_t>(j);
    std::copy(begin + 1, caps_.begin() + static_cast<std::ptrdiff_t>(size()) + 1, begin);
    if (forgetting_ < 1.0) factor_.diagonal(diagonal_.data());
}

void Covariance::condition_out(std::size_t j) {
    factor_.condition_out(j);
    remove_coordinate(j);
}

double Covariance::settle(std::size_t j, const double* n) {
    const double spread = factor_.absorb(n, 0.0, 1.0, gain_.data());
    factor_.leave_out(j);
    remove_coordinate(j);
    return spread;
}

double Covariance::multiply(const double* h, double* t, double* result) const {
    std::fill_n(result, simd::padded(size()), 0.0);
    return factor_.multiply(0, size(), h, t, result);
}

void SpanRLSUpdate::reserve(std::size_t capacity) {
    covariance_.reserve(capacity);
    for (auto* array : {&spread_, &t_, &u_}) array->resize(capacity);
}

std::size_t SpanRLSUpdate::nbytes() const {
    return covariance_.nbytes() + (spread_.capacity() + t_.capacity() + u_.capacity() + new_weights_.capacity()) * sizeof(double);
}

void SpanRLSUpdate::open(Dictionary& dictionary, Step& step) {
    new_weights_.resize(dictionary.n_outputs());
    propose(dictionary, step);
}

void SpanRLSUpdate::step(Dictionary& dictionary, Sample& sample, Step&) {
    if (sample.weight == 0.0) return;
    Look& look = *sample.look;
    const std::size_t m = dictionary.size(), C = dictionary.n_outputs();
    dictionary.project(look);
    if (sample.admitted) {
        // The new value is observed once and by nothing else: v = weight y / (ridge + weight).
        const double variance = 1.0 / (ridge_ + sample.weight), share = sample.weight * variance;
        covariance_.pass();
        // n_i grows by (a_i a; -a_i) / delta, and so does its spread.
        const double forgotten = covariance_.scale() * covariance_.scale();
        const double quadratic = forgotten * covariance_.multiply(look.a, t_.data(), u_.data()) + variance;
        dictionary.solve(u_.data(), t_.data());
        const double inverse = 1.0 / look.residual;
        for (std::size_t i = 0; i < m; ++i) {
            const double a = look.a[i] * inverse;
            if (spread_[i] > 0.0) spread_[i] = std::max(0.0, forgotten * spread_[i] + a * (2.0 * forgotten * t_[i] + a * quadratic));
        }
        spread_[m] = inverse * inverse * quadratic;
        for (std::size_t c = 0; c < C; ++c) {
            const double change = share * (sample.f[c] - sample.gradient[c]) - sample.f[c];
            new_weights_[c] = change * inverse;
            simd::loops().axpy(-new_weights_[c], look.a, dictionary.weights(c), m);
        }
        std::fill_n(t_.begin(), m, 0.0);
        covariance_.append(0.0, t_.data(), std::sqrt(variance), cap);
        dictionary.append(look, new_weights_.data());
        hold(dictionary);
        return;
    }
    covariance_.pass();
    const double forgotten = covariance_.scale() * covariance_.scale();
    const double alpha = covariance_.absorb(look.a, 1.0 / sample.weight);
    dictionary.solve(covariance_.gain(), u_.data());
    for (std::size_t i = 0; i < m; ++i) spread_[i] = remainder_of(forgotten * spread_[i], u_[i] * u_[i] / alpha);
    for (std::size_t c = 0; c < C; ++c) simd::loops().axpy(-sample.gradient[c] / alpha, u_.data(), dictionary.weights(c), m);
    hold(dictionary);
}

void SpanRLSUpdate::hold(Dictionary& dictionary) {
    // Every hold halves a variance and raises none, so there are few.
    for (double held = covariance_.hold(); held > 0.0; held = covariance_.hold()) {
        dictionary.solve(covariance_.gain(), u_.data());
        for (std::size_t i = 0; i < dictionary.size(); ++i) spread_[i] = remainder_of(spread_[i], u_[i] * u_[i] / held);
    }
}

double SpanRLSUpdate::exact_spread(Dictionary& dictionary, std::size_t j) {
    std::fill_n(u_.begin(), dictionary.size(), 0.0);
    u_[j] = 1.0;
    dictionary.solve(u_.data(), t_.data());
    return covariance_.factor().squared_norm(t_.data());
}

std::size_t SpanRLSUpdate::least_needed(Dictionary& dictionary) {
    // Running spreads that have lost their digits were marked by a zero; and now and then the least is asked exactly, until one stands by
    // its figure.
    const bool doubt = forgets_ || evictions_++ % 64 == 0;
    for (;;) {
        std::size_t best = 0;
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t j = 0; j < dictionary.size(); ++j) {
            if (spread_[j] == 0.0) spread_[j] = exact_spread(dictionary, j);
            const double cost = dictionary.squared_weight(j) / spread_[j];
            if (cost < least) {
                best = j;
                least = cost;
            }
        }
        if (!doubt) return best;
        const double exact = exact_spread(dictionary, best), error = std::fabs(spread_[best] - exact);
        spread_[best] = exact;
        if (!(error > 1e-3 * exact)) return best;  // what is not a number must end the search too
    }
}

void SpanRLSUpdate::removing(Dictionary& dictionary, std::size_t j, const double* n) {
    // The factor has forgotten j and the weights are those of the projection, whose values at the other centres are those of f. What is
    // left is the step in the values that least squares makes when n'v, the weight of j, must be zero: v -= P n w_j / n'P n.
    const std::size_t m = dictionary.size();
    const double spread = covariance_.settle(j, n);
    const double* gain = covariance_.gain();
    std::copy_n(gain, j, t_.begin());
    std::copy(gain + j + 1, gain + m, t_.begin() + static_cast<std::ptrdiff_t>(j));
    dictionary.solve(t_.data(), u_.data());
    for (std::size_t c = 0; c < dictionary.n_outputs(); ++c) {
        double* w = dictionary.weights(c);
        const double scale = -w[j] / spread;
        simd::loops().axpy(scale, u_.data(), w, j);
        simd::loops().axpy(scale, u_.data() + j, w + j + 1, m - 1 - j);
    }
    // n_i'P n_i falls by (n_i'P n)^2 / n'P n, and n_i'P n is K^-1 P n = u + n (n'P n) / n_j.
    for (std::size_t i = 0, k = 0; i < m; ++i) {
        if (i == j) continue;
        const double z = u_[k] + n[i] * spread / n[j];
        spread_[k] = remainder_of(spread_[i], z * z / spread);
        ++k;
    }
}

void RowRLSUpdate::reserve(std::size_t capacity) {
    covariance_.reserve(capacity);
    diagonal_.resize(capacity);
}

std::size_t RowRLSUpdate::nbytes() const {
    return covariance_.nbytes() + (diagonal_.capacity() + new_weights_.capacity()) * sizeof(double);
}

void RowRLSUpdate::open(Dictionary& dictionary, Step& step) {
    new_weights_.resize(dictionary.n_outputs());
    propose(dictionary, step);
}

void RowRLSUpdate::step(Dictionary& dictionary, Sample& sample, Step&) {
    if (sample.weight == 0.0) return;
    Look& look = *sample.look;
    const std::size_t C = dictionary.n_outputs();
    const double noise = 1.0 / sample.weight;
    covariance_.pass();
    const double cap = windup / (ridge_ > 0.0 ? ridge_ : look.kxx * look.kxx);
    if (sample.admitted && ridge_ == 0.0) {
        // The new weight is what this observation leaves over: w = e / h0, with the covariance of that.
        const double alpha = covariance_.absorb(look.h, noise), root = std::sqrt(alpha);
        covariance_.append(-1.0 / root, covariance_.gain(), root / look.kxx, cap);
        for (std::size_t c = 0; c < C; ++c) new_weights_[c] = -sample.gradient[c] / look.kxx;
        dictionary.append(look, new_weights_.data());
        while (covariance_.hold() > 0.0) continue;
        return;
    }
    if (sample.admitted) {
        std::fill_n(diagonal_.begin(), dictionary.size(), 0.0);
        covariance_.append(0.0, diagonal_.data(), 1.0 / std::sqrt(ridge_), cap);
        dictionary.append(look, nullptr);
    }
    const double alpha = covariance_.absorb(look.h, noise);
    for (std::size_t c = 0; c < C; ++c)
        simd::loops().axpy(-sample.gradient[c] / alpha, covariance_.gain(), dictionary.weights(c), look.known);
    while (covariance_.hold() > 0.0) continue;
}

std::size_t RowRLSUpdate::least_needed(Dictionary& dictionary) {
    covariance_.factor().diagonal(diagonal_.data());
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < dictionary.size(); ++j) {
        const double cost = dictionary.squared_weight(j) / diagonal_[j];
        if (cost < least) {
            least = cost;
            best = j;
        }
    }
    return best;
}

double RowRLSUpdate::remove(Dictionary& dictionary, std::size_t j) {
    dictionary.drop(j);
    return 0.0;
}

void RowRLSUpdate::removing(Dictionary& dictionary, std::size_t j, const double*) {
    // Least squares when w_j must be zero: w -= P_j w_j / P_jj.
    covariance_.condition_out(j);
    const double* carry = covariance_.factor().carry();
    for (std::size_t c = 0; c < dictionary.n_outputs(); ++c) {
        double* w = dictionary.weights(c);
        const double own = w[j];
        simd::loops().axpy(-own / carry[j], carry, w, dictionary.size());
        w[j] = own;
    }
}

}  // namespace parsimon
