// Losses: convex functions l(f, y) of a prediction f, and their gradients with respect to f. At a kink the gradient is the subgradient of
// least norm, zero where that is allowed, unless said otherwise.
#pragma once

#include <cstddef>

namespace parsimon {

class Loss {
public:
    virtual ~Loss() = default;
    // How many numbers make a target.
    virtual std::size_t n_targets(std::size_t n_outputs) const { return n_outputs; }
    // What a target must be, null if y is one.
    virtual const char* objection(const double* /*y*/, std::size_t /*n_outputs*/) const { return nullptr; }
    virtual double value(const double* f, const double* y, std::size_t n_outputs) const = 0;
    virtual void gradient(const double* f, const double* y, double* g, std::size_t n_outputs) const = 0;
    // The largest second derivative where the gradient is unbounded: gradient steps beyond 2 / (curvature k(x, x)) diverge then. Else 0.
    virtual double curvature() const { return 0.0; }
};

// l = sum_c (f_c - y_c)^2 / 2
class SquaredLoss final : public Loss {
public:
    double value(const double* f, const double* y, std::size_t n_outputs) const override;
    void gradient(const double* f, const double* y, double* g, std::size_t n_outputs) const override;
    double curvature() const override { return 1.0; }
};

// l = sum_c |f_c - y_c|, or less: max(0, |r| - epsilon).
class EpsilonInsensitiveLoss final : public Loss {
public:
    explicit EpsilonInsensitiveLoss(double epsilon) : epsilon_(epsilon) {}
    double value(const double* f, const double* y, std::size_t n_outputs) const override;
    void gradient(const double* f, const double* y, double* g, std::size_t n_outputs) const override;

private:
    double epsilon_;
};

// r^2 / 2 up to |r| = delta, then delta |r| - delta^2 / 2.
class HuberLoss final : public Loss {
public:
    explicit HuberLoss(double delta) : delta_(delta) {}
    double value(const double* f, const double* y, std::size_t n_outputs) const override;
    void gradient(const double* f, const double* y, double* g, std::size_t n_outputs) const override;

private:
    double delta_;
};

// quantile (y - f) where y > f, (1 - quantile) (f - y) elsewhere.
class QuantileLoss final : public Loss {
public:
    explicit QuantileLoss(double quantile) : quantile_(quantile) {}
    double value(const double* f, const double* y, std::size_t n_outputs) const override;
    void gradient(const double* f, const double* y, double* g, std::size_t n_outputs) const override;

private:
    double quantile_;
};

// Losses of the margins z_c = y_c f_c, y_c in {-1, 1}, summed over the outputs; an output with y_c = 0 takes no part.
class MarginLoss : public Loss {
public:
    const char* objection(const double* y, std::size_t n_outputs) const override;
    double value(const double* f, const double* y, std::size_t n_outputs) const override;
    void gradient(const double* f, const double* y, double* g, std::size_t n_outputs) const override;

private:
    virtual double of(double margin) const = 0;
    virtual double slope(double margin) const = 0;
};

class HingeLoss final : public MarginLoss {  // max(0, 1 - z)
    double of(double margin) const override;
    double slope(double margin) const override;
};

class SquaredHingeLoss final : public MarginLoss {  // max(0, 1 - z)^2
    double of(double margin) const override;
    double slope(double margin) const override;
    double curvature() const override { return 2.0; }
};

class LogisticLoss final : public MarginLoss {  // log(1 + exp(-z))
    double of(double margin) const override;
    double slope(double margin) const override;
};

// Losses of one function a class. A target is (class, how many classes were known when it came): outputs beyond those take no part.
class ClassLoss : public Loss {
public:
    std::size_t n_targets(std::size_t) const final { return 2; }
    const char* objection(const double* y, std::size_t n_outputs) const final;
};

// Crammer & Singer, (26) of Koppel et al. 2019: max(0, 1 + f_r - f_y), r the strongest other class, the first of equals. Zero while there
// is no other.
class MulticlassHingeLoss final : public ClassLoss {
public:
    double value(const double* f, const double* y, std::size_t n_outputs) const override;
    void gradient(const double* f, const double* y, double* g, std::size_t n_outputs) const override;
};

// (28) of Koppel et al. 2019: log sum_c exp f_c - f_y.
class MultinomialLogisticLoss final : public ClassLoss {
public:
    double value(const double* f, const double* y, std::size_t n_outputs) const override;
    void gradient(const double* f, const double* y, double* g, std::size_t n_outputs) const override;
};

}  // namespace parsimon
