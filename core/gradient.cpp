#include "gradient.hpp"

#include <algorithm>

#include "input.hpp"

namespace parsimon {
namespace {

// out[r, j] = w_j slopes[r, j], or 0 past the last centre.
void weigh(const double* slopes, const double* w, std::size_t rows, std::size_t m,
           std::size_t stride, double* out) {
    for (std::size_t r = 0; r < rows; ++r) {
        const double* slope = slopes + r * stride;
        double* product = out + r * stride;
        for (std::size_t j = 0; j < m; ++j) product[j] = w[j] * slope[j];
        std::fill(product + m, product + stride, 0.0);
    }
}

}  // namespace

void gradient(const Expansion& f, const double* x, std::size_t n, double* out) {
    constexpr std::size_t tile_bytes = 1 << 18;  // a tile stays in the second-level cache
    const Terms terms = f.kernel.terms();
    if (!terms.known()) refuse("this kernel has no derivative");
    const std::size_t d = f.centres.n_features, depth = d + f.centres.n_extras,
                      m = f.centres.points, C = f.n_outputs;
    std::fill_n(out, n * C * d, 0.0);
    if (m == 0) return;
    const std::size_t stride = simd::padded(m);
    const std::size_t tile =
        std::min(n, std::clamp<std::size_t>(tile_bytes / (stride * sizeof(double)) / 4 * 4, 16,
                                            simd::row_block));
    Scratch scratch;
    auto points = scratch.take(tile * depth);
    auto values = scratch.take(tile * stride);
    auto weighed = scratch.take(tile * stride);
    auto room = scratch.take(terms.count() * tile * stride);
    const Slopes slopes(terms, room.data(), tile * stride, stride);
    for (std::size_t first = 0; first < n; first += tile) {
        const std::size_t count = std::min(tile, n - first);
        annotate(f.kernel, x + first * d, count, d, depth, points.data(), scratch);
        const simd::Rows rows{points.data(), count, depth};
        f.kernel.differentiate(rows, f.centres, d, 0, {values.data(), stride}, slopes, scratch);
        for (std::size_t c = 0; c < C; ++c) {
            const double* w = f.weights + c * f.stride;
            double* place = out + (first * C + c) * d;
            for (std::size_t t = 0; t < simd::n_sums; ++t) {
                if (!slopes.of[t]) continue;
                weigh(slopes.of[t], w, count, m, stride, weighed.data());
                simd::loops().accumulate[t](rows, f.centres, d, {weighed.data(), stride},
                                            {place, C * d});
            }
            const double* own = slopes.of[index(simd::Term::own)];
            for (std::size_t r = 0; own && r < count; ++r)
                simd::loops().axpy(simd::loops().dot(own + r * stride, w, m),
                                   points.data() + r * depth, place + r * C * d, d);
        }
    }
}

}  // namespace parsimon
