// Admission: does a sample become a centre?
#pragma once

#include "step.hpp"

namespace parsimon {

class Admission {
public:
    virtual ~Admission() = default;
    virtual Needs needs() const { return {}; }
    virtual bool admits(Dictionary& dictionary, Sample& sample, const Step& step) = 0;
};

class AlwaysAdmission final : public Admission {
public:
    static constexpr const char* name = "always";
    bool admits(Dictionary&, Sample&, const Step&) override { return true; }
};

// The update proposes a coefficient that is not zero.
class ProposedAdmission final : public Admission {
public:
    static constexpr const char* name = "proposed";
    bool admits(Dictionary& dictionary, Sample& sample, const Step&) override {
        return proposes(sample, dictionary.n_outputs());
    }
};

// Rule (6) of Honeine, Richard & Bermudez 2007: max_j |k(x, d_j)| / sqrt(k(x,x) k(d_j,d_j)) <=
// threshold. A coherence of 1, that of an exact copy, is never admitted.
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

// Pothin & Richard 2006, section 4: up to `fill` centres by the threshold, then only what is less
// coherent than the dictionary itself (mu_t).
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

// Approximate linear dependence (Engel, Mannor & Meir 2002 and 2004): squared distance of k(x, .)
// to what the centres can make of it, with a ridge on the coefficients, > tolerance. Nothing is
// admitted beyond `most` centres.
class DependenceAdmission final : public Admission {
public:
    static constexpr const char* name = "linear_dependence";
    DependenceAdmission(double tolerance, double ridge, std::size_t most)
        : tolerance_(tolerance), ridge_(ridge), most_(most) {}
    Needs needs() const override { return {.factor = true, .neighbours = false, .ridge = ridge_}; }
    bool admits(Dictionary& dictionary, Sample& sample, const Step&) override {
        if (dictionary.size() >= most_) return false;
        dictionary.project(*sample.look);
        return sample.look->residual > tolerance_;
    }

private:
    double tolerance_, ridge_;
    std::size_t most_;
};

// Dodd's novelty condition, (7) of Pothin & Richard 2006: the part of the proposed function outside
// the span has a norm > tolerance.
class ResidualAdmission final : public Admission {
public:
    static constexpr const char* name = "residual";
    explicit ResidualAdmission(double tolerance) : tolerance_(tolerance) {}
    Needs needs() const override { return {.factor = true, .neighbours = false}; }
    bool admits(Dictionary& dictionary, Sample& sample, const Step&) override {
        dictionary.project(*sample.look);
        double squares = 0.0;
        for (std::size_t c = 0; c < dictionary.n_outputs(); ++c)
            squares += sample.coefficient[c] * sample.coefficient[c];
        return squares * sample.look->residual > tolerance_ * tolerance_;
    }

private:
    double tolerance_;
};

// Quantisation (Chen, Zhao, Zhu & Principe 2012): the nearest centre is farther than the radius.
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
