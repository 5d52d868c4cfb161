// The learner: one training loop for all algorithms. The parts of a recipe make the difference.
//
//     Learner model(knlms(gaussian(0.5)), n_features);     // recipes.hpp
//     model.check_samples(x, y, nullptr, n, 1);            // throws if a value cannot be used
//     model.learn(x, y, nullptr, n, nullptr);
//     model.predict(points, n_points, predictions);
//
// CONVENTION
// - Matrices are contiguous rows of doubles. The caller owns all arrays that it passes. The learner
//   copies what it keeps.
// - Conditions called "required" are not checked. Breaking them is undefined behaviour.
// - The checks throw InputError for invalid numbers. InputError is a std::invalid_argument that
//   names row and column. Too little memory throws std::bad_alloc, or NoMemory with a message.
// - Threads: many threads may call const members at once, while no thread calls another member.
//   Guard a model with a std::shared_mutex if one thread learns while others predict. Two learners
//   share nothing unless their recipes share parts.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include "admission.hpp"
#include "compression.hpp"
#include "input.hpp"
#include "losses.hpp"
#include "offset.hpp"
#include "sound.hpp"
#include "updates.hpp"

namespace parsimon {

// The parts of an algorithm. recipes.hpp makes some recipes. parts.hpp lists all parts.
//
// No pointer may be null. Updates and compressions keep state, so use a recipe for one learner
// only. A kernel and a loss may be shared.
struct Recipe {
    KernelPtr kernel;
    std::shared_ptr<const Loss> loss;
    std::shared_ptr<Admission> admission;
    std::shared_ptr<Update> update;
    std::shared_ptr<Compression> compression;
    std::size_t batch_size = 1;  // samples per step
    // After this many samples, predictions use the mean of f over the later steps instead of f. The
    // default is never. Requires a GradientUpdate.
    std::uint64_t average_after = std::numeric_limits<std::uint64_t>::max();
    Offset::Options offset = {};  // intercept and unit of the targets
    // The weight of step k in the mean is proportional to k^average_power for large k. 0 means
    // equal weights.
    double average_power = 0.0;
    bool averages() const { return average_after != std::numeric_limits<std::uint64_t>::max(); }
};

// Counts over all samples that a model has learned.
struct Ledger {
    std::uint64_t seen = 0;      // samples learned
    std::uint64_t averaged = 0;  // steps in the means of f
    std::uint64_t alive = 0;     // outputs that have had a nonzero weight
    double spent = 0.0;          // sum of the squared RKHS errors of removals
};

// The intercepts of a model for a merge, and the sums behind its unit (offset.hpp).
struct Intercepts {
    std::vector<double> values, averages, means;  // (n_outputs,)
    double total = 0.0, squares = 0.0;
    std::uint64_t count = 0, settled = 0;  // samples, and how many at the last change
};

// A model that learns from samples with the parts of a recipe. It shares ownership of the parts. It
// can be neither copied nor moved.
class Learner {
public:
    // Larger targets are refused, so that squares and products of accepted numbers stay finite.
    static constexpr double largest_target = sound::largest_target;
    // Range of sample weights. A weight of 0 is allowed too.
    static constexpr double largest_weight = parsimon::largest_weight,
                            least_weight = parsimon::least_weight;

    // A model with f = 0. Requires n_features >= 1 and n_outputs >= 1.
    // - n_outputs: number of functions that share the centres, one per column of y or per class.
    // - reserve: number of centres to reserve memory for. With a budget, budget plus batch_size is
    //   enough for all later steps. With 0 the memory grows with the centres.
    // - at_once: whether memory is reserved now or with the first sample. Choose false before
    //   reading a state, so that no more memory is used than the state needs.
    //
    // Throws InputError if batch_size is 0, or if a step size this large diverges for any samples.
    Learner(Recipe recipe, std::size_t n_features, std::size_t n_outputs = 1,
            std::size_t reserve = 0, bool at_once = true);

