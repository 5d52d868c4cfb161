// Multi-kernel normalised LMS with the coherence criterion (Yukawa 2012).
#pragma once

#include <memory>
#include <vector>

#include "dictionary.hpp"
#include "filter.hpp"

namespace parsimon {

// M kernels over one list of centres d_j, each with weights of its own:
//
//     f_c(x) = sum_i sum_j w_jic k_i(x, d_j).
//
// A sample whose coherence with all centres is at most `coherence`, for all kernels, first becomes
// a centre with weights 0. Then, with h all m M kernel values and the error e,
//
//     w += step_size / (ridge + ||h||^2) h e'.
//
// A sample of weight 2 takes two such steps, and so on for any weight. When there are more than
// `budget` centres, the centre with the least sum_ic w_jic^2 k_i(d_j, d_j) is dropped, but not the
// newest, whose weights have just begun. A budget of 0 means no limit.
//
// CONVENTION
// - One dictionary without a factor per kernel. All have the same centres in the same order.
class MultiKernelFilter final : public Filter {
public:
    MultiKernelFilter(std::vector<KernelPtr> kernels, std::size_t n_features, std::size_t n_outputs,
                      bool intercept, double step_size, double coherence, double ridge,
                      std::size_t budget);
    void check_inputs(const double* x, std::size_t n) const override;
    void gradient(const double* x, std::size_t n, double* out) const override;
    std::size_t n_kernels() const { return dictionaries_.size(); }
    std::size_t size() const override { return n_points() * n_kernels(); }
    void copy_weights(double* out) const override;  // by centre, then by kernel
    std::size_t n_points() const override { return dictionaries_[0]->size(); }
    void copy_points(double* out) const override;
    void set_budget(std::size_t budget) override;

private:
    void look(const double* x, double* f) override;
    void step(const double* error, double weight) override;
    void evaluate(const double* x, std::size_t n, double* out) const override;
    void resize_outputs(std::size_t n_outputs) override;
    void visit_features(StateVisitor visitor) override;
    void require_sound_features() override;
    std::size_t nbytes_of_features() const override;
    void drop_smallest();

    std::vector<std::unique_ptr<Dictionary>> dictionaries_;
    std::vector<Looks> looks_;  // one point per kernel
    std::vector<double> values_;
    double step_size_, coherence_, ridge_;
    std::size_t budget_;
};

}  // namespace parsimon
