// The variance of the noise of each output, estimated from prediction errors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "sizes.hpp"
#include "sound.hpp"
#include "state.hpp"

namespace parsimon {

// A running mean of e^2 / s over samples, where e is the error of the prediction before the sample
// is learned, and s its variance in units of the noise variance. The model is poor at first, so
// later samples count more: sample t has a weight proportional to t^power for large t. With
// forgetting, the weight of a sample also decreases with every later sample.
class Noise {
public:
    static constexpr double largest = 1e200;  // keeps the mean finite

    explicit Noise(double forgetting, double power = 2.0)
        : forgetting_(forgetting), power_(power) {}
    void set_outputs(std::size_t n) {
        means_.resize(n);
        counts_.resize(n);
    }
    // errors (n_outputs,) and their relative variance. Errors without a finite one are left out.
    // So are errors of 0 as long as nothing is known: the first target can be the intercept.
    void learn(const double* errors, double variance) {
        if (!(variance < std::numeric_limits<double>::infinity())) return;
        for (std::size_t c = 0; c < means_.size(); ++c) {
            if (counts_[c] == 0.0 && errors[c] == 0.0) continue;
            counts_[c] += 1.0;
            const double share =
                std::max((1.0 + power_) / (counts_[c] + power_), 1.0 - forgetting_);
            means_[c] += share * (std::min(errors[c] / variance * errors[c], largest) - means_[c]);
        }
    }
    // The estimates (n_outputs,), and how many errors each is from. Without errors they are 0.
    const std::vector<double>& means() const { return means_; }
    const std::vector<double>& counts() const { return counts_; }
    // Takes over the estimates of other models, or none if there are none.
    void adopt(const std::vector<double>& means, const std::vector<double>& counts) {
        if (means.empty()) return;
        if (means.size() != means_.size() || counts.size() != means_.size())
            refuse("there must be one noise per output");
        means_ = means;
        counts_ = counts;
    }
    // The variance of the noise of output c, or infinity if nothing is known about it yet.
    double value(std::size_t c) const {
        return counts_[c] > 0.0 ? means_[c] : std::numeric_limits<double>::infinity();
    }
    void visit(StateVisitor visitor) {
        // Files of earlier versions have no estimate. It begins when they learn on.
        std::uint64_t known = *std::max_element(counts_.begin(), counts_.end()) > 0.0;
        visitor.rare_count("known", known, 1);
        if (known == 0) return;
        visitor.numbers("means", means_.data(), means_.size());
        visitor.numbers("counts", counts_.data(), counts_.size());
    }
    void require_sound() const {
        for (std::size_t c = 0; c < means_.size(); ++c)
            if (!(means_[c] >= 0.0 && means_[c] <= largest && counts_[c] >= 0.0))
                refuse("the state's noise is ", means_[c], " from ", counts_[c], " errors");
    }
    std::size_t nbytes() const { return (means_.capacity() + counts_.capacity()) * sizeof(double); }

private:
    double forgetting_, power_;
    std::vector<double> means_, counts_;
};

}  // namespace parsimon
