#include "atoms.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "input.hpp"
#include "sizes.hpp"
#include "sound.hpp"

namespace parsimon {

AtomLearner::AtomLearner(KernelPtr kernel, std::size_t n_features, const AtomRules& rules,
                         std::vector<double> first, bool at_once)
    : rules_(rules),
      first_(std::move(first)),
      stride_(simd::padded(rules.n_atoms)),
      kernel_(kernel),
      dictionary_(std::move(kernel), n_features, rules.n_atoms, {}),
      looks_(0, dictionary_),
      coder_(rules.precision),
      b_(stride_),
      alpha_(stride_),
      row_(stride_),
      active_(rules.n_atoms),
      n_init_(first_.size() / rules.n_atoms) {
    dictionary_.reuse_places();
    if (n_init_ > rules_.budget)
        refuse("there are ", n_init_, " first rows, more than the budget of ", rules_.budget);
    if (at_once) make_ready();
}

void AtomLearner::make_ready() {
    if (ready_) return;
    const std::size_t room = std::min<std::size_t>(rules_.budget + 1, 128);
    try {
        G_.resize(numbers(rules_.n_atoms, stride_));
        dictionary_.reserve(room);
        looks_ = Looks(1, dictionary_);
        fit_to_capacity();
        dictionary_.reserve_scratch(1);
    } catch (const std::bad_alloc&) {
        std::ostringstream message;
        message << "there is no memory for " << rules_.n_atoms << " atoms over " << room
                << " samples of " << dictionary_.n_features() << " features";
        throw NoMemory(message.str());
    }
    ready_ = true;
}

void AtomLearner::fit_to_capacity() {
    const std::size_t K = rules_.n_atoms, capacity = dictionary_.capacity(), old = H_.size() / K;
    if (capacity == old && looks_.size() > 0) return looks_.fit(dictionary_);
    Buffer<double> H(numbers(K, capacity), 0.0);
    for (std::size_t k = 0; k < K; ++k)
        std::copy_n(H_.begin() + static_cast<std::ptrdiff_t>(k * old), old,
                    H.begin() + static_cast<std::ptrdiff_t>(k * capacity));
    N_.resize(rules_.in_parameters ? K * capacity : 0);
    KN_.resize(N_.size());
    column_.resize(capacity);
    other_.resize(capacity);
    stored_.reserve(capacity + (rules_.in_parameters ? 0 : lazy));
    looks_.fit(dictionary_);
    if (looks_.size() > 0) dictionary_.reserve_scratch(1);
    H_ = std::move(H);  // last: after a failed allocation the next call tries again
}

std::size_t AtomLearner::nbytes() const {
    const std::size_t doubles = first_.capacity() + G_.capacity() + H_.capacity() + N_.capacity() +
                                KN_.capacity() + other_.capacity() + b_.capacity() +
                                alpha_.capacity() + row_.capacity() + column_.capacity();
    return sizeof *this - sizeof dictionary_ + dictionary_.nbytes() + looks_.nbytes() +
           stored_.nbytes() + coder_.nbytes() + doubles * sizeof(double) +
           active_.capacity() * sizeof(std::size_t);
}

void AtomLearner::visit(StateVisitor visitor) {
    visitor.version(0);
    const std::size_t K = rules_.n_atoms;
    visitor.count("seen", seen_);
    visitor.count("learned", learned_, seen_);
    const std::size_t M =
        visitor.part("dictionary").size("centres", dictionary_.size(), rules_.budget);
    if (M < std::min(seen_, n_init_) || (seen_ <= n_init_ && M != seen_))
        refuse("the state holds ", M, " samples after ", seen_);
    visitor.part("stored").expect("rows", expected_triangle(M));
    visitor.expect("gram", expected(K, K));
    if (rules_.in_parameters) visitor.expect("images", expected(K, M));
    G_.resize(numbers(K, stride_));
    dictionary_.visit(visitor.part("dictionary"));
    fit_to_capacity();
    stored_.visit(visitor.part("stored"), M);
    visitor.numbers("first", first_.data(), first_.size());
    visitor.pieces("gram", K,
                   [this, K](std::size_t k) { return std::pair(G_.data() + k * stride_, K); });
    if (!rules_.in_parameters) return;  // in feature space H is computed when it is needed
    visitor.pieces("images", K, [this, M](std::size_t k) {
        return std::pair(H_.data() + k * dictionary_.capacity(), M);
    });
}

void AtomLearner::require_sound() {
    const std::size_t K = rules_.n_atoms, M = dictionary_.size(), capacity = dictionary_.capacity();
    const double* kernel = dictionary_.diagonal();
    sound::require_within(first_.data(), first_.size(), 1e20, "first rows");
    dictionary_.require_sound();
    std::vector<double> row(simd::padded(M)), kept(M), norms(K),
        images(numbers(K, simd::padded(M)));
    for (std::size_t k = 0; k < K; ++k) {
        for (std::size_t j = 0; j < M; ++j)
            norms[k] += std::fabs(dictionary_.weights(k)[j]) * std::sqrt(kernel[j]);
        if (!(norms[k] <= sound::largest_atom))
            refuse("the state's atoms are too large: the norms of one sum to ", norms[k]);
    }
    // H and G are updated from step to step. If an atom shrinks, rounding errors of its earlier
    // size remain. So differences are compared with the larger of the atom's norm and 1. Larger
    // differences cannot come from learning.
    const auto scale = [&](std::size_t k) { return std::max(norms[k], 1.0); };
    for (std::size_t i = 0; i < M; ++i) {
        dictionary_.gram_row(i, row.data());
        stored_.row(i, kept.data());
        for (std::size_t j = 0; j < M; ++j)
            if (!(std::fabs(kept[j] - row[j]) <=
                  sound::same * geometric_mean(kernel[i], kernel[j])))
                refuse("the state's Gram matrix is not that of its samples: it holds ", kept[j],
                       " for ", row[j]);
        for (std::size_t k = 0; k < K; ++k) {
            const double image = images[k * simd::padded(M) + i] =
                simd::loops().dot(row.data(), dictionary_.weights(k), M);
            if (rules_.in_parameters && !(std::fabs(H_[k * capacity + i] - image) <=
                                          sound::drift * scale(k) * std::sqrt(kernel[i])))
                refuse("the state's images are not those of its atoms: ", H_[k * capacity + i],
                       " for ", image);
        }
    }
    for (std::size_t k = 0; k < K; ++k)
        for (std::size_t l = 0; l < K; ++l) {
            const double product =
                simd::loops().dot(dictionary_.weights(k), images.data() + l * simd::padded(M), M);
            if (!(std::fabs(G_[k * stride_ + l] - product) <= sound::drift * scale(k) * scale(l)))
                refuse("the state's products of atoms are not those of its atoms: ",
                       G_[k * stride_ + l], " for ", product);
        }
}

void AtomLearner::check(const double* x, std::size_t n, Scratch& scratch) const {
    const std::size_t d = dictionary_.n_features(), depth = dictionary_.depth();
    require_finite(x, n, d, "X", kernel_->single());
    if (kernel_->unit_diagonal()) return;
    auto point = scratch.take(depth);
    for (std::size_t i = 0; i < n; ++i) {
        std::copy_n(x + i * d, d, point.data());
        usable_kernel_value(*kernel_, point.data(), i, d, depth, scratch);
    }
}

void AtomLearner::learn(const double* x, std::size_t n, double* costs) {
    for (std::size_t i = 0; i < n; ++i)
        learn_one(x + i * dictionary_.n_features(), costs ? costs + i : nullptr);
}

void AtomLearner::learn_one(const double* x, double* cost) {
    const std::size_t K = rules_.n_atoms;
    make_ready();
    dictionary_.make_room(1);
    fit_to_capacity();
    dictionary_.look(looks_, x, 1);
    Look& look = looks_[0];
    const std::uint64_t n = ++seen_;
    const bool initial = n <= n_init_;
    bool admitted = initial || rules_.coherence > 1.0;
    if (!admitted)
        admitted = dictionary_.coherence(look) < rules_.coherence && !dictionary_.holds(look);
    double squared_error = 0.0;
    if (cost || (admitted && !initial)) {
        dictionary_.evaluate(look, b_.data());
        std::fill(alpha_.begin(), alpha_.end(), 0.0);
        squared_error =
            coder_.code(G_.data(), stride_, K, b_.data(), look.kxx, rules_.lambda, alpha_.data())
                .squared_error;
    }
    if (cost) {
        double l1 = 0.0, norms = 0.0;
        for (std::size_t k = 0; k < K; ++k) {
            l1 += std::fabs(alpha_[k]);
            norms += G_[k * stride_ + k];
        }
        *cost = 0.5 * squared_error + rules_.lambda * l1 + 0.5 * rules_.penalty * norms;
    }
    if (initial) {
        store(look, first_.data() + (n - 1) * K);
        renew();
        return;
    }
    if (!admitted || !(squared_error > rules_.tolerance)) return;
    const double rate =
        rules_.step_size *
        std::pow(1.0 + static_cast<double>(std::min(n, rules_.hold)) / rules_.delay, -rules_.power);
    ++learned_;
    if (rules_.in_parameters)
        step_in_parameters(look, rate);
    else
        step_in_feature_space(look, rate, squared_error);
}

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
    for (std::size_t k = 0; k < K; ++k) {
        double* omega = dictionary_.weights(k);
        loops.scale(s, omega, M);
        if (alpha_[k] != 0.0) loops.axpy(-rate * alpha_[k], column_.data(), omega, M);
        row_[k] =
            s * rate * coder_.correlation()[k] + 0.5 * rate * rate * squared_error * alpha_[k];
    }
    find_active(alpha_.data());
    for (std::size_t k = 0; k < K; ++k) {
        double* line = G_.data() + k * stride_;
        note_change(s * s * line[k], 2.0 * row_[k] * alpha_[k]);
        loops.scale(s * s, line, K);
        add_products(k, alpha_.data(), 1.0);
    }
    for (std::size_t k = 0; k < K; ++k) row_[k] = rate * alpha_[k];
    store(look, row_.data());
    prune();
    if (stale_ || learned_ % renewal == 0) renew();
}

