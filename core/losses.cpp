#include "losses.hpp"

namespace parsimon {

double SquaredLoss::value(const double* f, const double* y, std::size_t n_outputs) const {
    double total = 0.0;
    for (std::size_t c = 0; c < n_outputs; ++c) total += (f[c] - y[c]) * (f[c] - y[c]);
    return 0.5 * total;
}

void SquaredLoss::gradient(const double* f, const double* y, double* g, std::size_t n_outputs) const {
    for (std::size_t c = 0; c < n_outputs; ++c) g[c] = f[c] - y[c];
}

}  // namespace parsimon
