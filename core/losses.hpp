// Losses: convex functions l(f, y) of a prediction f, and their gradients with respect to f. At a
// kink the gradient is the subgradient of least norm, unless said otherwise. It is zero if zero is
// a subgradient.
//
// To add a loss, write a class below and add it to `Losses` at the end. The rest of the library
// finds it by its `name`. Its parameters are those of its constructor.
//
// - Losses are immutable: many threads and learners may share one.
// - f and g are arrays (n_outputs,), y (n_targets,). The caller owns them.
// - `value`, `gradient`, `limit` and `flow` require finite f and a target y that `objection`
//   accepts. They throw nothing.
// - Constructors do not check parameters. The ranges are those of src/parsimon/losses.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>

#include "part_list.hpp"

namespace parsimon {

// The interface of a loss.
class Loss {
public:
    virtual ~Loss() = default;
    // The length of a target y.
    virtual std::size_t n_targets(std::size_t n_outputs) const { return n_outputs; }
    // Null if y is a valid target. Otherwise says what a target must be, as the end of a sentence
    // that begins with "y at row i".
    virtual const char* objection(const double* /*y*/, std::size_t /*n_outputs*/) const {
        return nullptr;
    }
    // l(f, y)
    virtual double value(const double* f, const double* y, std::size_t n_outputs) const = 0;
    // g = the gradient of l(f, y) with respect to f.
    virtual void gradient(const double* f, const double* y, double* g,
                          std::size_t n_outputs) const = 0;
    // The largest second derivative if the gradient is unbounded, else 0. If it is not 0, gradient
    // steps larger than 2 / (curvature k(x, x)) diverge.
    virtual double curvature() const { return 0.0; }
    // Shortens the gradient g at f, so that a step that changes f by -reach g does not pass the
    // minimiser of the loss. Only losses with an unbounded second derivative need this: without it,
    // their steps could diverge at any learning rate.
    virtual void limit(const double* /*f*/, const double* /*y*/, double /*reach*/, double* /*g*/,
                       std::size_t /*n_outputs*/) const {}
    // Sets g to the mean gradient along the path of infinitely many small steps, whose lengths sum
    // to `reach`: f' = -l'(f) from time 0 to `reach`. A step that changes f by -reach g ends where
    // the path ends. So it never passes the minimiser, and two steps after each other equal one of
    // both lengths (Karampatziakis & Langford 2011). Requires reach > 0.
    virtual void flow(const double* f, const double* y, double reach, double* g,
                      std::size_t n_outputs) const = 0;

