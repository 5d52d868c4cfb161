// Sizes of arrays, multiplied so that they cannot wrap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <utility>

namespace parsimon {

// There is no memory; the message says for what.
class NoMemory : public std::bad_alloc {
public:
    explicit NoMemory(std::string message) : message_(std::move(message)) {}
    const char* what() const noexcept override { return message_.c_str(); }

private:
    std::string message_;
};

// a * b numbers of 8 bytes, if any array can hold that many; else throws bad_alloc.
inline std::size_t numbers(std::size_t a, std::size_t b) {
    constexpr std::size_t most = PTRDIFF_MAX / sizeof(double);
    if (b != 0 && a > most / b) throw std::bad_alloc();
    return a * b;
}

// The same of what a state is asked for: where no array can hold so many, more than any does.
inline std::size_t expected(std::size_t a, std::size_t b) {
    return b != 0 && a > SIZE_MAX / b ? SIZE_MAX : a * b;
}
inline std::size_t expected_triangle(std::size_t n) {
    return n % 2 == 0 ? expected(n / 2, n + 1) : expected(n, n / 2 + 1);
}

}  // namespace parsimon
