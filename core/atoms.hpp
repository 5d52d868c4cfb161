// Kernel dictionary learning (Lee & Kim 2016): atoms in the feature space of a kernel are learned
// so that samples are sparse combinations of them.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "buffer.hpp"
#include "dictionary.hpp"
#include "sparse_coder.hpp"
#include "symmetric.hpp"

namespace parsimon {

// The atoms d_k = sum_j Omega_jk phi(x_j) are the columns of D, where phi(x) = k(x, .) and the x_j
// are a few stored samples. The stored samples are the centres of a Dictionary, and row j of Omega
// is the weight of centre j. Hence the dictionary evaluates to b = D'phi(x), (n_atoms,).
//
// A sample that passes the tests of coherence and reconstruction error is coded: alpha (n_atoms,)
// minimises the cost below with D fixed. Then the atoms take a gradient step on the same cost,
//
//     ||phi(x) - D alpha||^2 / 2 + lambda ||alpha||_1 + (mu / 2) ||D||_F^2,
//
// either in feature space, equation (15), or in the parameters Omega, (19)-(20). The sample is
// stored. When there are more samples than the budget, the sample whose row of Omega has the least
// norm is dropped, (23). A sample that fails the tests changes nothing. This is Table I of the
// paper, line by line.
//
// CONVENTION
// - A step that is too long would increase the cost of its own sample. Such a step is shortened to
//   the length that decreases this cost most.
// - G = D'D (n_atoms, n_atoms) is kept up to date. It is stored by rows, `stride` apart. In feature
//   space a step is a rank-two change of G. In parameter space G is computed from H = K Omega,
//   where K is the Gram matrix of the stored samples. The gradient in Omega needs H too.
// - G and H are recomputed from Omega every `renewal` steps, and after a change that cancels most
//   of their digits.
// - K is kept, in the order of the centres.
// - The first n_init samples are stored without a test, with given rows of Omega.
//
// AtomRules holds the parameters. The penalty mu is `penalty`.
struct AtomRules {
    std::size_t n_atoms;
    double lambda, penalty;
    bool in_parameters;
    // Learning rate of sample n, counted from 1: step_size / (1 + min(n, hold) / delay)^power.
    double step_size, power, delay;
    std::uint64_t hold;
    // A sample passes if its coherence with every stored sample is below this. Infinity passes all.
    double coherence;
    // A sample passes if its squared reconstruction error is above this. A negative value passes
    // all.
    double tolerance;
    // Whether learned samples are stored. If not, the atoms stay combinations of the first samples,
    // which requires `in_parameters`.
    bool stores;
    std::size_t budget;
    double precision;  // largest duality gap of a code, relative to ||phi||^2 / 2
};

// Learns the atoms described above, one sample at a time.
class AtomLearner {
public:
    static constexpr std::uint64_t renewal = 1000;
    // In feature space, K is moved together after this many samples were dropped.
    static constexpr std::size_t lazy = 32;
    // A step is skipped if it leads to numbers beyond this, because their squares could overflow.
    static constexpr double beyond = 1e100;

    // `first` (n_init, n_atoms) holds the rows of Omega for the first samples. With `at_once`,
    // memory is allocated now, otherwise with the first sample. Choose the latter before reading a
    // state, so that no more memory is used than the state needs.
    AtomLearner(KernelPtr kernel, std::size_t n_features, const AtomRules& rules,
                std::vector<double> first, bool at_once = true);

    // Throws InputError at the first row of x (n, n_features) that cannot be used.
    void check(const double* x, std::size_t n, Scratch& scratch) const;
    // Learns the rows of x (n, n_features), which `check` must accept. If `costs` (n,) is not null,
    // it receives the cost of each sample before it is learned, also for the first n_init samples.
    void learn(const double* x, std::size_t n, double* costs);
    // Codes alpha (n, n_atoms) and squared errors ||phi - D alpha||^2 (n,) of the rows of x, which
    // `check` must accept. Either result may be null. Many threads may call this at once.
    void code(const double* x, std::size_t n, double* codes, double* errors) const;

    // Writes or reads everything learned (state.hpp). Reading requires an AtomLearner with the same
    // rules and shape that has seen no sample.
    void visit(StateVisitor visitor);
    // Throws InputError unless learning can lead to the numbers of the state that was read
    // (sound.hpp).
    void require_sound();

    const Dictionary& dictionary() const { return dictionary_; }
    std::size_t n_atoms() const { return rules_.n_atoms; }
    // Samples seen, and how many of them passed the tests and changed the atoms.
    std::uint64_t seen() const { return seen_; }
    std::uint64_t learned() const { return learned_; }
    bool blank() const { return seen_ == 0; }  // whether nothing was learned or read yet
    // G = D'D (n_atoms, n_atoms), with rows `stride` apart.
    const double* gram() const { return (require_room(), G_.data()); }
    std::size_t stride() const { return stride_; }
    // Memory used, in bytes.
    std::size_t nbytes() const;

private:
    void learn_one(const double* x, double* cost);
    void step_in_feature_space(Look& look, double rate, double squared_error);
    void step_in_parameters(Look& look, double rate);
    void store(Look& look, const double* row);
    void prune();
    void renew();
    // Sets stale_ if the change cancels most digits of a squared norm.
    void note_change(double before, double change);
    void make_ready();
    void require_room() const {
        if (G_.empty()) throw std::logic_error("these atoms have neither learned nor read a state");
    }
    void fit_to_capacity();  // resizes all arrays after the dictionary has grown
    // Computes G = Omega'H.
    void multiply_atoms();
    // Finds the atoms with v_k != 0, for add_products.
    void find_active(const double* v);
    // G_kl += sign (row_k v_l + v_k row_l) for all l, where most v_l are 0.
    void add_products(std::size_t k, const double* v, double sign);

    AtomRules rules_;
    std::vector<double> first_;
    std::size_t stride_, wide_ = 0;
    KernelPtr kernel_;
    Dictionary dictionary_;
    Looks looks_;
    SymmetricMatrix stored_;  // the Gram matrix of the stored samples
    SparseCoder coder_;
    // G = D'D, H = K Omega, N the gradient in Omega, and K N. The last three have n_atoms columns,
    // stored `wide_` apart.
    Buffer<double> G_, H_, N_, KN_;
    Buffer<double> b_, alpha_, row_, column_;
    Buffer<double> squares_;  // (capacity,) ||omega_j||^2 for the rows of Omega, before `prune`
    std::vector<std::size_t> active_;
    std::uint64_t seen_ = 0, learned_ = 0, n_init_;
    bool ready_ = false;
    bool stale_ = false;  // G or H lost digits and must be recomputed
};

}  // namespace parsimon
