#include "dictionary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sizes.hpp"
#include "sound.hpp"

namespace parsimon {
namespace {

template <class T>
void erase_at(std::vector<T>& v, std::size_t begin, std::size_t j, std::size_t size) {
    std::copy(v.begin() + begin + j + 1, v.begin() + begin + size, v.begin() + begin + j);
}

// Writes n points of d features with the kernel's annotations behind them.
void annotate(const Kernel& kernel, const double* x, std::size_t n, std::size_t d,
              std::size_t depth, double* out, Scratch& scratch) {
    for (std::size_t i = 0; i < n; ++i) {
        std::copy_n(x + i * d, d, out + i * depth);
        kernel.annotate(out + i * depth, d, 0, scratch);
    }
}

// A sign that depends on the seed and the index alone (SplitMix64).
double random_sign(std::uint64_t seed, std::uint64_t i) {
    std::uint64_t z = seed * 0x9e3779b97f4a7c15ULL + (i + 1) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return (z ^ (z >> 31)) & 1 ? 1.0 : -1.0;
}

}  // namespace

Looks::Looks(std::size_t count, const Dictionary& dictionary) : looks_(count), kxx_(count) {
    fit(dictionary);
}

void Looks::fit(const Dictionary& dictionary) {
    const std::size_t stride = simd::padded(dictionary.capacity()), depth = dictionary.depth(),
                      n = looks_.size();
    if (stride == stride_ && points_.size() == n * depth) return;
    points_.resize(numbers(n, depth));
    h_.resize(numbers(n, stride));
    if (dictionary.has_factor()) {
        t_.resize(h_.size());
        a_.resize(h_.size());
    }
    for (std::size_t i = 0; i < n; ++i) {
        looks_[i].h = h_.data() + i * stride;
        looks_[i].t = t_.empty() ? nullptr : t_.data() + i * stride;
        looks_[i].a = a_.empty() ? nullptr : a_.data() + i * stride;
    }
    stride_ = stride;  // last: after a failed allocation the next call must try again
}

std::size_t Looks::nbytes() const {
    return (points_.capacity() + h_.capacity() + t_.capacity() + a_.capacity() + kxx_.capacity()) *
               sizeof(double) +
           looks_.capacity() * sizeof(Look);
}

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
                                neighbour_coherence_.capacity() + next_coherence_.capacity();
    const std::size_t indices = neighbour_.capacity() + next_neighbour_.capacity();
    return sizeof *this + points_.nbytes() + factor_.nbytes() + doubles * sizeof(double) +
           indices * sizeof(std::size_t) + aligned_.capacity() * sizeof(Aligned*) +
           scratch_.nbytes();
}

void Dictionary::attach(Aligned& state) {
    aligned_.push_back(&state);
    state.reserve(capacity_);
}

bool Dictionary::make_room(std::size_t more) {
    return size_ + more > capacity_ && reserve(std::max(size_ + more, 2 * capacity_));
}

bool Dictionary::reserve(std::size_t n) {
    const std::size_t capacity = simd::padded(n);
    if (capacity <= capacity_) return false;
    // The largest first: where there is no memory, little is taken in vain.
    if (needs_.factor) {
        factor_.reserve(capacity);
        column_.resize(capacity);
    }
    for (Aligned* state : aligned_) state->reserve(capacity);
    std::vector<double> weights(numbers(n_outputs_, capacity), 0.0);
    for (std::size_t c = 0; c < n_outputs_; ++c)
        std::copy_n(weights_.begin() + c * capacity_, size_, weights.begin() + c * capacity);
    points_.reserve(capacity);
    diagonal_.resize(capacity);
    if (needs_.neighbours) {
        for (auto* values : {&neighbour_coherence_, &next_coherence_}) values->resize(capacity);
        for (auto* indices : {&neighbour_, &next_neighbour_}) indices->resize(capacity);
    }
    weights_ = std::move(weights);
    capacity_ = capacity;
    return true;
}

void Dictionary::reserve_scratch(std::size_t batch) {
    const std::size_t rows = numbers(
        std::max<std::size_t>(batch, needs_.factor ? 2 * TriangularFactor::most_at_once + 1 : 1),
        capacity_);
    scratch_.reserve(kernel_->levels() + 3, rows + numbers(simd::panel_width, depth() + 1));
}

