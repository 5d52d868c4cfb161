// Ascent on the reduced dual of support vector regression: Engel, Mannor & Meir 2002.
#pragma once

#include <cmath>
#include <vector>

#include "rls.hpp"
#include "sound.hpp"
#include "symmetric.hpp"
#include "updates.hpp"

namespace parsimon {

// Every sample seen is written as a combination a_i of the centres, (A)_ij = a_ij, and of all of it
// only images under A' are kept. For each output, with w = alpha* - alpha, s = alpha* + alpha and
// the values f = K w at the centres, the reduced dual (4.18) is
//
//     L = -w'K w / 2 + w'Q A'y - epsilon s'Q A'e,        Q = (A'A)^-1.
//
// A sample moves both vectors along (4.12) with one step for both,
//
//     w += eta r,  s -= eta epsilon A'e,  r = A'(y - A f),
//
// as far as ||y - A f||^2 falls, eta = r'K r / (K r)'A'A (K r), or as far as L rises, eta = r'Q r /
// r'K r. By Cauchy and Schwarz the first is the shorter one: L rises with both. The insensitive
// zone is in s alone: without a box f does not know of it, and comes to rest where r = 0. With a
// box (4.22), -box <= alpha, alpha* <= box, the step is the longer one, cut off there; the
// gradient's own step, cut off too, is tried beside it, and the better of the two goes as far as L
// rises. So L never falls while nothing new is seen, and the fixed point is the maximum in the box.
//
// CONVENTION
// - Arrays of an output are `capacity` apart and have room for whole panels. `fit` = Q A'y, the
// values of the least-squares fit, follows
//   every sample in O(m); shortfall = Q r = fit - f. Products with Q, which lose digits where
//   samples have very different weights, are not needed.
// - f, r and shortfall are followed from step to step, and made anew from w and `fit` after every
// `renewal` steps.
// - A sample's target y is f - l'(f) / curvature: y itself for the squared loss, and f where a
// margin is no longer violated.
// - Directions are scaled to a largest entry of 1, so that their squares neither overflow nor
// vanish.
// - Centres never leave.
class DualAscentUpdate final : public Update, private Aligned {
public:
    static constexpr const char* name = "dual_ascent";
    static constexpr std::uint64_t renewal = 128;
    // Steps to numbers beyond this are not taken.
    static constexpr double beyond = sound::largest_norm;

    // box: infinity for none. `longest`: as far as L rises.
    DualAscentUpdate(double epsilon, double box, bool longest)
        : epsilon_(epsilon), box_(box), longest_(longest), covariance_(1.0) {}
    Needs needs() const override { return {.factor = true}; }
    void attach(Dictionary& dictionary, const Loss& loss) override;
    void set_outputs(std::size_t n_outputs) override { resize(n_outputs, capacity_); }
    void open(Dictionary& dictionary, Step& step) override;
    void step(Dictionary& dictionary, Sample& sample, Step& step) override;
    // One more step of every output on what was seen.
    void climb(Dictionary& dictionary) override;
    void visit(StateVisitor visitor, Dictionary& dictionary) override;
    void expect(StateVisitor visitor, std::size_t m) const override;
    void require_sound(Dictionary& dictionary) const override;
    Pooling pooling() const override { return Pooling::climb; }
    Sums sums(const Dictionary& dictionary) const override;
    void set_sums(Dictionary& dictionary, const Sums& sums) override;
    std::size_t nbytes() const override;

    // What is kept of output c. (size,) each.
    void alpha(const Dictionary& dictionary, std::size_t c, double* out) const;
    void alpha_star(const Dictionary& dictionary, std::size_t c, double* out) const;
    void residual(std::size_t c, double* out) const;  // A'(y - A f)
    double dual(const Dictionary& dictionary, std::size_t c) const;

private:
    // s, Q A'y, f, r and Q r of an output.
    enum Kept { sum, fit, value, residual_, shortfall, n_kept };
    double* kept(Kept what, std::size_t c) {
        return kept_.data() + (what * n_outputs_ + c) * capacity_;
    }
    const double* kept(Kept what, std::size_t c) const {
        return kept_.data() + (what * n_outputs_ + c) * capacity_;
    }
    double* room(std::size_t i) { return room_.data() + i * capacity_; }

    // A move of an output: by w and s, and what becomes of f. How far L rises.
    struct Move {
        double *w, *s, *f;
        double rise;
    };

    void reserve(std::size_t capacity) override;
    void appended(const Dictionary&, const Look&) override {}
    void removing(Dictionary&, std::size_t, const double*) override;

    void resize(std::size_t n_outputs, std::size_t capacity);
    void begin(Dictionary& dictionary, std::size_t c);
    void renew(Dictionary& dictionary);
    bool boxed() const { return !std::isinf(box_); }
    void climb_in_box(Dictionary& dictionary, std::size_t c, double along);
    // As far as the box allows and L rises: w by `along` times w, s by epsilon `down` times s at
    // most.
    void try_in_box(const double* weights, std::size_t c, const double* w, const double* s,
                    double along, double down, Move& move);
    void fit_ones(double* out, double* t) const;  // Q A'e
    double direction(const double* from,
                     double* to) const;  // scaled; returns what it was divided by
    double clipped(double x) const { return std::min(std::max(x, -box_), box_); }

    double epsilon_, box_, curvature_ = 1.0;
    bool longest_;
    std::size_t n_outputs_ = 0, capacity_ = 0;
    std::uint64_t steps_ = 0;
    Covariance covariance_;          // Q
    SymmetricMatrix gram_, counts_;  // K, A'A
    std::vector<double> ones_;       // A'e
    std::vector<double> kept_, room_;
    std::vector<double> targets_,
        lengths_;  // of each output: what a sample aims at; the scale of a direction
};

}  // namespace parsimon
