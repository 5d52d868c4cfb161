// Updates: how a sample changes the weights.
#pragma once

#include <limits>

#include "losses.hpp"
#include "noise.hpp"
#include "step.hpp"
#include "sums.hpp"

namespace parsimon {

// The interface of an update.
class Update {
public:
    virtual ~Update() = default;
    // What the update needs the dictionary to keep.
    virtual Needs needs() const { return {}; }
    // Learning is stable only while the sample weight times k(x, x) is below this.
    virtual double kernel_bound(const Loss&) const {
        return std::numeric_limits<double>::infinity();
    }
    // Called once before the first step. Attaches state that is kept for each centre.
    virtual void attach(Dictionary&, const Loss&) {}
    // Increases the number of outputs. If this throws, nothing has changed.
    virtual void set_outputs(std::size_t) {}
    // Called at the start of a step. Sets step.rate and the proposed coefficient of each sample.
    virtual void open(Dictionary& dictionary, Step& step) = 0;
    // Learns one sample, and appends it as a centre if it was admitted.
    virtual void step(Dictionary& dictionary, Sample& sample, Step& step) = 0;
    // The centre to evict when there are more centres than the budget.
    virtual std::size_t least_needed(Dictionary& dictionary) { return dictionary.cheapest(); }
    // Sets the budget that the update itself takes into account, if it does. 0 means none.
    virtual void set_budget(std::size_t /*budget*/) {}
    virtual std::size_t budget() const { return 0; }
    // Evicts centre j. Returns the squared RKHS error, or 0 if it is not known.
    virtual double evict(Dictionary& dictionary, std::size_t j) {
        return dictionary.project_out(j);
    }
    // The targets of output c are relative to an intercept that has risen by `rise`. Shifts f down
    // by that at the centres, if the dictionary has a factor, so that predictions there stay.
    virtual void shift(Dictionary& dictionary, std::size_t c, double rise);
    // The noise of the targets, or null if the update knows nothing about variances.
    virtual const Noise* noise() const { return nullptr; }
    // The variance of a new observation at the point of the look, in units of the noise.
    virtual double variance(const Dictionary&, Look&) const { return 1.0; }
    // Whether `step` sets the variance of a sample if the step asks for it. It can be cheaper then.
    virtual bool sets_variances() const { return false; }
    // Takes one more step without a new sample, if the update supports it.
    virtual void climb(Dictionary&) {}
    // Writes or reads what the update keeps besides its parameters (state.hpp). The dictionary was
    // visited before.
    virtual void visit(StateVisitor visitor, Dictionary&) { visitor.version(0); }
    // Throws InputError unless the arrays in the state have the sizes for m centres. Called before
    // memory is allocated for them.
    virtual void expect(StateVisitor, std::size_t /*m*/) const {}
    // Throws InputError unless learning can lead to the numbers that were read (sound.hpp).
    virtual void require_sound(Dictionary&) const {}
    // Allocates the memory for steps of `batch_size` samples.
    virtual void make_ready(std::size_t /*batch_size*/) {}
    // Memory in bytes, including the state kept for each centre.
    virtual std::size_t nbytes() const { return 0; }

    // How a merged model reaches the fit to all samples of its parts: not at all, by solving for
    // it, or by more steps (`climb`).
    enum class Pooling { none, solve, climb };
    virtual Pooling pooling() const { return Pooling::none; }
    // Whether old samples count less than new samples.
    virtual bool forgets() const { return false; }
    // The sums over all samples seen (sums.hpp).
    virtual Sums sums(const Dictionary&) const { return {}; }
    // Sets the state from the sums of several models, which are over the centres of `dictionary`.
    // The dictionary already holds the merged centres and weights.
    virtual void set_sums(Dictionary&, const Sums&) {}
};

// Sets the rate, and the coefficients -step_size gradient that normalised steps propose.
void propose_steps(const Dictionary& dictionary, Step& step, double step_size);

// The share of the error that `weight` normalised steps remove, if one step removes `share`: for a
// whole weight, 1 - (1 - share)^weight. Requires 0 <= share < 2.
double repeated(double share, double weight);

// Normalised LMS over all weights, equation (8) of Honeine, Richard & Bermudez 2007. An admitted
// sample first becomes a centre with weight 0. Then, with h (m,) the kernel row and e = -gradient
// (n_outputs,),
//
//     w += step_size / (ridge + ||h||^2) h e'.
//
// A sample of weight 2 takes two such steps, and so on for any weight.
class NLMSUpdate final : public Update {
public:
    static constexpr const char* name = "nlms";
    // A smaller ridge + ||h||^2 means that the kernel row is numerically zero. The step is skipped,
    // because the division could overflow.
    static constexpr double least_energy = 1e-200;