// Equations (19)-(20), with H = K Omega and h the kernel row of the sample:
//     Omega <- Omega - rate N,  N = mu H + (H alpha - h) alpha'.
// If the sample is stored, its row of H is b and its entry of h is k(x, x). Along N the cost of the
// sample is a parabola with slope -||N||^2 and curvature (N alpha)'K N alpha + mu tr N'K N.
void AtomLearner::step_in_parameters(Look& look, double rate) {
    const auto& loops = simd::loops();
    const std::size_t K = rules_.n_atoms, capacity = dictionary_.capacity();
    if (rules_.stores) store(look, nullptr);
    const std::size_t M = dictionary_.size();
    for (std::size_t k = 0; rules_.stores && k < K; ++k) H_[k * capacity + M - 1] = b_[k];
    std::fill_n(column_.begin(), M, 0.0);
    for (std::size_t k = 0; k < K; ++k)
        if (alpha_[k] != 0.0) loops.axpy(alpha_[k], H_.data() + k * capacity, column_.data(), M);
    loops.axpy(-1.0, look.h, column_.data(), M);
    double slope = 0.0;
    for (std::size_t k = 0; k < K; ++k) {
        const double* h = H_.data() + k * capacity;
        double* n = N_.data() + k * capacity;
        for (std::size_t j = 0; j < M; ++j) n[j] = rules_.penalty * h[j] + alpha_[k] * column_[j];
        slope += loops.dot(n, n, M);
    }
    stored_.multiply(N_.data(), K, capacity, KN_.data());
    double bend = 0.0;
    std::fill_n(column_.begin(), M, 0.0);
    std::fill_n(other_.begin(), M, 0.0);
    for (std::size_t k = 0; k < K; ++k) {
        const double *n = N_.data() + k * capacity, *kn = KN_.data() + k * capacity;
        bend += rules_.penalty * loops.dot(n, kn, M);
        if (alpha_[k] == 0.0) continue;
        loops.axpy(alpha_[k], n, column_.data(), M);
        loops.axpy(alpha_[k], kn, other_.data(), M);
    }
    bend += loops.dot(column_.data(), other_.data(), M);
    if (!(rate * bend <= 2.0 * slope)) rate = slope / bend;
    // If not usable, the step is skipped.
    const bool usable = rate > 0.0 && rate * std::sqrt(slope) < beyond && bend < beyond;
    for (std::size_t k = 0; usable && k < K; ++k) {
        double* h = H_.data() + k * capacity;
        const double before = loops.dot(h, h, M);
        loops.axpy(-rate, N_.data() + k * capacity, dictionary_.weights(k), M);
        loops.axpy(-rate, KN_.data() + k * capacity, h, M);
        note_change(before, loops.dot(h, h, M) - before);
    }
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

// Equation (23). Dropping sample j with row omega of Omega is D <- D - phi(x_j) omega'. It changes
// H to H - K_j omega' and G to
//     G - t omega' - omega t',  t = Omega'K_j - k_jj omega / 2.
void AtomLearner::prune() {
    const std::size_t K = rules_.n_atoms, capacity = dictionary_.capacity();
    while (dictionary_.size() > rules_.budget) {
        const std::size_t M = dictionary_.size();
        const std::size_t least =
            dictionary_.least([](std::size_t, double square) { return square; });
        stored_.row(least, column_.data());
        for (std::size_t k = 0; k < K; ++k) b_[k] = dictionary_.weights(k)[least];
        if (rules_.in_parameters) {
            for (std::size_t k = 0; k < K; ++k) {
                double* h = H_.data() + k * capacity;
                const double before = simd::loops().dot(h, h, M);
                simd::loops().axpy(-b_[k], column_.data(), h, M);
                note_change(before, simd::loops().dot(h, h, M) - before);
                std::copy(h + least + 1, h + M, h + least);
            }
        } else if (dictionary_.squared_weight(least) > 0.0) {
            const double half = 0.5 * column_[least];
            for (std::size_t k = 0; k < K; ++k)
                row_[k] =
                    simd::loops().dot(dictionary_.weights(k), column_.data(), M) - half * b_[k];
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
    stored_.multiply(dictionary_.weights(0), rules_.n_atoms, dictionary_.capacity(), H_.data());
    multiply_atoms();
}

void AtomLearner::multiply_atoms() {
    const std::size_t K = rules_.n_atoms, M = dictionary_.size(), capacity = dictionary_.capacity();
    simd::loops().products(dictionary_.weights(0), H_.data(), K, capacity, M, G_.data(), stride_);
    for (std::size_t k = 0; k < K; ++k)
        for (std::size_t l = 0; l < k; ++l) G_[l * stride_ + k] = G_[k * stride_ + l];
    for (std::size_t j = 0; j < M; ++j) column_[j] = std::sqrt(dictionary_.diagonal()[j]);
    constexpr std::size_t together = 8;  // sums that do not wait for each other
    for (std::size_t first = 0; first < K; first += together) {
        const std::size_t last = std::min(first + together, K);
        double norms[together] = {};
        for (std::size_t j = 0; j < M; ++j)
            for (std::size_t k = first; k < last; ++k)
                norms[k - first] += std::fabs(dictionary_.weights(k)[j]) * column_[j];
        for (std::size_t k = first; k < last; ++k) {  // what is zero up to rounding is zero
            if (G_[k * stride_ + k] > 1e-13 * norms[k - first] * norms[k - first]) continue;
            for (std::size_t l = 0; l < K; ++l) G_[k * stride_ + l] = G_[l * stride_ + k] = 0.0;
        }
    }
}

void AtomLearner::code(const double* x, std::size_t n, double* codes, double* errors) const {
    constexpr std::size_t tile = 256;
    require_room();
    const std::size_t K = rules_.n_atoms, d = dictionary_.n_features();
    SparseCoder coder(rules_.precision);
    std::vector<double> b(tile * K), kxx(tile), alpha(stride_);
    for (std::size_t first = 0; first < n; first += tile) {
        const std::size_t count = std::min(tile, n - first);
        dictionary_.predict(x + first * d, count, b.data());
        dictionary_.self_values(x + first * d, count, kxx.data());
        for (std::size_t i = 0; i < count; ++i) {
            std::fill(alpha.begin(), alpha.end(), 0.0);
            const auto cost = coder.code(G_.data(), stride_, K, b.data() + i * K, kxx[i],
                                         rules_.lambda, alpha.data());
            if (codes) std::copy_n(alpha.begin(), K, codes + (first + i) * K);
            if (errors) errors[first + i] = cost.squared_error;
        }
    }
}

}  // namespace parsimon