void Dictionary::look(Looks& looks, const double* x, std::size_t n) {
    annotate(*kernel_, x, n, n_features_, depth(), looks.points_.data(), scratch_);
    const simd::Rows rows{looks.points_.data(), n, depth()};
    kernel_->rows(rows, points_.panels(), n_features_, 0, {looks.h_.data(), looks.stride_},
                  scratch_);
    kernel_->diagonal(rows, n_features_, 0, looks.kxx_.data(), scratch_);
    for (std::size_t i = 0; i < n; ++i) {
        Look& look = looks[i];
        look.x = looks.points_.data() + i * depth();
        look.kxx = looks.kxx_[i];
        look.objective = look.residual = look.kxx;
        look.known = size_;
        look.projected = 0;
        look.compared = 0;
        look.distance = std::numeric_limits<double>::infinity();
    }
}

void Dictionary::extend(Look& look) {
    if (look.known == size_) return;
    const std::size_t first = look.known / simd::panel_width * simd::panel_width;
    kernel_->rows({look.x, 1, depth()}, points_.panels(first), n_features_, 0, {look.h + first, 0},
                  scratch_);
    look.known = size_;
}

void Dictionary::project(Look& look) const {
    if (look.projected == look.known) return;
    std::fill(look.a + look.projected, look.a + simd::padded(look.known), 0.0);
    look.objective -= factor_.multiply(look.projected, look.known, look.h, look.t, look.a);
    settle(look);
}

void Dictionary::settle(Look& look) const {
    look.projected = look.known;
    look.residual = look.objective;
    if (needs_.ridge > 0.0)
        look.residual -= needs_.ridge * simd::loops().dot(look.a, look.a, look.known);
}

void Dictionary::project(Look* const* looks, std::size_t n) const {
    if (n == 0) return;
    const std::size_t known = looks[0]->known;
    for (std::size_t i = 0; i < n; ++i) {
        std::fill_n(looks[i]->a, simd::padded(known), 0.0);
        looks[i]->objective = 0.0;
    }
    for (std::size_t first = 0; first < known; first += simd::panel_width)
        for (std::size_t i = 0; i < n; ++i)
            looks[i]->objective +=
                factor_.multiply(first, std::min(first + simd::panel_width, known), looks[i]->h,
                                 looks[i]->t, looks[i]->a);
    for (std::size_t i = 0; i < n; ++i) {
        looks[i]->objective = looks[i]->kxx - looks[i]->objective;
        settle(*looks[i]);
    }
}

double Dictionary::coherence(const Look& look) const {
    if (kernel_->unit_diagonal()) return simd::loops().max_abs(look.h, look.known);
    if (negligible(look.kxx)) return 1.0;
    double largest = 0.0;
    for (std::size_t j = 0; j < look.known; ++j)
        largest = std::max(largest, std::fabs(look.h[j]) / geometric_mean(look.kxx, diagonal_[j]));
    return largest;
}

void Dictionary::find_nearest(Look& look) {
    if (look.compared == look.known) return;
    const std::size_t first = look.compared / simd::panel_width * simd::panel_width;
    const simd::Panels panels = points_.panels(first);
    auto squares = scratch_.take(panels.count * simd::panel_width);
    simd::loops().squared_distance({look.x, 1, depth()}, panels, n_features_, {},
                                   {squares.data(), 0});
    for (std::size_t j = look.compared; j < look.known; ++j)
        if (squares.data()[j - first] < look.distance) {
            look.distance = squares.data()[j - first];
            look.nearest = j;
        }
    look.compared = look.known;
}

bool Dictionary::accepts(Look& look) const { return sound(look, size_); }

bool Dictionary::sound(Look& look, std::size_t without) const {
    if (!needs_.factor) return true;
    if (negligible(look.kxx)) return false;
    project(look);
    const auto stored = [without](std::size_t i) { return i + (i >= without); };
    double scale = look.kxx;
    for (std::size_t i = 0; i < look.known; ++i)
        scale += look.a[i] * look.a[i] * diagonal_[stored(i)];
    if (!(schur(look) > floor * scale)) return false;
    for (std::size_t i = 0; i < look.known; ++i)
        if (copies(look, i, stored(i))) return false;
    return true;
}

