#include "input.hpp"

#include <cmath>
#include <limits>
#include <sstream>

#include "sound.hpp"

namespace parsimon {
namespace {

constexpr double largest_double = std::numeric_limits<double>::max();
// The largest double that rounds to a finite float. The next double is halfway to 2^128.
constexpr double largest_single = 0x1.fffffefffffffp127;

bool all_within(const double* x, std::size_t n, double largest) {
    bool within = true;
    for (std::size_t i = 0; i < n; ++i) within &= std::fabs(x[i]) <= largest;
    return within;
}

}  // namespace

const char* kind_of_number(double value) {
    return std::isnan(value) ? "NaN" : value > 0 ? "infinity (inf)" : "minus infinity (-inf)";
}

void require_finite(const double* x, std::size_t n, std::size_t d, const char* what, bool single) {
    const double largest = single ? largest_single : largest_double;
    if (all_within(x, n * d, largest)) return;
    for (std::size_t i = 0; i < n * d; ++i) {
        if (std::fabs(x[i]) <= largest) continue;
        if (!std::isfinite(x[i]))
            refuse(what, " contains ", kind_of_number(x[i]), " at row ", i / d, ", column ", i % d);
        refuse(what, " contains ", x[i], " at row ", i / d, ", column ", i % d,
               ", beyond the range of single precision (3.4028235e38): scale the columns");
    }
}

void require_usable_targets(const double* y, std::size_t n, std::size_t n_targets) {
    const double largest_target = sound::largest_target;
    for (std::size_t i = 0; i < n * n_targets; ++i) {
        if (std::fabs(y[i]) <= largest_target) continue;
        std::ostringstream where;
        where << " at row " << i / n_targets;
        if (n_targets > 1) where << ", column " << i % n_targets;
        if (!std::isfinite(y[i])) refuse("y contains ", kind_of_number(y[i]), where.str());
        refuse("y is ", y[i], where.str(), ", beyond the largest target that can be used (",
               largest_target, ")");
    }
}

void require_usable_weights(const double* weights, std::size_t n) {
    for (std::size_t i = 0; weights && i < n; ++i)
        if (weights[i] != 0.0 && !(weights[i] >= least_weight && weights[i] <= largest_weight))
            refuse("sample_weight is ", weights[i], " at row ", i, ": it must be 0, or from ",
                   least_weight, " to ", largest_weight);
}

double usable_kernel_value(const Kernel& kernel, double* point, std::size_t row, std::size_t d,
                           std::size_t depth, Scratch& scratch) {
    kernel.annotate(point, d, 0, scratch);
    double kxx = std::numeric_limits<double>::infinity();
    if (all_within(point + d, depth - d, largest_double))
        kernel.diagonal({point, 1, depth}, d, 0, &kxx, scratch);
    if (std::isnan(kxx) || kxx < 0.0)
        refuse("the kernel value k(x, x) of row ", row, " of X is ", kxx,
               ": this is not a positive definite kernel");
    if (!(kxx <= largest_kernel_value))
        refuse("the kernel value k(x, x) of row ", row, " of X is ", kxx,
               ", beyond the largest that can be used (", largest_kernel_value,
               "): scale the columns of X");
    return kxx;
}

}  // namespace parsimon
