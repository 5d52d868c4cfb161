// Recursive least squares: the covariance it keeps, and the two updates that use it.
#pragma once

#include <vector>

#include "updates.hpp"

namespace parsimon {

// The covariance P of recursive least squares, P = (sum_t forgetting^(n-t) weight_t a_t a_t')^-1, as a triangular factor.
//
// Forgetting inflates P by 1 / forgetting before each observation, and where nothing excites a coordinate that would go on for ever. So,
// anti-windup: a coordinate whose variance P_ii has grown beyond its cap is observed once more at the value it has (an observation that is
// no surprise changes no weight), with as much noise as takes its variance to half the cap. What is excited is forgotten exponentially, to
// the letter; what is not stays where it is, and is learned anew as soon as something is seen of it.
class Covariance {
public:
    explicit Covariance(double forgetting);

    std::size_t size() const { return factor_.size(); }
    const TriangularFactor& factor() const { return factor_; }
    void reserve(std::size_t capacity);
    std::size_t nbytes() const;

    // Time passes, once for each sample before it is absorbed or appended: P is scale()^2 P from now on, the scaling still to be done.
    void pass();
    double scale() const { return scale_; }
    // An observation a'v of noise variance `noise`. Returns alpha = noise + a'P a; `gain()` is P a then.
    double absorb(const double* a, double noise);
    const double* gain() const { return gain_.data(); }
    // Holds one coordinate whose variance is beyond its cap, if there is one: alpha of that observation, `gain()` with it; 0 if there is
    // none.
    double hold();
    // P gets a coordinate: row factor * values, then the diagonal entry of the factor; `cap` is the largest variance it may reach.
    void append(double factor, const double* values, double diagonal, double cap);
    // The coordinate is known to be zero, and leaves.
    void condition_out(std::size_t j);
    // n'v is known to be zero, which settles coordinate j by the others, and it leaves. `gain()` is P n then; returns n'P n.
    double settle(std::size_t j, const double* n);
    // t = R h, result = P h; returns h'P h.
    double multiply(const double* h, double* t, double* result) const;

private:
    void apply_scale();

    void remove_coordinate(std::size_t j);

    double forgetting_, scale_ = 1.0;
    std::uint64_t refresh_, steps_ = 0;  // the running diagonal is summed anew every `refresh_` steps
    TriangularFactor factor_;
    std::vector<double> diagonal_, caps_, gain_, unit_;  // diagonal_: P_ii, kept only where there is forgetting; unit_: zero but in `hold`
};

// Engel, Mannor & Meir 2004: least squares in the values at the centres, f(x) = a(x)'v with a = K^-1 h and v = K w, penalty ridge ||v||^2.
class SpanRLSUpdate final : public Update, private Aligned {
public:
    // Values are observed with noise of variance 1: one of variance 1000 is as good as unknown.
    static constexpr double cap = 1e3;

    SpanRLSUpdate(double ridge, double forgetting) : ridge_(ridge), forgets_(forgetting < 1.0), covariance_(forgetting) {}
    Needs needs() const override { return {.factor = true, .neighbours = false}; }
    void attach(Dictionary& dictionary) override { dictionary.attach(*this); }
    void open(Dictionary& dictionary, Step& step) override;
    void step(Dictionary& dictionary, Sample& sample, Step& step) override;
    // The centre without which the squared error rises least: w_j^2 / (n'P n), n = K^-1 e_j.
    std::size_t least_needed(Dictionary& dictionary) override;
    void retire(Dictionary& dictionary, std::size_t j) override { dictionary.project_out(j); }
    const Covariance& covariance() const { return covariance_; }

private:
    void reserve(std::size_t capacity) override;
    void appended(const Dictionary&, const Look&) override {}
    void removing(Dictionary& dictionary, std::size_t j, const double* n) override;  // of a projection: the only way out here
    std::size_t nbytes() const override;
    double exact_spread(Dictionary& dictionary, std::size_t j);
    void hold(Dictionary& dictionary);

    double ridge_;
    bool forgets_;
    Covariance covariance_;
    std::vector<double> spread_;  // n_j'P n_j with n_j = K^-1 e_j, 0 where it must be computed anew
    std::uint64_t evictions_ = 0;
    std::vector<double> t_, u_, new_weights_;
};

// Richard, Bermudez & Honeine 2009: least squares in the weights, f(x) = h'w, penalty ridge ||w||^2. Rows seen before a centre entered are
// taken as zero in its column.
class RowRLSUpdate final : public Update, private Aligned {
public:
    // Weights of coherent centres have large variances for no other reason than that: the cap is this times 1 / ridge, or 1 / k(x, x)^2
    // without a ridge.
    static constexpr double windup = 1e6;

    RowRLSUpdate(double ridge, double forgetting) : ridge_(ridge), covariance_(forgetting) {}
    void attach(Dictionary& dictionary) override { dictionary.attach(*this); }
    void open(Dictionary& dictionary, Step& step) override;
    void step(Dictionary& dictionary, Sample& sample, Step& step) override;
    // w_j^2 / P_jj
    std::size_t least_needed(Dictionary& dictionary) override;
    double remove(Dictionary& dictionary, std::size_t j) override;
    const Covariance& covariance() const { return covariance_; }

private:
    void reserve(std::size_t capacity) override;
    void appended(const Dictionary&, const Look&) override {}
    void removing(Dictionary& dictionary, std::size_t j, const double* n) override;
    std::size_t nbytes() const override;

    double ridge_;
    Covariance covariance_;
    std::vector<double> diagonal_, new_weights_;
};

}  // namespace parsimon
