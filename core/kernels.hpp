// Kernels: small immutable objects that evaluate blocks of rows against points in panels.
//
// CONVENTION
// - A value k(x, c) depends on x and c alone: evaluated in a row, in a block or on the diagonal it
//   has the same bits.
// - A kernel may keep values with each point beside its features (`extra`), computed once by
//   `annotate`. Composed kernels pass on where theirs begin (`at`).
// - A kernel may round the features of points to single precision (`single`), in `annotate`. Every
//   point, sample or centre, is annotated before anything else is done with it. Such points are
//   stored as floats, and all computations are in double.
// - Points passed in are finite, and within the range of floats if they are rounded to such.
//   Values may overflow: callers bound the diagonal, which by Cauchy-Schwarz bounds every other
//   value.
// - Kernels are positive definite.
// - Kernels are immutable: many threads and learners may share one. Working memory is the caller's
//   `Scratch`, one per thread.
// - A kernel class of your own may throw. Models that are learning stay usable.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>

#include "points.hpp"
#include "scratch.hpp"
#include "simd/loops.hpp"

namespace parsimon {

// sqrt(a b) for a, b >= 0 without overflow or underflow; exactly a when a = b.
inline double geometric_mean(double a, double b) {
    if (a == b) return a;
    const double product = a * b;
    return product > 1e-290 && product < 1e290 ? std::sqrt(product) : std::sqrt(a) * std::sqrt(b);
}

class Kernel {
public:
    virtual ~Kernel() = default;

    // out[r, j] = k(x_r, c_j) for every lane of every panel.
    virtual void rows(const simd::Rows& x, const simd::Panels& centres, std::size_t n_features,
                      std::size_t at, const simd::Block& out, Scratch& scratch) const = 0;
    // out[r] = k(x_r, x_r).
    virtual void diagonal(const simd::Rows& x, std::size_t n_features, std::size_t at, double* out,
                          Scratch& scratch) const = 0;
    // k(x, x) = 1 for all x.
    virtual bool unit_diagonal() const = 0;

    // Whether `annotate` leaves features that are floats.
    virtual bool single() const { return false; }
    virtual std::size_t extra() const { return 0; }
    // How many scratch arrays are in use at once while it evaluates.
    virtual std::size_t levels() const { return 1; }
    virtual void annotate(double* /*point*/, std::size_t /*n_features*/, std::size_t /*at*/,
                          Scratch&) const {}
};

using KernelPtr = std::shared_ptr<const Kernel>;

// A kernel of one sum over the features, by its name and with its parameters in simd/shapes.hpp.
// Throws InputError if there is no such name, or if the number of parameters is wrong. Requires
// parameters in the ranges of src/parsimon/kernels: they are not checked.
KernelPtr leaf(std::string_view name, std::span<const double> parameters);
inline KernelPtr leaf(std::string_view name, std::initializer_list<double> parameters) {
    return leaf(name, std::span(parameters.begin(), parameters.size()));
}

// Short for some of them. They require a finite gamma > 0, offset >= 0 and degree >= 1.

// exp(-gamma ||x - y||^2)
inline KernelPtr gaussian(double gamma) { return leaf("gaussian", {gamma}); }
// exp(-gamma ||x - y||_1)
inline KernelPtr laplacian(double gamma) { return leaf("laplacian", {gamma}); }
// (1 + z) exp(-z), z^2 = 6 gamma ||x - y||^2
inline KernelPtr matern32(double gamma) { return leaf("matern32", {gamma}); }
// (gamma x'y + offset)^degree
inline KernelPtr polynomial(double gamma, double offset, int degree) {
    return leaf("polynomial", {gamma, offset, static_cast<double>(degree)});
}
inline KernelPtr linear() { return leaf("linear", {}); }  // x'y

// Kernels made of others, which they share. They require pointers that are not null.

KernelPtr constant(double value);  // value, >= 0
KernelPtr sum(KernelPtr left, KernelPtr right);
KernelPtr product(KernelPtr left, KernelPtr right);
KernelPtr normalized(KernelPtr kernel);  // k(x, y) / sqrt(k(x, x) k(y, y)); 0 where k(x, x) = 0
// k(x, y) of x and y rounded to single precision. Not to be part of another.
KernelPtr single_precision(KernelPtr kernel);

// Writes n points of d features with the kernel's annotations behind them.
inline void annotate(const Kernel& kernel, const double* x, std::size_t n, std::size_t d,
                     std::size_t depth, double* out, Scratch& scratch) {
    for (std::size_t i = 0; i < n; ++i) {
        std::copy_n(x + i * d, d, out + i * depth);
        kernel.annotate(out + i * depth, d, 0, scratch);
    }
}

}  // namespace parsimon
