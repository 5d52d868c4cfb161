// Who is admitted at the very bound, and which steps are stable.
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

// Learns points with all targets 1; returns how many of them became centres.
std::size_t admitted(const std::shared_ptr<Admission>& admission, const Rows& points,
                     KernelPtr kernel = linear(), std::shared_ptr<Update> update = nullptr) {
    if (!update) update = std::make_shared<NLMSUpdate>(0.3, 0.01);
    Learner learner = make({kernel, admission, update}, points[0].size(), 1);
    const double y = 1.0;
    for (const auto& x : points) learner.learn(x.data(), &y, nullptr, 1, nullptr);
    return learner.dictionary().size();
}

TEST(a_coherence_that_equals_the_threshold_is_admitted) {
    // The coherence of (1, 0) and (3, 4) is 3 / 5, without rounding but for that of the quotient.
    const Rows points = {{1, 0}, {3, 4}};
    CHECK(admitted(std::make_shared<CoherenceAdmission>(0.6), points) == 2);
    CHECK(admitted(std::make_shared<CoherenceAdmission>(std::nextafter(0.6, 0.0)), points) == 1);
    CHECK(admitted(std::make_shared<CoherenceAdmission>(1.0), {{3, 4}, {3, 4}, {6, 8}}) == 1);
    CHECK(admitted(std::make_shared<AdaptiveCoherenceAdmission>(9, 0.6), points) == 2);
    CHECK(admitted(std::make_shared<AdaptiveCoherenceAdmission>(9, std::nextafter(0.6, 0.0)),
                   points) == 1);
}

TEST(a_full_dictionary_admits_only_what_is_less_coherent_than_itself) {
    const auto admission = [] { return std::make_shared<AdaptiveCoherenceAdmission>(2, 1.0); };
    const Rows two = {{1, 0, 0}, {3, 4, 0}};  // 3 / 5
    const auto with = [&](std::vector<double> third) {
        Rows points = two;
        points.push_back(std::move(third));
        return points;
    };
    CHECK(admitted(admission(), with({0, 0, 1})) == 3);
    CHECK(admitted(admission(), with({3, 0, 4})) == 2);  // 3 / 5 too
    CHECK(admitted(admission(), with({4, 3, 0})) == 2);
}

TEST(the_radius_belongs_to_the_centre_and_the_first_of_the_nearest_takes_over) {
    const auto update = [] {
        return std::make_shared<QuantizedGradientUpdate>(0.5, 0.0, 0.0, 1.0);
    };
    CHECK(admitted(std::make_shared<DistanceAdmission>(0.5), {{0.0}, {0.5}}, gaussian(1.0),
                   update()) == 1);
    CHECK(admitted(std::make_shared<DistanceAdmission>(0.5), {{0.0}, {0.5 + 1e-9}}, gaussian(1.0),
                   update()) == 2);
    Learner learner =
        make({gaussian(1.0), std::make_shared<DistanceAdmission>(0.9), update()}, 1, 2);
    const double x[] = {0.0, 1.0, 0.5}, y[] = {1.0, -1.0, 2.0, 3.0, 4.0, -5.0};
    learner.learn(x, y, nullptr, 2, nullptr);
    const double before[] = {learner.dictionary().weights(0)[1],
                             learner.dictionary().weights(1)[1]},
                 first[] = {learner.dictionary().weights(0)[0], learner.dictionary().weights(1)[0]};
    double f[2];
    learner.predict(x + 2, 1, f);
    learner.learn(x + 2, y + 4, nullptr, 1, nullptr);
    for (std::size_t c = 0; c < 2; ++c) {
        CHECK(learner.dictionary().weights(c)[1] == before[c]);
        CHECK_NEAR(learner.dictionary().weights(c)[0], first[c] + 0.5 * (y[4 + c] - f[c]), 1e-15);
    }
}

TEST(a_squared_residual_is_compared_with_a_squared_tolerance) {
    // Without centres the residual is k(x, x) = 1, and what is proposed has the coefficient 0.3 (y
    // - 0).
    const auto size = [](double tolerance) {
        return admitted(std::make_shared<ResidualAdmission>(tolerance), {{0.0}}, gaussian(1.0),
                        std::make_shared<ProjectedGradientUpdate>(0.3, 0.0, 0.0, 1.0));
    };
    CHECK(size(0.29) == 1 && size(0.31) == 0);
}

TEST(linear_dependence_with_a_ridge_is_measured_as_a_distance) {
    // Beside one centre with h = 0.9 and a ridge of 1 the coefficient is 0.45: the squared distance
    // is 1 - 2 * 0.9 * 0.45 + 0.45^2.
    const double apart = std::sqrt(-std::log(0.9)), distance = 1.0 - 2.0 * 0.9 * 0.45 + 0.45 * 0.45;
    const auto size = [&](double tolerance, std::size_t most) {
        return admitted(std::make_shared<DependenceAdmission>(tolerance, 1.0, most),
                        {{0.0}, {apart}, {50.0}}, gaussian(1.0));
    };
    CHECK(size(distance - 1e-9, 9) == 3 && size(distance + 1e-9, 9) == 2);
    CHECK(size(0.1, 2) == 2 && size(0.1, 1) == 1);
}

