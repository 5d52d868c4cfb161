// Transposition, by tiles of eight packs. Included only by loops.cpp, once per instruction set.
#pragma once

#include <cstddef>

#include "simd/loops.hpp"
#include "simd/pack.hpp"

namespace parsimon::simd::PARSIMON_ISA {
namespace {

// Lane i of pack j becomes lane j of pack i.
PARSIMON_INLINE void transpose(Pack (&a)[lanes]) {
#if defined(PARSIMON_VECTOR_EXTENSIONS) && defined(__AVX512F__)
    __m512d b[lanes], c[lanes];
    PARSIMON_UNROLL
    for (std::size_t r = 0; r < lanes; r += 2) {  // pairs of lanes
        const __m512d even = (__m512d)a[r].v[0], odd = (__m512d)a[r + 1].v[0];
        b[r] = _mm512_maskz_unpacklo_pd(0xff, even, odd);
        b[r + 1] = _mm512_maskz_unpackhi_pd(0xff, even, odd);
    }
    PARSIMON_UNROLL
    for (std::size_t r = 0; r < lanes; r += 4) PARSIMON_UNROLL
    for (std::size_t s = 0; s < 2; ++s) {  // pairs of pairs
        c[r + s] = _mm512_maskz_shuffle_f64x2(0xff, b[r + s], b[r + 2 + s], 0x88);
        c[r + 2 + s] = _mm512_maskz_shuffle_f64x2(0xff, b[r + s], b[r + 2 + s], 0xdd);
    }
    PARSIMON_UNROLL
    for (std::size_t r = 0; r < lanes / 2; ++r) {  // halves
        a[r].v[0] = (Part)_mm512_maskz_shuffle_f64x2(0xff, c[r], c[r + 4], 0x88);
        a[r + 4].v[0] = (Part)_mm512_maskz_shuffle_f64x2(0xff, c[r], c[r + 4], 0xdd);
    }
#else
    double numbers[lanes][lanes], turned[lanes][lanes];
    for (std::size_t r = 0; r < lanes; ++r) store(numbers[r], a[r]);
    for (std::size_t r = 0; r < lanes; ++r)
        for (std::size_t c = 0; c < lanes; ++c) turned[c][r] = numbers[r][c];
    for (std::size_t r = 0; r < lanes; ++r) a[r] = load(turned[r]);
#endif
}

// out_i = sum(a_i), with the same bits. Changes a.
PARSIMON_INLINE void eight_sums(Pack (&a)[lanes], double* out) {
    if constexpr (parts == 1) {
        transpose(a);
        store(out, ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7])));
    } else {
        for (std::size_t i = 0; i < lanes; ++i) out[i] = sum(a[i]);
    }
}

void lay_across(const double* const* v, std::size_t count, std::size_t first, std::size_t last,
                double* out) {
    const std::size_t width = padded(count), whole = first + (last - first) / lanes * lanes;
    for (std::size_t k = 0; k < count; k += lanes) {
        const std::size_t n = count - k < lanes ? count - k : lanes;
        for (std::size_t j = first; j < whole; j += lanes) {
            Pack a[lanes];
            for (std::size_t l = 0; l < lanes; ++l)
                a[l] = l < n ? load(v[k + l] + j) : broadcast(0.0);
            transpose(a);
            for (std::size_t l = 0; l < lanes; ++l) store(out + (j + l) * width + k, a[l]);
        }
        for (std::size_t j = whole; j < last; ++j)
            for (std::size_t l = 0; l < lanes; ++l)
                out[j * width + k + l] = l < n ? v[k + l][j] : 0.0;
    }
}

void lay_along(const double* rows, std::size_t n_rows, std::size_t count, double* const* v,
               std::size_t first) {
    const std::size_t whole = n_rows / lanes * lanes;
    for (std::size_t k = 0; k < count; k += lanes) {
        const std::size_t n = count - k < lanes ? count - k : lanes;
        for (std::size_t r = 0; r < whole; r += lanes) {
            Pack a[lanes];
            for (std::size_t l = 0; l < lanes; ++l) a[l] = load(rows + (r + l) * most_vectors + k);
            transpose(a);
            for (std::size_t l = 0; l < n; ++l) store(v[k + l] + first + r, a[l]);
        }
        for (std::size_t r = whole; r < n_rows; ++r)
            for (std::size_t l = 0; l < n; ++l)
                v[k + l][first + r] = rows[r * most_vectors + k + l];
    }
}

}  // namespace
}  // namespace parsimon::simd::PARSIMON_ISA
