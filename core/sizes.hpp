// Products of array sizes that cannot overflow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <utility>

namespace parsimon {

// Thrown if there is too little memory. The message says for what.
class NoMemory : public std::bad_alloc {
public:
    explicit NoMemory(std::string message) : message_(std::move(message)) {}
    const char* what() const noexcept override { return message_.c_str(); }

private:
    std::string message_;
};

// a * b. Throws bad_alloc if no array can hold that many doubles.
inline std::size_t numbers(std::size_t a, std::size_t b) {
    constexpr std::size_t most = PTRDIFF_MAX / sizeof(double);
    if (b != 0 && a > most / b) throw std::bad_alloc();
    return a * b;
}

// a * b, or SIZE_MAX if it overflows. Used for the size that a state must have: no array has
// SIZE_MAX numbers, so that the state is refused.
inline std::size_t expected(std::size_t a, std::size_t b) {
    return b != 0 && a > SIZE_MAX / b ? SIZE_MAX : a * b;
}
// n (n + 1) / 2, or SIZE_MAX if it overflows.
inline std::size_t expected_triangle(std::size_t n) {
    return n % 2 == 0 ? expected(n / 2, n + 1) : expected(n, n / 2 + 1);
}

}  // namespace parsimon