    // These throw InputError at the first value that cannot be used, and change nothing. Samples to
    // learn must meet more conditions than points to predict. `scratch` is working memory, one per
    // thread.
    void check_inputs(const double* x, std::size_t n) const {
        Scratch scratch;
        check_inputs(x, n, scratch);
    }
    void check_inputs(const double* x, std::size_t n, Scratch& scratch) const;  // (n, n_features)
    // x (n, n_features), y (n, n_targets(n_outputs)), weights (n,) or null for weights of 1.
    // `n_outputs` is the number of outputs that the model will have when it learns these samples.
    void check_samples(const double* x, const double* y, const double* weights, std::size_t n,
                       std::size_t n_outputs);

    // Increases the number of outputs. New outputs are 0. A smaller number changes nothing.
    void set_outputs(std::size_t n_outputs);
    // The length of one target in a model with `n_outputs` outputs.
    std::size_t n_targets(std::size_t n_outputs) const {
        return recipe_.loss->n_targets(n_outputs);
    }

    // Replaces the compression rule. If there are more centres than the new budget, some are
    // removed now. Throws InputError, and changes nothing, if the rule needs something that the
    // dictionary does not keep. `reserve` is as in the constructor, and used if memory was not
    // reserved yet. `budget` is that of the update (Update::set_budget).
    void compress_by(std::shared_ptr<Compression> compression, std::size_t reserve,
                     std::size_t budget = 0);

    // The number of threads that share the work of learning, for large models. It changes no bit.
    // `least` is the least work of a region that is shared (team.hpp). The kernel must allow it
    // (Kernel::shareable); otherwise kernel values are computed by the thread that learns.
    void set_threads(std::size_t threads, double least = Team::usual_least) {
        Team& team = dictionary_.team();
        team.resize(threads, least);
        try {
            if (dictionary_.capacity() > 0) dictionary_.reserve_scratch(recipe_.batch_size);
        } catch (const std::bad_alloc&) {  // one thread needs less
            team.resize(1, least);
        }
    }

    // Takes `steps` more steps without new samples. Does nothing if the update does not support it.
    void climb(std::size_t steps) {
        for (; steps > 0; --steps) recipe_.update->climb(dictionary_);
    }

    // Learns n samples in order: x (n, n_features), y (n, n_targets), weights (n,) or null for 1.
    // Requires samples that check_samples accepts for n_outputs() outputs.
    // - If `predictions` (n, n_outputs) is not null, it receives the prediction for each sample
    //   before its step: f(x) plus the intercept.
    // - Learning a block gives the same bits as learning its batches one by one.
    // - If memory runs out or a kernel throws, the exception passes through. Earlier steps are
    //   kept, and the model stays usable.
    // - If `variances` (n, n_outputs) is not null, it receives the variance of the observation at
    //   each sample before its step. Requires an update that knows variances.
    void learn(const double* x, const double* y, const double* weights, std::size_t n,
               double* predictions = nullptr, double* variances = nullptr);
    // Learns the intercept and the unit of the targets from all samples at once, before they are
    // learned: y (n, n_targets), weights (n,) or null for 1. They stay as they are until
    // `release_targets`. For data sets: on a stream, they follow the samples.
    void hold_targets(const double* y, const double* weights, std::size_t n);
    void release_targets() { offset_.hold(false); }
    // f(x) plus the intercept for the points x (n, n_features), into out (n, n_outputs). Requires x
    // that check_inputs accepts.
    void predict(const double* x, std::size_t n, double* out) const {
        dictionary_.predict(x, n, shown(), n_outputs_, out);
        if (!offset_.intercept()) return;
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t c = 0; c < n_outputs_; ++c) out[i * n_outputs_ + c] += intercept()[c];
    }
    // The variance of a new observation at the points x (n, n_features), noise included, into out
    // (n, n_outputs). Requires x that check_inputs accepts, and an update that knows variances.
    bool has_variances() const { return recipe_.update->noise() != nullptr; }
    void variances(const double* x, std::size_t n, double* out) const;
    // The intercepts that predictions use, (n_outputs,). They are 0 without one.
    const double* intercept() const {
        return averaged_ > 0 ? offset_.averages() : offset_.values();
    }
    double unit() const { return offset_.unit(); }  // of the targets
    // Computes df/dx of n points, into out (n, n_outputs, n_features). Requires finite x. Throws
    // InputError if the kernel has no derivative.
    void gradient(const double* x, std::size_t n, double* out) const {
        dictionary_.gradient(x, n, shown(), n_outputs_, out);
    }
    std::size_t n_features() const { return dictionary_.n_features(); }
    std::size_t n_outputs() const { return n_outputs_; }
    // The first output of the dictionary that predictions use: 0, or n_outputs for the means of f.
    std::size_t shown() const { return averaged_ > 0 ? n_outputs_ : 0; }

