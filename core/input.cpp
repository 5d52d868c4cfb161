#include "input.hpp"

#include <cmath>
#include <limits>

namespace parsimon {
namespace {

bool all_finite(const double* x, std::size_t n) {
    bool finite = true;
    for (std::size_t i = 0; i < n; ++i) finite &= std::fabs(x[i]) <= std::numeric_limits<double>::max();
    return finite;
}

}  // namespace

const char* kind_of_number(double value) { return std::isnan(value) ? "NaN" : value > 0 ? "infinity (inf)" : "minus infinity (-inf)"; }

void require_finite(const double* x, std::size_t n, std::size_t d, const char* what) {
    if (all_finite(x, n * d)) return;
    for (std::size_t i = 0; i < n * d; ++i)
        if (!std::isfinite(x[i])) refuse(what, " contains ", kind_of_number(x[i]), " at row ", i / d, ", column ", i % d);
}

double usable_kernel_value(const Kernel& kernel, double* point, std::size_t row, std::size_t d, std::size_t depth, Scratch& scratch) {
    kernel.annotate(point, d, 0, scratch);
    double kxx = std::numeric_limits<double>::infinity();
    if (all_finite(point + d, depth - d)) kernel.diagonal({point, 1, depth}, d, 0, &kxx, scratch);
    if (std::isnan(kxx) || kxx < 0.0)
        refuse("the kernel value k(x, x) of row ", row, " of X is ", kxx, ": this is not a positive definite kernel");
    if (!(kxx <= largest_kernel_value))
        refuse("the kernel value k(x, x) of row ", row, " of X is ", kxx, ", beyond the largest that can be used (", largest_kernel_value,
               "): scale the columns of X");
    return kxx;
}

}  // namespace parsimon
