// Every table of loops against plain formulas, and rows against blocks bit for bit.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
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

// Formulas of some kernels, with the parameters of `shape`. Python's tests have those of all.
const simd::Shape shape = {{0.3, 1.7, 3.0}};
struct Named {
    std::string_view name;
    double (*formula)(double r2, double r1, double xy);
};
const Named formulas[] = {
    {"gaussian", [](double r2, double, double) { return std::exp(-0.3 * r2); }},
    {"laplacian", [](double, double r1, double) { return std::exp(-0.3 * r1); }},
    {"matern32",
     [](double r2, double, double) {
         const double z = std::sqrt(6 * 0.3 * r2);
         return (1 + z) * std::exp(-z);
     }},
    {"matern52",
     [](double r2, double, double) {
         const double z = std::sqrt(10 * 0.3 * r2);
         return (1 + z + z * z / 3) * std::exp(-z);
     }},
    {"rational_quadratic",
     [](double r2, double, double) { return std::pow(1 + 0.3 * r2 / 1.7, -1.7); }},
    {"polynomial", [](double, double, double xy) { return std::pow(0.3 * xy + 1.7, 3); }},
    {"linear", [](double, double, double xy) { return xy; }},
};

TEST(every_formula_names_a_kernel_of_every_table) {
    for (const auto* table : tables())
        for (const auto& named : formulas)
            CHECK(std::any_of(table->leaves.begin(), table->leaves.end(),
                              [&](const auto& leaf) { return leaf.name == named.name; }));
}

TEST(kernels_match_formulas_and_blocks_equal_rows) {
    std::mt19937 rng(1);
    std::normal_distribution<double> normal;
    for (const std::size_t d :
         {1u, 3u, 17u, 1100u})  // the last takes more than one span of features
        for (const std::size_t m : {1u, 8u, 37u}) {
            const std::size_t n = 7;
            std::vector<double> x(n * d), c(m * d);
            for (double& v : x) v = normal(rng) / std::sqrt(double(d));
            for (double& v : c) v = normal(rng) / std::sqrt(double(d));
            Points points(d);
            for (std::size_t j = 0; j < m; ++j) points.append(c.data() + j * d);
            const std::size_t stride = simd::padded(m);
            for (const auto* table : tables())
                for (const simd::Leaf& leaf : table->leaves) {
                    const auto named =
                        std::find_if(std::begin(formulas), std::end(formulas),
                                     [&](const Named& n) { return n.name == leaf.name; });
                    std::vector<double> block(n * stride), row(stride);
                    leaf.evaluate({x.data(), n, d}, points.panels(), d, shape,
                                  {block.data(), stride});
                    for (std::size_t i = 0; i < n; ++i) {
                        leaf.evaluate({x.data() + i * d, 1, d}, points.panels(), d, shape,
                                      {row.data(), stride});
                        CHECK(std::memcmp(row.data(), block.data() + i * stride,
                                          m * sizeof(double)) == 0);
                        for (std::size_t j = 0; j < m && named != std::end(formulas); ++j) {
                            double r2 = 0, r1 = 0, xy = 0;
                            for (std::size_t f = 0; f < d; ++f) {
                                const double a = x[i * d + f], b = c[j * d + f];
                                r2 += (a - b) * (a - b);
                                r1 += std::fabs(a - b);
                                xy += a * b;
                            }
                            const double expected = named->formula(r2, r1, xy);
                            CHECK_NEAR(row[j], expected, 1e-13 * (1 + std::fabs(expected)));
                        }
                    }
                }
        }
}

