// Ascent on the reduced dual of support vector regression (Engel, Mannor & Meir 2002).
#pragma once

#include <cmath>
#include <vector>

#include "buffer.hpp"
#include "rls.hpp"
#include "sound.hpp"
#include "symmetric.hpp"
#include "updates.hpp"

namespace parsimon {

// Every sample t is approximated by the centres: k(x_t, .) = sum_j a_tj k(d_j, .). The rows a_t
// form the matrix A (n, m) of n samples and m centres. A itself is not kept, only A'A, A'e and Q
// A'y, where y holds the targets, e is the vector of ones and Q = (A'A)^-1. The dual variables
// alpha and alpha* (m,) are those of support vector regression, reduced to the centres. For each
// output, with w = alpha* - alpha, s = alpha* + alpha and the values f = K w at the centres, the
// reduced dual (4.18) is
//
//     L = -w'K w / 2 + w'Q A'y - epsilon s'Q A'e.
//
// A sample moves both vectors along (4.12), by one common step length eta,
//
//     w += eta r,  s -= eta epsilon A'e,  r = A'(y - A f).
//
// Two step lengths are possible:
// - eta = r'K r / (K r)'A'A (K r) minimises ||y - A f||^2 along r,
// - eta = r'Q r / r'K r maximises the part of L that depends on w (`longest`).
//
// By the Cauchy-Schwarz inequality the first step is the shorter one, so this part of L rises with
// both. The change of s raises L too. Without a box, epsilon changes only s: f does not depend on
// epsilon and converges to r = 0.
//
// With a box (4.22), -box <= alpha, alpha* <= box, two moves are tried: the longer step above, and
// a step along the gradient of L. Each is clipped to the box, then shortened to where L is largest.
// The move that raises L more is taken. So L never falls while no new sample arrives, and the fixed
// point is the maximum of L in the box.
//
// CONVENTION
// - Arrays of an output are `capacity` apart and have room for whole panels.
// - `fit` = Q A'y holds the values of the least-squares fit at the centres. Each sample updates it
//   in O(m). shortfall = Q r = fit - f. So the products of Q with A'y and r are not computed: they
//   would lose digits if samples have very different weights.
// - Each step updates f, r and shortfall. They are recomputed from w and `fit` every `renewal`
//   steps.
// - The target of a sample is f - l'(f) / curvature. This is y for the squared loss, and f where
//   the squared hinge is zero.
// - Directions are scaled to a largest entry of 1, so that their squares neither overflow nor
//   underflow.
// - Centres are never removed.
class DualAscentUpdate final : public Update, private Aligned {
public:
    static constexpr const char* name = "dual_ascent";
    static constexpr std::uint64_t renewal = 128;
    // Steps that lead to numbers beyond this are skipped.
    static constexpr double beyond = sound::largest_norm;

    // `box` is infinity for none. `longest` chooses the longer of the two steps.
    DualAscentUpdate(double epsilon, double box, bool longest)
        : epsilon_(epsilon), box_(box), longest_(longest), covariance_(1.0) {}
    Needs needs() const override { return {.factor = true}; }
    void attach(Dictionary& dictionary, const Loss& loss) override;
    void set_outputs(std::size_t n_outputs) override { resize(n_outputs, capacity_); }
    void open(Dictionary& dictionary, Step& step) override;
    void step(Dictionary& dictionary, Sample& sample, Step& step) override;
    void shift(Dictionary& dictionary, std::size_t c, double rise) override;
    // One more step of every output, without a new sample.
    void climb(Dictionary& dictionary) override;
    void visit(StateVisitor visitor, Dictionary& dictionary) override;
    void expect(StateVisitor visitor, std::size_t m) const override;
    void require_sound(Dictionary& dictionary) const override;
    Pooling pooling() const override { return Pooling::climb; }
    Sums sums(const Dictionary& dictionary) const override;
    void set_sums(Dictionary& dictionary, const Sums& sums) override;
    std::size_t nbytes() const override;

    // The dual variables, the residual r = A'(y - A f) and the dual L of output c. Arrays are
    // (size,).
    void alpha(const Dictionary& dictionary, std::size_t c, double* out) const;
    void alpha_star(const Dictionary& dictionary, std::size_t c, double* out) const;
    void residual(std::size_t c, double* out) const;
    double dual(const Dictionary& dictionary, std::size_t c) const;

private:
    // The arrays of an output: s, Q A'y, f, r and Q r.
    enum Kept { sum, fit, value, residual_, shortfall, n_kept };
    double* kept(Kept what, std::size_t c) {
        return kept_.data() + (what * n_outputs_ + c) * capacity_;
    }
    const double* kept(Kept what, std::size_t c) const {
        return kept_.data() + (what * n_outputs_ + c) * capacity_;
    }
    // Working array i, (capacity,).
    double* room(std::size_t i) { return room_.data() + i * capacity_; }

    // A move of an output: the changes of w, s and f, and the rise of L.
    struct Move {
        double *w, *s, *f;
        double rise;
    };

    void reserve(std::size_t capacity) override;
    void appended(const Dictionary&, const Look&) override {}
    void removing(Dictionary&, std::size_t, const double*) override;

    void resize(std::size_t n_outputs, std::size_t capacity);
    // Sets the dual variables after the first sample.
    void begin(Dictionary& dictionary, std::size_t c);
    // Recomputes f, shortfall and r from w and `fit`.
    void renew(Dictionary& dictionary);
    bool boxed() const { return !std::isinf(box_); }
    void climb_in_box(Dictionary& dictionary, std::size_t c, double along);
    // Moves along (along * w, -epsilon * down * s), clipped to the box and then shortened to where
    // L is largest. Writes the result to `move`.
    void try_in_box(const double* weights, std::size_t c, const double* w, const double* s,
                    double along, double down, Move& move);
    void fit_ones(double* out, double* t) const;  // out = Q A'e (size,); t is working memory
    // Scales `from` to a largest entry of 1. Returns that entry's absolute value.
    double direction(const double* from, double* to) const;
    double clipped(double x) const { return std::min(std::max(x, -box_), box_); }

    double epsilon_, box_, curvature_ = 1.0;
    bool longest_;
    std::size_t n_outputs_ = 0, capacity_ = 0;
    std::uint64_t steps_ = 0;
    Covariance covariance_;          // Q
    SymmetricMatrix gram_, counts_;  // K, A'A
    Buffer<double> ones_;            // A'e
    Buffer<double> kept_, room_;
    // For each output: the target of the sample, and the scale of the direction.
    std::vector<double> targets_, lengths_;
};

}  // namespace parsimon
