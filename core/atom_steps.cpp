// The steps of an AtomLearner: how the atoms, their products and the stored samples change.
#include <algorithm>
#include <cmath>

#include "atoms.hpp"
#include "simd/loops.hpp"

namespace parsimon {

// Equation (15). With s = 1 - mu rate and c = b - G alpha,
//     D <- s D + rate (phi - D alpha) alpha'
// changes G to
//     s^2 G + u alpha' + alpha u',  u = s rate c + rate^2 / 2 ||phi - D alpha||^2 alpha.
// A rate above 2 / (mu + ||alpha||^2) could increase the cost of the sample.
void AtomLearner::step_in_feature_space(Look& look, double rate, double squared_error) {
    const auto& loops = simd::loops();
    const std::size_t K = rules_.n_atoms, M = dictionary_.size();
    double steepness = rules_.penalty;
    for (std::size_t k = 0; k < K; ++k) steepness += alpha_[k] * alpha_[k];
    if (!(rate * steepness <= 2.0)) rate = 1.0 / steepness;
    if (!(rate * rate * steepness * squared_error > 0.0) || !(steepness < beyond))
        return;  // the step would underflow or overflow
    const double s = 1.0 - rules_.penalty * rate;
    std::fill_n(column_.begin(), M, 0.0);
    for (std::size_t k = 0; k < K; ++k)
        if (alpha_[k] != 0.0) loops.axpy(alpha_[k], dictionary_.weights(k), column_.data(), M);
    for (std::size_t k = 0; k < K; ++k) row_[k] = -rate * alpha_[k];
    loops.scale_and_add(s, row_.data(), column_.data(), dictionary_.weights(0), K,
                        dictionary_.capacity(), M, squares_.data());
    for (std::size_t k = 0; k < K; ++k)
        row_[k] =
            s * rate * coder_.correlation()[k] + 0.5 * rate * rate * squared_error * alpha_[k];
    find_active(alpha_.data());
    for (std::size_t k = 0; k < K; ++k) {
        const double* line = G_.data() + k * stride_;
        note_change(s * s * line[k], 2.0 * row_[k] * alpha_[k]);
    }
    loops.scale(s * s, G_.data(), K * stride_);
    for (std::size_t k = 0; k < K; ++k) add_products(k, alpha_.data(), 1.0);
    for (std::size_t k = 0; k < K; ++k) row_[k] = rate * alpha_[k];
    store(look, row_.data());
    sum_squares(row_.data(), K, 1, 1, squares_.data() + M);
    prune();
    if (stale_ || learned_ % renewal == 0) renew();
}

// Equations (19)-(20), with H = K Omega and h the kernel row of the sample:
//     Omega <- Omega - rate N,  N = mu H + (H alpha - h) alpha'.
// If the sample is stored, its row of H is b and its entry of h is k(x, x). Along N the cost of the
// sample is a parabola with slope -||N||^2 and curvature (N alpha)'K N alpha + mu tr N'K N.
void AtomLearner::step_in_parameters(Look& look, double rate) {
    const auto& loops = simd::loops();
    const std::size_t K = rules_.n_atoms;
    if (rules_.stores) store(look, nullptr);
    const std::size_t M = dictionary_.size();
    for (std::size_t k = 0; rules_.stores && k < K; ++k) H_[k * wide_ + M - 1] = b_[k];
    std::fill_n(column_.begin(), M, 0.0);
    for (std::size_t k = 0; k < K; ++k)
        if (alpha_[k] != 0.0) loops.axpy(alpha_[k], H_.data() + k * wide_, column_.data(), M);
    loops.axpy(-1.0, look.h, column_.data(), M);
    double slope = 0.0;
    for (std::size_t k = 0; k < K; ++k)
        slope += loops.combine_two(rules_.penalty, H_.data() + k * wide_, alpha_[k], column_.data(),
                                   N_.data() + k * wide_, M);
    stored_.multiply_many(N_.data(), wide_, K, KN_.data(), wide_);
    double bend = 0.0;
    std::fill_n(column_.begin(), M, 0.0);
    for (std::size_t k = 0; k < K; ++k) {
        const double* n = N_.data() + k * wide_;
        bend += rules_.penalty * loops.dot(n, KN_.data() + k * wide_, M);
        if (alpha_[k] != 0.0) loops.axpy(alpha_[k], n, column_.data(), M);
    }
    for (std::size_t k = 0; k < K; ++k)
        if (alpha_[k] != 0.0)
            bend += alpha_[k] * loops.dot(column_.data(), KN_.data() + k * wide_, M);
    if (!(rate * bend <= 2.0 * slope)) rate = slope / bend;
    // If not usable, the step is skipped.
    const bool usable = rate > 0.0 && rate * std::sqrt(slope) < beyond && bend < beyond;
    for (std::size_t k = 0; usable && k < K; ++k) {
        double squares[2];
        loops.step(-rate, KN_.data() + k * wide_, H_.data() + k * wide_, N_.data() + k * wide_,
                   dictionary_.weights(k), M, squares);
        note_change(squares[0], squares[1] - squares[0]);
    }
    sum_squares(dictionary_.weights(0), K, dictionary_.capacity(), M, squares_.data());
    prune();
    if (stale_ || learned_ % renewal == 0)
        renew();
    else
        multiply_atoms();
}

void AtomLearner::store(Look& look, const double* row) {
    stored_.append(look.h, look.kxx);
    dictionary_.append(look, row);
}

// Equation (23). `squares_` holds the squared norms of the rows of Omega. Dropping sample j with
// row omega of Omega is D <- D - phi(x_j) omega'. It changes H to H - K_j omega' and G to
//     G - t omega' - omega t',  t = Omega'K_j - k_jj omega / 2.
void AtomLearner::prune() {
    const auto& loops = simd::loops();
    const std::size_t K = rules_.n_atoms;
    while (dictionary_.size() > rules_.budget) {
        const std::size_t M = dictionary_.size();
        const auto found = std::min_element(squares_.begin(), squares_.begin() + M);
        const auto least = static_cast<std::size_t>(found - squares_.begin());
        std::copy(found + 1, squares_.begin() + M, found);
        stored_.row(least, column_.data());
        for (std::size_t k = 0; k < K; ++k) b_[k] = dictionary_.weights(k)[least];
        if (rules_.in_parameters) {
            for (std::size_t k = 0; k < K; ++k) {
                double *h = H_.data() + k * wide_, before = loops.dot(h, h, M);
                loops.axpy(-b_[k], column_.data(), h, M);
                note_change(before, loops.dot(h, h, M) - before);
                std::copy(h + least + 1, h + M, h + least);
            }
        } else if (loops.dot(b_.data(), b_.data(), K) > 0.0) {
            const double half = 0.5 * column_[least];
            loops.dot_each(column_.data(), dictionary_.weights(0), K, dictionary_.capacity(), M,
                           row_.data());
            for (std::size_t k = 0; k < K; ++k) row_[k] -= half * b_[k];
            find_active(b_.data());
            for (std::size_t k = 0; k < K; ++k) {
                note_change(G_[k * stride_ + k], -2.0 * row_[k] * b_[k]);
                add_products(k, b_.data(), -1.0);
            }
        }
        rules_.in_parameters ? stored_.remove(least) : stored_.forget(least);
        dictionary_.drop(least);
    }
}

void AtomLearner::note_change(double before, double change) {
    // After cancellation only a few digits of the result are right.
    if (!(before + change >= 1e-3 * (before + std::fabs(change)))) stale_ = true;
}

void AtomLearner::find_active(const double* v) {
    active_.clear();
    for (std::size_t k = 0; k < rules_.n_atoms; ++k)
        if (v[k] != 0.0) active_.push_back(k);
}

void AtomLearner::add_products(std::size_t k, const double* v, double sign) {
    double* line = G_.data() + k * stride_;
    if (v[k] != 0.0)
        for (std::size_t l = 0; l < rules_.n_atoms; ++l)
            line[l] += sign * (row_[k] * v[l] + v[k] * row_[l]);
    else
        for (const std::size_t l : active_) line[l] += sign * (row_[k] * v[l]);
}

void AtomLearner::renew() {
    stale_ = false;
    stored_.tidy();
    stored_.multiply_many(dictionary_.weights(0), dictionary_.capacity(), rules_.n_atoms, H_.data(),
                          wide_);
    multiply_atoms();
}

void AtomLearner::multiply_atoms() {
    const auto& loops = simd::loops();
    const std::size_t K = rules_.n_atoms, M = dictionary_.size();
    loops.products(dictionary_.weights(0), dictionary_.capacity(), H_.data(), wide_, K, M,
                   G_.data(), stride_);
    for (std::size_t k = 0; k < K; ++k)
        for (std::size_t l = 0; l < k; ++l) G_[l * stride_ + k] = G_[k * stride_ + l];
    double trace = 0.0;
    for (std::size_t j = 0; j < M; ++j) trace += dictionary_.diagonal()[j];
    for (std::size_t k = 0; k < K; ++k) {  // what is zero up to rounding is zero
        const double *w = dictionary_.weights(k), square = G_[k * stride_ + k];
        // ||d_k|| is at most the sum of |Omega_jk| sqrt(k_jj), whose square is at most this.
        if (square > 1.01e-13 * trace * loops.dot(w, w, M)) continue;
        double norms = 0.0;
        for (std::size_t j = 0; j < M; ++j)
            norms += std::fabs(w[j]) * std::sqrt(dictionary_.diagonal()[j]);
        if (square > 1e-13 * norms * norms) continue;
        for (std::size_t l = 0; l < K; ++l) G_[k * stride_ + l] = G_[l * stride_ + k] = 0.0;
    }
}

}  // namespace parsimon
