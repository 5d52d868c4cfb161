// The parts of the loop against their rules: who is admitted at the very bound, what a removal
// costs, what the means are over.
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "check.hpp"
#include "dual_ascent.hpp"
#include "learner.hpp"
#include "rls.hpp"

namespace {

using namespace parsimon;

using Rows = std::vector<std::vector<double>>;

struct Parts {
    KernelPtr kernel;
    std::shared_ptr<Admission> admission;
    std::shared_ptr<Update> update;
};

Learner make(const Parts& parts, std::size_t d, std::size_t C) {
    return Learner({parts.kernel, std::make_shared<SquaredLoss>(), parts.admission, parts.update,
                    std::make_shared<NoCompression>()},
                   d, C, 0);
}

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
    // 2 / (curvature step_size) must be more than weight k(x, x), and 2 / step_size more than the
    // weight for normalised steps.
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
    CHECK(!refused(squared, std::make_shared<NLMSUpdate>(0.5, 0.1), 3.99) &&
          refused(squared, std::make_shared<NLMSUpdate>(0.5, 0.1), 4.0));
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
                   {least_cost, pursuit, smallest, merge, least_needed, older, cheaper});
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

TEST(batches_are_numbered_and_short_ones_count) {
    // Points far apart, so that each weight is rate y / b: of a whole batch of b = 4, or of what
    // there is of it. The rate of step t is 0.5 / (1 + (t - 1) / 3)^2.
    Learner learner(
        {gaussian(1.0), std::make_shared<SquaredLoss>(), std::make_shared<AlwaysAdmission>(),
         std::make_shared<PlainGradientUpdate>(0.5, 0.0, 2.0, 3.0),
         std::make_shared<NoCompression>(), 4},
        1, 1, 0);
    std::vector<double> x(20), y(20, 1.0);
    for (std::size_t i = 0; i < 20; ++i) x[i] = 100.0 * static_cast<double>(i);
    std::size_t first = 0, number = 0;
    for (const std::size_t n : {3u, 4u, 1u, 4u, 2u}) {
        learner.learn(x.data() + first, y.data() + first, nullptr, n, nullptr);
        const double rate = 0.5 * std::pow(1.0 + static_cast<double>(number) / 3.0, -2.0);
        for (std::size_t i = first; i < first + n; ++i)
            CHECK_NEAR(learner.dictionary().weights(0)[i], rate / 4.0, 1e-15);
        first += n;
        number = (first + 3) / 4;  // batches begun, had all been whole
    }
}

TEST(a_batch_sees_the_centres_that_it_brought) {
    for (const std::size_t batch : {1u, 3u}) {
        Learner learner(
            {gaussian(1.0), std::make_shared<SquaredLoss>(),
             std::make_shared<CoherenceAdmission>(0.5), std::make_shared<NLMSUpdate>(0.3, 0.01),
             std::make_shared<NoCompression>(), batch},
            1, 1, 0);
        const double x[] = {0.0, 0.1, 5.0, 5.1, 0.2, 9.0}, y[] = {1, 1, 1, 1, 1, 1},
                     weights[] = {1, 1, 1, 1, 1, 0};
        learner.learn(x, y, weights, 6, nullptr);
        CHECK(learner.dictionary().size() == 2);  // the last has no weight
    }
}

TEST(means_begin_anew_with_an_output_that_takes_part) {
    // The second output's targets are 0, which is what it predicts, until sample 30: its weights
    // are 0 till then.
    const auto recipe = [](std::uint64_t average_after) {
        return Recipe{gaussian(1.0),
                      std::make_shared<SquaredLoss>(),
                      std::make_shared<ProposedAdmission>(),
                      std::make_shared<ProjectedGradientUpdate>(0.3, 0.1, 0.0, 1.0),
                      std::make_shared<NoCompression>(),
                      1,
                      average_after};
    };
    Learner plain(recipe(std::numeric_limits<std::uint64_t>::max()), 1, 2, 0),
        means(recipe(10), 1, 2, 0);
    std::mt19937 rng(8);
    std::normal_distribution<double> normal;
    const double probe = 0.3;
    double total[2] = {}, steps = 0.0;
    for (int i = 0; i < 60; ++i) {
        const double x = normal(rng), y[] = {std::sin(x), i < 30 ? 0.0 : 1.0 + x};
        double before[2], said[2], f[2], mean[2];
        means.predict(&x, 1, before);
        plain.learn(&x, y, nullptr, 1, nullptr);
        means.learn(&x, y, nullptr, 1, said);
        CHECK(before[0] == said[0] && before[1] == said[1]);
        plain.predict(&probe, 1, f);
        means.predict(&probe, 1, mean);
        if (i == 30) total[0] = total[1] = steps = 0.0;
        if (i >= 10) ++steps;
        for (std::size_t c = 0; c < 2; ++c) {
            if (i >= 10) total[c] += f[c];
            CHECK_NEAR(mean[c], i >= 10 ? total[c] / steps : f[c], 1e-12);
        }
    }
}

