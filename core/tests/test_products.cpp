// Squared distances by inner products, in every table of loops.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string_view>
#include <vector>

#include "check.hpp"
#include "points.hpp"
#include "simd/loops.hpp"

namespace parsimon::simd::plain {
extern const Loops table;
}

namespace {

using namespace parsimon;

std::vector<const simd::Loops*> tables() {
    std::size_t n = 0;
    const simd::Loops* const* all = simd::all_loops(n);
    std::vector<const simd::Loops*> result(all, all + n);
    result.push_back(&simd::plain::table);
    return result;
}

const simd::Shape shape = {{0.3, 1.7, 3.0}};

// Distances by products: rows with zeros, near copies, and points far from the origin.
TEST(products_are_as_accurate_as_differences_and_blocks_equal_rows) {
    std::mt19937 rng(2);
    std::normal_distribution<double> normal;
    for (const double offset : {0.0, 3.0, 1e5})
        for (const std::size_t d : {32u, 33u, 300u}) {
            const std::size_t m = 29, n = 77, stride = simd::padded(m);
            std::vector<double> x(n * d), c(m * d), out(n * stride), single(stride);
            const double scale = 1.0 / std::sqrt(double(d));
            for (double& v : c) v = offset + scale * normal(rng);
            for (std::size_t r = 0; r < n; ++r)
                for (std::size_t f = 0; f < d; ++f) {
                    double& v = x[r * d + f];
                    v = r % 3 == 0 && f % 4 != r % 4 ? 0.0 : offset + scale * normal(rng);
                    if (r % 7 == 1)  // near a centre, the nearer the larger r
                        v = c[r % m * d + f] + std::pow(10.0, -double(r) / 6) * scale * normal(rng);
                    if (r == 50) v = c[5 * d + f];
                }
            Points points(d);
            for (std::size_t j = 0; j < m; ++j) points.append(c.data() + j * d);
            for (const auto* table : tables())
                for (const auto& leaf : table->leaves) {
                    if (leaf.name != std::string_view("gaussian")) continue;
                    leaf.evaluate({x.data(), n, d}, points.panels(), d, shape,
                                  {out.data(), stride});
                    for (std::size_t r = 0; r < n; ++r) {
                        leaf.evaluate({x.data() + r * d, 1, d}, points.panels(), d, shape,
                                      {single.data(), stride});
                        CHECK(std::memcmp(single.data(), out.data() + r * stride,
                                          m * sizeof(double)) == 0);
                        for (std::size_t j = 0; j < m; ++j) {
                            long double square = 0.0L;
                            for (std::size_t f = 0; f < d; ++f) {
                                const long double gap =
                                    (long double)x[r * d + f] - (long double)c[j * d + f];
                                square += gap * gap;
                            }
                            const double value = out[r * stride + j],
                                         expected = std::exp(double(-0.3L * square));
                            CHECK_NEAR(value, expected, 4e-12);
                            // 1 - k(x, c) keeps its digits where x is near c.
                            if (square < 1e-5L)
                                CHECK_NEAR(1.0 - value, double(0.3L * square),
                                           1e-5 * double(square) + 3e-16);
                        }
                    }
                    CHECK(out[50 * stride + 5] == 1.0);
                }
        }
}

// Products in single precision: within their bound, in double where that would be too large.
TEST(single_products_keep_their_bound_and_blocks_equal_rows) {
    std::mt19937 rng(3);
    std::normal_distribution<double> normal;
    for (const double offset : {0.0, 0.3, 1e4, 1e30})
        for (const std::size_t d : {32u, 127u, 300u}) {
            const std::size_t m = 53, n = 77, stride = simd::padded(m);
            std::vector<double> x(n * d), c(m * d), out(n * stride), other(stride), fine(stride);
            const double scale = 2.0 / std::sqrt(double(d));
            const auto rounded = [](double v) { return double(static_cast<float>(v)); };
            for (double& v : c) v = rounded(offset + scale * normal(rng));
            for (std::size_t r = 0; r < n; ++r)
                for (std::size_t f = 0; f < d; ++f) {
                    double v = r % 3 == 0 && f % 4 != r % 4 ? 0.0 : offset + scale * normal(rng);
                    if (r % 7 == 1)  // near a centre, the nearer the larger r
                        v = c[r % m * d + f] +
                            std::pow(10.0, -double(r) / 12) * scale * normal(rng);
                    x[r * d + f] = rounded(r == 50 ? c[5 * d + f] : v);
                }
            Points points(d, 0, true);
            for (std::size_t j = 0; j < m; ++j) points.append(c.data() + j * d);
            simd::Panels coarse = points.panels();
            coarse.coarse = true;
            for (const auto* table : tables())
                for (const auto& leaf : table->leaves) {
                    if (leaf.name != std::string_view("gaussian")) continue;
                    double largest = 0.0;
                    leaf.evaluate({x.data(), n, d}, coarse, d, shape, {out.data(), stride});
                    for (std::size_t r = 0; r < n; ++r) {
                        const simd::Rows row{x.data() + r * d, 1, d};
                        leaf.evaluate(row, coarse, d, shape, {other.data(), stride});
                        CHECK(std::memcmp(other.data(), out.data() + r * stride,
                                          m * sizeof(double)) == 0);
                        leaf.evaluate(row, points.panels(), d, shape, {fine.data(), stride});
                        for (std::size_t j = 0; j < m; ++j) {
                            const double change = std::fabs(out[r * stride + j] - fine[j]);
                            CHECK(change <= 0x1p-13 * fine[j]);
                            // 1 - k(x, c) keeps digits where x is near c.
                            CHECK(change <= 2e-3 * (1.0 - fine[j]));
                            largest = std::max(largest, change);
                        }
                    }
                    CHECK(out[50 * stride + 5] == 1.0);
                    CHECK((largest > 0.0) == (offset < 1.0));
                    CHECK(largest < 3e-6);
                }
        }
}

}  // namespace
