// Recipes: the parts of KNLMS, KRLS and POLK, combined as in src/parsimon/algorithms/.
//
// With equal parameters, a learner made from one of these gives the same bits as the Python
// estimator. The docstrings of KNLMSRegressor, KRLSRegressor and POLKRegressor explain each
// parameter. The defaults here are the algorithms of the papers: no intercept, targets in their own
// unit, explicit steps, and no budget. `Recipe::offset` adds an intercept (offset.hpp).
//
//     Learner model(knlms(gaussian(0.5), {.step_size = 0.1, .budget = 100}), n_features);
//
// Each function
// - requires a kernel that is not null,
// - returns a recipe with new parts, for one learner,
// - throws InputError if a parameter is out of range. The message names the parameter and its
//   range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "learner.hpp"

namespace parsimon {

// Which centre is evicted when there are more centres than the budget.
enum class Eviction {
    least_cost,  // projects out the centre whose removal changes f least
    oldest,      // drops the oldest centre
};

// Parameters of `knlms`.
struct KNLMSOptions {
    double step_size = 0.2;                  // rho, in (0, 2)
    double coherence = 0.5;                  // mu0, in [0, 1]: larger values admit more centres
    double ridge = 0.0;                      // eps, >= 0, added to ||h||^2
    std::optional<std::size_t> budget = {};  // maximum number of centres
    Eviction compression = Eviction::least_cost;  // used only with a budget
};

// Kernel normalised LMS with the coherence criterion (Honeine, Richard & Bermudez 2007).
Recipe knlms(KernelPtr kernel, const KNLMSOptions& options = {});

// Parameters of `krls`.
struct KRLSOptions {
    // Which samples become centres.
    enum class Admission {
        ald,        // approximate linear dependence, by `tolerance` (Engel, Mannor & Meir 2004)
        coherence,  // by `coherence` (Richard, Bermudez & Honeine 2009)
    };
    Admission admission = Admission::ald;
    double tolerance = 0.01;  // nu, >= 0: larger values admit fewer centres
    double coherence = 0.5;   // mu0, in [0, 1]: larger values admit more centres
    double ridge = 0.0;       // 0, or in [1e-20, 1e20]
    // What the ridge penalises.
    enum class Penalty {
        values,  // the squared values at the centres; with Admission::coherence, squared weights
        norm,    // ||f||^2; needs a ridge above 0 and Admission::ald
    };
    Penalty penalty = Penalty::values;
    // In [0.1, 1]. At each new sample, the weights of the old samples are multiplied by it.
    double forgetting = 1.0;
    std::optional<std::size_t> budget = {};  // maximum number of centres
    // How the other centres take over from an evicted centre.
    enum class Eviction {
        refit,    // their weights move to the fit of all samples without the evicted centre
        project,  // f keeps its values at them; needs Admission::ald
    };
    Eviction eviction = Eviction::refit;  // used only with a budget
};

// Kernel recursive least squares. The admission rule determines which of the two papers is
// followed.
Recipe krls(KernelPtr kernel, const KRLSOptions& options = {});

// The learning rate at step t is step_size / (1 + (t - 1) / delay)^power.
struct Schedule {
    double power = 0.0;  // in [0, 1]; with 0 the rate is constant
    double delay = 1.0;  // > 0
};
// The schedule "diminishing" of the Python estimators.
inline constexpr Schedule diminishing{.power = 0.75, .delay = 100.0};

// Parameters of `polk`.
struct POLKOptions {
    // Any convex loss; must not be null.
    std::shared_ptr<const Loss> loss = std::make_shared<SquaredLoss>();
    double step_size = 0.5;   // eta, in (0, 1e20]; the squared loss needs eta < 2 / k(x, x)
    double alpha = 1e-6;      // lambda, >= 0, with step_size * alpha < 1
    double parsimony = 0.01;  // K in eps = K eta^(3/2), >= 0: larger values keep fewer centres
    Schedule schedule = {};
    std::size_t batch_size = 1;              // samples per step, from 1 to 10^6
    std::optional<std::size_t> budget = {};  // maximum number of centres
    // After this many samples, predict the mean of f over the later steps.
    std::optional<std::uint64_t> average_after = {};
};

// Functional stochastic gradient descent with sparse projections, POLK (Koppel, Warnell, Stump &
// Ribeiro 2019). The model has one output per column of y, or with a ClassLoss one per class.
Recipe polk(KernelPtr kernel, const POLKOptions& options = {});

}  // namespace parsimon