    NLMSUpdate(double step_size, double ridge) : step_size_(step_size), ridge_(ridge) {}
    void open(Dictionary& dictionary, Step& step) override;
    void step(Dictionary& dictionary, Sample& sample, Step& step) override;

private:
    double step_size_, ridge_;
};

// Stochastic gradient descent in function space, for a batch of b samples at step t:
//
//     f <- (1 - rate shrinkage) f - (rate / b) sum_i gradient_i k(x_i, .),
//     rate = step_size / (1 + (t - 1) / delay)^power.
//
// An invariant step follows the gradient along its path (`Loss::flow`), as infinitely many small
// steps would. So it is stable for any rate and any sample weight. An explicit step uses the
// gradient at its start.
//
// Subclasses define what happens to a sample that is not admitted.
class GradientUpdate : public Update {
public:
    GradientUpdate(double step_size, double shrinkage, double power, double delay,
                   bool invariant = false)
        : step_size_(step_size),
          shrinkage_(shrinkage),
          power_(power),
          delay_(delay),
          invariant_(invariant) {}
    double kernel_bound(const Loss& loss) const override {
        return loss.curvature() > 0.0 && !invariant_ ? 2.0 / (loss.curvature() * step_size_)
                                                     : std::numeric_limits<double>::infinity();
    }
    void attach(Dictionary&, const Loss& loss) override { loss_ = &loss; }
    void open(Dictionary& dictionary, Step& step) override;
    void step(Dictionary& dictionary, Sample& sample, Step& step) final;

protected:
    virtual void learn_unadmitted(Dictionary& dictionary, Sample& sample, Step& step) = 0;

private:
    double step_size_, shrinkage_, power_, delay_;
    bool invariant_;
    const Loss* loss_ = nullptr;
};

// A sample that is not admitted is left out.
class PlainGradientUpdate final : public GradientUpdate {
public:
    static constexpr const char* name = "gradient";
    using GradientUpdate::GradientUpdate;

private:
    void learn_unadmitted(Dictionary&, Sample&, Step&) override {}
};

// A sample that is not admitted is projected onto the span of the centres: equation (12) of Pothin
// & Richard 2006.
class ProjectedGradientUpdate final : public GradientUpdate {
public:
    static constexpr const char* name = "projected_gradient";
    using GradientUpdate::GradientUpdate;
    Needs needs() const override { return {.factor = true, .neighbours = false}; }
    void open(Dictionary& dictionary, Step& step) override;
    void make_ready(std::size_t batch_size) override { looks_.reserve(batch_size); }
    std::size_t nbytes() const override { return looks_.capacity() * sizeof(Look*); }

private:
    void learn_unadmitted(Dictionary& dictionary, Sample& sample, Step& step) override;

    std::vector<Look*> looks_;
};

// The coefficient of a sample that is not admitted is added to the nearest centre: quantised KLMS
// (Chen, Zhao, Zhu & Principe 2012).
class QuantizedGradientUpdate final : public GradientUpdate {
public:
    static constexpr const char* name = "quantized_gradient";
    using GradientUpdate::GradientUpdate;

private:
    void learn_unadmitted(Dictionary& dictionary, Sample& sample, Step& step) override;
};

}  // namespace parsimon
