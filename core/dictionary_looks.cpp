// Kernel rows, projections and predictions of points.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "dictionary.hpp"
#include "gradient.hpp"
#include "sizes.hpp"

namespace parsimon {

void Dictionary::kernel_rows(const simd::Rows& points, const simd::Block& out, Scratch& scratch,
                             bool coarse, Team* team) const {
    // Few pieces, because each looks for the features that are not zero, and whole tiles of panels
    constexpr std::size_t least = 24, pieces = 8, tile = 3, rows_of_a_piece = 4;
    simd::Panels panels = points_.panels();
    panels.coarse = coarse;
    const std::size_t stride = panels.count * simd::panel_width;
    const bool shared =
        team && kernel_->shareable() && team->shares(points.count, stride, n_features_);
    const auto evaluate = [&](const simd::Block& into) {
        if (!shared) return kernel_->rows(points, panels, n_features_, 0, into, scratch);
        team->in_pieces(panels.count, std::max(least, (panels.count / pieces / tile + 1) * tile),
                        [&](std::size_t first, std::size_t last) {
                            Scratch own;
                            kernel_->rows(points, panels.part(first, last), n_features_, 0,
                                          {into.data + first * simd::panel_width, into.stride},
                                          own);
                        });
    };
    if (points_.in_order()) return evaluate(out);
    auto rows = scratch.take(points.count * stride);
    evaluate({rows.data(), stride});
    const auto gather = [&](std::size_t first, std::size_t last) {
        for (std::size_t r = first; r < last; ++r) {
            double* row = out.data + r * out.stride;
            points_.gather(rows.data() + r * stride, row);
            std::fill(row + size_, row + simd::padded(size_), 0.0);  // loops read whole packs
        }
    };
    shared ? team->in_pieces(points.count, rows_of_a_piece, gather) : gather(0, points.count);
}

void Dictionary::look(Looks& looks, const double* x, std::size_t n, Scratch& scratch,
                      Team* team) const {
    open(looks, x, n, scratch);
    kernel_rows({looks.points_.data(), n, depth()}, {looks.h_.data(), looks.stride_}, scratch,
                false, team);
}

void Dictionary::open(Looks& looks, const double* x, std::size_t n, Scratch& scratch) const {
    annotate(*kernel_, x, n, n_features_, depth(), looks.points_.data(), scratch);
    const simd::Rows rows{looks.points_.data(), n, depth()};
    kernel_->diagonal(rows, n_features_, 0, looks.kxx_.data(), scratch);
    for (std::size_t i = 0; i < n; ++i) {
        Look& look = looks[i];
        look.x = looks.points_.data() + i * depth();
        look.h = looks.h_.data() + i * looks.stride_ + points_.lane(0);
        look.kxx = looks.kxx_[i];
        look.objective = look.residual = look.kxx;
        look.n_known = size_;
        look.projected = look.combined = 0;
        look.compared = 0;
        look.ridge = needs_.ridge;
        look.distance = std::numeric_limits<double>::infinity();
        look.centre = Look::none;
    }
    looks.count_ = n;
    looks.mates_.clear();
    looks.entered_.clear();
    looks.searched_ = 0;
}

void Dictionary::project(Look& look) const {
    if (look.combined == look.n_known) return;
    std::fill(look.a + look.combined, look.a + simd::padded(look.n_known), 0.0);
    factor_.combine(look.combined, look.projected, look.t, look.a);
    look.combined = look.projected;
    if (look.projected == look.n_known) return;
    look.objective -= factor_.multiply(look.projected, look.n_known, look.h, look.t, look.a);
    settle(look);
}

void Dictionary::project_shared(Look& look) {
    if (look.projected > 0 || look.n_known < size_) return project(look);
    std::fill_n(look.a, simd::padded(size_), 0.0);
    look.objective -= factor_.multiply(look.h, look.t, look.a, team_);
    settle(look);
}

void Dictionary::measure(Look& look) const {
    if (!lazy_ || needs_.ridge > 0.0) return project(look);
    if (look.projected == look.n_known) return;
    look.objective -= factor_.measure(look.projected, look.n_known, look.h, look.t);
    look.projected = look.n_known;
    look.residual = look.objective;
}

void Dictionary::settle(Look& look) const {
    look.projected = look.combined = look.n_known;
    look.residual = look.objective;
    if (needs_.ridge > 0.0)
        look.residual -= needs_.ridge * simd::loops().dot(look.a, look.a, look.n_known);
}

void Dictionary::project(Look* const* looks, std::size_t n) {
    constexpr std::size_t most = 32, few = 4;  // with fewer looks, too many lanes would be empty
    if (n < few) {
        for (std::size_t i = 0; i < n; ++i) project_shared(*looks[i]);
        return;
    }
    const std::size_t known = looks[0]->n_known, room = simd::padded(std::min(n, most));
    auto across = scratch_.take(room * simd::padded(known));
    auto sums = scratch_.take(room * simd::padded(known));
    const double* h[most];
    double *t[most], *a[most], squares[most];
    for (std::size_t first = 0; first < n; first += most) {
        const std::size_t count = std::min(most, n - first);
        for (std::size_t i = 0; i < count; ++i) {
            h[i] = looks[first + i]->h;
            t[i] = looks[first + i]->t;
            a[i] = looks[first + i]->a;
        }
        const TriangularFactor::Vectors vectors{h, count, t, a};
        if (team_.shares(known, known, count))
            factor_.multiply_shared(vectors, squares, across.data(), sums.data(), team_);
        else
            factor_.multiply(vectors, squares, across.data(), sums.data());
        for (std::size_t i = 0; i < count; ++i) {
            looks[first + i]->objective = looks[first + i]->kxx - squares[i];
            settle(*looks[first + i]);
        }
    }
}

double Dictionary::coherence(const Look& look) const {
    if (kernel_->unit_diagonal()) return simd::loops().max_abs(look.h, look.n_known);
    if (negligible(look.kxx)) return 1.0;
    double largest = 0.0;
    for (std::size_t j = 0; j < look.n_known; ++j)
        largest = std::max(largest, std::fabs(look.h[j]) / geometric_mean(look.kxx, diagonal()[j]));
    return largest;
}

void Dictionary::find_nearest(Look& look) {
    if (look.compared == look.n_known) return;
    const std::size_t first = points_.in_order() ? look.compared : 0;
    const simd::Panels panels = points_.panels(first);
    auto squares = scratch_.take(panels.count * simd::panel_width);
    simd::loops().squared_distance({look.x, 1, depth()}, panels, n_features_, {},
                                   {squares.data(), 0});
    for (std::size_t j = look.compared; j < look.n_known; ++j) {
        const double square = squares.data()[points_.place(j, first)];
        if (square < look.distance) {
            look.distance = square;
            look.nearest = j;
        }
    }
    look.compared = look.n_known;
}

bool Dictionary::accepts(Look& look) const { return sound(look, size_); }

bool Dictionary::sound(Look& look, std::size_t without) const {
    if (!needs_.factor) return true;
    if (!needs_.pairs && negligible(look.kxx)) return false;
    const auto stored = [without](std::size_t i) { return i + (i >= without); };
    const double least = needs_.pairs ? floor_of_pairs : floor;
    measure(look);
    // a_i^2 <= (S'S)_ii t't, so that a is needed only for points that are nearly dependent.
    double bound = 0.0;
    if (without >= look.n_known)
        bound = simd::loops().dot(factor_.diagonal(), diagonal_.data(), look.n_known);
    else
        for (std::size_t i = 0; i < look.n_known; ++i)
            bound += factor_.diagonal()[i] * diagonal_[stored(i)];
    if (!(schur(look) > least * (look.kxx + bound * (look.kxx - look.objective)))) {
        project(look);
        double scale = look.kxx;
        for (std::size_t i = 0; i < look.n_known; ++i)
            scale += look.a[i] * look.a[i] * diagonal_[stored(i)];
        if (!(schur(look) > least * scale)) return false;
    }
    if (needs_.pairs) return true;
    // The kernel value of a copy is k(x, x).
    if (simd::loops().max_abs(look.h, look.n_known) < 0.999 * look.kxx) return true;
    for (std::size_t i = 0; i < look.n_known; ++i)
        if (copies(look, i, stored(i))) return false;
    return true;
}

bool Dictionary::holds(const Look& look) const {
    for (std::size_t j = 0; j < look.n_known; ++j)
        if (copies(look, j, j)) return true;
    return false;
}

void Dictionary::gram_row(std::size_t i, double* row) {
    auto point = scratch_.take(depth());
    points_.copy(i, point.data());
    const simd::Panels panels = points_.panels();
    auto room = scratch_.take(panels.before > 0 ? panels.count * simd::panel_width : 0);
    kernel_rows({point.data(), 1, depth()}, {panels.before > 0 ? room.data() : row, 0}, scratch_,
                false, &team_);
    if (panels.before > 0) std::copy_n(room.data() + panels.before, size_, row);
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
    simd::loops().dot_each(look.h, weights(0), n_outputs_, capacity_, look.n_known, f);
}

void Dictionary::predict(const double* x, std::size_t n, std::size_t first_output,
                         std::size_t outputs, double* out) const {
    // A tile of kernel rows fits in the second-level cache, unless there are many centres.
    constexpr std::size_t tile_bytes = 1 << 18;
    const simd::Panels panels = points_.panels();
    const std::size_t stride = std::max<std::size_t>(panels.count, 1) * simd::panel_width;
    const std::size_t tile = std::clamp<std::size_t>(tile_bytes / (stride * sizeof(double)) / 4 * 4,
                                                     simd::row_block, 256);
    Scratch scratch;
    auto points = scratch.take(std::min(tile, n) * depth());
    auto rows = scratch.take(std::min(tile, n) * stride);
    for (std::size_t first = 0; first < n; first += tile) {
        const std::size_t count = std::min(tile, n - first);
        annotate(*kernel_, x + first * n_features_, count, n_features_, depth(), points.data(),
                 scratch);
        kernel_rows({points.data(), count, depth()}, {rows.data(), stride}, scratch,
                    kernel_->coarse());
        for (std::size_t r = 0; r < count; ++r)
            simd::loops().dot_each(rows.data() + r * stride + panels.before, weights(first_output),
                                   outputs, capacity_, size_, out + (first + r) * outputs);
    }
}

void Dictionary::gradient(const double* x, std::size_t n, std::size_t first_output,
                          std::size_t outputs, double* out) const {
    const auto from = [&](const Points& points) {
        parsimon::gradient({*kernel_, points.panels(), weights(first_output), capacity_, outputs},
                           x, n, out);
    };
    if (points_.lane(0) == 0 && points_.in_order()) return from(points_);
    from(points_.arranged());  // because the order of the sums depends on the panels
}

}  // namespace parsimon
