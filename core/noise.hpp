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
    void set_outputs(std::size_t n) { means_.resize(n); }
    void reserve_outputs(std::size_t n) { means_.reserve(n); }
    // errors (n_outputs,) and their relative variance. Errors without a finite one are left out.
    void learn(const double* errors, double variance) {
        if (!(variance < std::numeric_limits<double>::infinity())) return;
        const double share =
            std::max((1.0 + power_) / (static_cast<double>(++count_) + power_), 1.0 - forgetting_);
        for (std::size_t c = 0; c < means_.size(); ++c)
            means_[c] += share * (std::min(errors[c] / variance * errors[c], largest) - means_[c]);
    }
    // The estimates (n_outputs,), and how many samples they are from. Without samples they are 0.
    const std::vector<double>& means() const { return means_; }
    std::uint64_t count() const { return count_; }
    void adopt(const std::vector<double>& means, std::uint64_t count) {
        if (means.size() != means_.size()) return;
        means_ = means;
        count_ = count;
    }
    // The variance of the noise of output c, or infinity if nothing is known about it yet.
    double value(std::size_t c) const {
        return count_ > 0 ? means_[c] : std::numeric_limits<double>::infinity();
    }
    void visit(StateVisitor visitor) {
        // Files of earlier versions have no estimate. It begins when they learn on.
        visitor.rare_count("count", count_, std::uint64_t{1} << 62);
        if (count_ > 0) visitor.numbers("means", means_.data(), means_.size());
    }
    void require_sound() const {
        for (const double mean : means_)
            if (!(mean >= 0.0)) refuse("the state's noise is ", mean);
    }
    std::size_t nbytes() const { return means_.capacity() * sizeof(double); }

private:
    double forgetting_, power_;
    std::vector<double> means_;
    std::uint64_t count_ = 0;
};

}  // namespace parsimon