    // Whether targets are numbers whose mean makes an intercept. The functions below are for such
    // losses, and take one output.
    virtual bool has_means() const { return false; }
    // The constant f that fits targets of this mean best. `total` is the sum of their weights.
    virtual double intercept(double mean, double /*total*/) const { return mean; }
    // Whether an intercept has moved so far that it must change before its time.
    virtual bool is_far(double /*from*/, double /*to*/) const { return false; }
    // The target for f - intercept.
    virtual double relative(double y, double intercept) const { return y - intercept; }
};

// (1 - exp(-t)) / t, the mean of exp(-u) for u in [0, t].
inline double mean_decay(double t) { return t > 0.0 ? -std::expm1(-t) / t : 1.0; }

// A loss that is a sum over the outputs: l(f, y) = sum_c l_c(f_c, y_c).
class OutputLoss : public Loss {
public:
    double value(const double* f, const double* y, std::size_t n_outputs) const final {
        double total = 0.0;
        for (std::size_t c = 0; c < n_outputs; ++c) total += value_at(f[c], y[c]);
        return total;
    }
    void gradient(const double* f, const double* y, double* g, std::size_t n_outputs) const final {
        for (std::size_t c = 0; c < n_outputs; ++c) g[c] = slope(f[c], y[c]);
    }
    void flow(const double* f, const double* y, double reach, double* g,
              std::size_t n_outputs) const final {
        for (std::size_t c = 0; c < n_outputs; ++c) g[c] = mean_slope(f[c], y[c], reach);
    }
    bool has_means() const final { return true; }

private:
    virtual double value_at(double f, double y) const = 0;
    virtual double slope(double f, double y) const = 0;  // the derivative with respect to f
    virtual double mean_slope(double f, double y, double reach) const = 0;  // as for `flow`
};

// (f - y)^2 / 2
class SquaredLoss final : public OutputLoss {
public:
    static constexpr const char* name = "squared";
    double curvature() const override { return 1.0; }

private:
    double value_at(double f, double y) const override { return 0.5 * (f - y) * (f - y); }
    double slope(double f, double y) const override { return f - y; }
    double mean_slope(double f, double y, double reach) const override {
        return (f - y) * mean_decay(reach);
    }
};

// max(0, |f - y| - epsilon). With epsilon = 0 this is the absolute error.
class EpsilonInsensitiveLoss final : public OutputLoss {
public:
    static constexpr const char* name = "epsilon_insensitive";
    explicit EpsilonInsensitiveLoss(double epsilon) : epsilon_(epsilon) {}

private:
    double value_at(double f, double y) const override {
        return std::max(0.0, std::fabs(f - y) - epsilon_);
    }
    double slope(double f, double y) const override {
        const double r = f - y;
        return std::fabs(r) > epsilon_ ? static_cast<double>(r > 0.0) - static_cast<double>(r < 0.0)
                                       : 0.0;
    }
    double mean_slope(double f, double y, double reach) const override {
        return slope(f, y) * std::min(1.0, (std::fabs(f - y) - epsilon_) / reach);
    }
    double epsilon_;
};

// r^2 / 2 up to |r| = delta, then delta |r| - delta^2 / 2, with r = f - y.
class HuberLoss final : public OutputLoss {
public:
    static constexpr const char* name = "huber";
    explicit HuberLoss(double delta) : delta_(delta) {}

private:
    double value_at(double f, double y) const override {
        const double r = f - y;
        return std::fabs(r) <= delta_ ? 0.5 * r * r : delta_ * (std::fabs(r) - 0.5 * delta_);
    }
    double slope(double f, double y) const override { return std::clamp(f - y, -delta_, delta_); }
    double mean_slope(double f, double y, double reach) const override {
        // At constant speed delta up to |r| = delta, then as for the squared loss
        const double r = f - y, linear = std::max(0.0, std::fabs(r) / delta_ - 1.0);
        if (linear >= reach) return slope(f, y);
        const double left = reach - linear;
        return slope(f, y) * (linear + left * mean_decay(left)) / reach;
    }
    double delta_;
};

// quantile (y - f) if y > f, else (1 - quantile) (f - y).
class QuantileLoss final : public OutputLoss {
public:
    static constexpr const char* name = "quantile";
    explicit QuantileLoss(double quantile) : quantile_(quantile) {}

private:
    double value_at(double f, double y) const override {
        return f < y ? -quantile_ * (f - y) : (1.0 - quantile_) * (f - y);
    }
    double slope(double f, double y) const override {
        const double r = f - y;
        return r < 0.0 ? -quantile_ : r > 0.0 ? 1.0 - quantile_ : 0.0;
    }
    double mean_slope(double f, double y, double reach) const override {
        const double g = slope(f, y);
        return std::fabs(g) * reach > std::fabs(f - y) ? (f - y) / reach : g;
    }
    double quantile_;
};

// exp(f) - y f for counts y >= 0, where f is the logarithm of their mean. For f > `largest`, which
// is the logarithm of a number above all targets, exp is replaced by its tangent at `largest`. So
// every value and gradient is finite.
class PoissonLoss final : public OutputLoss {
public:
    static constexpr const char* name = "poisson";
    static constexpr double largest = 231.0;
    const char* objection(const double* y, std::size_t n_outputs) const override {
        return std::all_of(y, y + n_outputs, [](double v) { return v >= 0.0; })
                   ? nullptr
                   : "must be at least 0: it is a count";
    }
    // A step up goes at most to the minimiser log y. A step down is at most Newton's step, 1 - y
    // exp(-f) <= f - log y.
    void limit(const double* f, const double* y, double reach, double* g,
               std::size_t n_outputs) const override {
        for (std::size_t c = 0; c < n_outputs && reach > 0.0; ++c) {
            const double newton =
                g[c] / std::exp(std::min(f[c], largest)) + std::max(0.0, f[c] - largest);
            g[c] = g[c] > 0.0 ? std::min(g[c], newton / reach)
                              : std::max(g[c], std::min(0.0, f[c] - std::log(y[c])) / reach);
        }
    }

private:
    double value_at(double f, double y) const override {
        return (f <= largest ? std::exp(f) : std::exp(largest) * (1.0 + f - largest)) - y * f;
    }
    double slope(double f, double y) const override { return std::exp(std::min(f, largest)) - y; }
    double mean_slope(double f, double y, double reach) const override {
        // u = exp(-f) solves u' = 1 - y u, so u(t) = u(0) exp(-y t) + (1 - exp(-y t)) / y.
        // f(0) - f(t) is the logarithm of u(t) / u(0). Where that is small, the second form keeps
        // its digits.
        const double above = std::max(0.0, f - largest), start = f - above, kept = -y * reach,
                     added = std::log(reach * mean_decay(y * reach)) + start;
        const double growth = std::expm1(kept) + std::exp(added);
        const double fall =
            growth > -0.5 ? std::log1p(growth)
                          : std::max(kept, added) + std::log1p(std::exp(-std::fabs(kept - added)));
        return (fall + above) / reach;
    }
    // The logarithm of the mean. If all counts were 0 so far, half a count is assumed.
    double intercept(double mean, double total) const override {
        return std::log(std::max(mean, 0.5 / std::max(total, 1.0)));
    }
    // Relative targets are in units of the mean, so it must not be off by a large factor.
    bool is_far(double from, double to) const override { return std::fabs(to - from) > 0.7; }
    // In units of the mean: the loss of y at f is exp(intercept) times that of `relative` at
    // f - intercept, up to a constant.
    double relative(double y, double intercept) const override { return y / std::exp(intercept); }
};

// Losses of the margins z_c = y_c f_c with y_c in {-1, 1}, summed over the outputs. An output with
// y_c = 0 is left out.
class MarginLoss : public Loss {
public:
    const char* objection(const double* y, std::size_t n_outputs) const final;
    double value(const double* f, const double* y, std::size_t n_outputs) const final;
    void gradient(const double* f, const double* y, double* g, std::size_t n_outputs) const final;
    void flow(const double* f, const double* y, double reach, double* g,
              std::size_t n_outputs) const final;

private:
    virtual double value_at(double margin) const = 0;
    virtual double slope(double margin) const = 0;
    // How far the margin moves along the path of `flow`.
    virtual double rise(double margin, double reach) const = 0;
};

// max(0, 1 - z)
class HingeLoss final : public MarginLoss {
public:
    static constexpr const char* name = "hinge";

private:
    double value_at(double z) const override { return std::max(0.0, 1.0 - z); }
    double slope(double z) const override { return z < 1.0 ? -1.0 : 0.0; }
    double rise(double z, double reach) const override {
        return std::min(reach, std::max(0.0, 1.0 - z));
    }
};

// max(0, 1 - z)^2
class SquaredHingeLoss final : public MarginLoss {
public:
    static constexpr const char* name = "squared_hinge";
    double curvature() const override { return 2.0; }

private:
    double value_at(double z) const override { return z < 1.0 ? (1.0 - z) * (1.0 - z) : 0.0; }
    double slope(double z) const override { return z < 1.0 ? -2.0 * (1.0 - z) : 0.0; }
    double rise(double z, double reach) const override {
        return -std::expm1(-2.0 * reach) * std::max(0.0, 1.0 - z);
    }
};

// log(1 + exp(-z))
class LogisticLoss final : public MarginLoss {
public:
    static constexpr const char* name = "logistic";

private:
    double value_at(double z) const override {
        return std::max(0.0, -z) + std::log1p(std::exp(-std::fabs(z)));
    }
    double slope(double z) const override {
        return z > 0.0 ? -std::exp(-z) / (1.0 + std::exp(-z)) : -1.0 / (1.0 + std::exp(z));
    }
    double rise(double z, double reach) const override;
};

// Losses for classification, with one output f_c per class. A target is the pair (class, number of
// classes known when the sample arrived). Outputs of later classes are left out.
class ClassLoss : public Loss {
public:
    std::size_t n_targets(std::size_t) const final { return 2; }
    const char* objection(const double* y, std::size_t n_outputs) const final;
};

// max(0, 1 + f_r - f_y), where y is the true class and r the other class with the largest f_r, the
// first one in a tie. Zero if there is no other class. Loss of Crammer & Singer, (26) of Koppel et
// al. 2019.
class MulticlassHingeLoss final : public ClassLoss {
public:
    static constexpr const char* name = "multiclass_hinge";
    double value(const double* f, const double* y, std::size_t n_outputs) const override;
    void gradient(const double* f, const double* y, double* g,
                  std::size_t n_outputs) const override;
    void flow(const double* f, const double* y, double reach, double* g,
              std::size_t n_outputs) const override;
};

// log sum_c exp f_c - f_y, where y is the true class: (28) of Koppel et al. 2019.
class MultinomialLogisticLoss final : public ClassLoss {
public:
    static constexpr const char* name = "multinomial_logistic";
    double value(const double* f, const double* y, std::size_t n_outputs) const override;
    void gradient(const double* f, const double* y, double* g,
                  std::size_t n_outputs) const override;
    void flow(const double* f, const double* y, double reach, double* g,
              std::size_t n_outputs) const override;
};

// All losses.
using Losses = PartList<Loss,                    //
                        SquaredLoss,             //
                        EpsilonInsensitiveLoss,  //
                        HuberLoss,               //
                        QuantileLoss,            //
                        PoissonLoss,             //
                        HingeLoss,               //
                        SquaredHingeLoss,        //
                        LogisticLoss,            //
                        MulticlassHingeLoss,     //
                        MultinomialLogisticLoss>;
static_assert(Losses::distinct(), "two losses have the same name");

}  // namespace parsimon
