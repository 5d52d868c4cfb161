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

TEST(products_of_several_vectors_are_dots) {
    std::mt19937 rng(6);
    std::normal_distribution<double> normal;
    for (const std::size_t count : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 11u})
        for (const std::size_t n : {1u, 7u, 8u, 9u, 16u, 24u, 31u}) {
            const std::size_t stride = n + 3, out_stride = count + 2;
            std::vector<double> x(count * stride), y(count * stride);
            for (double& v : x) v = normal(rng);
            for (double& v : y) v = normal(rng);
            for (const simd::Loops* loops : tables()) {
                std::vector<double> out(count * out_stride, -7.0);
                loops->products(x.data(), y.data(), count, stride, n, out.data(), out_stride);
                for (std::size_t k = 0; k < count; ++k) {
                    for (std::size_t l = 0; l <= k; ++l)
                        CHECK(out[k * out_stride + l] ==
                              loops->dot(x.data() + k * stride, y.data() + l * stride, n));
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
