// What a removal costs, and which centre goes.
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "check.hpp"
#include "dual_ascent.hpp"
#include "learner.hpp"
#include "learners.hpp"
#include "rls.hpp"

namespace {

using namespace parsimon;
using namespace parsimon::tests;

// f as a list of terms, and squared distances by the kernel's formula.
struct Function {
    Rows centres, weights;

    explicit Function(const Dictionary& dictionary) {
        for (std::size_t j = 0; j < dictionary.size(); ++j) {
            centres.emplace_back(dictionary.n_features());
            dictionary.centre(j, centres.back().data());
            weights.emplace_back();
            for (std::size_t c = 0; c < dictionary.n_outputs(); ++c)
                weights.back().push_back(dictionary.weights(c)[j]);
        }
    }
    template <class Formula>
    double distance(const Function& other, Formula k) const {  // squared
        Function both = *this;
        for (std::size_t j = 0; j < other.centres.size(); ++j) {
            both.centres.push_back(other.centres[j]);
            both.weights.push_back(other.weights[j]);
            for (double& w : both.weights.back()) w = -w;
        }
        double total = 0.0;
        for (std::size_t i = 0; i < both.centres.size(); ++i)
            for (std::size_t j = 0; j < both.centres.size(); ++j)
                for (std::size_t c = 0; c < both.weights[i].size(); ++c)
                    total += both.weights[i][c] * both.weights[j][c] *
                             k(both.centres[i], both.centres[j]);
        return total;
    }
};

double inner_product(const std::vector<double>& a, const std::vector<double>& b) {
    double total = 0.0;
    for (std::size_t f = 0; f < a.size(); ++f) total += a[f] * b[f];
    return total;
}
double cubic(const std::vector<double>& a, const std::vector<double>& b) {
    return std::pow(inner_product(a, b) + 1.0, 3);
}
double bell(const std::vector<double>& a, const std::vector<double>& b) {
    return std::exp(-(inner_product(a, a) + inner_product(b, b) - 2.0 * inner_product(a, b)));
}

// A learner of a dozen centres, with a factor and neighbours, so that every rule has what it needs.
struct Crowd {
    Learner learner;

    Crowd(const KernelPtr& kernel, std::size_t seed)
        : learner(make({kernel, std::make_shared<AdaptiveCoherenceAdmission>(100, 0.999),
                        std::make_shared<ProjectedGradientUpdate>(0.01, 0.0, 0.0, 1.0)},
                       3, 2)) {
        std::mt19937 rng(static_cast<unsigned>(seed));
        std::normal_distribution<double> normal;
        while (learner.dictionary().size() < 12) {
            const double x[] = {0.7 * normal(rng), 0.7 * normal(rng), 0.7 * normal(rng)},
                         y[] = {normal(rng), 3.0 * normal(rng)};
            learner.learn(x, y, nullptr, 1, nullptr);
        }
    }
};

using Rule = std::shared_ptr<Compression> (*)(std::size_t budget);

const Rule least_cost = [](std::size_t budget) -> std::shared_ptr<Compression> {
    return std::make_shared<LeastCostCompression>(budget, 0.0);
};
const Rule pursuit = [](std::size_t budget) -> std::shared_ptr<Compression> {
    return std::make_shared<MatchingPursuitCompression>(0.0, 1.0, budget);
};
const Rule smallest = [](std::size_t budget) -> std::shared_ptr<Compression> {
    return std::make_shared<SmallestCompression>(budget);
};
const Rule merge = [](std::size_t budget) -> std::shared_ptr<Compression> {
    return std::make_shared<MergeCompression>(budget);
};
const Rule merging_pursuit = [](std::size_t budget) -> std::shared_ptr<Compression> {
    return std::make_shared<MergingPursuitCompression>(0.0, 1.0, budget);
};
const Rule merging_with_neighbours = [](std::size_t budget) -> std::shared_ptr<Compression> {
    return std::make_shared<MergingPursuitCompression>(0.0, 1.0, budget, 4);
};
const Rule least_needed = [](std::size_t budget) -> std::shared_ptr<Compression> {
    return std::make_shared<LeastNeededCompression>(budget);
};
const Rule older = [](std::size_t budget) -> std::shared_ptr<Compression> {
    return std::make_shared<MostCoherentCompression>(budget, false);
};
const Rule cheaper = [](std::size_t budget) -> std::shared_ptr<Compression> {
    return std::make_shared<MostCoherentCompression>(budget, true);
};

template <class Formula>
void check_bookings(const KernelPtr& kernel, Formula k, const std::vector<Rule>& rules) {
    for (const Rule rule : rules) {
        Crowd crowd(kernel, 3);
        Learner& learner = crowd.learner;
        for (std::size_t left = 12; left-- > 0;) {
            const Function before(learner.dictionary());
            const double booked = learner.spent();
            learner.compress_by(rule(left), left);
            CHECK(learner.dictionary().size() == left);
            const double distance = before.distance(Function(learner.dictionary()), k);
            CHECK_NEAR(learner.spent() - booked, distance, 1e-9 * (1.0 + distance));
        }
    }
}

TEST(what_a_removal_costs_is_the_squared_distance_by_which_f_moves) {
    check_bookings(gaussian(1.0), bell,
                   {least_cost, pursuit, smallest, merge, merging_pursuit, merging_with_neighbours,
                    least_needed, older, cheaper});
    check_bookings(polynomial(1.0, 1.0, 3), cubic,
                   {least_cost, pursuit, smallest, least_needed, older, cheaper});
}

TEST(opposite_terms_meet_where_the_larger_is) {
    // Between terms of opposite signs there is less of either: the larger stays where it is and
    // takes over what it can.
    for (const double small : {-0.2, -0.6}) {
        Learner learner = make({gaussian(1.0), std::make_shared<AlwaysAdmission>(),
                                std::make_shared<PlainGradientUpdate>(1.0, 0.0, 0.0, 1.0)},
                               1, 1);
        const double x[] = {0.0, 1.5}, k = std::exp(-1.5 * 1.5),
                     y[] = {1.0, small + k};  // weights 1 and `small`
        learner.learn(x, y, nullptr, 2, nullptr);
        CHECK_NEAR(learner.dictionary().weights(0)[1], small, 1e-15);
        learner.compress_by(merge(1), 1);
        double centre = 1.0;
        learner.dictionary().centre(0, &centre);
        CHECK(learner.dictionary().size() == 1 && centre == 0.0);
        CHECK_NEAR(learner.dictionary().weights(0)[0], 1.0 + small * k, 1e-15);
        CHECK_NEAR(learner.spent(), small * small * (1.0 - k * k), 1e-14);
    }
}

// Squared distance to f without centre j: its term left out, or taken over by the others.
double without(const Learner& learner, std::size_t j) {
    Function all(learner.dictionary()), rest = all;
    rest.centres.erase(rest.centres.begin() + static_cast<std::ptrdiff_t>(j));
    rest.weights.erase(rest.weights.begin() + static_cast<std::ptrdiff_t>(j));
    return all.distance(rest, cubic);
}

TEST(the_term_of_least_norm_is_dropped) {
    Crowd crowd(polynomial(1.0, 1.0, 3), 5);
    Learner& learner = crowd.learner;
    for (std::size_t left = 12; left-- > 0;) {
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t j = 0; j <= left; ++j) least = std::min(least, without(learner, j));
        const double booked = learner.spent();
        learner.compress_by(smallest(left), left);
        CHECK_NEAR(learner.spent() - booked, least, 1e-9 * (1.0 + least));
    }
}

