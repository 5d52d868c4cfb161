// Recipes: the parts of KNLMS, KRLS and POLK, put together as in src/parsimon/algorithms.py.
//
// A learner made from one of these learns the same numbers, bit for bit, as the Python estimator
// with the same parameters. The defaults are those of KNLMSRegressor, KRLSRegressor and
// POLKRegressor; there the meaning of each parameter is explained.
//
//     Learner model(knlms(gaussian(0.5), {.step_size = 0.1, .budget = 100}), n_features);
//
// Each function
// - requires a kernel that is not null,
// - ensures a recipe with new parts, for one learner,
// - throws InputError if a parameter is out of its range. The message names it and its range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "learner.hpp"

namespace parsimon {

// Which centre is evicted when there are more than the budget.
enum class Eviction {
    least_cost,  // the one whose removal changes f least is projected out
    oldest,      // the oldest is dropped
};

struct KNLMSOptions {
    double step_size = 0.2;                       // rho, in (0, 2)
    double coherence = 0.5;                       // mu0, in [0, 1]: more centres if larger
    double ridge = 0.0;                           // eps, >= 0, added to ||h||^2
    std::optional<std::size_t> budget = {};       // maximum number of centres
    Eviction compression = Eviction::least_cost;  // used only with a budget
};

// Kernel normalised LMS with the coherence criterion: Honeine, Richard & Bermudez 2007.
Recipe knlms(KernelPtr kernel, const KNLMSOptions& options = {});

struct KRLSOptions {
    // Which samples become centres.
    enum class Admission {
        ald,        // linear dependence, by `tolerance`: Engel, Mannor & Meir 2004
        coherence,  // by `coherence`: Richard, Bermudez & Honeine 2009
    };
    Admission admission = Admission::ald;
    double tolerance = 0.01;                 // nu, >= 0: fewer centres if larger
    double coherence = 0.5;                  // mu0, in [0, 1]: more centres if larger
    double ridge = 0.0;                      // 0, or in [1e-20, 1e20]
    double forgetting = 1.0;                 // in [0.1, 1]: old samples count less if smaller
    std::optional<std::size_t> budget = {};  // maximum number of centres
};

// Kernel recursive least squares.
Recipe krls(KernelPtr kernel, const KRLSOptions& options = {});

// Learning rates step_size / (1 + (t - 1) / delay)^power at step t.
struct Schedule {
    double power = 0.0;  // in [0, 1]; with 0 the rate is constant
    double delay = 1.0;  // > 0
};
// schedule="diminishing" in Python.
inline constexpr Schedule diminishing{.power = 0.75, .delay = 100.0};

struct POLKOptions {
    // Any convex loss. Not null.
    std::shared_ptr<const Loss> loss = std::make_shared<SquaredLoss>();
    double step_size = 0.5;   // eta, in (0, 1e20]. The squared loss needs less than 2 / k(x, x).
    double alpha = 1e-6;      // lambda, >= 0, with step_size * alpha < 1
    double parsimony = 0.01;  // K in eps = K eta^(3/2), >= 0: fewer centres if larger
    Schedule schedule = {};
    std::size_t batch_size = 1;                       // samples per step, from 1 to 10^6
    std::optional<std::size_t> budget = {};           // maximum number of centres
    std::optional<std::uint64_t> average_after = {};  // predict the mean of f after these samples
};

// Functional stochastic gradient with sparse projections: Koppel, Warnell, Stump & Ribeiro 2019.
// Use one output per column of y, or with a ClassLoss one output per class.
Recipe polk(KernelPtr kernel, const POLKOptions& options = {});

}  // namespace parsimon
