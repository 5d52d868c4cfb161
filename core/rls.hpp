// Recursive least squares: the covariance of the weights, and the two updates that use it.
#pragma once

#include <algorithm>

#include "buffer.hpp"
#include "noise.hpp"
#include "sizes.hpp"
#include "updates.hpp"

namespace parsimon {

// The covariance of recursive least squares, for samples with regressors a_t (m,),
//
//     P = (sum_t forgetting^(n-t) weight_t a_t a_t')^-1,
//
// stored as a triangular factor.
//
// Forgetting multiplies P by 1 / forgetting before each observation. In a direction that no sample
// excites, P would grow without bound. Anti-windup prevents this: if a'P a exceeds a cap, `hold`
// observes a'v once more, at the value that it has. Such an observation changes no weight. Its
// noise is chosen so that a'P a falls to half the cap. Excited directions are forgotten
// exponentially, exactly as without anti-windup. Other directions stay as they are, and are learned
// anew as soon as a sample excites them.
class Covariance {
public:
    explicit Covariance(double forgetting) : forgetting_(forgetting) {}

    std::size_t size() const { return factor_.size(); }
    const TriangularFactor& factor() const { return factor_; }
    double forgetting() const { return forgetting_; }
    void reserve(std::size_t capacity);
    std::size_t nbytes() const;

    // One sample's forgetting: P <- P / forgetting. Call it once before each sample is absorbed.
    void pass();
    // Updates P after an observation a'v with noise variance `noise`. Returns alpha = noise + a'P
    // a. Afterwards gain() is P a, with P before the update, and before() is a'P a without the
    // forgetting of `pass`.
    double absorb(const double* a, double noise);
    const double* gain() const { return gain_.data(); }
    double before() const { return factor_.absorbed_square(); }
    // Observes a'v, whose variance a'P a is given, so that its variance becomes half the cap.
    void hold(const double* a, double variance, double cap);
    // Appends a coordinate: the row (factor * values, diagonal) of the triangular factor.
    void append(double factor, const double* values, double diagonal);
    // The same, without a pass over the factor if there is forgetting to apply: the new row is
    // divided by its scale.
    void append_unscaled(double factor, const double* values, double diagonal) {
        factor_.append(factor / scale_, values, diagonal / scale_);
    }
    // Writes or reads a covariance of `size` coordinates (state.hpp). Reading requires capacity for
    // them.
    void visit(StateVisitor visitor, std::size_t size) {
        visitor.version(0);
        visitor.number("scale", scale_);
        factor_.visit(visitor.part("factor"), size);
    }
    // Throws InputError unless learning can lead to these numbers (sound.hpp).
    void require_sound() const;
    // Sets P = R'R, with R (size, size) lower triangular. Requires capacity.
    void set_factor(const double* R, std::size_t size);
    // Copies R (size, size), with P = R'R. It includes forgetting that is not applied to the factor
    // yet.
    void copy_factor(double* R) const;
    // Removes coordinate j by conditioning on v_j = 0.
    void remove(std::size_t j) { factor_.remove(j); }
    // Removes weight j by projection: the other weights become v - n v_j / n_j, with n (size,)
    // column j of K^-1. These are the weights of the function with the same values at the other
    // centres. `row` is working memory of this capacity.
    void project_out(std::size_t j, const double* n, double* row) {
        factor_.project_out(j, n, row);
    }
    // The variance of coordinate j.
    double variance(std::size_t j) const { return scale_ * scale_ * factor_.diagonal()[j]; }
    // The variance a'P a of a'v.
    double variance(const double* a) const { return scale_ * scale_ * factor_.squared_norm(a); }

private:
    double forgetting_, scale_ = 1.0;  // P = scale^2 R'R
    TriangularFactor factor_;
    Buffer<double> gain_;
};

// Recursive least squares for the weights, f(x) = h'w with h_j = k(x, d_j). Subclasses define how a
// centre is added, and which variances have a cap.
class RLSUpdate : public Update, private Aligned {
public:
    RLSUpdate(double ridge, double forgetting)
        : ridge_(ridge), covariance_(forgetting), noise_(forgetting) {}
    void attach(Dictionary& dictionary, const Loss&) override {
        dictionary.attach(*this);
        noise_.set_outputs(dictionary.n_outputs());
    }
    void set_outputs(std::size_t n_outputs) override { noise_.set_outputs(n_outputs); }
    void open(Dictionary& dictionary, Step& step) override;
    void step(Dictionary& dictionary, Sample& sample, Step& step) final;
    // The centre whose removal increases the squared error least: least w_j^2 / P_jj.
    std::size_t least_needed(Dictionary& dictionary) override {
        return dictionary.cheapest(covariance_.factor().diagonal());
    }
    double evict(Dictionary& dictionary, std::size_t j) override;
    const Covariance& covariance() const { return covariance_; }
    const Noise* noise() const override { return &noise_; }
    double variance(const Dictionary& dictionary, Look& look) const final {
        return 1.0 + covariance_.variance(look.h) + outside(dictionary, look);
    }
    bool sets_variances() const override { return true; }
    void expect(StateVisitor visitor, std::size_t m) const override {
        visitor.part("covariance").part("factor").expect("rows", expected_triangle(m));
    }
    void visit(StateVisitor visitor, Dictionary& dictionary) override {
        visitor.version(0);
        covariance_.visit(visitor.part("covariance"), dictionary.size());
        noise_.visit(visitor.part("noise"));
    }
    void require_sound(Dictionary& dictionary) const override;
    bool forgets() const override { return covariance_.forgetting() < 1.0; }
    Sums sums(const Dictionary& dictionary) const override;
    void set_sums(Dictionary& dictionary, const Sums& sums) override;
    std::size_t nbytes() const override;

protected:
    // The coordinates in which samples are written for a merge (sums.hpp).
    virtual Sums::Coordinates coordinates() const = 0;

