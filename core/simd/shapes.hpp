// Kernels of one sum over the features: what is summed, and what value the sum gives.
//
// A kernel is one struct below and one line in `Shapes`. Its base says what is summed. Its name is
// how the rest of the library asks for it. `value` takes the sum and the kernel's parameters, in
// the order in which Python gives them; their number is read from its signature. The rest is
// derived: see `leaf_of` in loops.cpp and `leaf` in kernels.hpp.
//
// Included by loops.cpp, which is compiled once for each instruction set.
#pragma once

#include "simd/pack.hpp"

namespace parsimon::simd::PARSIMON_ISA {
namespace {

// How a feature enters the sum.
struct SquaredDistance {
    static constexpr bool of_distance = true;
    static PARSIMON_INLINE Pack add(const Pack& acc, const Pack& c, const Pack& x) {
        // Differences, not ||x||^2 + ||c||^2 - 2 x'c: accurate for near-duplicates.
        const Pack diff = c - x;
        return fma(diff, diff, acc);
    }
};
struct AbsoluteDistance {
    static constexpr bool of_distance = true;
    static PARSIMON_INLINE Pack add(const Pack& acc, const Pack& c, const Pack& x) {
        return acc + absolute(c - x);
    }
};
struct InnerProduct {
    static constexpr bool of_distance = false;
    static PARSIMON_INLINE Pack add(const Pack& acc, const Pack& c, const Pack& x) {
        return fma(c, x, acc);
    }
};

struct Gaussian : SquaredDistance {
    static constexpr const char* name = "gaussian";
    static PARSIMON_INLINE Pack value(const Pack& r2, double gamma) {
        return exponential(broadcast(-gamma) * r2);
    }
};
struct Laplacian : AbsoluteDistance {
    static constexpr const char* name = "laplacian";
    static PARSIMON_INLINE Pack value(const Pack& r, double gamma) {
        return exponential(broadcast(-gamma) * r);
    }
};
// z exp(-z) is 0 in the limit, but infinity times 0 is not. Past 800 the exponential is 0.
PARSIMON_INLINE Pack capped(const Pack& z) { return minimum(z, broadcast(800.0)); }
struct Matern32 : SquaredDistance {
    static constexpr const char* name = "matern32";
    static PARSIMON_INLINE Pack value(const Pack& r2, double gamma) {
        const Pack z = capped(broadcast(std::sqrt(6.0) * std::sqrt(gamma)) * square_root(r2));
        return (broadcast(1.0) + z) * exponential(broadcast(0.0) - z);
    }
};
struct Matern52 : SquaredDistance {
    static constexpr const char* name = "matern52";
    static PARSIMON_INLINE Pack value(const Pack& r2, double gamma) {
        const Pack z = capped(broadcast(std::sqrt(10.0) * std::sqrt(gamma)) * square_root(r2));
        return (broadcast(1.0) + z + z * z * broadcast(1.0 / 3.0)) *
               exponential(broadcast(0.0) - z);
    }
};
struct RationalQuadratic : SquaredDistance {
    static constexpr const char* name = "rational_quadratic";
    static PARSIMON_INLINE Pack value(const Pack& r2, double gamma, double alpha) {
        // log(1 + z) with what rounding took from 1 + z put back: a large alpha would multiply it.
        const Pack one = broadcast(1.0),
                   z = minimum(broadcast(gamma / alpha) * r2, broadcast(1e300)), base = one + z;
        return exponential(broadcast(-alpha) * (logarithm(base) + (z - (base - one)) / base));
    }
};
struct Cauchy : SquaredDistance {
    static constexpr const char* name = "cauchy";
    static PARSIMON_INLINE Pack value(const Pack& r2, double gamma) {
        return broadcast(1.0) / (broadcast(1.0) + broadcast(gamma) * r2);
    }
};
struct Polynomial : InnerProduct {
    static constexpr const char* name = "polynomial";
    static PARSIMON_INLINE Pack value(const Pack& xy, double gamma, double offset, double degree) {
        const Pack base = fma(broadcast(gamma), xy, broadcast(offset));
        const int factors = static_cast<int>(degree);
        Pack result = base;
        for (int i = 1; i < factors; ++i) result = result * base;
        return result;
    }
};
struct Linear : InnerProduct {
    static constexpr const char* name = "linear";
    static PARSIMON_INLINE Pack value(const Pack& xy) { return xy; }
};

template <class... Kernels>
struct List {};

// Every kernel of one sum.
using Shapes = List<Gaussian,           //
                    Laplacian,          //
                    Matern32,           //
                    Matern52,           //
                    RationalQuadratic,  //
                    Cauchy,             //
                    Polynomial,         //
                    Linear>;

// Not a kernel, but the same loop: ||x - c||^2.
struct PlainDistance : SquaredDistance {
    static PARSIMON_INLINE Pack value(const Pack& r2) { return r2; }
};

}  // namespace
}  // namespace parsimon::simd::PARSIMON_ISA
