// Updates: the only place where weights change by learning.
#pragma once

#include "step.hpp"

namespace parsimon {

class Update {
public:
    virtual ~Update() = default;
    virtual Needs needs() const { return {}; }
    // Once, before the first step: attach whatever is kept for each centre.
    virtual void attach(Dictionary&) {}
    // At the start of a step: its rate, and each sample's proposed coefficient.
    virtual void open(Dictionary& dictionary, Step& step) = 0;
    // Learn one sample; append it if it was admitted.
    virtual void step(Dictionary& dictionary, Sample& sample, Step& step) = 0;
};

// Normalised LMS over all weights, equation (8) of Honeine, Richard & Bermudez 2007:
//     w += step_size / (ridge + ||h||^2) h e',  e = -gradient,
// after the centre, if admitted, has entered with weight 0.
class NLMSUpdate final : public Update {
public:
    // Below this a kernel row says nothing about the weights, and dividing by it would only overflow.
    static constexpr double least_energy = 1e-200;

    NLMSUpdate(double step_size, double ridge) : step_size_(step_size), ridge_(ridge) {}
    void open(Dictionary& dictionary, Step& step) override;
    void step(Dictionary& dictionary, Sample& sample, Step& step) override;

private:
    double step_size_, ridge_;
};

}  // namespace parsimon