    // Makes the sample a centre: sets its weight and covariance, and updates the other weights.
    // Returns whether this also learned the sample. A subclass may leave the sample out.
    virtual bool enter(Dictionary& dictionary, Sample& sample) = 0;
    // The variance of an observation that the covariance of the weights does not know of.
    virtual double outside(const Dictionary&, Look&) const { return 0.0; }
    // Called after each sample if there is forgetting. Applies `Covariance::hold` where a variance
    // exceeds its cap.
    virtual void hold(Dictionary& dictionary) = 0;

    double ridge_;
    // h'P h of the present sample before it is learned, if `asked_`. Negative if not known yet.
    double explained_ = -1.0;
    bool asked_ = false;
    Covariance covariance_;
    Noise noise_;
    Buffer<double> row_, new_weights_;

    void removing(Dictionary& dictionary, std::size_t j, const double* n) override;

private:
    void reserve(std::size_t capacity) override;
    void appended(const Dictionary&, const Look&) override {}
};

// Kernel recursive least squares of Engel, Mannor & Meir 2004, with weights as coordinates. The
// paper uses the values v = K w of the function at the centres, with covariance P_v. A new centre
// adds one value, which only its own sample observes. The penalty is ridge ||v||^2. The covariance
// of the weights is P = K^-1 P_v K^-1, so that h'P h = a'P_v a and P h = K^-1 P_v a with a = K^-1
// h. These are the products of the paper's recursion, and they need no further product with K^-1.
//
// `budget` says how centres are evicted. With 0, the other weights move to the fit of all samples
// without the evicted centre. But samples are known only as combinations of the centres at their
// time. If centres are evicted often, P becomes small although these combinations are wrong.
//
// With budget > 0, the evicted centre is projected out: f keeps its values at the other centres,
// and these values keep their covariance. So all that was known about the evicted value is
// forgotten. Also, once there are `budget` centres, a sample becomes a centre only if it would be
// needed more than `margin` times as much as the centre that is needed least.
class SpanRLSUpdate : public RLSUpdate {
public:
    static constexpr const char* name = "span_rls";
    // The cap on the variance of a value. Values are observed with noise of variance 1, so that a
    // value of variance 1000 is practically unknown.
    static constexpr double cap = 1e3;
    // The need of a centre is what its removal costs if the others are refitted. A projection costs
    // more, so a new centre must be worth more.
    static constexpr double margin = 2.0;