TEST(singles_equal_doubles_of_the_same_values) {
    std::mt19937 rng(6);
    std::normal_distribution<double> normal;
    const float special[] = {0.0f, -0.0f, 1e-45f, -1e-38f, 3.4028235e38f, -3.4028235e38f};
    for (const std::size_t d : {1u, 5u, 1500u})
        for (const std::size_t m : {3u, 8u, 45u}) {
            const std::size_t n = 6, stride = simd::padded(m);
            std::vector<double> x(n * d), c(m * d);
            for (double& v : x) v = normal(rng) / std::sqrt(double(d));
            for (double& v : c)
                v = static_cast<float>(rng() % 50 ? normal(rng) / std::sqrt(double(d))
                                                  : special[rng() % 6]);
            Points doubles(d), singles(d, 0, true);
            for (std::size_t j = 0; j < m; ++j) {
                doubles.append(c.data() + j * d);
                singles.append(c.data() + j * d);
            }
            for (const auto* table : tables()) {
                const auto same = [&](simd::Evaluate evaluate) {
                    std::vector<double> expected(n * stride), found(n * stride);
                    evaluate({x.data(), n, d}, doubles.panels(), d, shape,
                             {expected.data(), stride});
                    evaluate({x.data(), n, d}, singles.panels(), d, shape, {found.data(), stride});
                    return std::memcmp(found.data(), expected.data(),
                                       found.size() * sizeof(double)) == 0;
                };
                for (const simd::Leaf& leaf : table->leaves) CHECK(same(leaf.evaluate));
                CHECK(same(table->squared_distance));
            }
        }
}

const simd::Shape ones = {{1.0, 1.0, 1.0, 1.0}};

TEST(extreme_distances) {
    // From 0 to overflow: values stay in [0, 1], never NaN, exactly 1 at distance 0.
    const double scales[] = {0.0,  5e-324, 1e-300, 1e-160, 1e-8,  1.0,    26.0,
                             27.0, 40.0,   1e8,    1e154,  1e200, 1.7e308};
    for (const auto* table : tables())
        for (const simd::Leaf& leaf : table->leaves)
            for (const double scale : scales) {
                if (!leaf.of_distance) continue;
                Points points(1);
                points.append(&scale);
                double out[8];
                const double origin = -0.0;
                leaf.evaluate({&origin, 1, 1}, points.panels(), 1, ones, {out, 8});
                CHECK(out[0] >= 0.0 && out[0] <= 1.0);
                if (scale < 1e-150) CHECK(out[0] == 1.0);
                leaf.evaluate({&scale, 1, 1}, points.panels(), 1, ones, {out, 8});
                CHECK(out[0] == 1.0);
            }
}

TEST(exponential_is_accurate_over_its_range) {
    for (const auto* table : tables()) {
        const simd::Leaf& laplacian = *std::find_if(
            table->leaves.begin(), table->leaves.end(),
            [](const auto& leaf) { return leaf.name == std::string_view("laplacian"); });
        double worst = 0.0;
        for (double x = 0.0; x < 707.0; x += 0.0371) {
            Points points(1);
            points.append(&x);
            double out[8];
            const double origin = 0.0;
            laplacian.evaluate({&origin, 1, 1}, points.panels(), 1, ones, {out, 8});
            worst = std::max(worst, std::fabs(out[0] / std::exp(-x) - 1.0));
        }
        CHECK(worst < 5e-16);
    }
}

TEST(symmetric_products_and_outer_products) {
    std::mt19937 rng(4);
    std::normal_distribution<double> normal;
    for (const std::size_t m : {1u, 7u, 8u, 9u, 30u}) {
        const std::size_t stride = simd::padded(m) + 8, count = 3;
        std::vector<double> x(count * stride), a(simd::padded(m));
        for (double& v : x) v = normal(rng);
        for (double& v : a) v = normal(rng);
        for (const simd::Loops* loops : tables()) {
            std::vector<double> T(simd::row_start(m), 0.0), M(m * m, 0.0), y(count * stride, 0.0);
            for (const double scale : {1.0, 0.5}) {
                loops->add_outer(T.data(), m, scale, a.data());
                for (std::size_t i = 0; i < m; ++i)
                    for (std::size_t j = 0; j < m; ++j) M[i * m + j] += scale * a[i] * a[j];
                for (double& v : a) v = -2.0 * v + 0.3;
            }
            loops->symmetric(T.data(), m, x.data(), count, stride, y.data());
            for (std::size_t c = 0; c < count; ++c)
                for (std::size_t i = 0; i < m; ++i) {
                    double sum = 0.0;
                    for (std::size_t j = 0; j < m; ++j) sum += M[i * m + j] * x[c * stride + j];
                    CHECK(std::fabs(y[c * stride + i] - sum) <=
                          1e-11 * (1.0 + std::fabs(sum)) * double(m));
                }
        }
    }
}

