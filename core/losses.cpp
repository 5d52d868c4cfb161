#include "losses.hpp"

#include <type_traits>

#include "input.hpp"

namespace parsimon {
namespace {

std::size_t known_classes(const double* y) { return static_cast<std::size_t>(y[1]); }

// The class with the largest f_c besides `own`, or `known` if there is no other class.
std::size_t runner_up(const double* f, std::size_t own, std::size_t known) {
    std::size_t best = known;
    for (std::size_t c = 0; c < known; ++c)
        if (c != own && (best == known || f[c] > f[best])) best = c;
    return best;
}

}  // namespace

const char* MarginLoss::objection(const double* y, std::size_t n) const {
    const bool good =
        std::all_of(y, y + n, [](double v) { return v == -1.0 || v == 0.0 || v == 1.0; });
    return good ? nullptr : "must be -1 or 1 for each output, or 0 for one that takes no part";
}
double MarginLoss::value(const double* f, const double* y, std::size_t n) const {
    double total = 0.0;
    for (std::size_t c = 0; c < n; ++c)
        if (y[c] != 0.0) total += value_at(y[c] * f[c]);
    return total;
}
void MarginLoss::gradient(const double* f, const double* y, double* g, std::size_t n) const {
    for (std::size_t c = 0; c < n; ++c) g[c] = y[c] != 0.0 ? y[c] * slope(y[c] * f[c]) : 0.0;
}

const char* ClassLoss::objection(const double* y, std::size_t n_outputs) const {
    const bool good = y[0] >= 0.0 && y[0] < y[1] && y[1] <= static_cast<double>(n_outputs) &&
                      y[0] == std::floor(y[0]) && y[1] == std::floor(y[1]);
    return good ? nullptr : "must be a class from 0 on, and how many classes are known";
}

double MulticlassHingeLoss::value(const double* f, const double* y, std::size_t) const {
    const std::size_t known = known_classes(y), own = static_cast<std::size_t>(y[0]),
                      other = runner_up(f, own, known);
    return other < known ? std::max(0.0, 1.0 + f[other] - f[own]) : 0.0;
}
void MulticlassHingeLoss::gradient(const double* f, const double* y, double* g,
                                   std::size_t n) const {
    std::fill_n(g, n, 0.0);
    const std::size_t known = known_classes(y), own = static_cast<std::size_t>(y[0]),
                      other = runner_up(f, own, known);
    if (other == known || !(1.0 + f[other] - f[own] > 0.0)) return;
    g[other] = 1.0;
    g[own] = -1.0;
}

double MultinomialLogisticLoss::value(const double* f, const double* y, std::size_t) const {
    const std::size_t known = known_classes(y), own = static_cast<std::size_t>(y[0]);
    const double top = *std::max_element(f, f + known);
    double total = 0.0;
    for (std::size_t c = 0; c < known; ++c) total += std::exp(f[c] - top);
    return std::log(total) + top - f[own];
}
void MultinomialLogisticLoss::gradient(const double* f, const double* y, double* g,
                                       std::size_t n) const {
    std::fill_n(g, n, 0.0);
    const std::size_t known = known_classes(y), own = static_cast<std::size_t>(y[0]);
    const double top = *std::max_element(f, f + known);
    double total = 0.0;
    for (std::size_t c = 0; c < known; ++c) total += g[c] = std::exp(f[c] - top);
    for (std::size_t c = 0; c < known; ++c) g[c] /= total;
    // The gradient is p - 1 here. Summing the other probabilities keeps the digits when p is nearly
    // 1.
    double others = 0.0;
    for (std::size_t c = 0; c < known; ++c)
        if (c != own) others += g[c];
    g[own] = -others;
}

}  // namespace parsimon
