#include "committee.hpp"

#include <algorithm>

namespace parsimon {

namespace {

// As NumPy's clip: the bound is returned where the value equals it.
double clipped(double value, double low, double high) {
    value = value > low ? value : low;
    return value < high ? value : high;
}

}  // namespace

void View::see(const double* features, std::size_t n, double* out) const {
    std::copy_n(features, n, std::copy(first.begin(), first.end(), out));
    for (std::size_t i = 0; i < scale.size(); ++i) out[i] *= scale[i];
}

double WeightedSum::combine(const double* p, std::size_t step) const {
    double total = 0.0;
    for (std::size_t e = 0; e < weights.size(); ++e)
        total += weights[e] * clipped(p[e * step], lowest, highest);
    return clipped(mean + deviation * total, low, high);
}

}  // namespace parsimon
