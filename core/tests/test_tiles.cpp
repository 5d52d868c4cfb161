// Loops over several vectors give the bits of loops over one.
#include <algorithm>
#include <random>
#include <vector>

#include "check.hpp"
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

TEST(products_of_several_vectors_are_those_of_two) {
    std::mt19937 rng(6);
    std::normal_distribution<double> normal;
    for (const std::size_t count : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 11u})
        for (const std::size_t n : {1u, 7u, 8u, 9u, 16u, 24u, 31u}) {
            const std::size_t x_stride = n + 3, y_stride = n + 1, out_stride = count + 2;
            std::vector<double> x(count * x_stride), y(count * y_stride);
            for (double& v : x) v = normal(rng);
            for (double& v : y) v = normal(rng);
            for (const simd::Loops* loops : tables()) {
                std::vector<double> out(count * out_stride, -7.0);
                loops->products(x.data(), x_stride, y.data(), y_stride, count, n, out.data(),
                                out_stride);
                for (std::size_t k = 0; k < count; ++k) {
                    for (std::size_t l = 0; l <= k; ++l) {
                        const double *u = x.data() + k * x_stride, *v = y.data() + l * y_stride,
                                     found = out[k * out_stride + l];
                        double alone = 0.0;
                        loops->products(u, n, v, n, 1, n, &alone, 1);
                        CHECK(found == alone);
                        CHECK_NEAR(found, loops->dot(u, v, n), 1e-13);
                        if (n % 8 == 0) CHECK(found == loops->dot(u, v, n));
                    }
                    for (std::size_t l = count; l < out_stride; ++l)  // nothing is written there
                        CHECK(out[k * out_stride + l] == -7.0);
                }
            }
        }
}

TEST(products_of_one_vector_with_several_are_dots) {
    std::mt19937 rng(7);
    std::normal_distribution<double> normal;
    for (const std::size_t count : {0u, 1u, 2u, 4u, 5u, 13u})
        for (std::size_t n = 0; n < 70; ++n) {
            const std::size_t stride = n + 2;
            std::vector<double> x(n), y(count * stride), out(count + 1, -7.0);
            for (double& v : x) v = normal(rng);
            for (double& v : y) v = normal(rng);
            for (const simd::Loops* loops : tables()) {
                loops->dot_each(x.data(), y.data(), count, stride, n, out.data());
                for (std::size_t k = 0; k < count; ++k)
                    CHECK(out[k] == loops->dot(x.data(), y.data() + k * stride, n));
                CHECK(out[count] == -7.0);
            }
        }
}

TEST(symmetric_products_of_several_vectors_are_those_of_one) {
    std::mt19937 rng(8);
    std::normal_distribution<double> normal;
    for (const std::size_t m : {1u, 7u, 8u, 9u, 30u}) {
        const std::size_t stride = simd::padded(m) + 8, count = 7;
        std::vector<double> x(count * stride), T(simd::row_start(m), 0.0);
        for (double& v : x) v = normal(rng);
        for (std::size_t i = 0; i < m; ++i)
            for (std::size_t j = 0; j <= i; ++j) T[simd::row_start(i) + j] = normal(rng);
        for (const simd::Loops* loops : tables()) {
            std::vector<double> together(count * stride, 0.0);
            loops->symmetric(T.data(), m, x.data(), count, stride, together.data());
            for (std::size_t c = 0; c < count; ++c) {
                std::vector<double> alone(stride, 0.0);
                loops->symmetric(T.data(), m, x.data() + c * stride, 1, stride, alone.data());
                CHECK(std::equal(alone.begin(), alone.begin() + static_cast<std::ptrdiff_t>(m),
                                 together.begin() + static_cast<std::ptrdiff_t>(c * stride)));
            }
        }
    }
}

TEST(symmetric_products_of_many_vectors_are_those_of_few) {
    std::mt19937 rng(9);
    std::normal_distribution<double> normal;
    for (const std::size_t m : {1u, 7u, 8u, 9u, 23u, 30u, 64u, 145u}) {
        const std::size_t x_stride = m, y_stride = simd::padded(m) + 8, count = 19;
        std::vector<double> x(count * x_stride), T(simd::row_start(simd::padded(m)), 7.0);
        for (double& v : x) v = normal(rng);
        for (std::size_t i = 0; i < m; ++i) {
            double* row = T.data() + simd::row_start(i);
            std::fill(row, row + simd::padded(i + 1), 0.0);
            for (std::size_t j = 0; j <= i; ++j) row[j] = normal(rng);
        }
        for (const simd::Loops* loops : tables()) {
            std::vector<double> y(count * y_stride, -7.0);
            loops->symmetric_products(T.data(), m, x.data(), x_stride, count, y.data(), y_stride);
            for (std::size_t c = 0; c < count; ++c) {
                const double *own = x.data() + c * x_stride, *found = y.data() + c * y_stride;
                std::vector<double> alone(y_stride), padded(y_stride), few(y_stride, 0.0);
                std::copy_n(own, m, padded.begin());
                loops->symmetric_products(T.data(), m, own, m, 1, alone.data(), y_stride);
                loops->symmetric(T.data(), m, padded.data(), 1, y_stride, few.data());
                for (std::size_t i = 0; i < m; ++i) {
                    CHECK(found[i] == alone[i]);
                    CHECK_NEAR(found[i], few[i], 1e-11);
                }
                CHECK(found[simd::padded(m)] == -7.0);
            }
        }
    }
}

