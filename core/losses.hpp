// Losses: l(f, y) and its gradient with respect to f.
#pragma once

#include <cstddef>

namespace parsimon {

class Loss {
public:
    virtual ~Loss() = default;
    virtual double value(const double* f, const double* y, std::size_t n_outputs) const = 0;
    virtual void gradient(const double* f, const double* y, double* g, std::size_t n_outputs) const = 0;
};

// l = sum_c (f_c - y_c)^2 / 2
class SquaredLoss final : public Loss {
public:
    double value(const double* f, const double* y, std::size_t n_outputs) const override;
    void gradient(const double* f, const double* y, double* g, std::size_t n_outputs) const override;
};

}  // namespace parsimon
