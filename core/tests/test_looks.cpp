// What points see of the dictionary, against the formulas.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "check.hpp"
#include "dictionary.hpp"

namespace {

using namespace parsimon;

double cubic(const double* a, const double* b) {
    return std::pow(a[0] * b[0] + a[1] * b[1] + 1.0, 3);
}

// Solves A x = b by elimination; A (n, n) is positive definite.
std::vector<double> solve(std::vector<double> A, std::vector<double> b) {
    const std::size_t n = b.size();
    for (std::size_t k = 0; k < n; ++k)
        for (std::size_t i = k + 1; i < n; ++i) {
            const double factor = A[i * n + k] / A[k * n + k];
            for (std::size_t j = k; j < n; ++j) A[i * n + j] -= factor * A[k * n + j];
            b[i] -= factor * b[k];
        }
    for (std::size_t k = n; k-- > 0;) {
        for (std::size_t j = k + 1; j < n; ++j) b[k] -= A[k * n + j] * b[j];
        b[k] /= A[k * n + k];
    }
    return b;
}

// What a look must hold of the dictionary of these points.
void check_look(const Look& look, const Dictionary& dictionary,
                const std::vector<std::vector<double>>& points, const double* x) {
    const std::size_t m = points.size();
    std::vector<double> K(m * m), h(m);
    double coherence = 0.0;
    for (std::size_t i = 0; i < m; ++i) {
        h[i] = cubic(points[i].data(), x);
        coherence = std::max(
            coherence,
            std::fabs(h[i]) / std::sqrt(cubic(x, x) * cubic(points[i].data(), points[i].data())));
        for (std::size_t j = 0; j < m; ++j)
            K[i * m + j] =
                cubic(points[i].data(), points[j].data()) + (i == j ? dictionary.ridge() : 0.0);
    }
    const auto a = solve(K, h);
    double residual = cubic(x, x);
    CHECK(look.n_known == m && look.projected == m);
    for (std::size_t i = 0; i < m; ++i) {
        CHECK_NEAR(look.h[i], h[i], 1e-13 * (1 + std::fabs(h[i])));
        CHECK_NEAR(look.a[i], a[i], 1e-8 * (1 + std::fabs(a[i])));
        CHECK_NEAR(dictionary.diagonal()[i], cubic(points[i].data(), points[i].data()),
                   1e-13 * dictionary.diagonal()[i]);
        residual -= a[i] * (h[i] + dictionary.ridge() * a[i]);
    }
    CHECK_NEAR(look.residual, residual, 1e-8 * cubic(x, x));
    CHECK_NEAR(dictionary.coherence(look), coherence, 1e-13);
}

TEST(looks_are_what_their_formulas_say) {
    // With norms other than 1, with and without a ridge; seen at once, or brought up to date after
    // others have entered.
    for (const double ridge : {0.0, 0.3}) {
        Dictionary dictionary(polynomial(1.0, 1.0, 3), 2, 1,
                              {.factor = true, .neighbours = false, .ridge = ridge});
        std::vector<std::vector<double>> points;
        Looks looks(6, dictionary);
        std::mt19937 rng(12);
        std::normal_distribution<double> normal;
        for (int round = 0; round < 40; ++round) {
            if (dictionary.make_room(6)) looks.fit(dictionary);
            std::vector<double> x(12);
            for (double& v : x) v = 0.8 * normal(rng);
            dictionary.look(looks, x.data(), 6);
            Look* all[6];
            for (std::size_t i = 0; i < 6; ++i) all[i] = &looks[i];
            if (round % 2) dictionary.project(all, 6);
            for (std::size_t i = 0; i < 6; ++i) {
                dictionary.extend(looks[i]);
                dictionary.project(looks[i]);
                check_look(looks[i], dictionary, points, x.data() + 2 * i);
                const double w = normal(rng);
                if (dictionary.size() >= 7 || !(looks[i].residual > 0.05 * looks[i].kxx) ||
                    !dictionary.accepts(looks[i]))
                    continue;
                dictionary.append(looks[i], &w);
                points.push_back({x[2 * i], x[2 * i + 1]});
                CHECK(looks[i].h[points.size() - 1] == looks[i].kxx);
            }
            CHECK(dictionary.drift() < 1e-9);
            if (ridge == 0.0 &&
                points.size() > 3) {  // removals are not for dictionaries with a ridge
                const std::size_t j = rng() % points.size();
                dictionary.drop(j);
                points.erase(points.begin() + static_cast<std::ptrdiff_t>(j));
            }
            if (round % 8 == 0) {
                dictionary.rebuild();
                CHECK(dictionary.drift() < 1e-9);
            }
        }
        CHECK(points.size() > 2);
    }
}

TEST(acceptance_is_a_matter_of_scale) {
    // k(x, y) = x'y, so that all numbers are at hand. Beside the centre (1, 0) the point (1e4, s)
    // has the coefficient 1e4 and the residual s^2: it is accepted if s^2 > floor (k(x, x) + 1e8),
    // which is about 40.
    const auto accepts = [](std::vector<double> centre, std::vector<double> x) {
        Dictionary dictionary(linear(), 2, 1, {.factor = true});
        dictionary.make_room(2);
        Looks looks(1, dictionary);
        dictionary.look(looks, centre.data(), 1);
        dictionary.append(looks[0], nullptr);
        dictionary.look(looks, x.data(), 1);
        return dictionary.accepts(looks[0]);
    };
    CHECK(accepts({1, 0}, {1e4, std::sqrt(50.0)}));
    CHECK(!accepts({1, 0}, {1e4, std::sqrt(30.0)}));
    CHECK(accepts({1, 0}, {0, 1e-49}));
    CHECK(!accepts({1, 0}, {0, 1e-51}));  // taken as zero
}

TEST(a_replacement_is_measured_against_the_others) {
    // The large centre is the one replaced: the bound on what replaces it is that of the small
    // ones.
    Dictionary dictionary(linear(), 3, 1, {.factor = true});
    dictionary.make_room(4);
    Looks looks(1, dictionary);
    const double centres[][3] = {{1e6, 0, 0}, {0, 1, 0}, {0, 0, 1}}, z[] = {1.0, 1.0, 0.0}, w = 2.0;
    for (const auto& centre : centres) {
        dictionary.look(looks, centre, 1);
        dictionary.append(looks[0], &w);
    }
    CHECK(dictionary.replace(0, z, &w, looks));
    double point[3];
    dictionary.centre(2, point);
    CHECK(point[0] == 1.0 && point[1] == 1.0 && dictionary.diagonal()[2] == 2.0 &&
          dictionary.drift() < 1e-12);
}

TEST(terms_that_are_added_become_centres_or_are_taken_over) {
    // Every point comes twice, so that half of the terms are taken over without any loss.
    Dictionary dictionary(gaussian(1.0), 2, 2, {.factor = true});
    Looks looks(5, dictionary);
    constexpr std::size_t n = 24;
    std::vector<double> x(2 * n), w(2 * n);
    std::mt19937 rng(13);
    std::normal_distribution<double> normal;
    for (std::size_t i = 0; i < 2 * n; ++i) {
        x[i] = i < n ? 2.0 * normal(rng) : x[i - n];
        w[i] = normal(rng);
    }
    bool entered[n];
    dictionary.add(x.data(), w.data(), n, looks, entered);
    CHECK(dictionary.size() == n / 2);
    for (std::size_t i = 0; i < n; ++i) CHECK(entered[i] == (i < n / 2));
    for (std::size_t i = 0; i < n / 2; ++i) {
        double f[2], expected[2] = {};
        dictionary.predict(x.data() + 2 * i, 1, f);
        for (std::size_t j = 0; j < n; ++j)
            for (std::size_t c = 0; c < 2; ++c)
                expected[c] +=
                    w[2 * j + c] *
                    std::exp(-(x[2 * i] - x[2 * j]) * (x[2 * i] - x[2 * j]) -
                             (x[2 * i + 1] - x[2 * j + 1]) * (x[2 * i + 1] - x[2 * j + 1]));
        for (std::size_t c = 0; c < 2; ++c) CHECK_NEAR(f[c], expected[c], 1e-9);
    }
}

TEST(normalized_kernels_do_not_mind_tiny_points) {
    for (const double scale :
         {1.0, 1e-78, 1e-90, 1e90}) {  // products of their norms vanish, or are beyond all numbers
        Dictionary dictionary(normalized(linear()), 2, 1, {});
        dictionary.make_room(1);
        Looks looks(1, dictionary);
        const double centre[] = {scale, 0.0}, x[] = {3.0 * scale, 4.0 * scale};
        dictionary.look(looks, centre, 1);
        dictionary.append(looks[0], nullptr);
        dictionary.look(looks, x, 1);
        CHECK_NEAR(looks[0].h[0], 0.6, 1e-15);
    }
}

TEST(kernels_of_kernels_keep_their_values_apart) {
    // Each normalised kernel keeps a value with every point, beside those of the others.
    const auto kernel =
        sum(normalized(polynomial(1.0, 1.0, 2)),
            product(normalized(sum(linear(), constant(0.3))), normalized(linear())));
    const auto value = [](const double* a, const double* b) {
        const auto dot = [](const double* p, const double* q) { return p[0] * q[0] + p[1] * q[1]; };
        const auto normal = [&](auto k) {
            return k(dot(a, b)) / std::sqrt(k(dot(a, a)) * k(dot(b, b)));
        };
        return normal([](double s) { return (s + 1.0) * (s + 1.0); }) +
               normal([](double s) { return s + 0.3; }) * normal([](double s) { return s; });
    };
    Dictionary dictionary(kernel, 2, 1, {});
    Looks looks(2, dictionary);
    std::mt19937 rng(14);
    std::normal_distribution<double> normal;
    std::vector<double> points;
    for (std::size_t i = 0; i < 11; ++i) {
        if (dictionary.make_room(1)) looks.fit(dictionary);
        const double x[] = {normal(rng), normal(rng), 2.0 * normal(rng), normal(rng)};
        dictionary.look(looks, x, 2);
        for (std::size_t r = 0; r < 2; ++r) {
            CHECK_NEAR(looks[r].kxx, 2.0, 1e-14);
            for (std::size_t j = 0; j < i; ++j)
                CHECK_NEAR(looks[r].h[j], value(x + 2 * r, points.data() + 2 * j), 1e-13);
        }
        dictionary.append(looks[0], nullptr);
        points.insert(points.end(), x, x + 2);
    }
}

TEST(kernels_know_whether_their_norm_is_one) {
    CHECK(gaussian(1.0)->unit_diagonal() && constant(1.0)->unit_diagonal() &&
          product(gaussian(1.0), laplacian(1.0))->unit_diagonal());
    CHECK(!constant(2.0)->unit_diagonal() && !sum(gaussian(1.0), laplacian(1.0))->unit_diagonal() &&
          !linear()->unit_diagonal());
    CHECK(!product(gaussian(1.0), linear())->unit_diagonal() &&
          single_precision(gaussian(1.0))->unit_diagonal());
    // A normalised kernel is 0, and no other number, where the kernel inside vanishes.
    Dictionary dictionary(normalized(linear()), 1, 1, {});
    dictionary.make_room(2);
    Looks looks(2, dictionary);
    const double x[] = {0.0, 3.0};
    dictionary.look(looks, x, 2);
    CHECK(looks[0].kxx == 0.0 && looks[1].kxx == 1.0);
    dictionary.append(looks[1], nullptr);
    dictionary.look(looks, x, 2);
    CHECK(looks[0].h[0] == 0.0 && looks[1].h[0] == 1.0);
}

}  // namespace
