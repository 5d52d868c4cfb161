// Atoms over stored samples: what is kept of them against what their coefficients say, and a block
// against its rows.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "atoms.hpp"
#include "check.hpp"
#include "sparse_coder.hpp"

namespace {

using namespace parsimon;

constexpr std::size_t d = 3, K = 6;

AtomLearner make(bool in_parameters, double coherence, double step_size) {
    std::mt19937 rng(7);
    std::normal_distribution<double> normal;
    std::vector<double> first(5 * K);
    for (double& v : first) v = 0.2 * normal(rng);
    return AtomLearner(polynomial(0.5, 1.0, 3), d,
                       {.n_atoms = K,
                        .lambda = 0.05,
                        .penalty = 0.1,
                        .in_parameters = in_parameters,
                        .step_size = step_size,
                        .power = 1.0,
                        .delay = 1000.0,
                        .hold = 2000,
                        .coherence = coherence,
                        .tolerance = -1.0,
                        .stores = true,
                        .budget = 11,
                        .precision = 1e-12},
                       first);
}

std::vector<double> samples(std::size_t n) {
    std::mt19937 rng(3);
    std::normal_distribution<double> normal;
    std::vector<double> x(n * d);
    for (double& v : x) v = normal(rng);
    return x;
}

// The largest difference between the Gram matrix that is kept and that of the coefficients.
double error_of_gram(const AtomLearner& atoms) {
    const Dictionary& stored = atoms.dictionary();
    const std::size_t M = stored.size();
    std::vector<double> x(M * d), H(M * K);
    for (std::size_t j = 0; j < M; ++j) stored.centre(j, x.data() + j * d);
    stored.predict(x.data(), M, H.data());
    double largest = 0.0;
    for (std::size_t k = 0; k < K; ++k)
        for (std::size_t l = 0; l < K; ++l) {
            double sum = 0.0;
            for (std::size_t j = 0; j < M; ++j) sum += stored.weights(k)[j] * H[j * K + l];
            largest = std::max(largest, std::fabs(sum - atoms.gram()[k * atoms.stride() + l]));
        }
    return largest;
}

TEST(the_gram_matrix_of_the_atoms_is_kept_up_to_date) {
    const auto x = samples(700);
    for (const bool in_parameters : {false, true})
        for (const double coherence : {0.95, std::numeric_limits<double>::infinity()}) {
            AtomLearner atoms = make(in_parameters, coherence, 0.001);
            for (std::size_t i = 0; i < 700; ++i) {
                atoms.learn(x.data() + i * d, 1, nullptr);
                if (i % 50 == 0) CHECK(error_of_gram(atoms) < 1e-9);
            }
            CHECK(error_of_gram(atoms) < 1e-9);
            CHECK(atoms.dictionary().size() == 11 && atoms.seen() == 700);
        }
}

TEST(a_block_of_atoms_equals_its_rows_and_codes_are_optimal) {
    const auto x = samples(300);
    for (const bool in_parameters : {false, true}) {
        AtomLearner block = make(in_parameters, 0.95, 0.001),
                    rows = make(in_parameters, 0.95, 0.001);
        std::vector<double> costs(300), codes(300 * K), errors(300), b(300 * K);
        block.learn(x.data(), 300, costs.data());
        for (std::size_t i = 0; i < 300; ++i) rows.learn(x.data() + i * d, 1, nullptr);
        for (std::size_t k = 0; k < K; ++k)
            for (std::size_t j = 0; j < block.dictionary().size(); ++j)
                CHECK(block.dictionary().weights(k)[j] == rows.dictionary().weights(k)[j]);
        block.code(x.data(), 300, codes.data(), errors.data());
        block.dictionary().predict(x.data(), 300, b.data());
        for (std::size_t i = 0; i < 300; ++i)
            for (std::size_t k = 0; k < K; ++k) {
                double c = b[i * K + k];
                for (std::size_t l = 0; l < K; ++l)
                    c -= block.gram()[k * block.stride() + l] * codes[i * K + l];
                const double own = codes[i * K + k];
                CHECK(std::fabs(c) <= 0.05 + 1e-7);
                if (own != 0.0) CHECK(std::fabs(c - std::copysign(0.05, own)) <= 1e-7);
            }
    }
}

TEST(steps_that_overshoot_are_cut) {
    const auto x = samples(200);
    for (const bool in_parameters : {false, true}) {
        AtomLearner atoms = make(in_parameters, std::numeric_limits<double>::infinity(), 1e6);
        atoms.learn(x.data(), 200, nullptr);
        for (std::size_t k = 0; k < K; ++k)
            for (std::size_t j = 0; j < atoms.dictionary().size(); ++j)
                CHECK(std::isfinite(atoms.dictionary().weights(k)[j]));
    }
}

// Atoms over samples of the linear kernel, stored whatever they are, with the rows of Omega given.
AtomRules plain_rules(std::size_t n_atoms, bool in_parameters) {
    return {.n_atoms = n_atoms,
            .lambda = 0.01,
            .penalty = 0.1,
            .in_parameters = in_parameters,
            .step_size = 0.5,
            .power = 0.0,
            .delay = 1.0,
            .hold = 1,
            .coherence = std::numeric_limits<double>::infinity(),
            .tolerance = -1.0,
            .stores = true,
            .budget = 4,
            .precision = 1e-12};
}

TEST(digits_lost_with_a_large_sample_come_back) {
    // The first sample has a kernel value of 1e24 and a small row of Omega: it is the greater part
    // of G, and the first to go.
    const double large = 1e12;
    for (const bool in_parameters : {false, true}) {
        const std::size_t n = 4;
        std::vector<double> first(n * K);
        std::mt19937 rng(5);
        std::normal_distribution<double> normal;
        for (std::size_t i = 0; i < first.size(); ++i)
            first[i] = (i < K ? 1e5 / large : 1.0) * normal(rng);
        AtomLearner atoms(linear(), d, plain_rules(K, in_parameters), first);
        const double x[] = {large, large, -large, 0.3, 1.0, 0.5, -0.7, 0.2, 0.4, 0.1, -1.0, 0.6},
                     y[] = {1.0, -0.5, 0.3, 0.2, 0.8, -0.4};
        atoms.learn(x, n, nullptr);
        CHECK(atoms.gram()[0] > 1e6);
        atoms.learn(y, 2, nullptr);
        CHECK(atoms.gram()[0] < 100.0);
        CHECK(error_of_gram(atoms) < 1e-13);
    }
}

TEST(what_is_as_coherent_as_the_threshold_is_not_stored) {
    // The coherence of (1, 0, 0) and (3, 4, 0) is 3 / 5.
    const double x[] = {1, 0, 0, 3, 4, 0};
    for (const double threshold : {0.6, std::nextafter(0.6, 1.0)}) {
        AtomRules rules = plain_rules(1, false);
        rules.coherence = threshold;
        AtomLearner atoms(linear(), d, rules, {1.0});
        atoms.learn(x, 2, nullptr);
        CHECK(atoms.learned() == (threshold > 0.6) &&
              atoms.dictionary().size() == 1 + atoms.learned());
    }
}

TEST(what_is_reconstructed_as_well_as_the_tolerance_is_not_learned) {
    const double x[] = {1, 0, 0, 0, 0, 0};  // the zero function is reconstructed without an error
    for (const double tolerance : {0.0, -1.0}) {
        AtomRules rules = plain_rules(1, true);
        rules.tolerance = tolerance;
        AtomLearner atoms(linear(), d, rules, {1.0});
        atoms.learn(x, 2, nullptr);
        CHECK(atoms.learned() == (tolerance < 0.0));
    }
}

TEST(costs_are_those_of_the_objective) {
    const auto x = samples(40);
    for (const bool in_parameters : {false, true}) {
        AtomLearner atoms = make(in_parameters, 0.95, 0.01);
        atoms.learn(x.data(), 20, nullptr);
        for (std::size_t i = 20; i < 40; ++i) {
            double codes[K], error = 0.0, cost = 0.0, expected = 0.0;
            atoms.code(x.data() + i * d, 1, codes, &error);
            for (std::size_t k = 0; k < K; ++k)
                expected +=
                    0.05 * std::fabs(codes[k]) + 0.05 * atoms.gram()[k * atoms.stride() + k];
            atoms.learn(x.data() + i * d, 1, &cost);
            CHECK_NEAR(cost, expected + 0.5 * error, 1e-10 * (1.0 + cost));
        }
    }
}

TEST(the_rate_is_held_after_a_while) {
    // What is held from sample 3 on is a constant rate, for the first five samples take no step.
    const auto x = samples(60);
    for (const bool in_parameters : {false, true}) {
        AtomRules falling = plain_rules(2, in_parameters), constant = falling;
        falling.power = 0.7;
        falling.delay = 2.0;
        falling.hold = 3;
        constant.step_size = falling.step_size * std::pow(1.0 + 3.0 / 2.0, -0.7);
        const std::vector<double> first = {0.3, -0.2, 0.1, 0.4, -0.3, 0.2, 0.2, 0.1};
        AtomLearner a(linear(), d, falling, first), b(linear(), d, constant, first);
        a.learn(x.data(), 60, nullptr);
        b.learn(x.data(), 60, nullptr);
        for (std::size_t k = 0; k < 2; ++k)
            for (std::size_t j = 0; j < a.dictionary().size(); ++j)
                CHECK(a.dictionary().weights(k)[j] == b.dictionary().weights(k)[j]);
        CHECK(a.learned() == 56);
    }
}

TEST(steps_to_numbers_beyond_all_use_are_not_taken) {
    // The code of (1, 1, 0) over an atom of norm `small` is 1 / small, and its square must be below
    // 1e100.
    for (const double small : {1e-40, 1e-60}) {
        AtomRules rules = plain_rules(1, false);
        rules.lambda = 0.0;
        AtomLearner atoms(linear(), d, rules, {small});
        const double x[] = {1, 0, 0, 1, 1, 0};
        atoms.learn(x, 2, nullptr);
        const bool taken = small == 1e-40;
        CHECK(atoms.dictionary().size() == (taken ? 2 : 1));
        if (!taken) CHECK(atoms.dictionary().weights(0)[0] == small);
    }
}

TEST(an_atom_that_is_zero_up_to_rounding_is_zero) {
    for (int i = 1; i < 20; ++i) {  // 3 x - (3 x)
        const double x[] = {0.1 * i,         0.2 * i,         -0.7 * i,
                            3.0 * (0.1 * i), 3.0 * (0.2 * i), 3.0 * (-0.7 * i)};
        AtomLearner atoms(linear(), d, plain_rules(2, false), {3.0, 1.0, -1.0, 1.0});
        atoms.learn(x, 2, nullptr);
        for (const std::size_t place : {std::size_t{0}, std::size_t{1}, atoms.stride()})
            CHECK(atoms.gram()[place] == 0.0);
        CHECK(atoms.gram()[atoms.stride() + 1] > 0.0);
    }
}

TEST(codes_of_many_rows_are_those_of_each) {
    const auto x = samples(600);
    AtomLearner atoms = make(false, 0.95, 0.001);
    atoms.learn(x.data(), 100, nullptr);
    std::vector<double> codes(600 * K), errors(600), one(K);
    atoms.code(x.data(), 600, codes.data(), errors.data());
    for (std::size_t i = 0; i < 600; ++i) {
        double error = 0.0;
        atoms.code(x.data() + i * d, 1, one.data(), &error);
        CHECK(std::equal(one.begin(), one.end(),
                         codes.begin() + static_cast<std::ptrdiff_t>(i * K)) &&
              error == errors[i]);
    }
}

TEST(an_atom_of_no_length_takes_no_part) {
    const std::size_t stride = simd::padded(2);
    std::vector<double> G(2 * stride, 0.0), b(stride, 0.0), alpha(stride, 0.0);
    G[0] = 1.0;
    G[stride + 1] = 1e-30;  // a length of 1e-15 beside 1
    b[0] = 0.5;
    b[1] = 1e-15;
    for (const double start : {0.0, 3.0}) {
        alpha[0] = 0.0;
        alpha[1] = start;
        SparseCoder coder;
        coder.code(G.data(), stride, 2, b.data(), 1.0, 0.0, alpha.data());
        CHECK(std::fabs(alpha[0] - 0.5) < 1e-12 && alpha[1] == 0.0);
    }
}

TEST(a_squared_error_is_not_negative_whatever_rounding_says) {
    const double G = 1.0, b = 1.0, energy = 1.0 - 1e-15;  // less than b^2 / G, by rounding
    double alpha = 0.0;
    SparseCoder coder;
    const auto cost = coder.code(&G, 1, 1, &b, energy, 0.0, &alpha);
    CHECK(cost.squared_error == 0.0 && alpha == 1.0);
}

}  // namespace