    explicit SpanRLSUpdate(double ridge, double forgetting, std::size_t budget = 0)
        : RLSUpdate(ridge, forgetting), budget_(budget) {}
    Needs needs() const override { return {.factor = true, .neighbours = false}; }
    void attach(Dictionary& dictionary, const Loss& loss) override {
        RLSUpdate::attach(dictionary, loss);
        dictionary.be_lazy();  // a is for new centres only
    }
    void set_budget(std::size_t budget) override { budget_ = budget; }
    std::size_t budget() const override { return budget_; }
    double evict(Dictionary& dictionary, std::size_t j) override {
        return budget_ > 0 ? dictionary.project_out(j) : RLSUpdate::evict(dictionary, j);
    }
    void visit(StateVisitor visitor, Dictionary& dictionary) override {
        RLSUpdate::visit(visitor, dictionary);
        visitor.count("since", since_);
    }
    Pooling pooling() const override { return Pooling::solve; }
    Sums sums(const Dictionary& dictionary) const override {
        Sums sums = RLSUpdate::sums(dictionary);
        sums.age = since_;
        return sums;
    }
    void set_sums(Dictionary& dictionary, const Sums& sums) override {
        RLSUpdate::set_sums(dictionary, sums);
        since_ = sums.age;
    }

protected:
    bool enter(Dictionary& dictionary, Sample& sample) final;
    void removing(Dictionary& dictionary, std::size_t j, const double* n) override;
    // Makes the sample a centre. Returns whether this also learned the sample.
    virtual bool make_centre(Dictionary& dictionary, Sample& sample);
    // `enter` at the budget: makes the sample a centre only if it would be needed more than
    // `least`.
    virtual bool compete(Dictionary& dictionary, Sample& sample, double least);
    // The same if the new weight has the prior variance 1 / (penalty residual), infinite for
    // penalty 0. The sample is learned in any case.
    bool learn_and_compete(Dictionary& dictionary, Sample& sample, double least, double penalty);
    // The largest variance of the value at centre j, in units of the noise.
    virtual double largest_variance(const Dictionary&, std::size_t) const { return cap; }
    // Each variance k_j'P k_j, with k_j column j of K, costs a product. So the variances are
    // checked only every m samples, or more often if forgetting could double them in that time.
    void hold(Dictionary& dictionary) override;
    // Checks the variance of the value at centre j.
    void hold_value(Dictionary& dictionary, std::size_t j);
    // The number of samples in which forgetting doubles a variance.
    double doubling() const;

    std::uint64_t since_ = 0;  // samples since the last check

private:
    Sums::Coordinates coordinates() const override { return Sums::Coordinates::weights; }

    std::size_t budget_;
};

// Least squares in the span with the penalty ridge ||f||^2: the posterior mean of a Gaussian
// process with covariance k / ridge and noise of variance 1, over the centres. A centre enters with
// the variance that the process has given the values at the other centres, residual / ridge. Then
// its sample is absorbed like any other, so its noise is not fitted. Requires ridge > 0.
class NormRLSUpdate final : public SpanRLSUpdate {
public:
    static constexpr const char* name = "norm_rls";
    using SpanRLSUpdate::SpanRLSUpdate;
    void visit(StateVisitor visitor, Dictionary& dictionary) override {
        SpanRLSUpdate::visit(visitor, dictionary);
        visitor.rare_count("next", next_, dictionary.size());
        visitor.rare_count("end", end_, dictionary.size());
    }

private:
    // The process also varies in directions that the centres do not span.
    double outside(const Dictionary& dictionary, Look& look) const override {
        dictionary.measure(look);
        return std::max(look.residual, 0.0) / ridge_;
    }
    bool make_centre(Dictionary& dictionary, Sample& sample) override;
    bool compete(Dictionary& dictionary, Sample& sample, double least) override {
        return learn_and_compete(dictionary, sample, least, ridge_);
    }
    // Variances are checked one at a time, so that no sample takes much longer than others. A round
    // takes at most the time in which forgetting doubles a variance. It checks the centres that
    // there were when it began.
    void hold(Dictionary& dictionary) override;
    void removing(Dictionary& dictionary, std::size_t j, const double* n) override;
    // Forgetting goes back to the prior variance and not beyond.
    double largest_variance(const Dictionary& dictionary, std::size_t j) const override {
        return std::min(cap, dictionary.diagonal()[j] / ridge_);
    }

    std::uint64_t next_ = 0, end_ = 0;  // centres next_..end_-1 are still to be checked
};

// Recursive least squares of Richard, Bermudez & Honeine 2009, with penalty ridge ||w||^2. When a
// centre is added, earlier kernel rows count as zero in its column.
class RowRLSUpdate final : public RLSUpdate {
public:
    static constexpr const char* name = "row_rls";
    // The cap on the variance of a weight is `windup` / ridge, or `windup` / k(d_j, d_j)^2 without
    // a ridge. It is this high because coherence of the centres alone makes variances large.
    static constexpr double windup = 1e6;

    using RLSUpdate::RLSUpdate;

private:
    Sums::Coordinates coordinates() const override { return Sums::Coordinates::rows; }
    bool enter(Dictionary& dictionary, Sample& sample) override;
    void hold(Dictionary& dictionary) override;
};

}  // namespace parsimon
