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
    const std::size_t K = rules_.n_atoms, capacity = dictionary_.capacity(), old = wide_;
    // An odd number of panels: with a power of two, all columns would share a few cache lines.
    const std::size_t wide = simd::panel_width * (capacity / simd::panel_width | 1);
    if (wide == old && looks_.size() > 0) return looks_.fit(dictionary_);
    Buffer<double> H(numbers(K, wide), 0.0);
    for (std::size_t k = 0; k < K; ++k)
        std::copy_n(H_.begin() + static_cast<std::ptrdiff_t>(k * old), old,
                    H.begin() + static_cast<std::ptrdiff_t>(k * wide));
    N_.resize(rules_.in_parameters ? K * wide : 0);
    KN_.resize(N_.size());
    column_.resize(capacity);
    squares_.resize(capacity);
    stored_.reserve(capacity + (rules_.in_parameters ? 0 : lazy));
    looks_.fit(dictionary_);
    if (looks_.size() > 0) dictionary_.reserve_scratch(1);
    wide_ = wide;
    H_ = std::move(H);  // last: after a failed allocation the next call tries again
}

std::size_t AtomLearner::nbytes() const {
    const std::size_t doubles = first_.capacity() + G_.capacity() + H_.capacity() + N_.capacity() +
                                KN_.capacity() + b_.capacity() + alpha_.capacity() +
                                row_.capacity() + column_.capacity() + squares_.capacity();
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
    visitor.pieces("images", K,
                   [this, M](std::size_t k) { return std::pair(H_.data() + k * wide_, M); });
}

void AtomLearner::require_sound() {
    const std::size_t K = rules_.n_atoms, M = dictionary_.size();
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
            if (rules_.in_parameters && !(std::fabs(H_[k * wide_ + i] - image) <=
                                          sound::drift * scale(k) * std::sqrt(kernel[i])))
                refuse("the state's images are not those of its atoms: ", H_[k * wide_ + i],
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
