// A Pack of eight doubles, and the elementary functions that kernels need.
//
// Every operation works on each lane separately and in a fixed order. So the result in a lane does
// not depend on the other lanes, and a block of kernel rows gives the same bits as its rows one by
// one.
//
// Multiply-adds are fused only where the code says so (`fma`) and the target supports it. The
// compiler must not fuse others (-ffp-contract=off), because then two loops over the same numbers
// could differ.
//
// With GCC and Clang (vector extensions), a Pack is as many of the widest registers as eight
// doubles need. With other compilers it is eight plain doubles. The code is the same.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if (defined(__GNUC__) || defined(__clang__)) && !defined(PARSIMON_PLAIN_PACK)
#define PARSIMON_VECTOR_EXTENSIONS 1
#endif

#ifdef PARSIMON_VECTOR_EXTENSIONS
#if defined(__FMA__) || defined(__AVX512F__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif
#endif

#if defined(_MSC_VER)
#define PARSIMON_INLINE __forceinline
#else
#define PARSIMON_INLINE inline __attribute__((always_inline))
#endif

// Unrolls the next loop completely. GCC then keeps arrays that the loop indexes in registers.
#if defined(__GNUC__) && !defined(__clang__)
#define PARSIMON_UNROLL _Pragma("GCC unroll 16")
#else
#define PARSIMON_UNROLL
#endif

// Begins to read a line of memory into the cache.
#if defined(__GNUC__) || defined(__clang__)
#define PARSIMON_PREFETCH(address) __builtin_prefetch(address)
#else
#define PARSIMON_PREFETCH(address) static_cast<void>(address)
#endif

