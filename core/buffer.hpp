// Arrays of numbers that begin at a cache line.
//
// Rows and panels have a multiple of eight numbers. If their array begins at a cache line, no load
// of a register reaches into a second line. This changes no result.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace parsimon {

template <class T>
struct LineAllocator {
    using value_type = T;
    static constexpr std::align_val_t line{64};

    LineAllocator() = default;
    template <class U>
    LineAllocator(const LineAllocator<U>&) {}

    T* allocate(std::size_t n) {
        if (n > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
        return static_cast<T*>(::operator new(n * sizeof(T), line));
    }
    void deallocate(T* p, std::size_t) { ::operator delete(p, line); }
    template <class U>
    bool operator==(const LineAllocator<U>&) const {
        return true;
    }
};

template <class T>
using Buffer = std::vector<T, LineAllocator<T>>;

}  // namespace parsimon
