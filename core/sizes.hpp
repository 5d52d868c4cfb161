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

// The numbers in a triangle of n rows.
inline std::size_t triangle_numbers(std::size_t n) { return numbers(n, n + 1) / 2; }

}  // namespace parsimon
