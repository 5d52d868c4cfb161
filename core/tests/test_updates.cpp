// What a step does: batches, means, the dual ascent.
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