bool Dictionary::copies(const Look& look, std::size_t i, std::size_t j) const {
    const double slack = 1e-9 * look.kxx;  // most are not even near
    return std::fabs(look.h[i] - look.kxx) <= slack &&
           std::fabs(diagonal_[j] - look.kxx) <= slack && points_.equals(j, look.x);
}

bool Dictionary::holds(const Look& look) const {
    for (std::size_t j = 0; j < look.known; ++j)
        if (copies(look, j, j)) return true;
    return false;
}

void Dictionary::append(Look& look, const double* w) {
    if (needs_.factor) {
        project(look);
        const double inverse = 1.0 / std::sqrt(schur(look));
        factor_.append(-inverse, look.a, inverse);
    }
    if (needs_.neighbours) append_neighbour(look);
    points_.append(look.x);
    diagonal_[size_] = look.kxx;
    for (std::size_t c = 0; c < n_outputs_; ++c) weights(c)[size_] = w ? w[c] : 0.0;
    look.h[size_] = look.kxx;
    ++size_;
    look.known = size_;
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
    points_.remove(js, count);
    for (std::size_t k = count; k-- > 0;) {
        erase_at(diagonal_, 0, js[k], size_);
        for (std::size_t c = 0; c < n_outputs_; ++c)
            erase_at(weights_, c * capacity_, js[k], size_);
        --size_;
        ++changes_;
    }
}

void Dictionary::add_outputs(std::size_t at, std::size_t n) {
    weights_.insert(weights_.begin() + static_cast<std::ptrdiff_t>(at * capacity_), n * capacity_,
                    0.0);
    n_outputs_ += n;
}

void Dictionary::append_neighbour(const Look& look) {
    neighbour_coherence_[size_] = 0.0;
    neighbour_[size_] = size_;
    for (std::size_t j = 0; j < size_; ++j) {
        const double coherence = std::fabs(look.h[j]) / geometric_mean(look.kxx, diagonal_[j]);
        if (coherence > neighbour_coherence_[size_]) {
            neighbour_coherence_[size_] = coherence;
            neighbour_[size_] = j;
        }
        if (coherence > neighbour_coherence_[j]) {
            neighbour_coherence_[j] = coherence;
            neighbour_[j] = size_;
        }
    }
}

// The centres that lose their neighbour look for another: one kernel row each, and they are few. A
// kernel may throw, so this comes before anything is changed.
void Dictionary::find_neighbours_without(std::size_t j) {
    if (!needs_.neighbours) return;
    auto work = scratch_.take(simd::padded(size_));
    double* row = work.data();
    for (std::size_t i = 0; i < size_; ++i) {
        next_coherence_[i] = neighbour_coherence_[i];
        next_neighbour_[i] = neighbour_[i];
        if (neighbour_[i] != j || i == j) continue;
        gram_row(i, row);
        next_coherence_[i] = 0.0;
        next_neighbour_[i] = i;
        for (std::size_t k = 0; k < size_; ++k) {
            const double coherence =
                k == i || k == j ? 0.0
                                 : std::fabs(row[k]) / geometric_mean(diagonal_[i], diagonal_[k]);
            if (coherence > next_coherence_[i]) {
                next_coherence_[i] = coherence;
                next_neighbour_[i] = k;
            }
        }
    }
}

// What was found takes its place; j has left.
void Dictionary::remove_neighbour(std::size_t j) {
    neighbour_.swap(next_neighbour_);
    neighbour_coherence_.swap(next_coherence_);
    erase_at(neighbour_coherence_, 0, j, size_ + 1);
    erase_at(neighbour_, 0, j, size_ + 1);
    for (std::size_t i = 0; i < size_; ++i) neighbour_[i] -= neighbour_[i] > j;
}

