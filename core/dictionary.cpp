// Adding and removing centres.
#include "dictionary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sizes.hpp"

namespace parsimon {
namespace {

// Removes elements js[0] < js[1] < ... of the `size` elements from `begin` on.
template <class T>
void erase_at(Buffer<T>& v, std::size_t begin, const std::size_t* js, std::size_t count,
              std::size_t size) {
    T* values = v.data() + begin;
    for (std::size_t k = 0; k < count; ++k)
        std::copy(values + js[k] + 1, values + (k + 1 < count ? js[k + 1] : size),
                  values + js[k] - k);
}

}  // namespace

Dictionary::Dictionary(KernelPtr kernel, std::size_t n_features, std::size_t n_outputs, Needs needs,
                       std::size_t reserve)
    : kernel_(std::move(kernel)),
      n_features_(n_features),
      n_outputs_(n_outputs),
      needs_(needs),
      points_(n_features, kernel_->extra(), kernel_->single()) {
    if (reserve > 0) this->reserve(reserve);
}

void Dictionary::centre(std::size_t j, double* out) const { points_.features(j, out); }

std::size_t Dictionary::nbytes() const {
    const std::size_t doubles = diagonal_.capacity() + weights_.capacity() + column_.capacity() +
                                ridges_.capacity() + neighbour_coherence_.capacity() +
                                next_coherence_.capacity();
    const std::size_t indices = neighbour_.capacity() + next_neighbour_.capacity();
    return sizeof *this + points_.nbytes() + factor_.nbytes() + doubles * sizeof(double) +
           indices * sizeof(std::size_t) + aligned_.capacity() * sizeof(Aligned*) +
           scratch_.nbytes() + team_.scratch().nbytes();
}

void Dictionary::attach(Aligned& state) {
    aligned_.push_back(&state);
    state.reserve(capacity_);
}

bool Dictionary::make_room(std::size_t more) {
    if (points_.gap() + size_ + more > capacity_) close_gap(false);
    if (points_.gap() + size_ + more > capacity_) close_gap(true);
    return size_ + more > capacity_ && reserve(std::max(size_ + more, 2 * capacity_));
}

void Dictionary::close_gap(bool all) {
    const auto end = static_cast<std::ptrdiff_t>(points_.gap() + size_),
               places = static_cast<std::ptrdiff_t>(points_.close_gap(all));
    if (places == 0) return;
    std::copy(diagonal_.begin() + places, diagonal_.begin() + end, diagonal_.begin());
    for (std::size_t c = 0; c < n_outputs_; ++c) {
        double* w = weights_.data() + c * capacity_;
        std::copy(w + places, w + end, w);
    }
}

bool Dictionary::reserve(std::size_t n) {
    const std::size_t capacity = simd::padded(n);
    if (capacity <= capacity_) return false;
    close_gap(true);
    // The largest array first: if there is too little memory, little is allocated in vain.
    if (needs_.factor) {
        factor_.reserve(capacity);
        column_.resize(capacity);
    }
    for (Aligned* state : aligned_) state->reserve(capacity);
    Buffer<double> weights(numbers(n_outputs_, capacity), 0.0);
    for (std::size_t c = 0; c < n_outputs_; ++c)
        std::copy_n(weights_.begin() + c * capacity_, size_, weights.begin() + c * capacity);
    points_.reserve(capacity);
    diagonal_.resize(capacity);
    if (needs_.pairs) ridges_.resize(capacity);
    if (needs_.neighbours) {
        for (auto* values : {&neighbour_coherence_, &next_coherence_}) values->resize(capacity);
        for (auto* indices : {&neighbour_, &next_neighbour_}) indices->resize(capacity);
    }
    weights_ = std::move(weights);
    capacity_ = capacity;
    return true;
}

void Dictionary::reserve_scratch(std::size_t batch) {
    const std::size_t spare = numbers(simd::panel_width, depth() + 1);  // for kernels
    // A batch can bring as many centres as it has samples, and as many leave at the budget.
    if (batch > 8) together_ = TriangularFactor::most_at_once;
    // Several centres are projected out at once (dictionary_pursuit.cpp).
    if (needs_.factor) scratch_.reserve(2, numbers(together_ + 2, capacity_) + spare);
    // `drift` takes eight rows at a time.
    const std::size_t rows =
        numbers(std::max(batch, needs_.factor ? simd::panel_width : 1), capacity_);
    scratch_.reserve(kernel_->levels() + 3 + points_.reuses_places(), rows + spare);
    if (needs_.factor) TriangularFactor::reserve_shared(capacity_, together_, team_);
}

void Dictionary::append(Look& look, const double* w) {
    if (needs_.factor) {
        project(look);
        const double inverse = 1.0 / std::sqrt(schur(look));
        factor_.append(-inverse, look.a, inverse);
    }
    if (needs_.neighbours) append_neighbour(look);
    points_.append(look.x);
    diagonal_[points_.gap() + size_] = look.kxx;
    if (needs_.pairs) ridges_[size_] = look.ridge;
    for (std::size_t c = 0; c < n_outputs_; ++c) weights(c)[size_] = w ? w[c] : 0.0;
    look.h[size_] = look.kxx;
    look.centre = size_;
    ++size_;
    look.n_known = size_;
    ++changes_;
    for (Aligned* state : aligned_) state->appended(*this, look);
}

const double* Dictionary::column_from_carry(std::size_t j) {
    for (std::size_t i = 0; i < size_; ++i) column_[i] = factor_.carry()[i] * factor_.carry()[j];
    return column_.data();
}

void Dictionary::erase(std::size_t j, const double* n) {
    for (Aligned* state : aligned_) state->removing(*this, j, n);
    erase(&j, 1);
    if (needs_.neighbours) remove_neighbour(j);
}

void Dictionary::erase(const std::size_t* js, std::size_t count) {
    if (count == 1 && js[0] == 0 && points_.can_drop_first() && keeps_centres_only()) {
        points_.drop_first();
        --size_;
        ++changes_;
        return;
    }
    if (count > 1) close_gap(true);
    points_.remove(js, count);
    erase_at(diagonal_, points_.gap(), js, count, size_);
    if (needs_.pairs) erase_at(ridges_, 0, js, count, size_);
    for (std::size_t c = 0; c < n_outputs_; ++c)
        erase_at(weights_, c * capacity_ + points_.gap(), js, count, size_);
    size_ -= count;
    changes_ += count;
}

void Dictionary::add_outputs(std::size_t at, std::size_t n) {
    weights_.insert(weights_.begin() + static_cast<std::ptrdiff_t>(at * capacity_), n * capacity_,
                    0.0);
    n_outputs_ += n;
}

void Dictionary::add(const double* x, const double* w, std::size_t n, Looks& looks, bool* entered) {
    std::vector<Look*> batch;
    for (std::size_t first = 0; first < n; first += looks.size()) {
        const std::size_t count = std::min(looks.size(), n - first);
        make_room(count);
        looks.fit(*this);
        look(looks, x + first * n_features_, count);
        batch.clear();
        for (std::size_t i = 0; needs_.factor && i < count; ++i) batch.push_back(&looks[i]);
        if (needs_.factor) project(batch.data(), batch.size());
        for (std::size_t i = first; i < first + count; ++i) {
            Look& term = looks[i - first];
            extend(looks, i - first);
            entered[i] = accepts(term);
            if (entered[i]) {
                append(term, w + i * n_outputs_);
                continue;
            }
            project(term);
            for (std::size_t c = 0; c < n_outputs_; ++c)
                simd::loops().axpy(w[i * n_outputs_ + c], term.a, weights(c), term.n_known);
        }
    }
}

void Dictionary::adopt(const double* x, const double* w, std::size_t n, const double* S) {
    make_room(n);
    auto point = scratch_.take(depth());
    for (std::size_t i = 0; i < n; ++i) {
        annotate(*kernel_, x + i * n_features_, 1, n_features_, depth(), point.data(), scratch_);
        points_.append(point.data());
        kernel_->diagonal({point.data(), 1, depth()}, n_features_, 0, diagonal_.data() + i,
                          scratch_);
        for (std::size_t c = 0; c < n_outputs_; ++c) weights(c)[i] = w[i * n_outputs_ + c];
        if (needs_.pairs) ridges_[i] = needs_.ridge;
        factor_.append(1.0, S + i * n, S[i * n + i]);
    }
    size_ = n;
    changes_ += n;
    next_probe_ = changes_ + probe_interval();
}

double Dictionary::project_out(std::size_t j) {
    find_neighbours_without(j);
    factor_.remove(j, team_);
    const double* n = aligned_.empty() ? nullptr : column_from_carry(j);
    const double* carry = factor_.carry();
    double squares = 0.0;
    for (std::size_t c = 0; c < n_outputs_; ++c) {
        double* w = weights(c);
        const double own = w[j];
        squares += own * own;
        simd::loops().axpy(-own / carry[j], carry, w, size_);
        w[j] = own;  // aligned states still need it
    }
    const double cost = squares / (carry[j] * carry[j]);
    erase(j, n);
    return cost;
}

void Dictionary::shift(std::size_t c, double rise, bool always) {
    const std::size_t length = simd::padded(size_);
    auto work = scratch_.take(3 * length);
    double *ones = work.data(), *t = ones + length, *a = t + length;
    std::fill_n(ones, length, 0.0);
    std::fill_n(ones, size_, 1.0);
    std::fill_n(a, length, 0.0);
    const double square =
        factor_.multiply(0, size_, ones, t, a);  // the squared norm of the constant
    double apart = 0.0;
    for (std::size_t j = 0; j < size_; ++j) apart += 1.0 / diagonal()[j];
    if (always || square <= apart) simd::loops().axpy(rise, a, weights(c), size_);
}

void Dictionary::drop(std::size_t j) {
    find_neighbours_without(j);
    const double* n = nullptr;
    if (needs_.factor) {
        factor_.remove(j, team_);
        if (!aligned_.empty()) n = column_from_carry(j);
    }
    erase(j, n);
}

bool Dictionary::replace(std::size_t j, const double* z, const double* w, Looks& looks) {
    if (points_.gap() + size_ == capacity_) close_gap(true);  // room for z if j is 0
    if (keeps_centres_only())
        open(looks, z, 1, scratch_);
    else
        look(looks, z, 1);
    find_neighbours_without(j);
    Look& seen = looks[0];
    std::copy(seen.h + j + 1, seen.h + size_, seen.h + j);
    seen.n_known = size_ - 1;
    const double* n = nullptr;
    if (needs_.factor) {
        // Whether z is accepted depends on the dictionary without j. So j is removed from the
        // factor, and put back if z is refused.
        auto rows = scratch_.take(factor_.tail(j));
        factor_.save_tail(j, rows.data());
        factor_.remove(j, team_);
        if (!sound(seen, j)) {
            factor_.restore_tail(j, rows.data(), size_);
            return false;
        }
        if (!aligned_.empty()) n = column_from_carry(j);
    }
    erase(j, n);
    append(seen, w);
    return true;
}

double Dictionary::squared_weight(std::size_t j) const {
    double squares = 0.0;
    for (std::size_t c = 0; c < n_outputs_; ++c) squares += weights(c)[j] * weights(c)[j];
    return squares;
}

}  // namespace parsimon
