// Dictionary learning in the feature space of a kernel: Lee & Kim 2016.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "dictionary.hpp"
#include "sparse_coder.hpp"
#include "symmetric.hpp"

namespace parsimon {

// K atoms d_k = sum_j Omega_jk phi(x_j) over a few stored samples x_j: the dictionary's centres,
// with the rows of Omega as their weights, so that D'phi(x) is what the dictionary evaluates. A
// sample that passes the test is coded, the atoms take a gradient step on
//
//     ||phi(x) - D alpha||^2 / 2 + lambda ||alpha||_1 + (mu / 2) ||D||_F^2,
//
// in the feature space (15) or in the parameters Omega (19)-(20), and the sample is stored; beyond
// the budget the stored sample with the least row of Omega goes (23). A sample that fails the test
// changes nothing. That is Table I, line by line.
//
// CONVENTION
// - A step that would overshoot, and leave the sample's own cost higher than it was, is cut to the
// one that lowers it most.
// - G = D'D (K, K) by rows, `stride` apart, is kept up to date: in feature space by changes of rank
// two, in parameter space with
//   H = K Omega, which the gradient needs. Both are made anew from Omega every `renewal` steps, and
//   where a change cancels most of them.
// - The stored samples' Gram matrix is kept, in the order of the centres.
// - The first n_init samples are stored as they come, with the rows of Omega given.
struct AtomRules {
    std::size_t n_atoms;
    double lambda, penalty;
    bool in_parameters;
    double step_size, power, delay;  // rate_n = step_size / (1 + min(n, hold) / delay)^power, n the
                                     // samples before and with this one
    std::uint64_t hold;
    double
        coherence;  // admits what is less coherent with every stored sample; infinity: everything
    double tolerance;  // admits what is reconstructed with a squared error above it; less than 0:
                       // everything
    bool stores;  // what is learned; if not, the atoms stay over the first samples, and learn in
                  // parameters
    std::size_t budget;
    double precision;  // of the codes: the duality gap, in units of ||phi||^2 / 2
};

class AtomLearner {
public:
    static constexpr std::uint64_t renewal = 1000;
    // Steps to numbers beyond this are not taken: their squares could overflow.
    static constexpr double beyond = 1e100;

    // `first` (n_init, n_atoms): rows of Omega for the first samples. Room is made at once, or when
    // the first sample is learned: a state is read before that, and takes no more than it holds.
    AtomLearner(KernelPtr kernel, std::size_t n_features, const AtomRules& rules,
                std::vector<double> first, bool at_once = true);

    // Throws InputError at the first row that cannot be used.
    void check(const double* x, std::size_t n, Scratch& scratch) const;
    // Learns n checked samples. `costs` (n,), if not null: the cost of each just before it was
    // learned (those of the first samples, which are not coded, included).
    void learn(const double* x, std::size_t n, double* costs);
    // Codes (n, n_atoms) and squared errors (n,) of n checked points; either may be null. Const:
    // threads may code together.
    void code(const double* x, std::size_t n, double* codes, double* errors) const;

    // All that it has learned. Read into one of the same rules and shape that has seen nothing.
    void visit(StateVisitor visitor);
    // Throws InputError unless the numbers of a state that was read are such as learning leads to
    // (sound.hpp).
    void require_sound();

    const Dictionary& dictionary() const { return dictionary_; }
    std::size_t n_atoms() const { return rules_.n_atoms; }
    std::uint64_t seen() const { return seen_; }
    std::uint64_t learned() const { return learned_; }
    const double* gram() const { return (require_room(), G_.data()); }
    std::size_t stride() const { return stride_; }
    std::size_t nbytes() const;

private:
    void learn_one(const double* x, double* cost);
    void step_in_feature_space(Look& look, double rate, double squared_error);
    void step_in_parameters(Look& look, double rate);
    void store(Look& look, const double* row);
    void prune();
    void renew();
    void note_change(double before, double change);  // of an atom's squared norm, or of its image's
    void make_ready();
    void require_room() const {
        if (G_.empty()) throw std::logic_error("these atoms have neither learned nor read a state");
    }
    void fit_to_capacity();  // after the dictionary made room
    void multiply_atoms();

    AtomRules rules_;
    std::vector<double> first_;
    std::size_t stride_;
    KernelPtr kernel_;
    Dictionary dictionary_;
    Looks looks_;
    SymmetricMatrix stored_;  // the Gram matrix of the stored samples
    SparseCoder coder_;
    std::vector<double> G_, H_, N_,
        KN_;  // D'D; K Omega, the gradient in Omega, K times that: n_atoms columns a capacity apart
    std::vector<double> b_, alpha_, row_, column_, other_;
    std::uint64_t seen_ = 0, learned_ = 0, n_init_;
    bool ready_ = false;
    bool stale_ = false;  // G or H has lost digits by cancellation, and must be made anew
};

}  // namespace parsimon