TEST(loops_over_two_vectors_leave_the_rest_alone) {
    std::mt19937 rng(10);
    std::normal_distribution<double> normal;
    for (const std::size_t n : {0u, 1u, 7u, 8u, 9u, 16u, 31u})
        for (const simd::Loops* loops : tables()) {
            std::vector<double> x(n + 1), y(n + 1), w(n + 1), z(n + 1), out(n + 1, -7.0);
            for (auto* v : {&x, &y, &w, &z})
                for (double& e : *v) e = normal(rng);
            const double square = loops->combine_two(0.3, x.data(), -2.0, y.data(), out.data(), n);
            double sum = 0.0, squares[2], before = 0.0, after = 0.0;
            for (std::size_t i = 0; i < n; ++i) {
                CHECK_NEAR(out[i], 0.3 * x[i] - 2.0 * y[i], 1e-14);
                sum += out[i] * out[i];
            }
            CHECK(out[n] == -7.0);
            CHECK_NEAR(square, sum, 1e-12);
            std::vector<double> u = y, v = z;
            loops->step(-0.7, x.data(), u.data(), w.data(), v.data(), n, squares);
            for (std::size_t i = 0; i < n; ++i) {
                CHECK_NEAR(u[i], y[i] - 0.7 * x[i], 1e-14);
                CHECK_NEAR(v[i], z[i] - 0.7 * w[i], 1e-14);
                before += y[i] * y[i];
                after += u[i] * u[i];
            }
            CHECK(u[n] == y[n] && v[n] == z[n]);
            CHECK_NEAR(squares[0], before, 1e-12);
            CHECK_NEAR(squares[1], after, 1e-12);
        }
}

TEST(squares_are_summed_in_the_order_of_the_rows) {
    std::mt19937 rng(11);
    std::normal_distribution<double> normal;
    for (const std::size_t count : {0u, 1u, 3u, 4u, 5u, 9u})
        for (const std::size_t n : {0u, 1u, 7u, 8u, 9u, 31u}) {
            const std::size_t stride = n + 2;
            std::vector<double> W(count * stride + 1);
            for (double& v : W) v = normal(rng);
            for (const simd::Loops* loops : tables()) {
                std::vector<double> sums(n + 1, -7.0);
                loops->sum_squares(W.data(), count, stride, n, sums.data());
                for (std::size_t i = 0; i < n; ++i) {
                    double sum = 0.0;
                    for (std::size_t c = 0; c < count; ++c)
                        sum += W[c * stride + i] * W[c * stride + i];
                    CHECK(sums[i] == sum);
                }
                CHECK(sums[n] == -7.0);
                if (count == 0) continue;
                std::vector<double> changed = W, factors(count), x(n), found(n + 1, -7.0);
                for (auto* v : {&factors, &x})
                    for (double& e : *v) e = normal(rng);
                loops->scale_and_add(0.7, factors.data(), x.data(), changed.data(), count, stride,
                                     n, found.data());
                for (std::size_t c = 0; c < count; ++c)
                    for (std::size_t i = 0; i < stride; ++i) {
                        const double now = changed[c * stride + i], was = W[c * stride + i];
                        if (i < n)
                            CHECK_NEAR(now, 0.7 * was + factors[c] * x[i], 1e-14);
                        else
                            CHECK(now == was);
                    }
                loops->sum_squares(changed.data(), count, stride, n, sums.data());
                CHECK(sums == found);
            }
        }
}

TEST(scaling_is_a_product_of_each_number) {
    std::mt19937 rng(7);
    std::normal_distribution<double> normal;
    for (const std::size_t n : {0u, 1u, 7u, 8u, 9u, 16u, 31u})
        for (const simd::Loops* loops : tables()) {
            std::vector<double> x(n + 1), scaled;
            for (double& v : x) v = normal(rng);
            scaled = x;
            loops->scale(-0.3, scaled.data(), n);
            for (std::size_t i = 0; i < n; ++i) CHECK(scaled[i] == -0.3 * x[i]);
            CHECK(scaled[n] == x[n]);
        }
}

}  // namespace