TEST(steps_that_would_diverge_are_refused) {
    // 2 / (curvature step_size) must be more than weight k(x, x).
    const auto refused = [](std::shared_ptr<Loss> loss, std::shared_ptr<Update> update,
                            double weight) {
        try {
            Learner learner({gaussian(1.0), loss, std::make_shared<AlwaysAdmission>(), update,
                             std::make_shared<NoCompression>()},
                            1, 1, 0);
            const double x = 0.0, y = 1.0;
            learner.check_samples(&x, &y, &weight, 1, 1);
        } catch (const InputError&) {
            return true;
        }
        return false;
    };
    const auto gradient = [](double step_size) {
        return std::make_shared<PlainGradientUpdate>(step_size, 0.0, 0.0, 1.0);
    };
    const auto squared = std::make_shared<SquaredLoss>();
    const auto hinge = std::make_shared<SquaredHingeLoss>();
    CHECK(!refused(squared, gradient(1.99), 1.0) && refused(squared, gradient(2.0), 1.0));
    CHECK(!refused(hinge, gradient(0.99), 1.0) && refused(hinge, gradient(1.0), 1.0));
    CHECK(!refused(squared, gradient(0.5), 3.99) && refused(squared, gradient(0.5), 4.0));
    CHECK(!refused(std::make_shared<HingeLoss>(), gradient(50.0), 1e6));
    // Normalised and invariant steps are stable for any weight.
    CHECK(!refused(squared, std::make_shared<NLMSUpdate>(0.5, 0.1), 1e19));
    CHECK(
        !refused(squared, std::make_shared<PlainGradientUpdate>(50.0, 0.0, 0.0, 1.0, true), 1e19));
    const auto rls = [] { return std::make_shared<RowRLSUpdate>(0.1, 1.0); };
    CHECK(!refused(squared, rls(), 0.99e20) && refused(squared, rls(), 1.01e20));
    CHECK(!refused(squared, rls(), 1.01e-20) && refused(squared, rls(), 0.99e-20) &&
          !refused(squared, rls(), 0.0));
}

TEST(what_nothing_excites_does_not_wind_up) {
    // Of three centres far apart only the second is seen again; the variances of the others grow by
    // forgetting, up to the cap.
    for (const double forgetting : {0.95, 0.1}) {
        const auto span = std::make_shared<SpanRLSUpdate>(0.0, forgetting);
        const auto row = std::make_shared<RowRLSUpdate>(0.5, forgetting);
        Learner of_values =
                    make({gaussian(1.0), std::make_shared<DependenceAdmission>(0.1, 0.0, 9), span},
                         1, 1),
                of_weights =
                    make({gaussian(1.0), std::make_shared<CoherenceAdmission>(0.5), row}, 1, 1);
        double largest[2] = {};
        for (int i = 0; i < 1000; ++i) {
            const double x = i < 3 ? 20.0 * i : 20.0, y = 1.0;
            of_values.learn(&x, &y, nullptr, 1, nullptr);
            of_weights.learn(&x, &y, nullptr, 1, nullptr);
            for (std::size_t j = 0; j < of_values.dictionary().size(); ++j) {
                // Variances are looked at before they can have doubled, and the Gram matrix is that
                // of independent centres.
                const double caps[] = {2.0 * SpanRLSUpdate::cap, RowRLSUpdate::windup / 0.5};
                const double found[] = {span->covariance().factor().diagonal()[j],
                                        row->covariance().factor().diagonal()[j]};
                for (std::size_t k = 0; k < 2; ++k) {
                    CHECK(found[k] <= caps[k]);
                    largest[k] = std::max(largest[k], found[k] / caps[k]);
                }
            }
        }
        CHECK(of_values.dictionary().size() == 3 && of_weights.dictionary().size() == 3);
        CHECK(largest[0] > 0.2 && largest[1] > 0.4);  // they came that far
    }
}

TEST(more_steps_are_as_many_as_asked_for) {
    Learner learner(
        {gaussian(1.0), std::make_shared<SquaredLoss>(),
         std::make_shared<DependenceAdmission>(0.1, 0.0, 9),
         std::make_shared<DualAscentUpdate>(0.1, std::numeric_limits<double>::infinity(), false),
         std::make_shared<NoCompression>()},
        1, 1, 0);
    const double x[] = {0.0, 1.0, 2.0}, y[] = {1.0, -1.0, 2.0};
    learner.learn(x, y, nullptr, 3, nullptr);
    const auto steps = [&] {
        State state;
        learner.visit(StateVisitor::writer(state));
        return state.counts.at("update.steps");
    };
    const auto before = steps();
    learner.climb(0);
    CHECK(steps() == before);
    learner.climb(1);
    CHECK(steps() == before + 1);
    learner.climb(5);
    CHECK(steps() == before + 6);
}

}  // namespace
