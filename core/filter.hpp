// Filters that are linear in features of x, and do not fit the loop of the learner.
//
//     f_c(x) = sum_j theta_jc phi_j(x)
//
// CONVENTION
// - As for a Learner: matrices are contiguous rows, the checks throw InputError, and other members
//   require numbers that were checked. A block equals its rows bit for bit.
// - Threads: many threads may call const members at once, while no thread calls another member.
// - For each sample, `look` computes the features and f(x) without changing what was learned. Then
//   `step` learns from the error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "losses.hpp"
#include "offset.hpp"
#include "state.hpp"

namespace parsimon {

// The interface of a filter, with its intercept and its checks.
class Filter {
public:
    Filter(std::size_t n_features, std::size_t n_outputs, bool intercept)
        : n_features_(n_features),
          n_outputs_(n_outputs),
          f_(n_outputs),
          offset_({.intercept = intercept}, loss_, n_outputs) {}
    virtual ~Filter() = default;
    Filter(const Filter&) = delete;
    Filter& operator=(const Filter&) = delete;

    std::size_t n_features() const { return n_features_; }
    std::size_t n_outputs() const { return n_outputs_; }
    // The length of one target in a filter with `n_outputs` outputs.
    std::size_t n_targets(std::size_t n_outputs) const { return n_outputs; }
    std::uint64_t seen() const { return seen_; }
    bool blank() const { return seen_ == 0; }  // whether nothing was learned or read yet
    const double* intercept() const { return offset_.values(); }  // (n_outputs,)

    // Throw InputError at the first value that cannot be used.
    virtual void check_inputs(const double* x, std::size_t n) const = 0;
    void check_samples(const double* x, const double* y, const double* weights, std::size_t n,
                       std::size_t n_outputs) const;
    // Increases the number of outputs. New outputs are 0.
    void set_outputs(std::size_t n_outputs);
    // Learns n samples in order: x (n, n_features), y (n, n_outputs), weights (n,) or null for 1.
    // `predictions` (n, n_outputs), if not null, receives the prediction before each step.
    void learn(const double* x, const double* y, const double* weights, std::size_t n,
               double* predictions = nullptr);
    // As Learner::hold_targets.
    void hold_targets(const double* y, const double* weights, std::size_t n);
    void release_targets() { offset_.hold(false); }
    // f(x) plus the intercept for the points x (n, n_features), into out (n, n_outputs).
    void predict(const double* x, std::size_t n, double* out) const;
    // df/dx of n points, into out (n, n_outputs, n_features).
    virtual void gradient(const double* x, std::size_t n, double* out) const = 0;
    // The number of weights of an output, and the weights, (size, n_outputs) into out.
    virtual std::size_t size() const = 0;
    virtual void copy_weights(double* out) const = 0;
    // The centres or frequencies: how many, and (count, n_features) into out.
    virtual std::size_t n_points() const = 0;
    virtual void copy_points(double* out) const = 0;
    // Sets the largest number of centres, for filters that have one.
    virtual void set_budget(std::size_t budget) = 0;

    // Writes or reads what was learned (state.hpp).
    void visit(StateVisitor visitor);
    void require_sound();
    std::size_t nbytes() const;

protected:
    // f (n_outputs,) at x. Keeps the features of x for `step`.
    virtual void look(const double* x, double* f) = 0;
    // Learns the point of the last look. error (n_outputs,) is y - f(x) without the intercept.
    virtual void step(const double* error, double weight) = 0;
    virtual void evaluate(const double* x, std::size_t n, double* out) const = 0;  // f
    virtual void resize_outputs(std::size_t n_outputs) = 0;
    virtual void visit_features(StateVisitor visitor) = 0;
    virtual void require_sound_features() = 0;
    virtual std::size_t nbytes_of_features() const = 0;

    std::size_t n_features_, n_outputs_;

private:
    SquaredLoss loss_;
    std::vector<double> f_;
    Offset offset_;
    std::uint64_t seen_ = 0;
};

}  // namespace parsimon
