// Kernel ridge regression on a window of samples, updated with every sample.
#pragma once

#include "updates.hpp"

namespace parsimon {

// Each centre is one of the last samples or of the samples kept. With their targets y (m,), the
// weights are
//
//     w = (K + G)^-1 y,    G = diag(ridge / weight_i).
//
// The factor of the dictionary is that of K + G. With h the kernel row of a new sample, a =
// (K + G)^-1 h, r the Schur complement and e = -gradient, the weights become (w - a e / r, e / r).
// When a pair (d_j, y_j) is removed, `Dictionary::project_out` gives the weights of the other
// pairs.
//
// - `oldest`: the oldest pair is removed, as in sliding-window KRLS (van Vaerenbergh, Via &
//   Santamaria 2006).
// - Otherwise it is the pair that the other pairs predict best: its error is w_j / (K + G)^-1_jj.
//   This is fixed-budget KRLS (van Vaerenbergh, Santamaria, Liu & Principe 2010).
class WindowUpdate final : public Update {
public:
    static constexpr const char* name = "window";
    WindowUpdate(double ridge, bool oldest) : ridge_(ridge), oldest_(oldest) {}

    Needs needs() const override {
        return {.factor = true, .neighbours = false, .ridge = ridge_, .pairs = true};
    }
    void open(Dictionary& dictionary, Step& step) override {
        for (Sample& sample : step) {
            if (sample.weight > 0.0) sample.look->ridge = ridge_ / sample.weight;
            for (std::size_t c = 0; c < dictionary.n_outputs(); ++c)
                sample.coefficient[c] = -sample.gradient[c];
        }
    }
    void step(Dictionary& dictionary, Sample& sample, Step&) override {
        if (!sample.admitted) return;
        Look& look = *sample.look;
        dictionary.project(look);
        const double inverse = 1.0 / dictionary.schur(look);
        for (std::size_t c = 0; c < dictionary.n_outputs(); ++c) {
            sample.coefficient[c] *= inverse;
            simd::loops().axpy(-sample.coefficient[c], look.a, dictionary.weights(c), look.n_known);
        }
        dictionary.append(look, sample.coefficient);
    }
    std::size_t least_needed(Dictionary& dictionary) override {
        if (oldest_) return 0;
        const double* diagonal = dictionary.factor().diagonal();
        return dictionary.least([diagonal](std::size_t j, double square) {
            return square / diagonal[j] / diagonal[j];
        });
    }
    // The weights stay the fit to all targets of the window, which are relative to the intercept.
    void shift(Dictionary& dictionary, std::size_t c, double rise) override {
        dictionary.shift(c, -rise, true);
    }
    double evict(Dictionary& dictionary, std::size_t j) override {
        dictionary.project_out(j);
        return 0.0;  // f changes, because a sample is forgotten
    }

private:
    double ridge_;
    bool oldest_;
};

}  // namespace parsimon
