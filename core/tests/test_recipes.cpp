// Recipes: each learns what its parts learn, and refuses parameters out of range.
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "check.hpp"
#include "parts.hpp"
#include "recipes.hpp"

namespace {

using namespace parsimon;

constexpr std::size_t n = 400, none = std::numeric_limits<std::size_t>::max() / 4 + 1;

std::vector<double> learned(Recipe recipe) {
    std::mt19937 rng(3);
    std::normal_distribution<double> normal;
    std::vector<double> x(2 * n), y(n), predictions(n);
    for (double& v : x) v = normal(rng);
    for (std::size_t i = 0; i < n; ++i) y[i] = std::sin(x[2 * i]) + x[2 * i + 1];
    Learner model(std::move(recipe), 2);
    model.learn(x.data(), y.data(), nullptr, n, predictions.data());
    predictions.push_back(static_cast<double>(model.dictionary().size()));
    return predictions;
}

Recipe parts(std::shared_ptr<Admission> admission, std::shared_ptr<Update> update,
             std::shared_ptr<Compression> compression) {
    return {gaussian(0.5), std::make_shared<SquaredLoss>(), std::move(admission), std::move(update),
            std::move(compression)};
}

template <class Call>
std::string refusal(Call&& call) {
    try {
        call();
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}
bool says(const std::string& message, const char* words) {
    return message.find(words) != std::string::npos;
}

TEST(the_recipe_of_knlms_names_its_parts) {
    const auto by_hand = [](std::shared_ptr<Compression> compression) {
        return learned(parts(std::make_shared<CoherenceAdmission>(0.5),
                             std::make_shared<NLMSUpdate>(0.2, 0.0), std::move(compression)));
    };
    CHECK(learned(knlms(gaussian(0.5))) == by_hand(std::make_shared<NoCompression>()));
    CHECK(learned(knlms(gaussian(0.5), {.budget = 5})) ==
          by_hand(std::make_shared<LeastCostCompression>(5, 0.0)));
    CHECK(learned(knlms(gaussian(0.5), {.budget = 5, .compression = Eviction::oldest})) ==
          by_hand(std::make_shared<OldestCompression>(5)));
}

TEST(the_recipe_of_krls_names_its_parts) {
    const auto by_coherence = KRLSOptions::Admission::coherence;
    CHECK(learned(krls(gaussian(0.5))) ==
          learned(parts(std::make_shared<DependenceAdmission>(0.01, 0.0, none),
                        std::make_shared<SpanRLSUpdate>(0.0, 1.0),
                        std::make_shared<NoCompression>())));
    CHECK(learned(krls(gaussian(0.5), {.ridge = 0.1, .forgetting = 0.99, .budget = 6})) ==
          learned(parts(std::make_shared<DependenceAdmission>(0.01, 0.0, none),
                        std::make_shared<SpanRLSUpdate>(0.1, 0.99),
                        std::make_shared<LeastNeededCompression>(6))));
    const auto norm = KRLSOptions::Penalty::norm;
    const auto project = KRLSOptions::Eviction::project;
    CHECK(learned(krls(gaussian(0.5),
                       {.ridge = 0.1, .penalty = norm, .budget = 6, .eviction = project})) ==
          learned(parts(std::make_shared<DependenceAdmission>(0.01, 0.0, none),
                        std::make_shared<NormRLSUpdate>(0.1, 1.0, 6),
                        std::make_shared<LeastNeededCompression>(6))));
    CHECK(learned(krls(gaussian(0.5), {.budget = 6, .eviction = project})) ==
          learned(parts(std::make_shared<DependenceAdmission>(0.01, 0.0, none),
                        std::make_shared<SpanRLSUpdate>(0.0, 1.0, 6),
                        std::make_shared<LeastNeededCompression>(6))));
    CHECK(learned(krls(gaussian(0.5), {.admission = by_coherence, .ridge = 0.1})) ==
          learned(parts(std::make_shared<CoherenceAdmission>(0.5),
                        std::make_shared<RowRLSUpdate>(0.1, 1.0),
                        std::make_shared<NoCompression>())));
}

TEST(the_recipe_of_polk_names_its_parts) {
    const auto by_hand = [](double power, double delay, double eps_power, std::size_t budget) {
        return parts(std::make_shared<ProposedAdmission>(),
                     std::make_shared<ProjectedGradientUpdate>(0.5, 1e-6, power, delay),
                     std::make_shared<MatchingPursuitCompression>(0.01, eps_power, budget));
    };
    CHECK(learned(polk(gaussian(0.5))) == learned(by_hand(0.0, 1.0, 1.5, none)));
    CHECK(learned(polk(gaussian(0.5), {.schedule = diminishing})) ==
          learned(by_hand(0.75, 100.0, 2.0, none)));
    CHECK(learned(polk(gaussian(0.5), {.budget = 7})) == learned(by_hand(0.0, 1.0, 1.5, 7)));
    Recipe recipe = by_hand(0.0, 1.0, 1.5, none);
    recipe.loss = std::make_shared<HuberLoss>(0.5);
    recipe.batch_size = 4;
    recipe.average_after = 100;
    CHECK(learned(polk(gaussian(0.5), {.loss = std::make_shared<HuberLoss>(0.5),
                                       .batch_size = 4,
                                       .average_after = 100})) == learned(recipe));
}

TEST(recipes_refuse_parameters_out_of_range) {
    const double nan = std::nan("");
    const KernelPtr k = gaussian(0.5);
    for (const double rate : {0.0, 2.0, -1.0, nan})
        CHECK(says(refusal([&] { knlms(k, {.step_size = rate}); }),
                   "step_size must be a finite number in (0, 2)"));
    for (const double coherence : {-0.1, 1.1, nan}) {
        CHECK(says(refusal([&] { knlms(k, {.coherence = coherence}); }), "coherence"));
        CHECK(says(refusal([&] { krls(k, {.coherence = coherence}); }), "coherence"));
    }
    CHECK(says(refusal([&] { knlms(k, {.ridge = -1.0}); }), "ridge"));
    CHECK(says(refusal([&] { knlms(k, {.ridge = INFINITY}); }), "ridge"));
    CHECK(says(refusal([&] { knlms(k, {.budget = 0}); }), "budget must be from 1 to"));
    CHECK(says(refusal([&] { krls(k, {.budget = none}); }), "budget"));
    CHECK(says(refusal([&] { krls(k, {.tolerance = -1.0}); }), "tolerance"));
    CHECK(says(refusal([&] { krls(k, {.ridge = 1e-21}); }), "ridge"));
    CHECK(says(refusal([&] { krls(k, {.penalty = KRLSOptions::Penalty::norm}); }), "ridge"));
    const auto by_coherence = KRLSOptions::Admission::coherence;
    CHECK(says(
        refusal([&] {
            krls(k,
                 {.admission = by_coherence, .ridge = 0.1, .penalty = KRLSOptions::Penalty::norm});
        }),
        "penalty norm needs the admission ald"));
    CHECK(says(refusal([&] {
                   krls(k, {.admission = by_coherence, .eviction = KRLSOptions::Eviction::project});
               }),
               "eviction project needs the admission ald"));
    CHECK(says(refusal([&] { krls(k, {.forgetting = 0.0}); }), "forgetting"));
    CHECK(says(refusal([&] { polk(k, {.loss = nullptr}); }), "loss"));
    CHECK(says(refusal([&] { polk(k, {.step_size = 0.0}); }), "step_size"));
    CHECK(says(refusal([&] { polk(k, {.step_size = 0.5, .alpha = 2.0}); }), "step_size * alpha"));
    CHECK(says(refusal([&] { polk(k, {.alpha = -1.0}); }), "alpha"));
    CHECK(says(refusal([&] { polk(k, {.parsimony = -1.0}); }), "parsimony"));
    CHECK(says(refusal([&] { polk(k, {.schedule = {.power = 2.0}}); }), "power"));
    CHECK(says(refusal([&] { polk(k, {.schedule = {.delay = 0.0}}); }), "delay"));
    CHECK(says(refusal([&] { polk(k, {.batch_size = 0}); }), "batch_size"));
    CHECK(refusal([&] {
              polk(k, {.step_size = 0.5, .alpha = 2.0, .schedule = {.power = 1.0}});
          }).empty());
}

}  // namespace
