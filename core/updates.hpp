// Updates: the only place where weights change by learning.
#pragma once

#include <limits>

#include "losses.hpp"
#include "step.hpp"
#include "sums.hpp"

namespace parsimon {

class Update {
public:
    virtual ~Update() = default;
    virtual Needs needs() const { return {}; }
    // Learning is stable only while weight k(x, x) stays below this.
    virtual double kernel_bound(const Loss&) const {
        return std::numeric_limits<double>::infinity();
    }
    // Learning is stable only while the weight stays below this.
    virtual double weight_bound() const { return std::numeric_limits<double>::infinity(); }
    // Once, before the first step: attach whatever is kept for each centre.
    virtual void attach(Dictionary&, const Loss&) {}
    // There are to be more outputs; if that fails nothing has changed.
    virtual void set_outputs(std::size_t) {}
    // At the start of a step: its rate, and each sample's proposed coefficient.
    virtual void open(Dictionary& dictionary, Step& step) = 0;
    // Learn one sample; append it if it was admitted.
    virtual void step(Dictionary& dictionary, Sample& sample, Step& step) = 0;
    // The centre that this update can do best without. Asked for where there is a budget.
    virtual std::size_t least_needed(Dictionary& dictionary) { return dictionary.cheapest(); }
    // Evicts that centre; returns the squared RKHS error made, where it is known.
    virtual double evict(Dictionary& dictionary, std::size_t j) {
        return dictionary.project_out(j);
    }
    // One more step on what was seen, where the update keeps enough of it.
    virtual void climb(Dictionary&) {}
    // What it keeps besides its parameters; the dictionary's part has been visited.
    virtual void visit(StateVisitor visitor, Dictionary&) { visitor.version(0); }
    // Throws unless the state holds as much of it as m centres take: asked before room is made for
    // them.
    virtual void expect(StateVisitor, std::size_t /*m*/) const {}
    // Throws InputError unless what was read is such as learning leads to (sound.hpp).
    virtual void require_sound(Dictionary&) const {}
    // Allocates what steps of `batch_size` samples need.
    virtual void make_ready(std::size_t /*batch_size*/) {}
    // Bytes held, those for each centre included.
    virtual std::size_t nbytes() const { return 0; }

    // Merging. How a merged model can reach the fit to all samples that its parts have seen: not at
    // all, by solving for it, or by climbing.
    enum class Pooling { none, solve, climb };
    virtual Pooling pooling() const { return Pooling::none; }
    // Whether old samples count less than new ones.
    virtual bool forgets() const { return false; }
    // The sums over all samples seen (sums.hpp).
    virtual Sums sums(const Dictionary&) const { return {}; }
    // Takes the sums of several models. The dictionary holds the merged centres and weights, and
    // there is room; `sums` is over these centres.
    virtual void set_sums(Dictionary&, const Sums&) {}
};

// The coefficients that normalised steps propose: -step_size weight gradient.
void propose_steps(const Dictionary& dictionary, Step& step, double step_size);

// Normalised LMS over all weights, equation (8) of Honeine, Richard & Bermudez 2007:
//     w += step_size / (ridge + ||h||^2) h e',  e = -gradient,
// after the centre, if admitted, has entered with weight 0.
class NLMSUpdate final : public Update {
public:
    static constexpr const char* name = "nlms";
    // Below this a kernel row says nothing about the weights, and dividing by it would only
    // overflow.
    static constexpr double least_energy = 1e-200;

    NLMSUpdate(double step_size, double ridge) : step_size_(step_size), ridge_(ridge) {}
    double weight_bound() const override { return 2.0 / step_size_; }
    void open(Dictionary& dictionary, Step& step) override;
    void step(Dictionary& dictionary, Sample& sample, Step& step) override;

private:
    double step_size_, ridge_;
};

// Stochastic gradient descent in function space:
//     f <- (1 - rate shrinkage) f - (rate / b) sum_i gradient_i k(x_i, .)
// for a whole batch of b, with rate = step_size / (1 + (t - 1) / delay)^power at step t.
// Sub-classes say what becomes of a sample that is not admitted.
class GradientUpdate : public Update {
public:
    GradientUpdate(double step_size, double shrinkage, double power, double delay)
        : step_size_(step_size), shrinkage_(shrinkage), power_(power), delay_(delay) {}
    double kernel_bound(const Loss& loss) const override {
        return loss.curvature() > 0.0 ? 2.0 / (loss.curvature() * step_size_)
                                      : std::numeric_limits<double>::infinity();
    }
    void attach(Dictionary&, const Loss& loss) override { loss_ = &loss; }
    void open(Dictionary& dictionary, Step& step) override;
    void step(Dictionary& dictionary, Sample& sample, Step& step) final;

protected:
    virtual void learn_unadmitted(Dictionary& dictionary, Sample& sample, Step& step) = 0;

private:
    double step_size_, shrinkage_, power_, delay_;
    const Loss* loss_ = nullptr;
};

// It is left out.
class PlainGradientUpdate final : public GradientUpdate {
public:
    static constexpr const char* name = "gradient";
    using GradientUpdate::GradientUpdate;

private:
    void learn_unadmitted(Dictionary&, Sample&, Step&) override {}
};

// It is projected onto the span of the centres: equation (12) of Pothin & Richard 2006.
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

// The nearest centre takes it over: quantised KLMS (Chen, Zhao, Zhu & Principe 2012).
class QuantizedGradientUpdate final : public GradientUpdate {
public:
    static constexpr const char* name = "quantized_gradient";
    using GradientUpdate::GradientUpdate;

private:
    void learn_unadmitted(Dictionary& dictionary, Sample& sample, Step& step) override;
};

}  // namespace parsimon