Dictionary::Pair Dictionary::most_coherent() const {
    Pair pair;
    for (std::size_t i = 0; i < size_; ++i)
        if (neighbour_coherence_[i] > pair.coherence)
            pair = {std::min(i, neighbour_[i]), std::max(i, neighbour_[i]),
                    neighbour_coherence_[i]};
    return pair;
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
            extend(term);
            entered[i] = accepts(term);
            if (entered[i]) {
                append(term, w + i * n_outputs_);
                continue;
            }
            project(term);
            for (std::size_t c = 0; c < n_outputs_; ++c)
                simd::loops().axpy(w[i * n_outputs_ + c], term.a, weights(c), term.known);
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
        factor_.append(1.0, S + i * n, S[i * n + i]);
    }
    size_ = n;
    changes_ += n;
    next_probe_ = changes_ + probe_interval();
}

double Dictionary::project_out(std::size_t j) {
    find_neighbours_without(j);
    factor_.remove(j);
    const double* n = aligned_.empty() ? nullptr : column_from_carry(j);
    const double* carry = factor_.carry();
    double squares = 0.0;
    for (std::size_t c = 0; c < n_outputs_; ++c) {
        double* w = weights(c);
        const double own = w[j];
        squares += own * own;
        simd::loops().axpy(-own / carry[j], carry, w, size_);
        w[j] = own;  // aligned states still see it
    }
    const double cost = squares / (carry[j] * carry[j]);
    erase(j, n);
    return cost;
}

double Dictionary::project_out_cheapest(double allowance, std::size_t budget) {
    double spent = 0.0;
    auto work = scratch_.take(size_);
    while (size_ > 0 && project_out_together(allowance, budget, work.data(), spent)) continue;
    return spent;
}

// Removes some, and tells whether there may be more. A few of the cheapest are candidates: their
// columns of K^-1 are fetched in one sweep, what is removed is corrected for in the columns,
// weights and costs of the rest, and the factor forgets all of it in another sweep.
bool Dictionary::project_out_together(double& allowance, std::size_t budget, double* squares,
                                      double& spent) {
    constexpr std::size_t most = TriangularFactor::most_at_once;
    const std::size_t m = size_, stride = simd::padded(m);
    const double* inverse = factor_.diagonal();
    sum_squares(weights_.data(), n_outputs_, capacity_, m, squares);
    std::size_t
        candidates[most] = {},
        count = 0,
        within = 0;  // the cheapest, in rising order of cost; how many the allowance would pay for
    const auto cost = [&](std::size_t j) { return squares[j] / inverse[j]; };
    for (std::size_t j = 0; j < m; ++j) {
        within += cost(j) <= allowance;
        if (count == most && !(cost(j) < cost(candidates[most - 1]))) continue;
        std::size_t place = count < most ? count++ : most - 1;
        for (; place > 0 && cost(j) < cost(candidates[place - 1]); --place)
            candidates[place] = candidates[place - 1];
        candidates[place] = j;
    }
    if (m <= budget && !(cost(candidates[0]) <= allowance)) return false;
    const std::size_t beyond = m > budget ? m - budget : 0;
    count = std::min(count, std::max({within, beyond, std::size_t{1}}));
    if (count == 1 || !aligned_.empty() || needs_.neighbours) {
        const double paid = project_out(candidates[0]);
        allowance -= paid;
        spent += paid;
        return true;
    }
    auto work = scratch_.take((2 * count + 1) * stride);
    double *columns = work.data(), *diagonal = columns + count * stride, *room = diagonal + stride;
    factor_.columns(candidates, count, stride, room, columns);
    std::copy_n(inverse, m, diagonal);
    std::size_t removed[most], order[most],
        n_removed = 0;  // the centres, and where their columns are
    while (n_removed < count) {
        std::size_t best = m;
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t j = 0; j < m; ++j)
            if (squares[j] / diagonal[j] < least) {  // what is gone has 0 / 0
                least = squares[j] / diagonal[j];
                best = j;
            }
        const std::size_t place =
            static_cast<std::size_t>(std::find(candidates, candidates + count, best) - candidates);
        if (place == count || (m - n_removed <= budget && !(least <= allowance))) break;
        double* n = columns + place * stride;
        for (std::size_t r = 0; r < n_removed; ++r) {
            const double* gone = columns + order[r] * stride;
            simd::loops().axpy(-gone[best] / gone[removed[r]], gone, n, m);
        }
        // The corrected column must have kept its digits, and so must what it is subtracted from;
        // if not, start again from the factor.
        const double pivot = 1.0 / n[best];
        bool sound = n[best] > 1e-3 * inverse[best];
        for (std::size_t j = 0; j < m && sound; ++j)
            sound = j == best || diagonal[j] == 0.0 ||
                    diagonal[j] - n[j] * n[j] * pivot > 1e-3 * inverse[j];
        if (!sound && n_removed > 0) break;
        const double paid = squares[best] * pivot;
        allowance -= paid;
        spent += paid;
        for (std::size_t j = 0; j < m; ++j) diagonal[j] -= n[j] * n[j] * pivot;
        for (std::size_t c = 0; c < n_outputs_; ++c) {
            double* w = weights(c);
            simd::loops().axpy(-w[best] / n[best], n, w, m);
            w[best] = 0.0;
        }
        sum_squares(weights_.data(), n_outputs_, capacity_, m, squares);
        removed[n_removed] = best;
        order[n_removed++] = place;
        if (!sound) break;
        for (std::size_t r = 0; r < n_removed; ++r) diagonal[removed[r]] = 0.0;
    }
    if (n_removed == 0) {  // costs that are no numbers: the budget holds all the same
        if (m <= budget) return false;
        spent += project_out(candidates[0]);
        return true;
    }
    for (std::size_t r = 1; r < n_removed; ++r)  // rising
        for (std::size_t k = r; k > 0 && removed[k] < removed[k - 1]; --k)
            std::swap(removed[k], removed[k - 1]);
    factor_.remove(removed, n_removed);
    erase(removed, n_removed);
    return true;
}

