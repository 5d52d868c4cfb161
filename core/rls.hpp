// Recursive least squares: the covariance it keeps, and the two updates that use it.
#pragma once

#include <vector>

#include "sizes.hpp"
#include "updates.hpp"

namespace parsimon {

// The covariance P of recursive least squares, P = (sum_t forgetting^(n-t) weight_t a_t a_t')^-1,
// as a triangular factor.
//
// Forgetting inflates P by 1 / forgetting before each observation, and where nothing excites a
// direction that would go on for ever. So, anti-windup: what has a variance a'P a beyond its cap is
// observed once more at the value it has (an observation that is no surprise changes no weight),
// with as much noise as takes its variance to half the cap. What is excited is forgotten
// exponentially, to the letter; what is not stays where it is, and is learned anew as soon as
// something is seen of it.
class Covariance {
public:
    explicit Covariance(double forgetting) : forgetting_(forgetting) {}

    std::size_t size() const { return factor_.size(); }
    const TriangularFactor& factor() const { return factor_; }
    double forgetting() const { return forgetting_; }
    void reserve(std::size_t capacity);
    std::size_t nbytes() const;

    // Time passes, once for each sample before it is absorbed: P is P / forgetting from now on.
    void pass();
    // An observation a'v of noise variance `noise`. Returns alpha = noise + a'P a; `gain()` is P a
    // then.
    double absorb(const double* a, double noise);
    const double* gain() const { return gain_.data(); }
    // Observes a'v, whose variance is given, so that half the cap is left of it.
    void hold(const double* a, double variance, double cap);
    // P gets a coordinate: row factor * values, then the diagonal entry of the factor.
    void append(double factor, const double* values, double diagonal);
    // Of `size` coordinates, for which there is room.
    void visit(StateVisitor visitor, std::size_t size) {
        visitor.version(0);
        visitor.number("scale", scale_);
        factor_.visit(visitor.part("factor"), size);
    }
    void require_sound() const;
    // P = R'R with R (size, size) lower triangular, for which there is room.
    void set_factor(const double* R, std::size_t size);
    // The same R, with what is still to be multiplied in.
    void copy_factor(double* R) const;
    // Removes a coordinate that is known to be zero.
    void remove(std::size_t j) { factor_.remove(j); }

private:
    double forgetting_, scale_ = 1.0;  // P is scale^2 R'R
    TriangularFactor factor_;
    std::vector<double> gain_;
};

// Least squares in the weights, f(x) = h'w, with their covariance. Sub-classes say how a centre
// enters, and what is held.
class RLSUpdate : public Update, private Aligned {
public:
    RLSUpdate(double ridge, double forgetting) : ridge_(ridge), covariance_(forgetting) {}
    void attach(Dictionary& dictionary, const Loss&) override { dictionary.attach(*this); }
    void open(Dictionary& dictionary, Step& step) override;
    void step(Dictionary& dictionary, Sample& sample, Step& step) final;
    // The centre without which the squared error rises least: w_j^2 / P_jj.
    std::size_t least_needed(Dictionary& dictionary) override {
        return dictionary.cheapest(covariance_.factor().diagonal());
    }
    double evict(Dictionary& dictionary, std::size_t j) override;
    const Covariance& covariance() const { return covariance_; }
    void expect(StateVisitor visitor, std::size_t m) const override {
        visitor.part("covariance").part("factor").expect("rows", expected_triangle(m));
    }
    void visit(StateVisitor visitor, Dictionary& dictionary) override {
        visitor.version(0);
        covariance_.visit(visitor.part("covariance"), dictionary.size());
    }
    void require_sound(Dictionary& dictionary) const override;
    bool forgets() const override { return covariance_.forgetting() < 1.0; }
    Sums sums(const Dictionary& dictionary) const override;
    void set_sums(Dictionary& dictionary, const Sums& sums) override;
    std::size_t nbytes() const override;

protected:
    virtual Sums::Coordinates coordinates() const = 0;

    // The sample becomes a centre: its weight and covariance, all weights with it. Returns whether
    // it was learned by that.
    virtual bool enter(Dictionary& dictionary, Sample& sample) = 0;
    // After each sample, where there is forgetting: holds what has grown beyond its cap.
    virtual void hold(Dictionary& dictionary) = 0;

    double ridge_;
    Covariance covariance_;
    std::vector<double> row_, new_weights_;

private:
    void reserve(std::size_t capacity) override;
    void appended(const Dictionary&, const Look&) override {}
    void removing(Dictionary& dictionary, std::size_t j, const double* n) override;
};

// Engel, Mannor & Meir 2004, in the weights: of the function's values at the centres, v = K w, the
// newest is observed once and by nothing else, and the penalty is ridge ||v||^2. With values of
// covariance P_v the weights have P = K^-1 P_v K^-1, h'P h = a'P_v a and P h = K^-1 P_v a: what
// Engel's recursion needs and no product with K^-1 more.
class SpanRLSUpdate final : public RLSUpdate {
public:
    static constexpr const char* name = "span_rls";
    // Values are observed with noise of variance 1: those of variance 1000 are as good as unknown.
    static constexpr double cap = 1e3;

    using RLSUpdate::RLSUpdate;
    Needs needs() const override { return {.factor = true, .neighbours = false}; }
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

private:
    Sums::Coordinates coordinates() const override { return Sums::Coordinates::weights; }
    bool enter(Dictionary& dictionary, Sample& sample) override;
    // The values' variances k_j'P k_j take a product each, so they are looked at before forgetting
    // can have doubled them, or every m samples.
    void hold(Dictionary& dictionary) override;

    std::uint64_t since_ = 0;  // samples since
};

// Richard, Bermudez & Honeine 2009: penalty ridge ||w||^2. Rows seen before a centre entered are
// taken as zero in its column.
class RowRLSUpdate final : public RLSUpdate {
public:
    static constexpr const char* name = "row_rls";
    // Weights of coherent centres have large variances for no other reason than that: the cap is
    // this times 1 / ridge, or 1 / k(x, x)^2 without a ridge.
    static constexpr double windup = 1e6;

    using RLSUpdate::RLSUpdate;

private:
    Sums::Coordinates coordinates() const override { return Sums::Coordinates::rows; }
    bool enter(Dictionary& dictionary, Sample& sample) override;
    void hold(Dictionary& dictionary) override;
};

}  // namespace parsimon
