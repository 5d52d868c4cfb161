#include "recipes.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "input.hpp"
#include "rls.hpp"

namespace parsimon {
namespace {

constexpr std::size_t largest_budget = 1'000'000'000;
// 2^62, or 2^30 where sizes have 32 bits.
constexpr std::size_t no_budget = std::numeric_limits<std::size_t>::max() / 4 + 1;
static_assert(no_budget > largest_budget);

// The same checks as in src/parsimon/_parts.py: finite numbers within bounds.
void require(const char* what, double value, bool within, const char* range) {
    if (!std::isfinite(value) || !within)
        refuse(what, " must be a finite number ", range, ", got ", value);
}
void require_at_least_0(const char* what, double value) {
    require(what, value, value >= 0.0, ">= 0");
}
void require_coherence(double value) {
    require("coherence", value, value >= 0.0 && value <= 1.0, "in [0, 1]");
}
void require_whole(const char* what, std::size_t value, std::size_t at_most) {
    if (value < 1 || value > at_most) refuse(what, " must be from 1 to ", at_most, ", got ", value);
}
// The budget, checked, or a number that is never reached.
std::size_t at_most(const std::optional<std::size_t>& budget) {
    if (budget) require_whole("budget", *budget, largest_budget);
    return budget.value_or(no_budget);
}

std::shared_ptr<Compression> at_budget(Eviction rule, const std::optional<std::size_t>& budget) {
    const std::size_t most = at_most(budget);
    if (!budget) return std::make_shared<NoCompression>();
    if (rule == Eviction::oldest) return std::make_shared<OldestCompression>(most);
    return std::make_shared<LeastCostCompression>(most, 0.0);
}

void require_rates(const POLKOptions& options) {
    const auto [power, delay] = options.schedule;
    require("power", power, power >= 0.0 && power <= 1.0, "in [0, 1]");
    require("delay", delay, delay > 0.0, "> 0");
    const double rate = options.step_size, product = rate * options.alpha;
    require("step_size", rate, rate > 0.0 && rate <= 1e20, "in (0, 1e20]");
    require_at_least_0("alpha", options.alpha);
    // Rates 1 / (alpha t) have step_size * alpha = 1 and are allowed. Their first step multiplies f
    // by 0, and f is 0 then anyway.
    if (product >= 1.0 && !(power == 1.0 && product <= 1.0 + 1e-12))
        refuse("step_size * alpha must be < 1, got ", rate, " * ", options.alpha);
}

}  // namespace

Recipe knlms(KernelPtr kernel, const KNLMSOptions& options) {
    const double rate = options.step_size;
    require("step_size", rate, rate > 0.0 && rate < 2.0, "in (0, 2)");
    require_coherence(options.coherence);
    require_at_least_0("ridge", options.ridge);
    return {.kernel = std::move(kernel),
            .loss = std::make_shared<SquaredLoss>(),
            .admission = std::make_shared<CoherenceAdmission>(options.coherence),
            .update = std::make_shared<NLMSUpdate>(rate, options.ridge),
            .compression = at_budget(options.compression, options.budget)};
}

Recipe krls(KernelPtr kernel, const KRLSOptions& options) {
    const double ridge = options.ridge, forgetting = options.forgetting;
    require_at_least_0("tolerance", options.tolerance);
    require_coherence(options.coherence);
    require("ridge", ridge, ridge == 0.0 || (ridge >= 1e-20 && ridge <= 1e20),
            "in [1e-20, 1e20], or 0");
    require("forgetting", forgetting, forgetting >= 0.1 && forgetting <= 1.0, "in [0.1, 1]");
    const std::size_t most = at_most(options.budget);
    const bool norm = options.penalty == KRLSOptions::Penalty::norm,
               project = options.eviction == KRLSOptions::Eviction::project;
    if (norm && ridge == 0.0) refuse("the penalty norm needs a ridge in [1e-20, 1e20], got 0");
    Recipe recipe{.kernel = std::move(kernel),
                  .loss = std::make_shared<SquaredLoss>(),
                  .admission = nullptr,
                  .update = nullptr,
                  .compression = std::make_shared<NoCompression>()};
    if (options.admission == KRLSOptions::Admission::ald) {
        recipe.admission = std::make_shared<DependenceAdmission>(options.tolerance, 0.0, no_budget);
        const std::size_t budget = project && options.budget ? most : 0;
        if (norm)
            recipe.update = std::make_shared<NormRLSUpdate>(ridge, forgetting, budget);
        else
            recipe.update = std::make_shared<SpanRLSUpdate>(ridge, forgetting, budget);
    } else {
        if (norm) refuse("the penalty norm needs the admission ald");
        if (project) refuse("the eviction project needs the admission ald");
        recipe.admission = std::make_shared<CoherenceAdmission>(options.coherence);
        recipe.update = std::make_shared<RowRLSUpdate>(ridge, forgetting);
    }
    if (options.budget) recipe.compression = std::make_shared<LeastNeededCompression>(most);
    return recipe;
}

Recipe polk(KernelPtr kernel, const POLKOptions& options) {
    require_rates(options);
    require_at_least_0("parsimony", options.parsimony);
    require_whole("batch_size", options.batch_size, 1'000'000);
    if (!options.loss) refuse("polk needs a loss, got a null pointer");
    const auto [power, delay] = options.schedule;
    return {
        .kernel = std::move(kernel),
        .loss = options.loss,
        .admission = std::make_shared<ProposedAdmission>(),
        .update = std::make_shared<ProjectedGradientUpdate>(options.step_size, options.alpha, power,
                                                            delay),
        .compression = std::make_shared<MatchingPursuitCompression>(
            options.parsimony, power > 0.0 ? 2.0 : 1.5, at_most(options.budget)),
        .batch_size = options.batch_size,
        .average_after = options.average_after.value_or(std::numeric_limits<std::uint64_t>::max())};
}

}  // namespace parsimon
