// Centres that are projected out together.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "check.hpp"
#include "dictionary.hpp"

namespace {

using namespace parsimon;

TEST(pruning_together_equals_one_by_one) {
    for (const std::size_t budget : {0, 3, 17, 29, 30}) {
        Dictionary together(parsimon::gaussian(1.0), 2, 3, {.factor = true, .neighbours = false});
        Dictionary singly(parsimon::gaussian(1.0), 2, 3, {.factor = true, .neighbours = true});
        for (Dictionary* dictionary : {&together, &singly}) {
            std::mt19937 rng(4);
            std::normal_distribution<double> normal;
            Looks looks(1, *dictionary);
            while (dictionary->size() < 30) {
                const double x[2] = {2 * normal(rng), 2 * normal(rng)},
                             w[3] = {normal(rng), normal(rng), normal(rng)};
                if (dictionary->make_room(1)) looks.fit(*dictionary);
                dictionary->look(looks, x, 1);
                if (dictionary->accepts(looks[0])) dictionary->append(looks[0], w);
            }
        }
        const double paid = together.project_out_cheapest(0.0, budget),
                     alone = singly.project_out_cheapest(0.0, budget);
        CHECK(together.size() == budget && singly.size() == budget);
        CHECK_NEAR(paid, alone, 1e-9 * (1 + alone));
        for (std::size_t j = 0; j < budget; ++j)
            for (std::size_t c = 0; c < 3; ++c)
                CHECK_NEAR(together.weights(c)[j], singly.weights(c)[j], 1e-8);
    }
}

TEST(pruning_near_copies_keeps_its_digits) {
    // Two bunches of four near copies. Without all of them nothing is left of f, so the costs add
    // up to its squared norm. What is left of a column of K^-1 after its near copies have gone has
    // lost 7 digits: those that go last must be taken from the factor again.
    constexpr std::size_t m = 8, d = 4;
    Dictionary dictionary(gaussian(1.0), d, 1, {.factor = true});
    Looks looks(1, dictionary);
    std::mt19937 rng(3);
    std::normal_distribution<double> normal;
    double x[m][d] = {}, w[m];
    for (std::size_t i = 0; i < m; ++i) {
        x[i][0] = i < 4 ? 0.0 : 2.0;
        x[i][i % 4] += 6e-4;
        w[i] = normal(rng);
        if (dictionary.make_room(1)) looks.fit(dictionary);
        dictionary.look(looks, x[i], 1);
        CHECK(dictionary.accepts(looks[0]));
        dictionary.append(looks[0], w + i);
    }
    double norm = 0.0;
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j < m; ++j) {
            double r2 = 0.0;
            for (std::size_t f = 0; f < d; ++f) r2 += (x[i][f] - x[j][f]) * (x[i][f] - x[j][f]);
            norm += w[i] * w[j] * std::exp(-r2);
        }
    CHECK_NEAR(dictionary.project_out_cheapest(0.0, 0), norm, 1e-12 * norm);
}

// A dictionary of n points on a line, 1 apart, with weights as given.
void spread(Dictionary& dictionary, Looks& looks, const std::vector<double>& weights) {
    for (const double w : weights) {
        if (dictionary.make_room(1)) looks.fit(dictionary);
        const double x = static_cast<double>(dictionary.size());
        dictionary.look(looks, &x, 1);
        dictionary.append(looks[0], &w);
    }
}

TEST(an_allowance_is_for_all_of_a_pruning) {
    // Far apart, each costs its squared weight: 0 and what adds up to the allowance may go, though
    // the others cost no more each.
    for (const bool neighbours : {false, true}) {
        Dictionary dictionary(gaussian(1e3), 1, 1, {.factor = true, .neighbours = neighbours});
        Looks looks(1, dictionary);
        spread(dictionary, looks, {1.0, 0.0, 1.0, 1.0, 1.0, 2.0, 0.0, 1.0});
        CHECK(dictionary.project_out_cheapest(0.0, 8) == 0.0);
        CHECK(dictionary.size() == 6);  // what costs nothing is within no allowance at all
        CHECK_NEAR(dictionary.project_out_cheapest(3.0, 8), 3.0, 1e-12);
        CHECK(dictionary.size() == 3);
        CHECK_NEAR(dictionary.project_out_cheapest(0.5, 1), 2.0,
                   1e-12);  // the budget asks for more
        double left = 0.0;
        dictionary.centre(0, &left);
        CHECK(dictionary.size() == 1 && left == 5.0 && dictionary.weights(0)[0] == 2.0);
    }
}

TEST(the_least_of_many_is_the_first_of_them) {
    Dictionary dictionary(gaussian(1.0), 1, 1, {});
    Looks looks(1, dictionary);
    std::vector<double> weights(700, 2.0);
    for (const std::size_t j : {650u, 300u, 301u}) weights[j] = 1.0;
    spread(dictionary, looks, weights);
    CHECK(dictionary.least([](std::size_t, double square) { return square; }) == 300);
}

}  // namespace
