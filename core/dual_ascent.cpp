#include "dual_ascent.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "input.hpp"
#include "sizes.hpp"
#include "sound.hpp"

namespace parsimon {
namespace {

// Working arrays per output: the direction r, K r and A'A K r. With a box, further arrays for the
// moves.
constexpr std::size_t rooms = 3, rooms_in_box = 10;

}  // namespace

void DualAscentUpdate::resize(std::size_t n_outputs, std::size_t capacity) {
    Buffer<double> kept(numbers(n_kept * n_outputs, capacity), 0.0);
    for (std::size_t what = 0; what < n_kept; ++what)
        for (std::size_t c = 0; c < n_outputs_; ++c)
            std::copy_n(this->kept(static_cast<Kept>(what), c), gram_.size(),
                        kept.begin() + (what * n_outputs + c) * capacity);
    Buffer<double> room(numbers(rooms * n_outputs + (boxed() ? rooms_in_box : 0), capacity), 0.0);
    targets_.resize(capacity > 0 ? n_outputs : 0);
    lengths_.resize(targets_.size());
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
           (ones_.capacity() + kept_.capacity() + room_.capacity() + targets_.capacity() +
            lengths_.capacity()) *
               sizeof(double);
}

void DualAscentUpdate::removing(Dictionary&, std::size_t, const double*) {
    throw std::logic_error("the centres of this update never leave");
}

void DualAscentUpdate::attach(Dictionary& dictionary, const Loss& loss) {
    curvature_ = loss.curvature();
    if (!(curvature_ > 0.0))
        refuse(
            "ascent on the dual is for losses with a curvature: the squared loss, the squared "
            "hinge");
    n_outputs_ = dictionary.n_outputs();
    dictionary.attach(*this);
}

void DualAscentUpdate::visit(StateVisitor visitor, Dictionary& dictionary) {
    const std::size_t m = dictionary.size();
    visitor.version(0);
    covariance_.visit(visitor.part("covariance"), m);
    gram_.visit(visitor.part("gram"), m);
    counts_.visit(visitor.part("counts"), m);
    visitor.numbers("ones", ones_.data(), m);
    visitor.pieces("kept", n_kept * n_outputs_,
                   [this, m](std::size_t i) { return std::pair(kept_.data() + i * capacity_, m); });
    visitor.count("steps", steps_);
}

void DualAscentUpdate::expect(StateVisitor visitor, std::size_t m) const {
    visitor.part("covariance").part("factor").expect("rows", expected_triangle(m));
    visitor.part("gram").expect("rows", expected_triangle(m));
    visitor.part("counts").expect("rows", expected_triangle(m));
    visitor.expect("kept", expected(n_kept * n_outputs_, m));
}

void DualAscentUpdate::require_sound(Dictionary& dictionary) const {
    const std::size_t m = dictionary.size();
    covariance_.require_sound();
    sound::require_within(ones_.data(), m, sound::largest_count, "sums of weights");
    for (std::size_t i = 0; i < n_kept * n_outputs_; ++i)
        sound::require_within(kept_.data() + i * capacity_, m, sound::largest_norm,
                              "dual variables");
    std::vector<double> row(simd::padded(m)), gram(m), counts(m), squares(m);
    for (std::size_t i = 0; i < m; ++i) {
        dictionary.gram_row(i, row.data());
        gram_.row(i, gram.data());
        counts_.row(i, counts.data());
        squares[i] = counts[i];
        if (!(squares[i] > 0.0 && squares[i] <= sound::largest_count))
            refuse("the state's counts are not those of samples: ", squares[i]);
        for (std::size_t j = 0; j <= i; ++j) {
            if (!(std::fabs(gram[j] - row[j]) <=
                  sound::same * geometric_mean(dictionary.diagonal()[i], dictionary.diagonal()[j])))
                refuse("the state's Gram matrix is not that of its centres: it holds ", gram[j],
                       " for ", row[j]);
            if (!(std::fabs(counts[j]) <=
                  (1.0 + sound::drift) * geometric_mean(squares[i], squares[j])))
                refuse("the state's counts are not those of samples: ", counts[j]);
        }
    }
}

Sums DualAscentUpdate::sums(const Dictionary& dictionary) const {
    const std::size_t m = dictionary.size();
    Sums sums;
    sums.coordinates = Sums::Coordinates::combinations;
    sums.size = m;
    sums.n_outputs = n_outputs_;
    sums.factor.resize(numbers(m, m));
    covariance_.copy_factor(sums.factor.data());
    sums.squares.resize(numbers(m, m));
    for (std::size_t i = 0; i < m; ++i) counts_.row(i, sums.squares.data() + i * m);
    sums.moments.assign(ones_.begin(), ones_.begin() + static_cast<std::ptrdiff_t>(m));
    std::vector<double> image(simd::padded(m));
    for (std::size_t c = 0; m > 0 && c < n_outputs_; ++c) {
        counts_.multiply(kept(fit, c), 1, capacity_, image.data());  // A'y = A'A Q A'y
        sums.output_moments.insert(sums.output_moments.end(), image.begin(),
                                   image.begin() + static_cast<std::ptrdiff_t>(m));
        sums.terms.insert(sums.terms.end(), kept(sum, c), kept(sum, c) + m);
    }
    sums.steps = steps_;
    return sums;
}

void DualAscentUpdate::set_sums(Dictionary& dictionary, const Sums& sums) {
    const std::size_t m = sums.size, C = n_outputs_;
    steps_ = sums.steps;
    if (m == 0) return;
    if (sums.factor.size() != m * m || sums.squares.size() != m * m || sums.moments.size() != m ||
        sums.output_moments.size() != C * m || sums.terms.size() != C * m)
        refuse("the sums are not those of a dual ascent");
    std::vector<double> row(simd::padded(m)), t(simd::padded(m)), image(simd::padded(m));
    for (std::size_t i = 0; i < m; ++i) {
        dictionary.gram_row(i, row.data());
        gram_.append(row.data(), row[i]);
        counts_.append(sums.squares.data() + i * m, sums.squares[i * m + i]);
    }
    covariance_.set_factor(sums.factor.data(), m);
    std::copy_n(sums.moments.begin(), m, ones_.begin());
    for (std::size_t c = 0; c < n_outputs_; ++c) {
        std::copy_n(sums.terms.data() + c * m, m, kept(sum, c));
        std::copy_n(sums.output_moments.data() + c * m, m, image.begin());
        std::fill_n(kept(fit, c), simd::padded(m), 0.0);
        covariance_.factor().multiply(0, m, image.data(), t.data(), kept(fit, c));
    }
    renew(dictionary);
}

void DualAscentUpdate::open(Dictionary&, Step& step) {
    for (Sample& sample : step)
        for (std::size_t c = 0; c < n_outputs_; ++c) sample.coefficient[c] = -sample.gradient[c];
}

void DualAscentUpdate::step(Dictionary& dictionary, Sample& sample, Step&) {
    const std::size_t m = dictionary.size();
    if (sample.weight == 0.0 || (m == 0 && !sample.admitted)) return;
    Look& look = *sample.look;
    for (std::size_t c = 0; c < n_outputs_; ++c)
        targets_[c] = sample.f[c] - sample.gradient[c] / curvature_;
    if (sample.admitted) {
        covariance_.append(0.0, look.h, 1.0 / std::sqrt(sample.weight));
        counts_.append(nullptr, sample.weight);
        gram_.append(look.h, look.kxx);
        ones_[m] = sample.weight;
        for (std::size_t c = 0; c < n_outputs_; ++c) {
            kept(sum, c)[m] = 0.0;
            kept(fit, c)[m] = targets_[c];
            kept(value, c)[m] = sample.f[c];
            kept(shortfall, c)[m] = targets_[c] - sample.f[c];
            kept(residual_, c)[m] = sample.weight * kept(shortfall, c)[m];
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
            // Recursive least squares for the fit: fit += Q a (y - a'fit) / alpha. Both fit and
            // shortfall = fit - f change by this amount.
            const double error = targets_[c] - loops.dot(look.a, kept(value, c), m);
            const double by = (error - loops.dot(look.a, kept(shortfall, c), m)) / alpha;
            loops.axpy(by, covariance_.gain(), kept(fit, c), m);
            loops.axpy(by, covariance_.gain(), kept(shortfall, c), m);
            loops.axpy(sample.weight * error, look.a, kept(residual_, c), m);
        }
    }
    climb(dictionary);
}

// The first sample, as in Table 2 of the paper: alpha* = max(0, y / k), alpha = max(0, -y / k).
void DualAscentUpdate::begin(Dictionary& dictionary, std::size_t c) {
    const double k = dictionary.diagonal()[0], w = clipped(targets_[c] / k);
    dictionary.weights(c)[0] = w;
    kept(sum, c)[0] = std::fabs(w);
    kept(value, c)[0] = k * w;
    kept(shortfall, c)[0] = targets_[c] - k * w;
    kept(residual_, c)[0] = ones_[0] * kept(shortfall, c)[0];
}

double DualAscentUpdate::direction(const double* from, double* to) const {
    const std::size_t m = gram_.size();
    const double largest = simd::loops().max_abs(from, m);
    for (std::size_t j = 0; j < m; ++j) to[j] = largest > 0.0 ? from[j] / largest : 0.0;
    std::fill(to + m, to + simd::padded(m), 0.0);
    return largest;
}

void DualAscentUpdate::climb(Dictionary& dictionary) {
    const auto& loops = simd::loops();
    const std::size_t m = gram_.size(), C = n_outputs_;
    if (m == 0) return;
    // The direction r (scaled), K r and A'A K r.
    double *unit = room(0), *image = room(C), *counted = room(2 * C);
    for (std::size_t c = 0; c < C; ++c)
        lengths_[c] = direction(kept(residual_, c), unit + c * capacity_);
    gram_.multiply(unit, C, capacity_, image);
    if (boxed())
        fit_ones(room(rooms * C), room(rooms * C + 1));
    else
        counts_.multiply(image, C, capacity_, counted);
    for (std::size_t c = 0; c < C;
         ++c, unit += capacity_, image += capacity_, counted += capacity_) {
        const double slope = loops.dot(unit, kept(shortfall, c), m),
                     curvature = loops.dot(unit, image, m);
        const bool rises = slope > 0.0 && curvature > 0.0;
        if (boxed()) {
            climb_in_box(dictionary, c, rises ? slope / curvature : 0.0);
            continue;
        }
        const double spread = loops.dot(image, counted, m), length = lengths_[c];
        const double along = longest_ ? slope / curvature : curvature / spread * length;
        const double reach =
            along * std::max({1.0, loops.max_abs(image, m), loops.max_abs(counted, m)});
        if (!rises || !(spread > 0.0) || !(reach < beyond)) continue;
        loops.axpy(along, unit, dictionary.weights(c), m);
        loops.axpy(along, image, kept(value, c), m);
        loops.axpy(-along, image, kept(shortfall, c), m);
        loops.axpy(-along, counted, kept(residual_, c), m);
        const double fall = along / length * epsilon_;
        if (fall * loops.max_abs(ones_.data(), m) < beyond)
            loops.axpy(-fall, ones_.data(), kept(sum, c), m);
    }
    if (++steps_ % renewal == 0) renew(dictionary);
}

void DualAscentUpdate::shift(Dictionary& dictionary, std::size_t c, double rise) {
    // The fit and f move together, so shortfall and residual stay. In a box, f cannot move freely.
    if (boxed()) return;
    Update::shift(dictionary, c, rise);
    for (std::size_t j = 0; j < gram_.size(); ++j) {
        kept(fit, c)[j] -= rise;
        kept(value, c)[j] -= rise;
    }
}

void DualAscentUpdate::renew(Dictionary& dictionary) {
    for (std::size_t c = 0; c < n_outputs_; ++c) {
        gram_.multiply(dictionary.weights(c), 1, capacity_, kept(value, c));
        for (std::size_t j = 0; j < gram_.size(); ++j)
            kept(shortfall, c)[j] = kept(fit, c)[j] - kept(value, c)[j];
        residual(c, kept(residual_, c));
    }
}

// `along` is the step length in the direction of r.
void DualAscentUpdate::climb_in_box(Dictionary& dictionary, std::size_t c, double along) {
    const auto& loops = simd::loops();
    const std::size_t m = gram_.size(), first = rooms * n_outputs_;
    double *ones = room(first), *unit = room(first + 2), *image = room(first + 3),
           *w = dictionary.weights(c);
    Move step{room(first + 4), room(first + 5), room(first + 6), 0.0},
        gradient{room(first + 7), room(first + 8), room(first + 9), 0.0};
    const double length = lengths_[c];
    try_in_box(w, c, room(c), ones_.data(), along, length > 0.0 ? along / length : 0.0, step);
    const double size = direction(kept(shortfall, c), unit);
    gram_.multiply(unit, 1, capacity_, image);
    const double curvature = loops.dot(unit, image, m),
                 step_length =
                     curvature > 0.0 ? size * (loops.dot(unit, unit, m) / curvature) : 0.0;
    try_in_box(w, c, unit, ones, step_length,
               size > 0.0 && curvature > 0.0 ? step_length / size : 1.0 / dictionary.diagonal()[0],
               gradient);
    const Move& better = step.rise >= gradient.rise ? step : gradient;
    if (!(better.rise > 0.0)) return;
    loops.axpy(1.0, better.w, w, m);
    loops.axpy(1.0, better.s, kept(sum, c), m);
    loops.axpy(1.0, better.f, kept(value, c), m);
    loops.axpy(-1.0, better.f, kept(shortfall, c), m);
    counts_.multiply(better.f, 1, capacity_, image);
    loops.axpy(-1.0, image, kept(residual_, c), m);
}

void DualAscentUpdate::try_in_box(const double* weights, std::size_t c, const double* w,
                                  const double* s, double along, double down, Move& move) {
    const auto& loops = simd::loops();
    const std::size_t m = gram_.size();
    const double *sums = kept(sum, c), *ones = room(rooms * n_outputs_), lowered = down * epsilon_;
    for (std::size_t j = 0; j < m; ++j) {
        const double star = 0.5 * (sums[j] + weights[j]), plain = 0.5 * (sums[j] - weights[j]);
        const double by_star = clipped(star + 0.5 * (along * w[j] - lowered * s[j])) - star;
        const double by_plain = clipped(plain - 0.5 * (along * w[j] + lowered * s[j])) - plain;
        move.w[j] = by_star - by_plain;
        move.s[j] = by_star + by_plain;
    }
    std::fill(move.w + m, move.w + simd::padded(m), 0.0);
    gram_.multiply(move.w, 1, capacity_, move.f);
    const double slope =
        loops.dot(move.w, kept(shortfall, c), m) - epsilon_ * loops.dot(move.s, ones, m);
    const double curvature = loops.dot(move.w, move.f, m);
    const double part = !(slope > 0.0) ? 0.0 : curvature > slope ? slope / curvature : 1.0;
    move.rise = part * (slope - 0.5 * part * curvature);
    if (part == 1.0) return;
    for (double* array : {move.w, move.s, move.f})
        for (std::size_t j = 0; j < m; ++j) array[j] *= part;
}

void DualAscentUpdate::fit_ones(double* out, double* t) const {
    std::fill_n(out, simd::padded(gram_.size()), 0.0);
    covariance_.factor().multiply(0, gram_.size(), ones_.data(), t, out);
}

void DualAscentUpdate::alpha(const Dictionary& dictionary, std::size_t c, double* out) const {
    for (std::size_t j = 0; j < gram_.size(); ++j)
        out[j] = clipped(0.5 * (kept(sum, c)[j] - dictionary.weights(c)[j]));
}

void DualAscentUpdate::alpha_star(const Dictionary& dictionary, std::size_t c, double* out) const {
    for (std::size_t j = 0; j < gram_.size(); ++j)
        out[j] = clipped(0.5 * (kept(sum, c)[j] + dictionary.weights(c)[j]));
}

void DualAscentUpdate::residual(std::size_t c, double* out) const {
    counts_.multiply(kept(shortfall, c), 1, capacity_, out);
}

double DualAscentUpdate::dual(const Dictionary& dictionary, std::size_t c) const {
    const std::size_t m = gram_.size();
    std::vector<double> ones(capacity_), t(capacity_);
    fit_ones(ones.data(), t.data());
    const double *w = dictionary.weights(c), *f = kept(value, c), *z = kept(shortfall, c);
    double gained = 0.0, zone = 0.0;
    for (std::size_t j = 0; j < m; ++j) {
        gained += w[j] * (z[j] + 0.5 * f[j]);
        zone += kept(sum, c)[j] * ones[j];
    }
    return gained - epsilon_ * zone;
}

}  // namespace parsimon
