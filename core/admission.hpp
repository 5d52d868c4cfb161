// Admission: does a sample become a centre?
#pragma once

#include "step.hpp"

namespace parsimon {

class Admission {
public:
    virtual ~Admission() = default;
    virtual Needs needs() const { return {}; }
    virtual bool admits(const Dictionary& dictionary, Sample& sample, const Step& step) = 0;
};

class AlwaysAdmission final : public Admission {
public:
    bool admits(const Dictionary&, Sample&, const Step&) override { return true; }
};

// Rule (6) of Honeine, Richard & Bermudez 2007: max_j |k(x, d_j)| / sqrt(k(x,x) k(d_j,d_j)) <= threshold. A coherence of 1, that of an
// exact copy, is never admitted.
class CoherenceAdmission final : public Admission {
public:
    explicit CoherenceAdmission(double threshold) : threshold_(threshold) {}
    bool admits(const Dictionary& dictionary, Sample& sample, const Step&) override {
        const double coherence = dictionary.coherence(*sample.look);
        return coherence <= threshold_ && coherence < 1.0;
    }

private:
    double threshold_;
};

}  // namespace parsimon
