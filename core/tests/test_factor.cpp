// The triangular factor against dense matrices.
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "check.hpp"
#include "factor.hpp"

namespace {

using parsimon::TriangularFactor;
using Dense = std::vector<std::vector<double>>;

Dense dense(const TriangularFactor& factor) {
    const std::size_t m = factor.size();
    Dense P(m, std::vector<double>(m));
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t a = 0; a <= i; ++a)
            for (std::size_t b = 0; b <= i; ++b) P[a][b] += factor.row(i)[a] * factor.row(i)[b];
    return P;
}

void check_equal(const Dense& a, const Dense& b) {
    CHECK(a.size() == b.size());
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
        for (std::size_t j = 0; j < a.size(); ++j)
            CHECK_NEAR(a[i][j], b[i][j], 1e-11 * (1 + std::fabs(b[i][j])));
}

// P - P a a'P / (noise + a'P a), where P is scaled by d first.
Dense observed(Dense P, const std::vector<double>& a, double noise, const std::vector<double>& d) {
    const std::size_t m = P.size();
    std::vector<double> k(m);
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j < m; ++j) P[i][j] *= d[i] * d[j];
    double alpha = noise;
    for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < m; ++j) k[i] += P[i][j] * a[j];
        alpha += a[i] * k[i];
    }
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j < m; ++j) P[i][j] -= k[i] * k[j] / alpha;
    return P;
}

Dense without(const Dense& P, std::size_t j) {
    Dense result;
    for (std::size_t r = 0; r < P.size(); ++r) {
        if (r == j) continue;
        result.emplace_back();
        for (std::size_t c = 0; c < P.size(); ++c)
            if (c != j) result.back().push_back(P[r][c]);
    }
    return result;
}

TriangularFactor example(std::size_t m, std::mt19937& rng) {
    std::normal_distribution<double> normal;
    TriangularFactor factor;
    factor.reserve(m + 4);
    for (std::size_t i = 0; i < m; ++i) {
        std::vector<double> row(i);
        for (double& v : row) v = normal(rng);
        factor.append(0.5, row.data(), 0.5 + std::fabs(normal(rng)));
    }
    return factor;
}

TEST(absorb_is_a_noisy_observation) {
    std::mt19937 rng(7);
    std::normal_distribution<double> normal;
    for (std::size_t m = 1; m < 40; m += 3)
        for (const double noise : {1.0, 1e-3}) {
            TriangularFactor factor = example(m, rng);
            std::vector<double> a(m + 8), k(m + 8), d(m, 1.0);
            for (double& v : a) v = normal(rng);
            Dense expected = observed(dense(factor), a, noise, d);
            factor.absorb(a.data(), noise, 1.0, k.data());
            check_equal(dense(factor), expected);
            for (double& v : d) v = 1.1;
            expected = observed(expected, a, noise, d);
            factor.absorb(a.data(), noise, 1.1, k.data());
            check_equal(dense(factor), expected);
            for (std::size_t i = 0; i < m; ++i) CHECK(factor.row(i)[i] > 0.0);
        }
}

TEST(absorb_without_noise_leaves_nothing_of_what_was_seen) {
    std::mt19937 rng(17);
    std::normal_distribution<double> normal;
    for (const std::size_t m : {1u, 3u, 6u, 13u}) {
        TriangularFactor factor = example(m, rng);
        std::vector<double> a(m + 8), k(m + 8), ones(m, 1.0);
        for (double& v : a) v = normal(rng);
        a[0] = 0.0;  // the first row does not see it, if there are others
        if (m == 1) a[0] = 1.0;
        const Dense expected = observed(dense(factor), a, 0.0, ones);
        factor.absorb(a.data(), 0.0, 1.0, k.data());
        check_equal(dense(factor), expected);
        CHECK(factor.squared_norm(a.data()) < 1e-20);
    }
}

TEST(coordinates_leave) {
    std::mt19937 rng(8);
    for (std::size_t m = 2; m < 30; ++m)
        for (std::size_t j = 0; j < m; j += 1 + m / 5) {
            const TriangularFactor factor = example(m, rng);
            const Dense P = dense(factor);

            std::vector<double> unit(m), ones(m, 1.0);
            unit[j] = 1.0;
            TriangularFactor conditioned = factor;
            conditioned.remove(j);
            check_equal(dense(conditioned), without(observed(P, unit, 0.0, ones), j));
            for (std::size_t i = 0; i < m; ++i)
                CHECK_NEAR(conditioned.carry()[i] * conditioned.carry()[j], P[i][j],
                           1e-11 * (1 + std::fabs(P[i][j])));
        }
}

