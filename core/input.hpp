// Checks of numbers from the caller, and the error that they throw.
#pragma once

#include <cstddef>
#include <sstream>
#include <stdexcept>

#include "kernels.hpp"
#include "scratch.hpp"

namespace parsimon {

// Input that cannot be used. The message names row and column.
class InputError : public std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

// Throws InputError with the words joined to a message.
template <class... Words>
[[noreturn]] void refuse(const Words&... words) {
    std::ostringstream message;
    (message << ... << words);
    throw InputError(message.str());
}

const char* kind_of_number(double value);  // the name of a value that is not finite, for messages

// Throws InputError with row and column at the first value of x (n, d) that is NaN or infinite.
// With `single`, values that round to infinity in single precision are refused too.
void require_finite(const double* x, std::size_t n, std::size_t d, const char* what,
                    bool single = false);

// The range of sample weights. A weight of 0 is allowed too.
constexpr double largest_weight = 1e20, least_weight = 1e-20;
// Throw InputError at the first target of y (n, n_targets), or weight (n,), that cannot be used.
// Null weights are all 1.
void require_usable_targets(const double* y, std::size_t n, std::size_t n_targets);
void require_usable_weights(const double* weights, std::size_t n);

// Larger k(x, x) are refused, so that squares and products of accepted numbers stay finite.
constexpr double largest_kernel_value = 1e80;

// Returns k(x, x) of a point with d features. `point` (depth,) has room for the annotations of the
// kernel, which are computed here. Throws InputError with the row number if k(x, x) cannot be used.
double usable_kernel_value(const Kernel& kernel, double* point, std::size_t row, std::size_t d,
                           std::size_t depth, Scratch& scratch);

}  // namespace parsimon
