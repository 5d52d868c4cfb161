// Inner products of points in single precision, summed in single precision.
//
// A register holds twice as many floats as doubles, so products take half the time. Sums over
// `span` features are in single precision and are then added in double precision. With v = 2^-24,
// the error of x'c is at most (span + 1) v ||x|| ||c||, as long as no sum overflows: it does not
// grow with the number of features. Included only by loops.cpp, once per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "simd/kernel_rows.hpp"
#include "simd/loops.hpp"
#include "simd/pack.hpp"

namespace parsimon::simd::PARSIMON_ISA {
namespace {

#ifdef PARSIMON_VECTOR_EXTENSIONS
constexpr std::size_t float_bytes = part_bytes < 32 ? part_bytes : 32;
typedef float Floats __attribute__((vector_size(float_bytes)));
#else
using Floats = float;
#endif

// Eight floats.
struct Eight {
    static constexpr std::size_t parts = lanes * sizeof(float) / sizeof(Floats);
    Floats v[parts];
};

PARSIMON_INLINE Floats all_floats(float x) {
#ifdef PARSIMON_VECTOR_EXTENSIONS
    return x - Floats{};
#else
    return x;
#endif
}
PARSIMON_INLINE Eight load_eight(const float* p) {
    Eight r;
    std::memcpy(&r, p, sizeof r);
    return r;
}
// a b + c, rounded once if the target can fuse.
PARSIMON_INLINE Floats fma_floats(Floats a, Floats b, Floats c) {
#if defined(PARSIMON_VECTOR_EXTENSIONS) && defined(__FMA__)
    return (Floats)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif defined(PARSIMON_VECTOR_EXTENSIONS) && defined(__aarch64__)
    return (Floats)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#else
    return a * b + c;
#endif
}

// Sums of products in single precision, as `products` (kernel_products.hpp) takes them.
struct SingleSums {
    static constexpr std::size_t span = 128;
#if defined(PARSIMON_VECTOR_EXTENSIONS) && defined(__AVX512F__)
    static constexpr std::size_t wide = 8, panel_tile = 3;
#elif defined(PARSIMON_VECTOR_EXTENSIONS) && (defined(__AVX__) || defined(__aarch64__))
    static constexpr std::size_t wide = 4, panel_tile = 2;
#else
    static constexpr std::size_t wide = 4, panel_tile = 1;
#endif

    // The rows of a tile, feature by feature. Features that are zero in all of them are left out.
    struct Features {
        std::size_t count = 0;
        std::uint16_t at[span];     // counted from the first feature of the span
        float values[span * wide];  // (count, n_rows)

        void find(const Rows& x, std::size_t row, std::size_t n_rows, std::size_t first,
                  std::size_t last) {
            count = 0;
            for (std::size_t f = first; f < last; ++f) {
                bool some = false;
                for (std::size_t r = 0; r < n_rows; ++r) {
                    const auto v = static_cast<float>(x.data[(row + r) * x.stride + f]);
                    values[count * n_rows + r] = v;
                    some |= v != 0.0f;
                }
                at[count] = static_cast<std::uint16_t>(f - first);
                count += some;
            }
        }
    };

    // Adds the products of R rows and Q panels over a span to `out`, or begins there.
    template <std::size_t R, std::size_t Q>
    static PARSIMON_INLINE void add(const Rows&, std::size_t row, const Stored<float>& centres,
                                    std::size_t panel, std::size_t first, const Features& features,
                                    const Block& out) {
        const std::size_t apart = centres.depth * lanes;
        const float* centre = centres.data + panel * apart + first * lanes;
        Eight acc[R][Q];
        PARSIMON_UNROLL
        for (std::size_t r = 0; r < R; ++r) PARSIMON_UNROLL
        for (std::size_t q = 0; q < Q; ++q)
            for (Floats& part : acc[r][q].v) part = all_floats(0.0f);
        for (std::size_t i = 0; i < features.count; ++i) {
            const float* c = centre + features.at[i] * lanes;
            const float* x = features.values + i * R;
            Eight b[Q];
            PARSIMON_UNROLL
            for (std::size_t q = 0; q < Q; ++q) b[q] = load_eight(c + q * apart);
            PARSIMON_UNROLL
            for (std::size_t r = 0; r < R; ++r) {
                const Floats a = all_floats(x[r]);
                PARSIMON_UNROLL
                for (std::size_t q = 0; q < Q; ++q)
                    for (std::size_t p = 0; p < Eight::parts; ++p)
                        acc[r][q].v[p] = fma_floats(a, b[q].v[p], acc[r][q].v[p]);
            }
        }
        double* place = out.data + row * out.stride + panel * lanes;
        PARSIMON_UNROLL
        for (std::size_t r = 0; r < R; ++r) PARSIMON_UNROLL
        for (std::size_t q = 0; q < Q; ++q) {
            float sums[lanes];
            std::memcpy(sums, &acc[r][q], sizeof sums);
            double* to = place + r * out.stride + q * lanes;
            store(to, first == 0 ? load(sums) : load(to) + load(sums));
        }
    }
};

}  // namespace
}  // namespace parsimon::simd::PARSIMON_ISA
