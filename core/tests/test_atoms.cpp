// Atoms over stored samples: what is kept of them against what their coefficients say, and a block against its rows.
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "atoms.hpp"
#include "check.hpp"

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
        AtomLearner block = make(in_parameters, 0.95, 0.001), rows = make(in_parameters, 0.95, 0.001);
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
                for (std::size_t l = 0; l < K; ++l) c -= block.gram()[k * block.stride() + l] * codes[i * K + l];
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
            for (std::size_t j = 0; j < atoms.dictionary().size(); ++j) CHECK(std::isfinite(atoms.dictionary().weights(k)[j]));
    }
}

}  // namespace
