// Least mean squares over random Fourier features (Bouboulis, Pougkakiotis & Theodoridis 2016).
#pragma once

#include "buffer.hpp"
#include "filter.hpp"

namespace parsimon {

// With D frequencies omega_j (n_features,) and phases b_j,
//
//     phi_j(x) = sqrt(2 / D) cos(omega_j'x + b_j),    theta += step_size phi(x) e',
//
// where e (n_outputs,) is the error. If the frequencies are from N(0, 2 gamma I) and the phases
// from [0, 2 pi), phi(x)'phi(z) has the mean exp(-gamma ||x - z||^2). A sample of weight 2 takes
// two steps, and so on for any weight. ||phi||^2 <= 2, so that steps up to 1 are stable.
//
// CONVENTION
// - `frequencies_` is (n_features, D), by features. `weights_` is (n_outputs, D). Frequencies and
//   phases are given, and not part of the state.
class FourierFilter final : public Filter {
public:
    // A larger |omega'x| could not be told from noise by the cosine, and could overflow.
    static constexpr double largest_angle = 1e15;

    // frequencies (D, n_features) and phases (D,) are copied.
    FourierFilter(const double* frequencies, const double* phases, std::size_t count,
                  std::size_t n_features, std::size_t n_outputs, bool intercept, double step_size);
    void check_inputs(const double* x, std::size_t n) const override;
    void gradient(const double* x, std::size_t n, double* out) const override;
    std::size_t size() const override { return phases_.size(); }
    void copy_weights(double* out) const override;
    std::size_t n_points() const override { return size(); }
    void copy_points(double* out) const override;
    void set_budget(std::size_t) override {}

private:
    // The angles omega_j'x + b_j, (D,).
    void angles(const double* x, double* out) const;
    void features(const double* x, double* out) const;
    void look(const double* x, double* f) override;
    void step(const double* error, double weight) override;
    void evaluate(const double* x, std::size_t n, double* out) const override;
    void resize_outputs(std::size_t n_outputs) override { weights_.resize(n_outputs * size()); }
    void visit_features(StateVisitor visitor) override {
        visitor.expect("weights", weights_.size());
        visitor.numbers("weights", weights_.data(), weights_.size());
    }
    void require_sound_features() override;
    std::size_t nbytes_of_features() const override;

    double step_size_, largest_frequency_ = 0.0;
    Buffer<double> frequencies_, phases_, weights_, phi_;
};

}  // namespace parsimon