void Dictionary::drop(std::size_t j) {
    find_neighbours_without(j);
    const double* n = nullptr;
    if (needs_.factor) {
        factor_.remove(j);
        if (!aligned_.empty()) n = column_from_carry(j);
    }
    erase(j, n);
}

bool Dictionary::replace(std::size_t j, const double* z, const double* w, Looks& looks) {
    look(looks, z, 1);
    find_neighbours_without(j);
    Look& seen = looks[0];
    std::copy(seen.h + j + 1, seen.h + size_, seen.h + j);
    seen.known = size_ - 1;
    const double* n = nullptr;
    if (needs_.factor) {
        // Whether z is accepted is a question to the dictionary without j: take j out of the
        // factor, ask, put it back if the answer is no.
        auto rows = scratch_.take(factor_.tail(j));
        factor_.save_tail(j, rows.data());
        factor_.remove(j);
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

void Dictionary::gram_row(std::size_t i, double* row) {
    auto point = scratch_.take(depth());
    points_.copy(i, point.data());
    kernel_->rows({point.data(), 1, depth()}, points_.panels(), n_features_, 0,
                  {row, simd::padded(size_)}, scratch_);
}

double Dictionary::squared_weight(std::size_t j) const {
    double squares = 0.0;
    for (std::size_t c = 0; c < n_outputs_; ++c) squares += weights(c)[j] * weights(c)[j];
    return squares;
}

void Dictionary::self_values(const double* x, std::size_t n, double* out) const {
    Scratch scratch;
    auto point = scratch.take(depth());
    for (std::size_t i = 0; i < n; ++i) {
        annotate(*kernel_, x + i * n_features_, 1, n_features_, depth(), point.data(), scratch);
        kernel_->diagonal({point.data(), 1, depth()}, n_features_, 0, out + i, scratch);
    }
}

void Dictionary::evaluate(const Look& look, double* f) const {
    for (std::size_t c = 0; c < n_outputs_; ++c)
        f[c] = simd::loops().dot(look.h, weights(c), look.known);
}

void Dictionary::predict(const double* x, std::size_t n, std::size_t first_output,
                         std::size_t outputs, double* out) const {
    constexpr std::size_t tile_bytes = 1 << 18;  // a tile of kernel rows stays in the second-level
                                                 // cache, unless there are many centres
    const std::size_t stride = std::max(simd::padded(size_), simd::panel_width);
    const std::size_t tile = std::clamp<std::size_t>(tile_bytes / (stride * sizeof(double)) / 4 * 4,
                                                     simd::row_block, 256);
    Scratch scratch;
    auto points = scratch.take(std::min(tile, n) * depth());
    auto rows = scratch.take(std::min(tile, n) * stride);
    for (std::size_t first = 0; first < n; first += tile) {
        const std::size_t count = std::min(tile, n - first);
        annotate(*kernel_, x + first * n_features_, count, n_features_, depth(), points.data(),
                 scratch);
        kernel_->rows({points.data(), count, depth()}, points_.panels(), n_features_, 0,
                      {rows.data(), stride}, scratch);
        for (std::size_t r = 0; r < count; ++r)
            for (std::size_t c = 0; c < outputs; ++c)
                out[(first + r) * outputs + c] =
                    simd::loops().dot(rows.data() + r * stride, weights(first_output + c), size_);
    }
}

double Dictionary::drift() {
    const auto& loops = simd::loops();
    const std::size_t m = size_, stride = simd::padded(m);
    auto work = scratch_.take(4 * stride);
    double *z = work.data(), *product = z + stride, *t = product + stride, *a = t + stride;
    // In units of sqrt(k(d_i, d_i)), so that the scale of the kernel does not matter.
    for (std::size_t i = 0; i < m; ++i) z[i] = random_sign(changes_, i) / std::sqrt(diagonal_[i]);
    for (std::size_t first = 0; first < m; first += simd::panel_width) {
        const std::size_t count = std::min(simd::panel_width, m - first);
        auto points = scratch_.take(count * depth()), rows = scratch_.take(count * stride);
        for (std::size_t r = 0; r < count; ++r)
            points_.copy(first + r, points.data() + r * depth());
        kernel_->rows({points.data(), count, depth()}, points_.panels(), n_features_, 0,
                      {rows.data(), stride}, scratch_);
        for (std::size_t r = 0; r < count; ++r)
            product[first + r] =
                loops.dot(rows.data() + r * stride, z, m) + needs_.ridge * z[first + r];
    }
    std::fill_n(a, stride, 0.0);
    std::fill(product + m, product + stride, 0.0);
    factor_.multiply(0, m, product, t, a);
    double largest = 0.0;
    for (std::size_t i = 0; i < m; ++i) {
        const double error = std::fabs(a[i] - z[i]) * std::sqrt(diagonal_[i]);
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
    visitor.numbers("diagonal", diagonal_.data(), m);
    for (std::size_t j = 0; j < m; ++j)
        if (diagonal_[j] < 0.0) refuse("the state's kernel values are not those of a kernel");
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
        sound::require_within(point.data(), depth(), std::numeric_limits<double>::max(),
                              "centres");  // and what the kernel makes of them
        kernel_->diagonal({point.data(), 1, depth()}, n_features_, 0, &kxx, scratch_);
        if (!(kxx >= 0.0 && kxx <= largest_kernel_value))
            refuse("the kernel value of the state's centre ", j, " is ", kxx);
        if (!(std::fabs(kxx - diagonal_[j]) <= sound::same * kxx))
            refuse("the state's kernel values are not those of its kernel: ", diagonal_[j], " and ",
                   kxx, " at centre ", j);
    }
    for (std::size_t c = 0; c < n_outputs_; ++c) {
        sound::require_within(weights(c), size_, sound::largest_weight, "weights");
        double norm = 0.0;
        for (std::size_t j = 0; j < size_; ++j)
            norm += std::fabs(weights(c)[j]) * std::sqrt(diagonal_[j]);
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
    TriangularFactor
        fresh;  // beside the old one: a kernel that throws must not leave half a factor
    fresh.reserve(capacity_);
    for (std::size_t i = 0; i < m; ++i) {
        gram_row(i, row);
        std::fill_n(a, stride, 0.0);
        // Every centre was accepted once; what rounding has left of that must stay positive.
        const double residual =
                         std::max(diagonal_[i] + needs_.ridge - fresh.multiply(0, i, row, t, a),
                                  1e-2 * floor * diagonal_[i]),
                     inverse = 1.0 / std::sqrt(residual);
        fresh.append(-inverse, a, inverse);
    }
    factor_ = std::move(fresh);
    ++rebuilds_;
}

}  // namespace parsimon