TEST(of_two_coherent_centres_the_older_or_the_cheaper_goes) {
    for (const bool by_cost : {false, true})
        for (std::size_t seed = 0; seed < 10; ++seed) {
            Crowd crowd(gaussian(1.0), seed);
            Learner& learner = crowd.learner;
            const auto pair = learner.dictionary().most_coherent();
            const bool younger = by_cost && learner.dictionary().removal_cost(pair.j) <
                                                learner.dictionary().removal_cost(pair.i);
            const Function before(learner.dictionary());
            learner.compress_by((by_cost ? cheaper : older)(11), 11);
            Function after(learner.dictionary());
            after.centres.insert(
                after.centres.begin() + static_cast<std::ptrdiff_t>(younger ? pair.j : pair.i),
                before.centres[younger ? pair.j : pair.i]);
            CHECK(after.centres == before.centres);
        }
}

TEST(a_tolerance_is_that_of_a_norm) {
    // Costs below the squared tolerance are paid, one by one, though the budget has room.
    Crowd crowd(gaussian(1.0), 4);
    Learner& learner = crowd.learner;
    const double cheapest = learner.dictionary().removal_cost(learner.dictionary().cheapest()),
                 tolerance = 0.99 * std::sqrt(cheapest);
    CHECK(cheapest < 0.5);
    learner.compress_by(std::make_shared<LeastCostCompression>(100, tolerance), 100);
    CHECK(learner.dictionary().size() == 12);
    learner.compress_by(
        std::make_shared<LeastCostCompression>(100, std::sqrt(cheapest) * (1.0 + 1e-9)), 100);
    CHECK(learner.dictionary().size() < 12);
}

