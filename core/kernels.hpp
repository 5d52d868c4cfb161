// Kernels: immutable objects that evaluate k(x, c) for rows x against centres c in panels
// (simd/loops.hpp).
//
// CONVENTION
// - A value k(x, c) depends only on x and c: in a row, in a block or on the diagonal it has the
//   same bits.
// - A kernel may store `extra` numbers with each point, after its features. `annotate` computes
//   them once. Kernels made of others pass each inner kernel the offset `at` of its numbers.
// - A kernel may round the features of points to single precision (`single`), in `annotate`. Every
//   point, sample or centre, is annotated before it is used. Such points are stored as floats, and
//   all computations are in double.
// - Points must be finite. If they are rounded, they must be in the range of floats.
// - Values may overflow. Callers bound k(x, x), which bounds all values by the Cauchy-Schwarz
//   inequality.
// - Kernels must be positive definite.
// - Many threads and learners may share a kernel. Working memory is the caller's `Scratch`, one per
//   thread.
// - Your own kernel class may throw. Models that are learning stay usable.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

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

// The terms (simd/loops.hpp) of the derivative of a kernel with respect to x.
class Terms {
public:
    constexpr Terms() = default;
    constexpr Terms(simd::Term term) : bits_(1u << index(term)) {}
    // For a kernel without a derivative. Kernels made of it have none either.
    static constexpr Terms unknown() { return Terms(1u << simd::n_terms); }

    constexpr bool known() const { return bits_ >> simd::n_terms == 0; }
    constexpr bool has(std::size_t term) const { return bits_ >> term & 1; }
    constexpr bool has(simd::Term term) const { return has(index(term)); }
    constexpr std::size_t count() const { return static_cast<std::size_t>(std::popcount(bits_)); }
    friend constexpr Terms operator|(Terms a, Terms b) { return Terms(a.bits_ | b.bits_); }

private:
    explicit constexpr Terms(unsigned bits) : bits_(bits) {}
    unsigned bits_ = 0;
};

// The factors of these terms in dk(x_r, c_j)/dx. Each is a block like that of the values.
struct Slopes {
    double* of[simd::n_terms] = {};  // by term; null where there is none
    std::size_t stride = 0;

    // The blocks follow one another in `data`. Each has `size` numbers.
    Slopes(Terms terms, double* data, std::size_t size, std::size_t stride) : stride(stride) {
        for (std::size_t t = 0; t < simd::n_terms; ++t)
            if (terms.has(t)) of[t] = std::exchange(data, data + size);
    }
    double* row(std::size_t term, std::size_t r) const { return of[term] + r * stride; }
};

// The interface of a kernel.
class Kernel {
public:
    virtual ~Kernel() = default;

    // out[r, j] = k(x_r, c_j) for every point of every panel, padding included.
    virtual void rows(const simd::Rows& x, const simd::Panels& centres, std::size_t n_features,
                      std::size_t at, const simd::Block& out, Scratch& scratch) const = 0;
    // out[r] = k(x_r, x_r).
    virtual void diagonal(const simd::Rows& x, std::size_t n_features, std::size_t at, double* out,
                          Scratch& scratch) const = 0;
    // The terms of the derivative with respect to x. `differentiate` computes their factors and the
    // values of `rows`. A kernel that overrides neither works, but models with it have no gradient.
    virtual Terms terms() const { return Terms::unknown(); }
    virtual void differentiate(const simd::Rows& x, const simd::Panels& centres,
                               std::size_t n_features, std::size_t at, const simd::Block& values,
                               const Slopes& slopes, Scratch& scratch) const;
    // Whether k(x, x) = 1 for all x.
    virtual bool unit_diagonal() const = 0;

    // Whether several threads may evaluate rows for one learner. A class of your own is evaluated
    // only by the thread that learns, unless it says so.
    virtual bool shareable() const { return false; }
    // Whether `annotate` rounds the features to floats.
    virtual bool single() const { return false; }
    // Whether predictions may use products in single precision. Learning never does.
    virtual bool coarse() const { return false; }
    // How many numbers are stored with each point.
    virtual std::size_t extra() const { return 0; }
    // How many scratch arrays an evaluation uses at once.
    virtual std::size_t levels() const { return 1; }
    // Computes the extra numbers of a point, at point[n_features + at].
    virtual void annotate(double* /*point*/, std::size_t /*n_features*/, std::size_t /*at*/,
                          Scratch&) const {}
};

using KernelPtr = std::shared_ptr<const Kernel>;

// A kernel that is a function of one sum over the features, such as a squared distance. Name and
// parameters are those of simd/shapes.hpp. Throws InputError if there is no such name, or if the
// number of parameters is wrong. The values must be in the ranges of src/parsimon/kernels and are
// not checked.
KernelPtr leaf(std::string_view name, std::span<const double> parameters);
inline KernelPtr leaf(std::string_view name, std::initializer_list<double> parameters) {
    return leaf(name, std::span(parameters.begin(), parameters.size()));
}

// Short forms. They require a finite gamma > 0, offset >= 0 and degree >= 1.

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

// Kernels made of others, which are shared. Pointers must not be null.

KernelPtr constant(double value);                    // k(x, y) = value, which must be >= 0
KernelPtr sum(KernelPtr left, KernelPtr right);      // k1(x, y) + k2(x, y)
KernelPtr product(KernelPtr left, KernelPtr right);  // k1(x, y) k2(x, y)
KernelPtr normalized(KernelPtr kernel);  // k(x, y) / sqrt(k(x, x) k(y, y)); 0 where k(x, x) = 0
// k(x, y) of x and y rounded to single precision. It must not be part of another kernel.
KernelPtr single_precision(KernelPtr kernel, bool coarse = false);

// Copies the points x (n, d) to out (n, depth) and computes the kernel's extra numbers there.
inline void annotate(const Kernel& kernel, const double* x, std::size_t n, std::size_t d,
                     std::size_t depth, double* out, Scratch& scratch) {
    for (std::size_t i = 0; i < n; ++i) {
        std::copy_n(x + i * d, d, out + i * depth);
        kernel.annotate(out + i * depth, d, 0, scratch);
    }
}

}  // namespace parsimon
