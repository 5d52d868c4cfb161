// Kernels that are a function of one sum over the features. Below, r = ||x - c||.
//
// To add a kernel, write a struct below and add it to `Shapes`. The base class defines the terms of
// the sum. The rest of the library finds the kernel by its `name`. `value` computes the kernel from
// the sum and the parameters, in the order in which Python gives them. The number of parameters is
// read from the signature of `value`. `slope` computes the derivative of the value with respect to
// the sum, from the sum, the value and the parameters. A kernel without `slope` works, but models
// with it have no gradient. A kernel of the squared distance can have a `steepness`, the largest
// |slope / value| for these parameters. With it, inner products are used for many features
// (kernel_products.hpp). Everything else is derived: see `leaf_of` in loops.cpp and `leaf` in
// kernels.hpp.
//
// Included by loops.cpp, which is compiled once per instruction set.
#pragma once

#include "simd/loops.hpp"
#include "simd/pack.hpp"

namespace parsimon::simd::PARSIMON_ISA {
namespace {

// The sums: ||x - c||^2, ||x - c||_1 and x'c. `add` adds one feature. `of_distance` says that the
// sum is 0 for x = c. The derivative of the sum with respect to a feature of x is `factor` times
// `derivative`.
struct SquaredDistance {
    using Sum = SquaredDistance;
    static constexpr Term term = Term::squared;
    static constexpr bool of_distance = true;
    static constexpr double factor = 4.0;
    static PARSIMON_INLINE Pack add(const Pack& acc, const Pack& c, const Pack& x) {
        // Differences are accurate for near-duplicates. ||x||^2 + ||c||^2 - 2 x'c would not be.
        const Pack diff = c - x;
        return fma(diff, diff, acc);
    }
    static PARSIMON_INLINE Pack derivative(const Pack& c, const Pack& x) {
        // Half the difference cannot overflow: it may be multiplied by a slope of 0.
        return fma(broadcast(-0.5), c, broadcast(0.5) * x);
    }
};
struct AbsoluteDistance {
    using Sum = AbsoluteDistance;
    static constexpr Term term = Term::absolute;
    static constexpr bool of_distance = true;
    static constexpr double factor = 1.0;
    static PARSIMON_INLINE Pack add(const Pack& acc, const Pack& c, const Pack& x) {
        return acc + absolute(c - x);
    }
    static PARSIMON_INLINE Pack derivative(const Pack& c, const Pack& x) { return sign(x - c); }
};
struct InnerProduct {
    using Sum = InnerProduct;
    static constexpr Term term = Term::product;
    static constexpr bool of_distance = false;
    static constexpr double factor = 1.0;
    static PARSIMON_INLINE Pack add(const Pack& acc, const Pack& c, const Pack& x) {
        return fma(c, x, acc);
    }
    static PARSIMON_INLINE Pack derivative(const Pack& c, const Pack&) { return c; }
};

// exp(-gamma r^2)
struct Gaussian : SquaredDistance {
    static constexpr const char* name = "gaussian";
    static double steepness(double gamma) { return gamma; }
    static PARSIMON_INLINE Pack value(const Pack& r2, double gamma) {
        return exponential(broadcast(-gamma) * r2);
    }
    static PARSIMON_INLINE Pack slope(const Pack&, const Pack& value, double gamma) {
        return broadcast(-gamma) * value;
    }
};
// exp(-gamma ||x - c||_1)
struct Laplacian : AbsoluteDistance {
    static constexpr const char* name = "laplacian";
    static PARSIMON_INLINE Pack value(const Pack& r, double gamma) {
        return exponential(broadcast(-gamma) * r);
    }
    static PARSIMON_INLINE Pack slope(const Pack&, const Pack& value, double gamma) {
        return broadcast(-gamma) * value;
    }
};
// z exp(-z) tends to 0, but infinity times 0 is NaN. Beyond 800 the exponential is 0 anyway.
PARSIMON_INLINE Pack capped(const Pack& z) { return minimum(z, broadcast(800.0)); }
// (1 + z) exp(-z), z = sqrt(6 gamma) r
struct Matern32 : SquaredDistance {
    static constexpr const char* name = "matern32";
    static double steepness(double gamma) { return 3.0 * gamma; }
    static PARSIMON_INLINE Pack scaled(const Pack& r2, double gamma) {
        return capped(broadcast(std::sqrt(6.0) * std::sqrt(gamma)) * square_root(r2));
    }
    static PARSIMON_INLINE Pack value(const Pack& r2, double gamma) {
        const Pack z = scaled(r2, gamma);
        return (broadcast(1.0) + z) * exponential(broadcast(0.0) - z);
    }
    static PARSIMON_INLINE Pack slope(const Pack& r2, const Pack& value, double gamma) {
        // -3 gamma exp(-z)
        return broadcast(-3.0 * gamma) * (value / (broadcast(1.0) + scaled(r2, gamma)));
    }
};
// (1 + z + z^2 / 3) exp(-z), z = sqrt(10 gamma) r
struct Matern52 : SquaredDistance {
    static constexpr const char* name = "matern52";
    static double steepness(double gamma) { return 5.0 / 3.0 * gamma; }
    static PARSIMON_INLINE Pack scaled(const Pack& r2, double gamma) {
        return capped(broadcast(std::sqrt(10.0) * std::sqrt(gamma)) * square_root(r2));
    }
    static PARSIMON_INLINE Pack value(const Pack& r2, double gamma) {
        const Pack z = scaled(r2, gamma);
        return (broadcast(1.0) + z + z * z * broadcast(1.0 / 3.0)) *
               exponential(broadcast(0.0) - z);
    }
    static PARSIMON_INLINE Pack slope(const Pack& r2, const Pack& value, double gamma) {
        // -5/3 gamma (1 + z) exp(-z)
        const Pack z = scaled(r2, gamma), linear = broadcast(1.0) + z;
        return broadcast(-5.0 / 3.0 * gamma) *
               (value * (linear / (linear + z * z * broadcast(1.0 / 3.0))));
    }
};
// (1 + gamma r^2 / alpha)^-alpha
struct RationalQuadratic : SquaredDistance {
    static constexpr const char* name = "rational_quadratic";
    static double steepness(double gamma, double) { return gamma; }
    static PARSIMON_INLINE Pack value(const Pack& r2, double gamma, double alpha) {
        // log(1 + z), corrected for the rounding error of 1 + z. A large alpha would multiply this
        // error.
        const Pack one = broadcast(1.0),
                   z = minimum(broadcast(gamma / alpha) * r2, broadcast(1e300)), base = one + z;
        return exponential(broadcast(-alpha) * (logarithm(base) + (z - (base - one)) / base));
    }
    static PARSIMON_INLINE Pack slope(const Pack& r2, const Pack& value, double gamma,
                                      double alpha) {
        const Pack z = minimum(broadcast(gamma / alpha) * r2, broadcast(1e300));
        return broadcast(-gamma) * (value / (broadcast(1.0) + z));
    }
};
// 1 / (1 + gamma r^2)
struct Cauchy : SquaredDistance {
    static constexpr const char* name = "cauchy";
    static double steepness(double gamma) { return gamma; }
    static PARSIMON_INLINE Pack value(const Pack& r2, double gamma) {
        return broadcast(1.0) / (broadcast(1.0) + broadcast(gamma) * r2);
    }
    static PARSIMON_INLINE Pack slope(const Pack&, const Pack& value, double gamma) {
        return broadcast(-gamma) * value * value;
    }
};
// (gamma x'c + offset)^degree
struct Polynomial : InnerProduct {
    static constexpr const char* name = "polynomial";
    static PARSIMON_INLINE Pack value(const Pack& xy, double gamma, double offset, double degree) {
        const Pack base = fma(broadcast(gamma), xy, broadcast(offset));
        const int factors = static_cast<int>(degree);
        Pack result = base;
        for (int i = 1; i < factors; ++i) result = result * base;
        return result;
    }
    static PARSIMON_INLINE Pack slope(const Pack& xy, const Pack&, double gamma, double offset,
                                      double degree) {
        const Pack base = fma(broadcast(gamma), xy, broadcast(offset));
        const int factors = static_cast<int>(degree);
        Pack result = broadcast(gamma * degree);
        for (int i = 1; i < factors; ++i) result = result * base;
        return result;
    }
};
// x'c
struct Linear : InnerProduct {
    static constexpr const char* name = "linear";
    static PARSIMON_INLINE Pack value(const Pack& xy) { return xy; }
    static PARSIMON_INLINE Pack slope(const Pack&, const Pack&) { return broadcast(1.0); }
};

template <class... Kernels>
struct List {};

// All kernels of one sum.
using Shapes = List<Gaussian,           //
                    Laplacian,          //
                    Matern32,           //
                    Matern52,           //
                    RationalQuadratic,  //
                    Cauchy,             //
                    Polynomial,         //
                    Linear>;

using Sums = List<SquaredDistance, AbsoluteDistance, InnerProduct>;

// The sum itself. Not a kernel, but it uses the same loop.
template <class Sum>
struct Plain : Sum {
    static PARSIMON_INLINE Pack value(const Pack& sum) { return sum; }
};

}  // namespace
}  // namespace parsimon::simd::PARSIMON_ISA