TEST(the_error_allowed_is_a_power_of_the_rate) {
    // Far from each other, centres cost their squared weights, (rate y)^2: with y = 1, rate = 1/4
    // and eps = parsimony / 16 they go if parsimony > 4.
    for (const double parsimony : {3.9, 4.1}) {
        Learner learner(
            {gaussian(1.0), std::make_shared<SquaredLoss>(), std::make_shared<ProposedAdmission>(),
             std::make_shared<ProjectedGradientUpdate>(0.25, 0.0, 0.0, 1.0),
             std::make_shared<MatchingPursuitCompression>(parsimony, 2.0, 100)},
            1, 1, 0);
        const double x[] = {0.0, 100.0, 200.0}, y[] = {1.0, 1.0, 1.0};
        learner.learn(x, y, nullptr, 3, nullptr);
        CHECK(learner.dictionary().size() == (parsimony < 4.0 ? 3 : 0));
        CHECK(learner.spent() == (parsimony < 4.0 ? 0.0 : 3.0 / 16.0));
    }
}

TEST(the_norms_of_merges_are_added) {
    // Far from each other, a merge leaves the larger centre and costs the norm of the smaller. In a
    // batch of two that is 1/8 each, and eps = parsimony / 16.
    for (const double parsimony : {1.9, 2.1, 3.9, 4.1}) {
        Learner learner(
            {gaussian(1.0), std::make_shared<SquaredLoss>(), std::make_shared<ProposedAdmission>(),
             std::make_shared<PlainGradientUpdate>(0.25, 0.0, 0.0, 1.0),
             std::make_shared<MergingPursuitCompression>(parsimony, 2.0, 100), 2},
            1, 1, 0);
        const double x[] = {0.0, 100.0}, y[] = {1.0, 1.0};
        learner.learn(x, y, nullptr, 2, nullptr);
        const std::size_t gone = parsimony < 2.0 ? 0 : parsimony < 4.0 ? 1 : 2;
        CHECK(learner.dictionary().size() == 2 - gone);
        CHECK(learner.spent() == static_cast<double>(gone) / 64.0);
    }
}

TEST(a_projection_and_the_removals_after_it_share_an_allowance) {
    // In units of the rate, 1/4: eps^2 is 0.08. The centre at 100 costs 0.3^2 at first, and 0.27^2
    // after a step that shrinks it. It goes with that step, unless a sample was projected at a cost
    // of 0.01 before.
    for (const double projected : {0.0, 0.005, 0.01}) {
        Learner learner({gaussian(1.0), std::make_shared<SquaredLoss>(),
                         std::make_shared<CoherenceAdmission>(0.3),
                         std::make_shared<ProjectedGradientUpdate>(0.25, 0.4, 0.0, 1.0),
                         std::make_shared<MatchingPursuitCompression>(std::sqrt(0.08), 1.0, 100)},
                        1, 1, 0);
        const double x[] = {0.0, 100.0, 0.5}, residual = 1.0 - std::exp(-0.5), y[] = {1.0, 0.3};
        learner.learn(x, y, nullptr, 2, nullptr);
        CHECK(learner.dictionary().size() == 2 && learner.spent() == 0.0);
        double f = 0.0;
        learner.predict(x + 2, 1, &f);
        const double target = f + std::sqrt(projected / residual);
        learner.learn(x + 2, &target, nullptr, 1, nullptr);
        const bool stays = projected == 0.01;
        CHECK(learner.dictionary().size() == (stays ? 2 : 1));
        CHECK_NEAR(16.0 * learner.spent(), projected + (stays ? 0.0 : 0.27 * 0.27), 1e-12);
    }
}

TEST(the_oldest_go_first) {
    Crowd crowd(gaussian(1.0), 2);
    const Function before(crowd.learner.dictionary());
    crowd.learner.compress_by(std::make_shared<OldestCompression>(5), 5);
    CHECK(Function(crowd.learner.dictionary()).centres ==
          Rows(before.centres.end() - 5, before.centres.end()));
    CHECK(Function(crowd.learner.dictionary()).weights ==
          Rows(before.weights.end() - 5, before.weights.end()));
}

TEST(what_is_projected_is_booked) {
    // f + c k(x, .) is replaced by its projection: the squared distance between the two is what was
    // spent.
    Learner learner = make({gaussian(1.0), std::make_shared<CoherenceAdmission>(0.3),
                            std::make_shared<ProjectedGradientUpdate>(0.3, 0.0, 0.0, 1.0)},
                           2, 2);
    std::mt19937 rng(6);
    std::normal_distribution<double> normal;
    double largest = 0.0;
    for (int i = 0; i < 100; ++i) {
        const double x[] = {normal(rng), normal(rng)}, y[] = {normal(rng), normal(rng)};
        Function before(learner.dictionary());
        double f[2];
        learner.predict(x, 1, f);
        const double booked = learner.spent();
        learner.learn(x, y, nullptr, 1, nullptr);
        before.centres.push_back({x[0], x[1]});
        before.weights.push_back({0.3 * (y[0] - f[0]), 0.3 * (y[1] - f[1])});
        const double distance = before.distance(Function(learner.dictionary()), bell);
        CHECK_NEAR(learner.spent() - booked, distance, 1e-10);
        largest = std::max(largest, distance);
    }
    CHECK(largest > 0.01 && learner.dictionary().size() > 5);
}

}  // namespace
