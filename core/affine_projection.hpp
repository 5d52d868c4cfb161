// Kernel affine projection (Richard, Bermudez & Honeine 2009).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sizes.hpp"
#include "sound.hpp"
#include "updates.hpp"

namespace parsimon {

// Each step fits the last p samples. H (p, m) holds their kernel rows and y (p,) their targets. An
// admitted sample first becomes a centre with weight 0. Then
//
//     w += step_size H'(ridge I + H H')^-1 (y - H w).
//
// With p = 1 this is normalised LMS.
//
// CONVENTION
// - Slot i holds a sample: its point (depth,) at i * depth, its kernel row at i * capacity, its
//   targets at i * n_outputs. `next_` is the slot for the next sample. Once all slots are taken, it
//   is the slot of the oldest sample.
// - Kernel rows cover the first `known_` centres.
// - After a state is read, only points and targets are there. The other arrays are allocated, and
//   the rows are computed, when the next sample is learned.
// - A row that is a combination of newer rows, up to rounding, is left out of the step.
class AffineProjectionUpdate final : public Update, private Aligned {
public:
    static constexpr const char* name = "affine_projection";
    static constexpr std::size_t most = 64;  // the largest order p
    // A row is left out of a step if the part of ||row||^2 outside the span of the newer rows is
    // below this share of it.
    static constexpr double dependent = 1e-12;

    AffineProjectionUpdate(double step_size, std::size_t order, double ridge)
        : step_size_(step_size), ridge_(ridge), order_(order) {
        if (order < 1 || order > most) refuse("order must be from 1 to ", most, ", got ", order);
    }
    void attach(Dictionary& dictionary, const Loss&) override {
        n_features_ = dictionary.n_features();
        depth_ = dictionary.depth();
        n_outputs_ = dictionary.n_outputs();
        dictionary.attach(*this);
    }
    void set_outputs(std::size_t n_outputs) override {
        targets_.resize(order_ * n_outputs);
        new_targets_.resize(n_outputs);
        n_outputs_ = n_outputs;
        taken_ = next_ = 0;
    }
    void make_ready(std::size_t) override {
        ready_ = true;
        points_.resize(numbers(order_, depth_));
        targets_.resize(numbers(order_, n_outputs_));
        new_targets_.resize(n_outputs_);
        rows_.resize(numbers(order_, capacity_));
    }
    std::size_t nbytes() const override {
        return (points_.capacity() + targets_.capacity() + rows_.capacity() +
                new_targets_.capacity()) *
               sizeof(double);
    }

    void open(Dictionary& dictionary, Step& step) override {
        propose_steps(dictionary, step, step_size_);
    }

    void step(Dictionary& dictionary, Sample& sample, Step& step) override {
        if (sample.weight == 0.0) return;
        if (sample.admitted) dictionary.append(*sample.look, nullptr);
        for (std::size_t i = 0; i < taken_; ++i) {
            Look look;
            look.x = point(i);
            look.h = row(i);
            look.n_known = known_;
            dictionary.extend(look);
        }
        known_ = dictionary.size();
        for (std::size_t c = 0; c < n_outputs_; ++c)
            new_targets_[c] = sample.f[c] - sample.gradient[c];  // equals y for the squared loss
        take(*sample.look, new_targets_.data());
        project(dictionary, step.learned, repeated(step_size_, sample.weight));
    }

    void shift(Dictionary& dictionary, std::size_t c, double rise) override {
        Update::shift(dictionary, c, rise);
        for (std::size_t i = 0; i < taken_; ++i) targets_[i * n_outputs_ + c] -= rise;
    }

    void expect(StateVisitor visitor, std::size_t) const override {
        const std::size_t n = visitor.size("window", taken_, order_);
        visitor.expect_points("inputs", n, n_features_);
        visitor.expect("targets", expected(n, n_outputs_));
    }
    void visit(StateVisitor visitor, Dictionary& dictionary) override {
        visitor.version(0);
        if (visitor.reading()) expect(visitor, dictionary.size());
        const std::size_t n = visitor.size("window", taken_, order_), d = n_features_;
        std::vector<double> inputs(n * d), targets(n * n_outputs_);
        for (std::size_t i = 0; !visitor.reading() && i < n; ++i) {  // oldest first
            const std::size_t slot = (next_ + order_ - n + i) % order_;
            std::copy_n(point(slot), d, inputs.begin() + static_cast<std::ptrdiff_t>(i * d));
            std::copy_n(targets_.begin() + static_cast<std::ptrdiff_t>(slot * n_outputs_),
                        n_outputs_, targets.begin() + static_cast<std::ptrdiff_t>(i * n_outputs_));
        }
        visitor.points("inputs", inputs.data(), n, d);
        visitor.numbers("targets", targets.data(), targets.size());
        if (!visitor.reading()) return;
        require_finite(inputs.data(), n, d, "the state's recent samples",
                       dictionary.kernel().single());
        points_.resize(numbers(n, depth_));
        Scratch scratch;
        annotate(dictionary.kernel(), inputs.data(), n, d, depth_, points_.data(), scratch);
        targets_ = std::move(targets);
        taken_ = n;
        next_ = n % order_;
        known_ = 0;
    }
    void require_sound(Dictionary& dictionary) const override {
        sound::require_within(targets_.data(), taken_ * n_outputs_, sound::largest_target,
                              "recent targets");
        std::vector<double> values(taken_);
        Scratch scratch;
        dictionary.kernel().diagonal({points_.data(), taken_, depth_}, n_features_, 0,
                                     values.data(), scratch);
        sound::require_within(values.data(), taken_, largest_kernel_value, "recent kernel values");
    }

private:
    double* point(std::size_t slot) { return points_.data() + slot * depth_; }
    double* row(std::size_t slot) { return rows_.data() + slot * capacity_; }
    const double* row(std::size_t slot) const { return rows_.data() + slot * capacity_; }

