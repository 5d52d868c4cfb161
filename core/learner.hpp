// The learner: one loop for every algorithm, made of parts.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "admission.hpp"
#include "compression.hpp"
#include "input.hpp"
#include "losses.hpp"
#include "updates.hpp"

namespace parsimon {

struct Recipe {
    KernelPtr kernel;
    std::shared_ptr<const Loss> loss;
    std::shared_ptr<Admission> admission;
    std::shared_ptr<Update> update;
    std::shared_ptr<Compression> compression;
    std::size_t batch_size = 1;
    // Once so many samples were seen, what is predicted is the mean of f over the steps since.
    std::uint64_t average_after = std::numeric_limits<std::uint64_t>::max();
    bool averages() const { return average_after != std::numeric_limits<std::uint64_t>::max(); }
};

// What a model has gone through.
struct Ledger {
    std::uint64_t seen = 0;      // samples
    std::uint64_t averaged = 0;  // steps that the means are over
    double spent = 0.0;          // squared RKHS error made by removals, summed
};

class Learner {
public:
    // Targets beyond this are refused: squares and products of accepted numbers stay finite.
    static constexpr double largest_target = 1e100;
    static constexpr double largest_weight = 1e20, least_weight = 1e-20;  // or 0

    // `reserve`: centres to make room for; 0 lets the dictionary grow. At once, or when the first
    // sample is learned: a state is read before that, and takes no more than it holds.
    Learner(Recipe recipe, std::size_t n_features, std::size_t n_outputs, std::size_t reserve,
            bool at_once = true);

    // Throw InputError at the first value that cannot be used; change nothing. More is asked of
    // what is to be learned than of what is only predicted.
    void check_inputs(const double* x, std::size_t n, Scratch& scratch) const;  // (n, n_features)
    // y (n, n_targets), of a model of `n_outputs` outputs; weights (n,) or null
    void check_samples(const double* x, const double* y, const double* weights, std::size_t n,
                       std::size_t n_outputs);

    // Outputs from now on: as many as there are, or more.
    void set_outputs(std::size_t n_outputs);
    std::size_t n_targets(std::size_t n_outputs) const {
        return recipe_.loss->n_targets(n_outputs);
    }

    // From now on centres leave by this rule, and those beyond its budget at once. Throws
    // InputError, and changes nothing, if the rule needs what the dictionary was not made to keep.
    // `reserve`: centres to make room for, where that was not done yet.
    void compress_by(std::shared_ptr<Compression> compression, std::size_t reserve);

    // `steps` more steps on what was seen, where the update keeps enough of it.
    void climb(std::size_t steps) {
        for (; steps > 0; --steps) recipe_.update->climb(dictionary_);
    }

    // Learns n samples in order, each with its weight (1 if null). Where `predictions` (n,
    // n_outputs) is not null, it takes what was predicted before each was learned. Requires checked
    // input. A block equals its batches one by one, bit for bit.
    void learn(const double* x, const double* y, const double* weights, std::size_t n,
               double* predictions);
    void predict(const double* x, std::size_t n, double* out) const {
        dictionary_.predict(x, n, shown(), n_outputs_, out);
    }
    std::size_t n_outputs() const { return n_outputs_; }
    // The first of the dictionary's outputs that are predicted: those that learn, or their means.
    std::size_t shown() const { return averaged_ > 0 ? n_outputs_ : 0; }

    const Update& update() const { return *recipe_.update; }
    // All that it has learned. Read into a learner of the same recipe and shape that has learned
    // nothing; after an error it is of no use.
    void visit(StateVisitor visitor);
    // Throws InputError unless the numbers of a state that was read are such as learning leads to
    // (sound.hpp).
    void require_sound();
    // Becomes the sum of several models: takes the merged dictionary, which must keep what this
    // one keeps, and the sums over its centres. Requires a learner that has learned nothing.
    void adopt(Dictionary& merged, const Sums& sums, const Ledger& ledger);
    Sums sums() const { return recipe_.update->sums(dictionary_); }
    Ledger ledger() const { return {seen_, averaged_, spent_}; }

    Dictionary& dictionary() { return dictionary_; }
    const Dictionary& dictionary() const { return dictionary_; }
    std::uint64_t seen() const { return seen_; }
    double spent() const { return spent_; }
    std::size_t nbytes() const;

private:
    void learn_step(const double* x, const double* y, const double* weights, std::size_t n);
    void check_kernel_values(const double* x, const double* weights, std::size_t n, double bound,
                             Scratch& scratch) const;
    void make_ready();
    void place_outputs();
    void compress();
    void average();
    std::uint64_t outputs_alive() const;  // outputs with a weight that is not zero

    Recipe recipe_;
    std::size_t n_outputs_, reserve_;
    bool ready_ = false;    // there is room for steps, and for all centres of a budget
    bool pending_ = false;  // a step ended by an exception: centres are still to leave
    Dictionary
        dictionary_;  // outputs that learn, and where there is averaging as many more for the means
    Looks looks_;
    Step step_;
    std::vector<double> outputs_;  // f, gradient and coefficient of each sample of a step
    Scratch scratch_;
    std::uint64_t seen_ = 0, averaged_ = 0,
                  alive_ =
                      0;  // samples; steps that the means are over; outputs that took part so far
    double spent_ = 0.0;
};

}  // namespace parsimon
