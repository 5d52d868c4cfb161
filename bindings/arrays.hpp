// NumPy arrays as arguments and results.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "sizes.hpp"

namespace parsimon::bindings {

namespace nb = nanobind;

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Array = nb::ndarray<nb::numpy, double>;

// A new array of zeros for C++ to fill. `release` passes it to NumPy, which then owns it.
struct Result {
    explicit Result(std::initializer_list<std::size_t> shape) : shape_(shape) {
        std::size_t n = 1;
        for (const std::size_t s : shape_) n = numbers(n, s);
        data_ = std::make_unique<double[]>(n);
    }
    double* data() { return data_.get(); }
    Array release() {
        double* data = data_.release();
        nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
        return Array(data, shape_.size(), shape_.data(), owner);
    }

private:
    std::vector<std::size_t> shape_;
    std::unique_ptr<double[]> data_;
};

// Throws ValueError unless there are as many features as expected.
inline void require_columns(std::size_t found, std::size_t expected, const char* what) {
    if (found != expected)
        throw nb::value_error((std::string(what) + " has " + std::to_string(found) +
                               " features, but " + std::to_string(expected) + " are expected")
                                  .c_str());
}

}  // namespace parsimon::bindings
