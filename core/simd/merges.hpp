// The best place for a merge of two centres, for many pairs at a time. Included only by loops.cpp,
// once per instruction set. loops.hpp describes the public function.
#pragma once

#include <cstddef>

#include "simd/loops.hpp"
#include "simd/pack.hpp"

namespace parsimon::simd::PARSIMON_ISA {
namespace {

// `yes` in the lanes with a < b, `no` in the others.
PARSIMON_INLINE Pack where_less(const Pack& a, const Pack& b, const Pack& yes, const Pack& no) {
    Pack r;
    for (std::size_t i = 0; i < parts; ++i) r.v[i] = a.v[i] < b.v[i] ? yes.v[i] : no.v[i];
    return r;
}

// Eight pairs.
struct Merges {
    Pack uu, twice_uv, vv, log_k;

    PARSIMON_INLINE Pack kept(const Pack& h) const {
        const Pack g = broadcast(1.0) - h;
        const Pack x = exponential(g * g * log_k), y = exponential(h * h * log_k);
        return uu * x * x + twice_uv * x * y + vv * y * y;
    }
};

// Golden section search for Q times eight pairs, so that one need not wait for the other. If there
// are two maxima, one near each end, it finds only one of them. So the ends are compared too.
template <std::size_t Q>
PARSIMON_INLINE void search(const Merges (&pairs)[Q], Pack (&h)[Q], Pack (&kept)[Q]) {
    constexpr int steps = 22;
    const Pack ratio = broadcast(0.6180339887498949), zero = broadcast(0.0), unit = broadcast(1.0);
    Pack low[Q], high[Q], a[Q], b[Q], at_a[Q], at_b[Q];
    for (std::size_t q = 0; q < Q; ++q) {
        low[q] = zero;
        high[q] = unit;
        a[q] = unit - ratio;
        b[q] = ratio;
        at_a[q] = pairs[q].kept(a[q]);
        at_b[q] = pairs[q].kept(b[q]);
    }
    for (int i = 0; i < steps; ++i)
        for (std::size_t q = 0; q < Q; ++q) {
            const auto choose = [&, left = at_a[q], right = at_b[q]](const Pack& yes,
                                                                     const Pack& no) {
                return where_less(left, right, yes, no);
            };
            low[q] = choose(a[q], low[q]);
            high[q] = choose(high[q], b[q]);
            const Pack length = ratio * (high[q] - low[q]);
            const Pack next = choose(low[q] + length, high[q] - length),
                       at_next = pairs[q].kept(next);
            const Pack stays = choose(b[q], a[q]), at_stays = choose(at_b[q], at_a[q]);
            a[q] = choose(stays, next);
            b[q] = choose(next, stays);
            const Pack at = choose(at_stays, at_next);
            at_b[q] = choose(at_next, at_stays);
            at_a[q] = at;
        }
    for (std::size_t q = 0; q < Q; ++q) {
        h[q] = broadcast(0.5) * (low[q] + high[q]);
        kept[q] = pairs[q].kept(h[q]);
        for (const Pack& end : {zero, unit}) {
            const Pack at = pairs[q].kept(end);
            h[q] = where_less(kept[q], at, end, h[q]);
            kept[q] = where_less(kept[q], at, at, kept[q]);
        }
    }
}

template <std::size_t Q>
PARSIMON_INLINE void merge_packs(double uu, const double* uv, const double* vv, const double* k,
                                 double* h, double* kept) {
    const Pack least = broadcast(1e-30), unit = broadcast(1.0), zero = broadcast(0.0);
    Merges pairs[Q];
    Pack place[Q], most[Q];
    for (std::size_t q = 0; q < Q; ++q) {
        const Pack inverse = maximum(unit / maximum(load(k + q * lanes), least), unit);
        pairs[q] = {broadcast(uu), broadcast(2.0) * load(uv + q * lanes), load(vv + q * lanes),
                    zero - logarithm(inverse)};
    }
    search<Q>(pairs, place, most);
    for (std::size_t q = 0; q < Q; ++q) {
        // If the centres are too far apart, x is as good as dropped.
        const Pack value = load(k + q * lanes);
        store(h + q * lanes, where_less(least, value, place[q], zero));
        store(kept + q * lanes, where_less(least, value, most[q], pairs[q].vv));
    }
}

void merges(double uu, const double* uv, const double* vv, const double* k, std::size_t n,
            double* h, double* kept) {
    std::size_t j = 0;
    for (; j + 2 * lanes <= padded(n); j += 2 * lanes)
        merge_packs<2>(uu, uv + j, vv + j, k + j, h + j, kept + j);
    for (; j < n; j += lanes) merge_packs<1>(uu, uv + j, vv + j, k + j, h + j, kept + j);
}

}  // namespace
}  // namespace parsimon::simd::PARSIMON_ISA
