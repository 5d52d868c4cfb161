// The learner: one loop for every algorithm, made of parts.
//
//     Learner model(knlms(gaussian(0.5)), n_features);     // recipes.hpp
//     model.check_samples(x, y, nullptr, n, 1);            // throws if a value cannot be used
//     model.learn(x, y, nullptr, n, nullptr);
//     model.predict(points, n_points, predictions);
//
// CONVENTION
// - Matrices are contiguous and by rows, of doubles. The caller owns all arrays that it passes; the
//   learner copies what it keeps.
// - What is only called "required" is not checked. Breaking it is undefined behaviour.
// - The checks throw InputError for invalid numbers. It is a std::invalid_argument that names row
//   and column. Too little memory throws std::bad_alloc, or NoMemory with a message.
// - Threads: const members may run on many threads at once, while no other member runs. Guard a
//   model with a std::shared_mutex if one thread learns while others predict. Two learners share
//   nothing unless their recipes share parts.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "admission.hpp"
#include "compression.hpp"
#include "input.hpp"
#include "losses.hpp"
#include "sound.hpp"
#include "updates.hpp"

namespace parsimon {

// The parts of an algorithm. recipes.hpp makes some; parts.hpp lists all parts.
//
// Requires that no pointer is null. Updates and compressions keep state, so a recipe is for one
// learner: make a new one for the next. A kernel and a loss may be shared.
struct Recipe {
    KernelPtr kernel;
    std::shared_ptr<const Loss> loss;
    std::shared_ptr<Admission> admission;
    std::shared_ptr<Update> update;
    std::shared_ptr<Compression> compression;
    std::size_t batch_size = 1;  // samples per step
    // After this many samples, the mean of f over the later steps is predicted instead of f. The
    // default is never. Requires a GradientUpdate.
    std::uint64_t average_after = std::numeric_limits<std::uint64_t>::max();
    bool averages() const { return average_after != std::numeric_limits<std::uint64_t>::max(); }
};

// Counts over all samples that a model has learned.
struct Ledger {
    std::uint64_t seen = 0;      // samples
    std::uint64_t averaged = 0;  // steps that the means are over
    std::uint64_t alive = 0;     // outputs that took part in the means
    double spent = 0.0;          // squared RKHS error made by removals, summed
};

// Owns its parts, together with those who hold the same pointers. Can be neither copied nor moved.
class Learner {
public:
    // Targets beyond this are refused: squares and products of accepted numbers stay finite.
    static constexpr double largest_target = sound::largest_target;
    static constexpr double largest_weight = 1e20, least_weight = 1e-20;  // or 0

    // A model f = 0 that has learned nothing. Requires n_features >= 1 and n_outputs >= 1.
    // - n_outputs: functions that share the centres: columns of y, or classes.
    // - reserve: number of centres to reserve memory for. With a budget, budget plus batch_size is
    //   enough for all later steps. With 0 the memory grows with the centres.
    // - at_once: whether memory is reserved now, or with the first sample. Choose the latter to
    //   read a state: it takes no more memory than it holds.
    // Throws InputError if batch_size is 0, or if steps this large diverge whatever the samples.
    Learner(Recipe recipe, std::size_t n_features, std::size_t n_outputs = 1,
            std::size_t reserve = 0, bool at_once = true);

    // Throw InputError at the first value that cannot be used. They change nothing. What is learned
    // must meet more conditions than what is only predicted.
    // `scratch` is working memory of the caller: one per thread.
    void check_inputs(const double* x, std::size_t n) const {
        Scratch scratch;
        check_inputs(x, n, scratch);
    }
    void check_inputs(const double* x, std::size_t n, Scratch& scratch) const;  // (n, n_features)
    // y (n, n_targets), of a model of `n_outputs` outputs; weights (n,) or null, which means 1.
    void check_samples(const double* x, const double* y, const double* weights, std::size_t n,
                       std::size_t n_outputs);

    // The number of outputs from now on. New outputs are 0; a smaller number changes nothing.
    void set_outputs(std::size_t n_outputs);
    // How many numbers make one target of a model of `n_outputs` outputs.
    std::size_t n_targets(std::size_t n_outputs) const {
        return recipe_.loss->n_targets(n_outputs);
    }

    // From now on centres are removed by this rule. Those over its budget are removed now. Throws
    // InputError, and changes nothing, if the rule needs something that the dictionary does not
    // keep. `reserve` is as in the constructor, if memory was not reserved yet.
    void compress_by(std::shared_ptr<Compression> compression, std::size_t reserve);

    // `steps` more steps on the samples seen, if the update keeps enough of them. Else nothing.
    void climb(std::size_t steps) {
        for (; steps > 0; --steps) recipe_.update->climb(dictionary_);
    }

    // Learns n samples in order: x (n, n_features), y (n, n_targets), weights (n,) or null for 1.
    // Requires samples that check_samples accepts, for n_outputs() outputs.
    // If `predictions` (n, n_outputs) is not null, it receives the prediction for each sample from
    // before its step. A block equals its batches one by one, bit for bit.
    // Throws std::bad_alloc, or what a kernel throws. Earlier steps are kept, and the model can go
    // on.
    void learn(const double* x, const double* y, const double* weights, std::size_t n,
               double* predictions);
    // f of n points x (n, n_features), into out (n, n_outputs). Requires finite x: check_inputs.
    void predict(const double* x, std::size_t n, double* out) const {
        dictionary_.predict(x, n, shown(), n_outputs_, out);
    }
    std::size_t n_outputs() const { return n_outputs_; }
    // The first of the dictionary's outputs that are predicted: those that learn, or their means.
    std::size_t shown() const { return averaged_ > 0 ? n_outputs_ : 0; }

    const Update& update() const { return *recipe_.update; }
    // Writes all that it has learned to a State, or reads it (state.hpp). A learner that has read
    // goes on bit for bit. Reading requires a learner of an equal recipe and shape that has learned
    // nothing, and throws InputError if the state does not fit. The learner is unusable then.
    void visit(StateVisitor visitor);
    // Throws InputError if learning cannot lead to the numbers of the state that was read
    // (sound.hpp). Call it for states from files.
    void require_sound();
    // Becomes the sum of several models: takes the merged dictionary, which must keep what this
    // one keeps, and the sums over its centres. Requires a learner that has learned nothing.
    void adopt(Dictionary& merged, const Sums& sums, const Ledger& ledger);
    Sums sums() const { return recipe_.update->sums(dictionary_); }
    Ledger ledger() const { return {seen_, averaged_, alive_, spent_}; }

    Dictionary& dictionary() { return dictionary_; }
    const Dictionary& dictionary() const { return dictionary_; }
    std::uint64_t seen() const { return seen_; }  // samples learned
    double spent() const { return spent_; }       // squared RKHS error made by removals, summed
    std::size_t nbytes() const;                   // memory held, in bytes

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
    // Its outputs are those that learn and, with averaging, as many more for their means.
    Dictionary dictionary_;
    Looks looks_;
    Step step_;
    std::vector<double> outputs_;  // f, gradient and coefficient of each sample of a step
    Scratch scratch_;
    std::uint64_t seen_ = 0;      // samples
    std::uint64_t averaged_ = 0;  // steps that the means are over
    std::uint64_t alive_ = 0;     // outputs that took part so far
    double spent_ = 0.0;
};

}  // namespace parsimon