TEST(a_dual_ascent_makes_its_values_anew) {
    // Targets of 2^27 and then of its negative, and few of another size: what is followed has lost
    // 8 digits, and finds them again.
    for (const bool far : {false, true})
        for (const double box : {std::numeric_limits<double>::infinity(), 1e12}) {
            Learner learner({gaussian(1.0), std::make_shared<SquaredLoss>(),
                             std::make_shared<DependenceAdmission>(0.05, 0.0, 1000),
                             std::make_shared<DualAscentUpdate>(0.1, box, far),
                             std::make_shared<NoCompression>()},
                            1, 1, 0);
            const std::size_t m = 5;
            for (const double sign : {1.0, -1.0})
                for (std::size_t i = 0; i < m; ++i) {
                    const double x = 0.6 * static_cast<double>(i),
                                 y = sign * 0x1p27 * (1.0 + static_cast<double>(i % 2)) +
                                     (sign < 0.0 ? 0.25 : 0.0);
                    learner.learn(&x, &y, nullptr, 1, nullptr);
                }
            CHECK(learner.dictionary().size() == m);
            learner.climb(1100);
            learner.climb(DualAscentUpdate::renewal -
                          (m * 2 - 1 + 1100) %
                              DualAscentUpdate::renewal);  // the first sample is no step
            State state;
            learner.visit(StateVisitor::writer(state));
            const auto& kept = state.arrays.at("update.kept");  // s, Q A'y, f, r and Q r
            CHECK(state.counts.at("update.steps") % DualAscentUpdate::renewal == 0);
            for (std::size_t i = 0; i < m; ++i) {
                double f = 0.0, size = 0.0;
                for (std::size_t j = 0; j < m; ++j) {
                    const double apart =
                                     0.6 * static_cast<double>(i) - 0.6 * static_cast<double>(j),
                                 term =
                                     std::exp(-apart * apart) * learner.dictionary().weights(0)[j];
                    f += term;
                    size += std::fabs(term);
                }
                CHECK(size < 1e3);
                CHECK_NEAR(kept[2 * m + i], f, 1e-13 * (1.0 + size));
                CHECK_NEAR(kept[4 * m + i], kept[m + i] - f, 1e-13 * (1.0 + size));
                CHECK_NEAR(kept[3 * m + i], 2.0 * (kept[m + i] - f),
                           1e-12 * (1.0 + size));  // each was seen twice
            }
        }
}

TEST(what_a_dual_ascent_follows_fits_together) {
    // Samples with weights: r = A'A Q r and f = K w after every one of them, long before anything
    // is made anew.
    for (const double box : {std::numeric_limits<double>::infinity(), 0.5}) {
        const auto update = std::make_shared<DualAscentUpdate>(0.1, box, false);
        Learner learner({gaussian(1.0), std::make_shared<SquaredLoss>(),
                         std::make_shared<DependenceAdmission>(0.1, 0.0, 100), update,
                         std::make_shared<NoCompression>()},
                        1, 2, 0);
        std::mt19937 rng(15);
        std::uniform_real_distribution<double> uniform(-2.0, 2.0);
        for (int i = 0; i < 60; ++i) {
            const double x = uniform(rng), y[] = {std::sin(2.0 * x), x * x},
                         weight = 0.1 + std::fabs(uniform(rng));
            learner.learn(&x, y, &weight, 1, nullptr);
            const std::size_t m = learner.dictionary().size();
            State state;
            learner.visit(StateVisitor::writer(state));
            const auto& kept =
                state.arrays.at("update.kept");  // s, Q A'y, f, r and Q r of both outputs
            std::vector<double> r(learner.dictionary().capacity()), centres(m), f(2 * m);
            for (std::size_t j = 0; j < m; ++j) learner.dictionary().centre(j, centres.data() + j);
            learner.predict(centres.data(), m, f.data());
            for (std::size_t c = 0; c < 2; ++c) {
                update->residual(c, r.data());
                for (std::size_t j = 0; j < m; ++j) {
                    CHECK_NEAR(kept[(6 + c) * m + j], r[j], 1e-9);
                    CHECK_NEAR(kept[(4 + c) * m + j], f[2 * j + c], 1e-9);
                    CHECK_NEAR(kept[(8 + c) * m + j], kept[(2 + c) * m + j] - f[2 * j + c], 1e-9);
                }
            }
        }
        CHECK(learner.dictionary().size() > 3 && learner.dictionary().size() < 20);
    }
}

TEST(a_class_is_one_of_those_known) {
    const MulticlassHingeLoss loss;
    const auto refused = [&](double own, double known, std::size_t n_outputs) {
        const double y[] = {own, known};
        return loss.objection(y, n_outputs) != nullptr;
    };
    CHECK(!refused(0.0, 1.0, 1) && !refused(1.0, 2.0, 2) && !refused(1.0, 2.0, 3));
    CHECK(refused(2.0, 2.0, 2) &&
          refused(2.0, 2.0, 3));  // as many as are known: counted from 0, it is not one of them
    CHECK(refused(-1.0, 2.0, 2) && refused(0.5, 2.0, 2) && refused(0.0, 1.5, 2) &&
          refused(0.0, 3.0, 2));
}

}  // namespace
