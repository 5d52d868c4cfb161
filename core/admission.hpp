// Admission rules: each decides whether a sample becomes a centre.
#pragma once

#include "step.hpp"

namespace parsimon {

// The interface of an admission rule. A rule has no state of its own.
class Admission {
public:
    virtual ~Admission() = default;
    // What the rule needs the dictionary to keep.
    virtual Needs needs() const { return {}; }
    // Whether the sample becomes a centre. The factor of the dictionary can still refuse the centre
    // (Dictionary::accepts).
    virtual bool admits(Dictionary& dictionary, Sample& sample, const Step& step) = 0;
};

// Admits every sample.
class AlwaysAdmission final : public Admission {
public:
    static constexpr const char* name = "always";
    bool admits(Dictionary&, Sample&, const Step&) override { return true; }
};

// Admits a sample if the update proposes a nonzero coefficient for it.
class ProposedAdmission final : public Admission {
public:
    static constexpr const char* name = "proposed";
    bool admits(Dictionary& dictionary, Sample& sample, const Step&) override {
        return proposes(sample, dictionary.n_outputs());
    }
};

// Admits x if its coherence with the centres d_j is at most the threshold:
//
//     max_j |k(x, d_j)| / sqrt(k(x, x) k(d_j, d_j)) <= threshold.
//
// This is rule (6) of Honeine, Richard & Bermudez 2007. A coherence of 1, which an exact copy of a
// centre has, is never admitted.
class CoherenceAdmission final : public Admission {
public:
    static constexpr const char* name = "coherence";
    explicit CoherenceAdmission(double threshold) : threshold_(threshold) {}
    bool admits(Dictionary& dictionary, Sample& sample, const Step&) override {
        const double coherence = dictionary.coherence(*sample.look);
        return coherence <= threshold_ && coherence < 1.0;
    }

private:
    double threshold_;
};

// While there are fewer than `fill` centres, this is CoherenceAdmission. After that, x is admitted
// only if its coherence is less than the largest coherence between two centres, mu_t in section 4
// of Pothin & Richard 2006.
class AdaptiveCoherenceAdmission final : public Admission {
public:
    static constexpr const char* name = "adaptive_coherence";
    AdaptiveCoherenceAdmission(std::size_t fill, double threshold)
        : fill_(fill), threshold_(threshold) {}
    Needs needs() const override { return {.factor = false, .neighbours = true}; }
    bool admits(Dictionary& dictionary, Sample& sample, const Step&) override {
        const double coherence = dictionary.coherence(*sample.look);
        if (dictionary.size() < fill_) return coherence <= threshold_ && coherence < 1.0;
        return coherence < dictionary.most_coherent().coherence;
    }

private:
    std::size_t fill_;
    double threshold_;
};

// Approximate linear dependence (Engel, Mannor & Meir 2002 and 2004). Admits x if k(x, .) is far
// from its best approximation by the centres:
//
//     ||k(x, .) - sum_j a_j k(d_j, .)||^2 > tolerance,    a = (K + ridge I)^-1 h,
//
// where K (m, m) is the Gram matrix of the centres and h_j = k(x, d_j). Nothing is admitted once
// there are `most` centres.
class DependenceAdmission final : public Admission {
public:
    static constexpr const char* name = "linear_dependence";
    DependenceAdmission(double tolerance, double ridge, std::size_t most)
        : tolerance_(tolerance), ridge_(ridge), most_(most) {}
    Needs needs() const override { return {.factor = true, .neighbours = false, .ridge = ridge_}; }
    bool admits(Dictionary& dictionary, Sample& sample, const Step&) override {
        if (dictionary.size() >= most_) return false;
        dictionary.measure(*sample.look);
        return sample.look->residual > tolerance_;
    }

private:
    double tolerance_, ridge_;
    std::size_t most_;
};

// Dodd's novelty condition, (7) of Pothin & Richard 2006. The update proposes to add the function c
// k(x, .). The sample is admitted if the part of this function outside the span of the centres has
// a norm above the tolerance, in units of the targets.
class ResidualAdmission final : public Admission {
public:
    static constexpr const char* name = "residual";
    explicit ResidualAdmission(double tolerance) : tolerance_(tolerance) {}
    Needs needs() const override { return {.factor = true, .neighbours = false}; }
    bool admits(Dictionary& dictionary, Sample& sample, const Step& step) override {
        dictionary.measure(*sample.look);
        const double tolerance = tolerance_ * step.unit;
        double squares = 0.0;
        for (std::size_t c = 0; c < dictionary.n_outputs(); ++c)
            squares += sample.coefficient[c] * sample.coefficient[c];
        return squares * sample.look->residual > tolerance * tolerance;
    }

private:
    double tolerance_;
};

// Quantisation (Chen, Zhao, Zhu & Principe 2012). Admits x if its Euclidean distance to the nearest
// centre is above the radius.
class DistanceAdmission final : public Admission {
public:
    static constexpr const char* name = "distance";
    explicit DistanceAdmission(double radius) : radius_(radius) {}
    bool admits(Dictionary& dictionary, Sample& sample, const Step&) override {
        dictionary.find_nearest(*sample.look);
        return dictionary.size() == 0 || sample.look->distance > radius_ * radius_;
    }

private:
    double radius_;
};

}  // namespace parsimon
