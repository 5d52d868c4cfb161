// The intercept of a model, and the unit of its targets.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "losses.hpp"
#include "sound.hpp"
#include "state.hpp"

namespace parsimon {

// A model predicts intercept_c + f_c(x) for output c.
//
// - For numbers, the intercept is the mean of the targets, or what the loss makes of it
//   (`Loss::intercept`). f learns what is left of a target (`Loss::relative`). So the model does
//   not depend on where the zero of the targets is. The intercept changes only after 1, 2, 4, 8,
//   ... samples. Otherwise f would have to follow it all the time. When it changes, f is shifted
//   back at the centres (`Update::shift`). That needs a factor: without one, the intercept stays
//   after the first samples.
// - For classes, the intercept moves with every gradient step, as a constant kernel would. Unlike f
//   it does not shrink.
//
// The unit of the targets is given, or it is their root mean squared distance from the intercept so
// far. Losses, and thresholds of parts, take targets in this unit.
//
// CONVENTION
// - `means_` (n_outputs,) are the means of all targets so far, or for classes the intercepts.
//   `values_` are the intercepts. With averaging, `averages_` are their averages over the steps.
// - `total_` is the sum of the sample weights, each multiplied by `forgetting` at every later
//   sample. `squares_` is the sum of the squared distances of the targets, over all outputs.
class Offset {
public:
    // The value of the constant kernel that stands for the intercept of classes. It is smaller than
    // k(x, x) of most kernels, so that f learns what depends on x.
    static constexpr double class_constant = 0.1;
    // Where f cannot be shifted, the intercept stays after this number of samples.
    static constexpr std::uint64_t first_samples = 16;

    struct Options {
        bool intercept = false;
        double unit = 1.0;  // 0 means that it is estimated
        // In (0, 1]. At each new sample, the weights of the old samples are multiplied by it.
        double forgetting = 1.0;
    };

    Offset(const Options& options, const Loss& loss, std::size_t n_outputs)
        : options_(options), loss_(&loss) {
        set_outputs(n_outputs);
    }

    bool intercept() const { return options_.intercept; }
    // Whether losses see anything but f and the targets.
    bool active() const { return options_.intercept || options_.unit != 1.0; }
    // The value of the constant kernel that stands for the intercept in gradient steps.
    double constant() const {
        return options_.intercept && !loss_->has_means() ? class_constant : 0.0;
    }
    void reserve_outputs(std::size_t n_outputs) {
        means_.reserve(n_outputs);
        averages_.reserve(n_outputs);
        values_.reserve(n_outputs);
    }
    // New outputs have had targets of 0.
    void set_outputs(std::size_t n_outputs) {
        const bool known = count_ > 0 && options_.intercept && loss_->has_means();
        const double value = known ? loss_->intercept(0.0, total_) : 0.0;
        means_.resize(n_outputs, 0.0);
        averages_.resize(n_outputs, value);
        values_.resize(n_outputs, value);
    }
    // The intercepts (n_outputs,), or their averages.
    const double* values() const { return values_.data(); }
    const double* averages() const { return averages_.data(); }
    double unit() const {
        if (options_.unit > 0.0) return options_.unit;
        const double square = squares_ / (total_ * static_cast<double>(means_.size()));
        return square > 0.0 ? std::sqrt(square) : 1.0;
    }

    // While it is held, it does not learn.
    void hold(bool held) { held_ = held; }
    // Learns the targets y (n_outputs,) of a sample. For classes it does nothing.
    void learn(const double* y, double weight) {
        if (held_ || !loss_->has_means() || !(weight > 0.0)) return;
        ++count_;
        total_ = options_.forgetting * total_ + weight;
        squares_ *= options_.forgetting;
        for (std::size_t c = 0; c < means_.size(); ++c) {
            const double before = y[c] - means_[c];
            if (options_.intercept) means_[c] += weight / total_ * before;
            // Rounding can make it negative if the mean is as good as the target.
            squares_ += std::max(0.0, weight * before * (y[c] - means_[c]));
        }
        if (count_ == 1) settle();  // there is no f to shift yet
    }
    // Whether the intercepts change now, after a step. `shifts`: whether f can be shifted then.
    bool changes(bool shifts) const {
        if (held_ || count_ == 0 || !options_.intercept || !loss_->has_means()) return false;
        if (count_ >= 2 * settled_) return shifts || count_ <= first_samples;
        for (std::size_t c = 0; shifts && c < means_.size(); ++c)
            if (loss_->is_far(values_[c], next(c))) return true;
        return false;
    }
    // The intercept of output c after a change.
    double next(std::size_t c) const { return loss_->intercept(means_[c], total_); }
    // Sets the intercepts to `next`.
    void settle() {
        settled_ = count_;
        for (std::size_t c = 0; count_ > 0 && c < means_.size(); ++c)
            values_[c] = options_.intercept ? next(c) : 0.0;
    }
    // Multiplies the intercepts of classes by `kept`.
    void shrink(double kept) {
        for (double& mean : means_) mean *= kept;
    }
    // Moves the intercepts of classes by the step of a sample.
    void step(const double* coefficient) {
        for (std::size_t c = 0; c < means_.size(); ++c)
            means_[c] += class_constant * coefficient[c];
        std::copy(means_.begin(), means_.end(), values_.begin());
    }
    // Adds the intercepts to the averages, with this share.
    void average(double share) {
        for (std::size_t c = 0; c < values_.size(); ++c)
            averages_[c] += share * (values_[c] - averages_[c]);
    }
    // Sets everything, for a merge of models with `count` samples: the intercepts and their
    // averages (n_outputs,).
    void adopt(const double* values, const double* averages, const double* means, double total,
               double squares, std::uint64_t count, std::uint64_t settled) {
        count_ = count;
        settled_ = settled;
        std::copy_n(means, means_.size(), means_.begin());
        std::copy_n(averages, averages_.size(), averages_.begin());
        std::copy_n(values, values_.size(), values_.begin());
        total_ = total;
        squares_ = squares;
    }
    const double* means() const { return means_.data(); }
    double total() const { return total_; }
    double squares() const { return squares_; }
    std::uint64_t count() const { return count_; }
    std::uint64_t settled() const { return settled_; }

    void visit(StateVisitor visitor) {
        if (!active()) return;
        visitor.version(0);
        visitor.numbers("means", means_.data(), means_.size());
        visitor.numbers("values", values_.data(), values_.size());
        visitor.numbers("averages", averages_.data(), averages_.size());
        visitor.number("total", total_);
        visitor.number("squares", squares_);
        visitor.count("count", count_);
        visitor.count("settled", settled_);
    }
    void require_sound() const {
        sound::require_within(means_.data(), means_.size(), sound::largest_norm, "intercepts");
        sound::require_within(values_.data(), values_.size(), sound::largest_norm, "intercepts");
        sound::require_within(averages_.data(), averages_.size(), sound::largest_norm,
                              "averages of intercepts");
        if (settled_ > count_)
            refuse("the state's intercept changed after ", settled_, " of ", count_, " samples");
        if (!(total_ >= 0.0 && total_ <= sound::largest_count && squares_ >= 0.0))
            refuse("the state's sums of targets are ", total_, " and ", squares_);
    }
    std::size_t nbytes() const {
        return (means_.capacity() + averages_.capacity() + values_.capacity()) * sizeof(double);
    }

private:
    Options options_;
    const Loss* loss_;
    std::vector<double> means_, averages_, values_;
    double total_ = 0.0, squares_ = 0.0;
    std::uint64_t count_ = 0, settled_ = 0;  // samples, and how many there were at the last change
    bool held_ = false;
};

}  // namespace parsimon