    // Stores a sample and its targets y (n_outputs,) in the next slot.
    void take(const Look& look, const double* y) {
        std::copy_n(look.x, depth_, point(next_));
        std::copy_n(look.h, known_, row(next_));
        std::copy_n(y, n_outputs_, targets_.data() + next_ * n_outputs_);
        next_ = (next_ + 1) % order_;
        taken_ = std::min(taken_ + 1, order_);
    }

    // Takes the step. It uses a Cholesky factor L of ridge I + H H', with the newest row first, so
    // that a dependent row is found when the newer rows are already in L.
    void project(Dictionary& dictionary, std::size_t learned, double rate) {
        const auto& loops = simd::loops();
        const std::size_t m = known_;
        std::array<double, most * most> L;
        std::array<std::size_t, most> slots;
        std::size_t n = 0;  // rows in the step
        for (std::size_t age = 0; age < taken_; ++age) {
            const std::size_t slot = (next_ + order_ - 1 - age) % order_;
            double* own = L.data() + n * most;
            const double square = ridge_ + loops.dot(row(slot), row(slot), m);
            double rest = square;
            for (std::size_t j = 0; j < n; ++j) {
                double sum = loops.dot(row(slot), row(slots[j]), m);
                for (std::size_t k = 0; k < j; ++k) sum -= own[k] * L[j * most + k];
                own[j] = sum / L[j * most + j];
                rest -= own[j] * own[j];
            }
            if (!(square >= NLMSUpdate::least_energy && rest > dependent * square)) continue;
            own[n] = std::sqrt(rest);
            slots[n++] = slot;
        }
        std::array<double, most> e;
        for (std::size_t c = 0; c < learned; ++c) {
            double* w = dictionary.weights(c);
            for (std::size_t i = 0; i < n; ++i) {
                e[i] = targets_[slots[i] * n_outputs_ + c] - loops.dot(row(slots[i]), w, m);
                for (std::size_t k = 0; k < i; ++k) e[i] -= L[i * most + k] * e[k];
                e[i] /= L[i * most + i];
            }
            for (std::size_t i = n; i-- > 0;) {
                for (std::size_t k = i + 1; k < n; ++k) e[i] -= L[k * most + i] * e[k];
                e[i] /= L[i * most + i];
            }
            // Skip a step that could overflow the weights.
            double reach = 0.0;
            for (std::size_t i = 0; i < n; ++i)
                reach += std::fabs(rate * e[i]) * loops.max_abs(row(slots[i]), m);
            if (!(reach < sound::largest_norm)) continue;
            for (std::size_t i = 0; i < n; ++i) loops.axpy(rate * e[i], row(slots[i]), w, m);
        }
    }

    void reserve(std::size_t capacity) override {
        if (!ready_) {
            capacity_ = capacity;
            return;
        }
        std::vector<double> rows(numbers(order_, capacity), 0.0);
        for (std::size_t i = 0; i < taken_; ++i)
            std::copy_n(row(i), known_, rows.begin() + static_cast<std::ptrdiff_t>(i * capacity));
        rows_ = std::move(rows);
        capacity_ = capacity;
    }
    void appended(const Dictionary&, const Look&) override {}
    void removing(Dictionary&, std::size_t j, const double*) override {
        if (j >= known_) return;
        for (std::size_t i = 0; i < taken_; ++i)
            std::copy(row(i) + j + 1, row(i) + known_, row(i) + j);
        --known_;
    }

    double step_size_, ridge_;
    bool ready_ = false;
    std::size_t order_, n_features_ = 0, depth_ = 0, n_outputs_ = 0, capacity_ = 0;
    std::size_t taken_ = 0, next_ = 0, known_ = 0;
    std::vector<double> points_, targets_, rows_, new_targets_;
};

}  // namespace parsimon