    const Update& update() const { return *recipe_.update; }
    // Writes everything learned to a State, or reads it (state.hpp). After reading, learning
    // continues bit for bit. Reading requires a learner with an equal recipe and shape that has
    // learned nothing. It throws InputError if the state does not fit; the learner is unusable
    // then.
    void visit(StateVisitor visitor);
    // Throws InputError unless learning can lead to the numbers of the state that was read
    // (sound.hpp). Call it for states from files.
    void require_sound();
    // Takes over the sum of several models: the merged dictionary, which must keep the same things
    // as this one, and the sums over its centres (sums.hpp). Requires a learner that has learned
    // nothing.
    void adopt(Dictionary& merged, const Sums& sums, const Ledger& ledger,
               const Intercepts& intercepts);
    // The sums that a merge needs, and the counts.
    Sums sums() const { return recipe_.update->sums(dictionary_); }
    Ledger ledger() const { return {seen_, averaged_, alive_, spent_}; }
    Intercepts intercepts() const;

    Dictionary& dictionary() { return dictionary_; }
    const Dictionary& dictionary() const { return dictionary_; }
    std::uint64_t seen() const { return seen_; }  // samples learned
    // Whether nothing was learned, read or adopted yet.
    bool blank() const { return seen_ == 0 && dictionary_.size() == 0; }
    double spent() const { return spent_; }  // sum of the squared RKHS errors of removals
    std::size_t nbytes() const;              // memory held, in bytes

private:
    void learn_step(const double* x, const double* y, const double* weights, std::size_t n,
                    double* predictions, double* variances);
    void evaluate();  // f at the samples of the step
    void write_variances(Look& look, double* out) const;
    // Learns the intercept from the targets of a step, and sets what the loss sees of each sample.
    void place_targets();
    void check_kernel_values(const double* x, const double* weights, std::size_t n, double bound,
                             Scratch& scratch) const;
    void make_ready();
    void place_outputs();
    void compress();
    void average();
    std::uint64_t outputs_alive() const;  // outputs with a nonzero weight

    Recipe recipe_;
    std::size_t n_outputs_, reserve_;
    bool ready_ = false;  // whether memory is reserved
    // Whether an exception ended a step before compression. Compression comes first in the next
    // step.
    bool pending_ = false;
    // Outputs 0..n_outputs-1 learn. With averaging, outputs n_outputs..2 n_outputs-1 are their
    // means.
    Dictionary dictionary_;
    Looks looks_;
    Step step_;
    // f, gradient, coefficient and what the loss sees of f, for each sample in a step
    std::vector<double> outputs_;
    std::vector<double> targets_;  // as the loss sees them, if they differ from those given
    Offset offset_;
    Scratch scratch_;
    std::uint64_t seen_ = 0;      // samples
    std::uint64_t averaged_ = 0;  // steps in the means of f
    std::uint64_t alive_ = 0;     // outputs that have had a nonzero weight
    double spent_ = 0.0;
};

}  // namespace parsimon