TEST(add_is_a_sum_with_an_outer_product) {
    std::mt19937 rng(18);
    std::normal_distribution<double> normal;
    for (std::size_t m = 1; m < 40; ++m) {
        TriangularFactor factor = example(m, rng);
        std::vector<double> q(m + 8);
        for (double& v : q) v = normal(rng);
        q[m / 2] = 0.0;
        Dense expected = dense(factor);
        for (std::size_t i = 0; i < m; ++i)
            for (std::size_t j = 0; j < m; ++j) expected[i][j] += q[i] * q[j];
        factor.add(q.data());
        check_equal(dense(factor), expected);
        for (std::size_t i = 0; i < m; ++i) CHECK(factor.row(i)[i] > 0.0);
    }
}

TEST(the_diagonal_follows_every_change) {
    std::mt19937 rng(9);
    std::normal_distribution<double> normal;
    TriangularFactor factor = example(17, rng);
    const auto check = [&] {
        const Dense P = dense(factor);
        for (std::size_t k = 0; k < factor.size(); ++k)
            CHECK_NEAR(factor.diagonal()[k], P[k][k], 1e-11 * P[k][k]);
    };
    check();
    std::vector<double> a(32), k(32);
    for (int change = 0; change < 500; ++change) {
        for (double& v : a) v = normal(rng);
        const std::size_t m = factor.size(), kind = rng() % 5;
        if (kind == 0 && m < 20) factor.append(0.5, a.data(), 0.5 + std::fabs(normal(rng)));
        if (kind == 1) factor.absorb(a.data(), change % 3 ? 1.0 : 1e-6, 1.01, k.data());
        if (kind == 2 && m > 8) factor.remove(rng() % m);
        if (kind == 3) factor.scale(1.02);
        if (kind == 4) factor.add(a.data());
        check();
    }
    factor.sum_diagonal();
    check();
}

TEST(several_conditioned_out_in_one_sweep) {
    std::mt19937 rng(9);
    for (std::size_t m = 2; m < 90; m += 1 + m / 9)
        for (std::size_t count = 1; count <= std::min(m, TriangularFactor::most_at_once); ++count) {
            TriangularFactor together = example(m, rng);
            TriangularFactor singly = together;
            std::vector<std::size_t> js(m);
            for (std::size_t i = 0; i < m; ++i) js[i] = i;
            std::shuffle(js.begin(), js.end(), rng);
            js.resize(count);
            std::sort(js.begin(), js.end());
            std::vector<double> work(count * parsimon::simd::padded(m));
            together.remove(js.data(), count, work.data());
            for (std::size_t k = count; k-- > 0;) singly.remove(js[k]);
            CHECK(together.size() == m - count);
            const Dense P = dense(together);
            for (std::size_t k = 0; k < together.size(); ++k)
                CHECK_NEAR(together.diagonal()[k], P[k][k], 1e-11 * P[k][k]);
            for (std::size_t i = 0; i < together.size(); ++i)
                for (std::size_t k = 0; k < parsimon::simd::padded(i + 1); ++k) {
                    CHECK_NEAR(together.row(i)[k], singly.row(i)[k], 1e-11);
                    if (k > i) CHECK(together.row(i)[k] == 0.0);
                }
        }
}

TEST(squared_norms_and_columns_are_those_of_the_matrix) {
    std::mt19937 rng(10);
    std::normal_distribution<double> normal;
    for (const std::size_t m : {1u, 7u, 8u, 9u, 40u}) {
        const TriangularFactor factor = example(m, rng);
        const Dense P = dense(factor);
        std::vector<double> v(parsimon::simd::padded(m));
        for (double& e : v) e = normal(rng);
        double expected = 0.0;
        for (std::size_t i = 0; i < m; ++i)
            for (std::size_t j = 0; j < m; ++j) expected += v[i] * P[i][j] * v[j];
        CHECK_NEAR(factor.squared_norm(v.data()), expected, 1e-11 * expected);
        const std::size_t js[] = {0, m / 2, m - 1};
        std::vector<double> room(3 * v.size()), out(v.size());
        const auto tiles = factor.columns(js, 3, room.data());
        for (std::size_t c = 0; c < 3; ++c) {
            factor.copy_vector(tiles, c, out.data());
            for (std::size_t i = 0; i < m; ++i)
                CHECK_NEAR(out[i], P[i][js[c]], 1e-11 * (1 + std::fabs(P[i][js[c]])));
        }
    }
}

}  // namespace
