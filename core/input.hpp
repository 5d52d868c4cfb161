// What can be learned from, and what is said of the rest.
#pragma once

#include <cstddef>
#include <sstream>
#include <stdexcept>

#include "kernels.hpp"
#include "scratch.hpp"

namespace parsimon {

// Input that cannot be learned from. The message names row and column.
class InputError : public std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

template <class... Words>
[[noreturn]] void refuse(const Words&... words) {
    std::ostringstream message;
    (message << ... << words);
    throw InputError(message.str());
}

const char* kind_of_number(double value);  // "NaN", ...

// Throws InputError with row and column at the first value of x (n, d) that is NaN or infinite, or
// with `single` would be if rounded to single precision.
void require_finite(const double* x, std::size_t n, std::size_t d, const char* what,
                    bool single = false);

// Diagonal kernel values beyond this are refused: squares and products of accepted numbers stay
// finite.
constexpr double largest_kernel_value = 1e80;

// k(x, x) of row `row` of X, given in `point` with room for the kernel's annotations (depth);
// throws InputError if it cannot be used.
double usable_kernel_value(const Kernel& kernel, double* point, std::size_t row, std::size_t d,
                           std::size_t depth, Scratch& scratch);

}  // namespace parsimon