TEST(vector_loops) {
    std::mt19937 rng(2);
    std::normal_distribution<double> normal;
    for (const auto* table : tables())
        for (std::size_t n = 0; n < 70; ++n) {
            std::vector<double> x(n), y(n);
            for (auto* v : {&x, &y})
                for (double& e : *v) e = normal(rng);
            double dot = 0, largest = 0;
            for (std::size_t i = 0; i < n; ++i) {
                dot += x[i] * y[i];
                largest = std::max(largest, std::fabs(x[i]));
            }
            CHECK_NEAR(table->dot(x.data(), y.data(), n), dot, 1e-13 * (n + 1));
            CHECK(table->max_abs(x.data(), n) == largest);
            auto sum = y;
            table->axpy(0.5, x.data(), sum.data(), n);
            for (std::size_t i = 0; i < n; ++i)
                CHECK_NEAR(sum[i], y[i] + 0.5 * x[i], 1e-15 * (1 + std::fabs(sum[i])));
            for (std::size_t count = 1; count <= 4; ++count) {
                auto carried = y, expected = y;
                std::vector<std::vector<double>> rows(count, x);
                std::vector<simd::Turn> turns;
                for (auto& row : rows) turns.push_back({0.6, 0.8, x.data(), row.data()});
                table->turn(turns.data(), count, carried.data(), n);
                for (const auto& row : rows)
                    for (std::size_t i = 0; i < n; ++i) {
                        CHECK_NEAR(row[i], 0.6 * x[i] - 0.8 * expected[i], 1e-14);
                        expected[i] = 0.8 * x[i] + 0.6 * expected[i];
                    }
                for (std::size_t i = 0; i < n; ++i) CHECK_NEAR(carried[i], expected[i], 1e-14);
            }
        }
}

TEST(the_fastest_table_that_can_run_is_chosen) {
    std::size_t n = 0;
    const simd::Loops* const* all = simd::all_loops(n);
    CHECK(&simd::loops() == all[n - 1]);
#if defined(__x86_64__) && defined(__linux__)
    const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi2");
    CHECK(n > (v3 ? 1 : 0) && (v3 || n == 1));
#endif
}

// What a merge at h keeps (loops.hpp).
double kept(double uu, double uv, double vv, double k, double h) {
    const double x = std::pow(k, (1 - h) * (1 - h)), y = std::pow(k, h * h);
    return uu * x * x + 2 * uv * x * y + vv * y * y;
}

TEST(merges_are_the_best_or_the_better_of_two_maxima) {
    std::mt19937 rng(8);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    for (const auto* table : tables())
        for (const std::size_t n : {1u, 7u, 8u, 16u, 21u, 40u}) {
            const std::size_t room = simd::padded(n);
            const double u[] = {0.3 * uniform(rng), 0.3 * uniform(rng)};
            const double uu = u[0] * u[0] + u[1] * u[1];
            std::vector<double> uv(room), vv(room), k(room), h(room), most(room);
            for (std::size_t j = 0; j < n; ++j) {
                const double v[] = {uniform(rng), uniform(rng)};
                uv[j] = u[0] * v[0] + u[1] * v[1];
                vv[j] = v[0] * v[0] + v[1] * v[1];
                k[j] = j % 5 == 0   ? 1.0
                       : j % 5 == 1 ? 0.0
                       : j % 5 == 2 ? 1e-31
                                    : std::exp(-std::pow(10.0, 3 * uniform(rng) - 1.2));
            }
            table->merges(uu, uv.data(), vv.data(), k.data(), n, h.data(), most.data());
            for (std::size_t j = 0; j < n; ++j) {
                const double size = uu + vv[j];
                if (!(k[j] > 1e-30)) {
                    CHECK(h[j] == 0.0 && most[j] == vv[j]);
                    continue;
                }
                CHECK(h[j] >= 0.0 && h[j] <= 1.0);
                CHECK_NEAR(most[j], kept(uu, uv[j], vv[j], k[j], h[j]), 1e-14 * size);
                double near = 0.0, ends = 0.0;  // the best nearby, and of the ends
                for (int i = -20; i <= 20; ++i)
                    near = std::max(
                        near, kept(uu, uv[j], vv[j], k[j], std::clamp(h[j] + 1e-3 * i, 0.0, 1.0)));
                for (const double end : {0.0, 1.0})
                    ends = std::max(ends, kept(uu, uv[j], vv[j], k[j], end));
                CHECK(most[j] >= near - 1e-8 * size);
                CHECK(most[j] >= ends - 1e-14 * size);
            }
        }
}

}  // namespace
