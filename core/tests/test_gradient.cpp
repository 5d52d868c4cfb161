// Derivatives against central differences, for every table of loops, and blocks against rows.
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "check.hpp"
#include "dictionary.hpp"
#include "gradient.hpp"
#include "input.hpp"

namespace parsimon::simd::plain {
extern const Loops table;
}

namespace {

using namespace parsimon;

std::vector<double> normal_numbers(std::size_t n, unsigned seed) {
    std::mt19937 rng(seed);
    std::normal_distribution<double> normal;
    std::vector<double> result(n);
    for (double& v : result) v = normal(rng);
    return result;
}

Points in_panels(const std::vector<double>& c, std::size_t d) {
    Points points(d);
    for (std::size_t j = 0; j < c.size() / d; ++j) points.append(c.data() + j * d);
    return points;
}

// The derivative of the sum of a term by feature f.
double term_of(simd::Term term, double x, double c) {
    if (term == simd::Term::squared) return 2.0 * (x - c);
    if (term == simd::Term::absolute) return (x > c) - (x < c);
    return c;
}

TEST(slopes_and_their_sums_match_formulas_in_every_table) {
    const simd::Shape shape = {{0.3, 1.7, 3.0}};
    std::size_t n_tables = 0;
    const simd::Loops* const* all = simd::all_loops(n_tables);
    std::vector<const simd::Loops*> tables(all, all + n_tables);
    tables.push_back(&simd::plain::table);
    const std::size_t n = 7;
    for (const std::size_t d : {1u, 3u, 6u})
        for (const std::size_t m : {1u, 8u, 21u}) {
            auto x = normal_numbers(n * d, 1);
            const auto c = normal_numbers(m * d, 2);
            x[0] = c[0];
            const Points points = in_panels(c, d);
            const simd::Panels panels = points.panels();
            const std::size_t width = simd::padded(m);
            for (const auto* table : tables)
                for (const simd::Leaf& leaf : table->leaves) {
                    CHECK(leaf.differentiate != nullptr);
                    std::vector<double> values(n * width), slopes(n * width), expected(n * width);
                    leaf.differentiate({x.data(), n, d}, panels, d, shape, {values.data(), width},
                                       {slopes.data(), width});
                    leaf.evaluate({x.data(), n, d}, panels, d, shape, {expected.data(), width});
                    CHECK(std::memcmp(values.data(), expected.data(), n * width * 8) == 0);
                    // The slope by differences of the last feature, where it is not flat there.
                    const double h = 1e-6;
                    const std::size_t last = d - 1;
                    std::vector<double> moved[2];
                    for (const int side : {0, 1}) {
                        auto y = x;
                        for (std::size_t r = 0; r < n; ++r) y[r * d + last] += side ? h : -h;
                        moved[side].resize(n * width);
                        leaf.evaluate({y.data(), n, d}, panels, d, shape,
                                      {moved[side].data(), width});
                    }
                    for (std::size_t r = 1; r < n; ++r)
                        for (std::size_t j = 0; j < m; ++j) {
                            const std::size_t at = r * width + j;
                            CHECK_NEAR(
                                slopes[at] * term_of(leaf.term, x[r * d + last], c[j * d + last]),
                                (moved[1][at] - moved[0][at]) / (2 * h),
                                1e-8 * (1 + std::fabs(values[at])));
                        }
                    // Their sums.
                    for (std::size_t r = 0; r < n; ++r)
                        for (std::size_t j = m; j < width; ++j) slopes[r * width + j] = 0.0;
                    std::vector<double> g(n * d, 1.0), row(d, 1.0);
                    const auto accumulate = table->accumulate[index(leaf.term)];
                    accumulate({x.data(), n, d}, panels, d, {slopes.data(), width}, {g.data(), d});
                    for (std::size_t r = 0; r < n; ++r) {
                        for (std::size_t f = 0; f < d; ++f) {
                            double sum = 1.0, size = 1.0;
                            for (std::size_t j = 0; j < m; ++j) {
                                const double part = slopes[r * width + j] *
                                                    term_of(leaf.term, x[r * d + f], c[j * d + f]);
                                sum += part;
                                size += std::fabs(part);
                            }
                            CHECK_NEAR(g[r * d + f], sum, 1e-14 * size);
                        }
                        std::fill(row.begin(), row.end(), 1.0);
                        accumulate({x.data() + r * d, 1, d}, panels, d,
                                   {slopes.data() + r * width, width}, {row.data(), d});
                        CHECK(std::memcmp(row.data(), g.data() + r * d, d * 8) == 0);
                    }
                }
        }
}

TEST(the_gradient_of_a_dictionary_is_that_of_its_outputs) {
    const std::size_t d = 3, m = 13, n = 70;  // more rows than a tile
    for (const KernelPtr& kernel :
         {gaussian(0.3), sum(laplacian(0.5), product(constant(2.0), polynomial(0.2, 1.0, 3))),
          product(normalized(polynomial(0.2, 1.0, 2)), normalized(polynomial(0.5, 1.0, 3))),
          normalized(sum(polynomial(0.5, 1.0, 2), gaussian(0.1))), constant(1.0)}) {
        Dictionary dictionary(kernel, d, 3, {});
        Looks looks(1, dictionary);
        const auto c = normal_numbers(m * d, 3), w = normal_numbers(m * 3, 4);
        for (std::size_t j = 0; j < m; ++j) {
            dictionary.make_room(1);
            looks.fit(dictionary);
            dictionary.look(looks, c.data() + j * d, 1);
            dictionary.append(looks[0], w.data() + 3 * j);
        }
        const auto x = normal_numbers(n * d, 5);
        std::vector<double> g(n * 2 * d), row(2 * d), low(n * 2), high(n * 2);
        dictionary.gradient(x.data(), n, 1, 2, g.data());
        for (std::size_t i = 0; i < n; ++i) {
            dictionary.gradient(x.data() + i * d, 1, 1, 2, row.data());
            CHECK(std::memcmp(row.data(), g.data() + i * 2 * d, 2 * d * 8) == 0);
        }
        const double h = 1e-5;
        for (std::size_t f = 0; f < d; ++f) {
            auto left = x, right = x;
            for (std::size_t i = 0; i < n; ++i) {
                left[i * d + f] -= h;
                right[i * d + f] += h;
            }
            dictionary.predict(left.data(), n, 1, 2, low.data());
            dictionary.predict(right.data(), n, 1, 2, high.data());
            for (std::size_t i = 0; i < 2 * n; ++i)
                CHECK_NEAR(g[i * d + f], (high[i] - low[i]) / (2 * h),
                           1e-7 * (1 + std::fabs(high[i])));
        }
    }
}

TEST(a_model_without_centres_has_gradient_zero) {
    const Dictionary dictionary(gaussian(1.0), 2, 1, {});
    const double x[] = {0.1, 0.2};
    double g[] = {7.0, 7.0};
    dictionary.gradient(x, 1, 0, 1, g);
    CHECK(g[0] == 0.0 && g[1] == 0.0);
}

class WithoutDerivative final : public Kernel {
public:
    void rows(const simd::Rows&, const simd::Panels&, std::size_t, std::size_t, const simd::Block&,
              Scratch&) const override {}
    void diagonal(const simd::Rows&, std::size_t, std::size_t, double*, Scratch&) const override {}
    bool unit_diagonal() const override { return true; }
};

TEST(a_kernel_without_a_derivative_is_refused_also_within_others) {
    const auto none = std::make_shared<WithoutDerivative>();
    const double x[] = {0.1};
    double g[1];
    for (const KernelPtr& kernel :
         {KernelPtr(none), sum(gaussian(1.0), none), product(none, linear()), normalized(none)}) {
        CHECK(!kernel->terms().known());
        const Dictionary dictionary(kernel, 1, 1, {});
        bool refused = false;
        try {
            dictionary.gradient(x, 1, 0, 1, g);
        } catch (const InputError&) {
            refused = true;
        }
        CHECK(refused);
    }
}

}  // namespace