namespace parsimon::simd::PARSIMON_ISA {

constexpr std::size_t lanes = 8;

#ifdef PARSIMON_VECTOR_EXTENSIONS
#if defined(__AVX512F__)
constexpr std::size_t part_bytes = 64;
#elif defined(__AVX__)
constexpr std::size_t part_bytes = 32;
#else
constexpr std::size_t part_bytes = 16;
#endif
typedef double Part __attribute__((vector_size(part_bytes)));
typedef float Singles __attribute__((vector_size(part_bytes / 2)));  // as many as in Part
typedef std::uint64_t Bits __attribute__((vector_size(part_bytes)));
#else
using Part = double;
using Bits = std::uint64_t;
#endif
constexpr std::size_t parts = lanes * sizeof(double) / sizeof(Part);

// Operations on one register.
namespace one {
PARSIMON_INLINE Part broadcast(double x) {
#ifdef PARSIMON_VECTOR_EXTENSIONS
    return x - Part{};  // x - 0 keeps the sign of zero, x + 0 would not
#else
    return x;
#endif
}
PARSIMON_INLINE Part load(const double* p) {
    Part r;
    std::memcpy(&r, p, sizeof r);
    return r;
}
// GCC converts vectors of more than 16 bytes in halves, so the instructions are named explicitly.
PARSIMON_INLINE Part load(const float* p) {
#if defined(PARSIMON_VECTOR_EXTENSIONS) && defined(__AVX512F__)
    // The mask selects all lanes. GCC 12 warns about the form without a mask.
    return (Part)_mm512_maskz_cvtps_pd(0xff, _mm256_loadu_ps(p));
#elif defined(PARSIMON_VECTOR_EXTENSIONS) && defined(__FMA__)
    return (Part)_mm256_cvtps_pd(_mm_loadu_ps(p));
#elif defined(PARSIMON_VECTOR_EXTENSIONS)
    Singles s;
    std::memcpy(&s, p, sizeof s);
    return __builtin_convertvector(s, Part);
#else
    return *p;
#endif
}
PARSIMON_INLINE void store(double* p, Part a) { std::memcpy(p, &a, sizeof a); }
PARSIMON_INLINE Bits bits(Part a) {
    Bits r;
    std::memcpy(&r, &a, sizeof r);
    return r;
}
PARSIMON_INLINE Part from_bits(Bits a) {
    Part r;
    std::memcpy(&r, &a, sizeof r);
    return r;
}
// a b + c, rounded once if the target can fuse.
PARSIMON_INLINE Part fma(Part a, Part b, Part c) {
#if defined(PARSIMON_VECTOR_EXTENSIONS) && defined(__AVX512F__)
    return (Part)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(PARSIMON_VECTOR_EXTENSIONS) && defined(__FMA__)
    return (Part)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#elif defined(PARSIMON_VECTOR_EXTENSIONS) && defined(__aarch64__)
    return (Part)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
#elif !defined(PARSIMON_VECTOR_EXTENSIONS) && defined(FP_FAST_FMA)
    return std::fma(a, b, c);
#else
    return a * b + c;
#endif
}
PARSIMON_INLINE Part maximum(Part a, Part b) { return a > b ? a : b; }
PARSIMON_INLINE Part minimum(Part a, Part b) { return a < b ? a : b; }
PARSIMON_INLINE Part absolute(Part a) { return from_bits(bits(a) & ~bits(broadcast(-0.0))); }
PARSIMON_INLINE Part square_root(Part a) {
#if defined(PARSIMON_VECTOR_EXTENSIONS) && defined(__AVX512F__)
    return (Part)_mm512_maskz_sqrt_pd(0xff, (__m512d)a);
#elif defined(PARSIMON_VECTOR_EXTENSIONS) && defined(__AVX__)
    return (Part)_mm256_sqrt_pd((__m256d)a);
#elif defined(PARSIMON_VECTOR_EXTENSIONS)
    Part r = a;
    for (std::size_t i = 0; i < sizeof(Part) / sizeof(double); ++i) r[i] = std::sqrt(a[i]);
    return r;
#else
    return std::sqrt(a);
#endif
}
// 1, 0 or -1.
PARSIMON_INLINE Part sign(Part a) {
    const Part zero = broadcast(0.0), unit = broadcast(1.0);
    return (a > zero ? unit : zero) - (a < zero ? unit : zero);
}
// `value` in the lanes with x >= bound, 0 in the others.
PARSIMON_INLINE Part where_at_least(Part x, double bound, Part value) {
    return x >= broadcast(bound) ? value : broadcast(0.0);
}
}  // namespace one

// Eight doubles in `parts` registers.
struct Pack {
    Part v[parts];
};

PARSIMON_INLINE Pack fma(const Pack& a, const Pack& b, const Pack& c) {
    Pack r;
    for (std::size_t i = 0; i < parts; ++i) r.v[i] = one::fma(a.v[i], b.v[i], c.v[i]);
    return r;
}

// The same with one factor for all lanes, which needs only one register.
PARSIMON_INLINE Pack fma(Part a, const Pack& b, const Pack& c) {
    Pack r;
    for (std::size_t i = 0; i < parts; ++i) r.v[i] = one::fma(a, b.v[i], c.v[i]);
    return r;
}
PARSIMON_INLINE Pack times(Part a, const Pack& b) {
    Pack r;
    for (std::size_t i = 0; i < parts; ++i) r.v[i] = a * b.v[i];
    return r;
}

#define PARSIMON_PARTWISE(name, expression)                          \
    PARSIMON_INLINE Pack name(const Pack& a, const Pack& b) {        \
        Pack r;                                                      \
        for (std::size_t i = 0; i < parts; ++i) r.v[i] = expression; \
        return r;                                                    \
    }
PARSIMON_PARTWISE(operator+, a.v[i] + b.v[i])
PARSIMON_PARTWISE(operator-, a.v[i] - b.v[i])
PARSIMON_PARTWISE(operator*, a.v[i] * b.v[i])
PARSIMON_PARTWISE(operator/, a.v[i] / b.v[i])
PARSIMON_PARTWISE(maximum, one::maximum(a.v[i], b.v[i]))
PARSIMON_PARTWISE(minimum, one::minimum(a.v[i], b.v[i]))
#undef PARSIMON_PARTWISE

template <class T>  // T is double, or float, which is converted to double
PARSIMON_INLINE Pack load(const T* p) {
    Pack r;
    for (std::size_t i = 0; i < parts; ++i) r.v[i] = one::load(p + i * (lanes / parts));
    return r;
}

PARSIMON_INLINE void store(double* p, const Pack& a) {
    for (std::size_t i = 0; i < parts; ++i)
        std::memcpy(p + i * (lanes / parts), &a.v[i], sizeof(Part));
}

// Stores the lanes whose bits are set, one after the other, and returns how many there are. What
// follows them, up to eight lanes in all, may be overwritten.
PARSIMON_INLINE std::size_t store_kept(double* p, const Pack& a, unsigned char kept) {
#if defined(PARSIMON_VECTOR_EXTENSIONS) && defined(__AVX512F__)
    const __m512d together = _mm512_maskz_compress_pd(kept, (__m512d)a.v[0]);
    std::memcpy(p, &together, sizeof together);
#else
    double v[lanes];
    store(v, a);
    std::size_t at = 0;
    for (std::size_t l = 0; l < lanes; ++l) {
        p[at] = v[l];  // without a branch
        at += kept >> l & 1;
    }
#endif
    return static_cast<std::size_t>(std::popcount(kept));
}

PARSIMON_INLINE Pack broadcast(double x) {
    Pack r;
    for (std::size_t i = 0; i < parts; ++i) r.v[i] = one::broadcast(x);
    return r;
}

// Loads n < 8 lanes from p, and zeros in the others.
PARSIMON_INLINE Pack load_some(const double* p, std::size_t n) {
#if defined(PARSIMON_VECTOR_EXTENSIONS) && defined(__AVX512F__)
    return {{(Part)_mm512_maskz_loadu_pd(static_cast<__mmask8>((1u << n) - 1), p)}};
#else
    double buffer[lanes] = {};
    std::memcpy(buffer, p, n * sizeof(double));
    return load(buffer);
#endif
}

// Stores n < 8 lanes to p.
PARSIMON_INLINE void store_some(double* p, const Pack& a, std::size_t n) {
#if defined(PARSIMON_VECTOR_EXTENSIONS) && defined(__AVX512F__)
    _mm512_mask_storeu_pd(p, static_cast<__mmask8>((1u << n) - 1), (__m512d)a.v[0]);
#else
    double buffer[lanes];
    store(buffer, a);
    std::memcpy(p, buffer, n * sizeof(double));
#endif
}

PARSIMON_INLINE Pack absolute(const Pack& a) {
    Pack r;
    for (std::size_t i = 0; i < parts; ++i) r.v[i] = one::absolute(a.v[i]);
    return r;
}

PARSIMON_INLINE Pack sign(const Pack& a) {
    Pack r;
    for (std::size_t i = 0; i < parts; ++i) r.v[i] = one::sign(a.v[i]);
    return r;
}

PARSIMON_INLINE Pack square_root(const Pack& a) {
    Pack r;
    for (std::size_t i = 0; i < parts; ++i) r.v[i] = one::square_root(a.v[i]);
    return r;
}

// Sum of the lanes as a balanced tree: ((0+4)+(2+6)) + ((1+5)+(3+7)). The order is the same for all
// register widths.
PARSIMON_INLINE double sum(const Pack& a) {
#if defined(PARSIMON_VECTOR_EXTENSIONS) && !defined(__AVX__)
    const Part s = (a.v[0] + a.v[2]) + (a.v[1] + a.v[3]);
    return s[0] + s[1];
#elif defined(PARSIMON_VECTOR_EXTENSIONS) && !defined(__AVX512F__)
    const Part s = a.v[0] + a.v[1];
    return (s[0] + s[2]) + (s[1] + s[3]);
#elif defined(PARSIMON_VECTOR_EXTENSIONS)
    const __m512d all = (__m512d)a.v[0];
    const __m256d s = _mm256_add_pd(_mm512_maskz_extractf64x4_pd(0xf, all, 0),
                                    _mm512_maskz_extractf64x4_pd(0xf, all, 1));
    return (s[0] + s[2]) + (s[1] + s[3]);
#else
    double v[lanes];
    store(v, a);
    return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
#endif
}

namespace constants {
constexpr double log2e = 0x1.71547652b82fep+0;
// 21 trailing zero bits, so that n * ln2_high is exact for |n| < 2^21.
constexpr double ln2_high = 0x1.62e42fee00000p-1;
constexpr double ln2_low = 0x1.a39ef35793c76p-33;
// Adding this constant leaves the nearest integer in the low bits of the mantissa.
constexpr double round_to_integer = 0x1.8p52;
}  // namespace constants

// exp(x) for x <= 0, to about one ulp. exp(0) is exactly 1. Results below the smallest normal
// number (x < -708.39) are 0. With x = n ln 2 + r and |r| <= ln 2 / 2, exp(r) is a Taylor sum up to
// r^13, with an error of 4e-18. Even and odd powers are summed in parallel.
PARSIMON_INLINE Pack exponential(const Pack& argument) {
    using namespace constants;
    // An argument of -infinity would give infinity - infinity below.
    const Pack x = maximum(argument, broadcast(-800.0));
    const Pack shifted = fma(x, broadcast(log2e), broadcast(round_to_integer));
    const Pack n = shifted - broadcast(round_to_integer);
    const Pack r = fma(n, broadcast(-ln2_low), fma(n, broadcast(-ln2_high), x));
    const Pack q = r * r;
    Pack even = broadcast(1.0 / 479001600.0);
    even = fma(even, q, broadcast(1.0 / 3628800.0));
    even = fma(even, q, broadcast(1.0 / 40320.0));
    even = fma(even, q, broadcast(1.0 / 720.0));
    even = fma(even, q, broadcast(1.0 / 24.0));
    even = fma(even, q, broadcast(0.5));
    even = fma(even, q, broadcast(1.0));
    Pack odd = broadcast(1.0 / 6227020800.0);
    odd = fma(odd, q, broadcast(1.0 / 39916800.0));
    odd = fma(odd, q, broadcast(1.0 / 362880.0));
    odd = fma(odd, q, broadcast(1.0 / 5040.0));
    odd = fma(odd, q, broadcast(1.0 / 120.0));
    odd = fma(odd, q, broadcast(1.0 / 6.0));
    odd = fma(odd, q, broadcast(1.0));
    const Pack p = fma(odd, r, even);
    Pack result;
    for (std::size_t i = 0; i < parts; ++i) {
        // The low bits of `shifted` are n. Add n to the exponent.
        const Bits scaled = one::bits(p.v[i]) + (one::bits(shifted.v[i]) << 52);
        result.v[i] = one::where_at_least(x.v[i], -708.39, one::from_bits(scaled));
    }
    return result;
}

// log(x) for normal x >= 1. With x = 2^e m and m in [sqrt(1/2), sqrt(2)), log m = 2 atanh(s) where
// s = (m - 1)/(m + 1).
PARSIMON_INLINE Pack logarithm(const Pack& x) {
    using namespace constants;
    Pack m, e;
    for (std::size_t i = 0; i < parts; ++i) {
        const Bits b = one::bits(x.v[i]);
        // Subtracting the bits of sqrt(1/2) makes the exponent field change at sqrt(1/2) 2^e
        // instead of 2^e. Since x >= 1, e >= 0.
        const Bits n = (b - 0x3fe6a09e667f3bcdULL) >> 52;
        m.v[i] = one::from_bits(b - (n << 52));
        // 2^52 with an integer n < 2^52 in its low bits is 2^52 + n.
        e.v[i] = one::from_bits(n | one::bits(one::broadcast(0x1p52))) - one::broadcast(0x1p52);
    }
    const Pack s = (m - broadcast(1.0)) / (m + broadcast(1.0));
    const Pack q = s * s;
    Pack p = broadcast(1.0 / 23.0);
    for (int k = 21; k >= 1; k -= 2) p = fma(p, q, broadcast(1.0 / k));
    return fma(e, broadcast(ln2_high), fma(e, broadcast(ln2_low), broadcast(2.0) * s * p));
}

}  // namespace parsimon::simd::PARSIMON_ISA
