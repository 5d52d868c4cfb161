// The loop: blocks equal rows, budgets hold, bad input is named and changes nothing.
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "check.hpp"
#include "dual_ascent.hpp"
#include "learner.hpp"

namespace {

using namespace parsimon;

Learner knlms(KernelPtr kernel, double coherence, std::shared_ptr<Compression> compression,
              std::size_t d, std::size_t C) {
    return Learner({std::move(kernel), std::make_shared<SquaredLoss>(),
                    std::make_shared<CoherenceAdmission>(coherence),
                    std::make_shared<NLMSUpdate>(0.3, 0.01), std::move(compression), 1},
                   d, C, 0);
}

struct Stream {
    explicit Stream(std::size_t n) : n(n), x(2 * n), y(2 * n) {
        std::mt19937 rng(5);
        std::normal_distribution<double> normal;
        for (double& v : x) v = normal(rng);
        for (std::size_t i = 0; i < n; ++i) {
            y[2 * i] = std::sin(x[2 * i]);
            y[2 * i + 1] = x[2 * i + 1] * x[2 * i];
        }
    }
    std::size_t n;
    std::vector<double> x, y;
};

bool same(const Learner& a, const Learner& b) {
    if (a.dictionary().size() != b.dictionary().size()) return false;
    for (std::size_t c = 0; c < a.dictionary().n_outputs(); ++c)
        for (std::size_t j = 0; j < a.dictionary().size(); ++j)
            if (a.dictionary().weights(c)[j] != b.dictionary().weights(c)[j]) return false;
    return true;
}

TEST(a_block_equals_its_rows) {
    const Stream stream(2000);
    const auto normal_polynomial = normalized(polynomial(0.5, 1.0, 3));
    for (const KernelPtr& kernel :
         {gaussian(1.0), product(sum(matern32(0.5), constant(0.2)), laplacian(0.1)),
          normal_polynomial})
        for (int rule = 0; rule < 3; ++rule) {
            const auto compression = [rule]() -> std::shared_ptr<Compression> {
                if (rule == 0) return std::make_shared<NoCompression>();
                if (rule == 1) return std::make_shared<LeastCostCompression>(12, 0.0);
                return std::make_shared<OldestCompression>(12);
            };
            Learner block = knlms(kernel, 0.7, compression(), 2, 2),
                    rows = knlms(kernel, 0.7, compression(), 2, 2);
            std::vector<double> before(2 * stream.n), one(2);
            block.learn(stream.x.data(), stream.y.data(), nullptr, stream.n, before.data());
            for (std::size_t i = 0; i < stream.n; ++i) {
                rows.predict(stream.x.data() + 2 * i, 1, one.data());
                CHECK(one[0] == before[2 * i] && one[1] == before[2 * i + 1]);
                rows.learn(stream.x.data() + 2 * i, stream.y.data() + 2 * i, nullptr, 1, nullptr);
            }
            CHECK(same(block, rows));
            CHECK(block.seen() == stream.n);
            if (rule > 0) CHECK(block.dictionary().size() <= 12);
        }
}

TEST(single_precision_is_the_kernel_of_rounded_points) {
    const Stream stream(500);
    std::vector<double> rounded = stream.x;
    for (double& v : rounded) v = static_cast<float>(v);
    for (const KernelPtr& kernel :
         {gaussian(1.0), normalized(sum(polynomial(0.5, 1.0, 3), normalized(linear())))}) {
        Learner single = knlms(single_precision(kernel), 0.7,
                               std::make_shared<LeastCostCompression>(12, 0.0), 2, 2),
                plain = knlms(kernel, 0.7, std::make_shared<LeastCostCompression>(12, 0.0), 2, 2);
        single.learn(stream.x.data(), stream.y.data(), nullptr, stream.n, nullptr);
        plain.learn(rounded.data(), stream.y.data(), nullptr, stream.n, nullptr);
        State a, b;
        single.visit(StateVisitor::writer(a));
        plain.visit(StateVisitor::writer(b));
        CHECK(a.arrays == b.arrays && a.counts == b.counts);
        std::vector<double> f(2 * stream.n), g(2 * stream.n);
        single.predict(stream.x.data(), stream.n, f.data());
        plain.predict(rounded.data(), stream.n, g.data());
        CHECK(f == g);
        Learner again = knlms(single_precision(kernel), 0.7,
                              std::make_shared<LeastCostCompression>(12, 0.0), 2, 2);
        again.visit(StateVisitor::reader(a));
        again.predict(stream.x.data(), stream.n, g.data());
        CHECK(f == g);
    }
}

TEST(a_block_of_a_dual_ascent_equals_its_rows) {
    const Stream stream(400);
    for (const double box : {std::numeric_limits<double>::infinity(), 0.5}) {
        const auto make = [box] {
            return Learner({gaussian(1.0), std::make_shared<SquaredLoss>(),
                            std::make_shared<DependenceAdmission>(0.05, 0.01, 1000),
                            std::make_shared<DualAscentUpdate>(0.1, box, false),
                            std::make_shared<NoCompression>()},
                           2, 2, 0);
        };
        Learner block = make(), rows = make();
        block.learn(stream.x.data(), stream.y.data(), nullptr, stream.n, nullptr);
        for (std::size_t i = 0; i < stream.n; ++i)
            rows.learn(stream.x.data() + 2 * i, stream.y.data() + 2 * i, nullptr, 1, nullptr);
        block.climb(3);
        rows.climb(3);
        CHECK(same(block, rows));
        CHECK(block.dictionary().size() > 20);
    }
}

TEST(means_follow_when_outputs_are_added) {
    const Stream stream(400);
    Learner learner(
        {gaussian(1.0), std::make_shared<SquaredLoss>(), std::make_shared<ProposedAdmission>(),
         std::make_shared<ProjectedGradientUpdate>(0.3, 0.01, 0.0, 1.0),
         std::make_shared<MatchingPursuitCompression>(0.01, 1.5, 20), 8, 100},
        2, 1, 28);
    std::vector<double> y(stream.n);
    for (std::size_t i = 0; i < stream.n; ++i) y[i] = stream.y[2 * i];
    learner.learn(stream.x.data(), y.data(), nullptr, stream.n, nullptr);
    double before = 0.0, after[2];
    learner.predict(stream.x.data(), 1, &before);
    learner.set_outputs(2);
    learner.predict(stream.x.data(), 1, after);
    CHECK(after[0] == before && after[1] == 0.0);
    learner.learn(stream.x.data(), stream.y.data(), nullptr, stream.n, nullptr);
    learner.predict(stream.x.data(), 1, after);
    CHECK(after[1] != 0.0 && learner.dictionary().size() <= 20 &&
          learner.dictionary().n_outputs() == 4);
}

TEST(bad_input_is_named) {
    const KernelPtr kernel = sum(linear(), constant(1.0));
    Learner learner = knlms(kernel, 0.9, std::make_shared<NoCompression>(), 2, 1),
            single = knlms(single_precision(kernel), 0.9, std::make_shared<NoCompression>(), 2, 1);
    const auto message_of = [](Learner& learner, std::vector<double> x,
                               std::vector<double> y) -> std::string {
        try {
            learner.check_samples(x.data(), y.data(), nullptr, y.size(), 1);
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    };
    const auto message = [&](std::vector<double> x, std::vector<double> y) {
        return message_of(learner, x, y);
    };
    const double nan = std::numeric_limits<double>::quiet_NaN(),
                 inf = std::numeric_limits<double>::infinity();
    CHECK(message({1, 2, 3, 4}, {1, 2}).empty());
    CHECK(message({1, 2, 3, nan}, {1, 2}) == "X contains NaN at row 1, column 1");
    CHECK(message({-inf, 2, 3, nan}, {1, 2}) ==
          "X contains minus infinity (-inf) at row 0, column 0");
    CHECK(message({1, 2, 3, 4}, {1, inf}) == "y contains infinity (inf) at row 1");
    CHECK(message({1, 2, 1e200, 4}, {1, 2}).find("row 1") != std::string::npos);
    CHECK(message({1, 2, 3, 4}, {1e200, 2}).find("row 0") != std::string::npos);
    CHECK(message({0.99e40, 0}, {1}).empty());  // k(x, x) may be 1e80, targets 1e100
    CHECK(message({1.01e40, 0}, {1}).find("beyond the largest that can be used (1e+80)") !=
          std::string::npos);
    CHECK(message({1, 0}, {-1e100}).empty());
    CHECK(
        message({1, 0}, {-1.01e100}).find("beyond the largest target that can be used (1e+100)") !=
        std::string::npos);
    Learner indefinite =
        knlms(sum(linear(), constant(-1.0)), 0.9, std::make_shared<NoCompression>(), 2, 1);
    CHECK(message_of(indefinite, {2, 0, 0.5, 0}, {1, 2})
              .starts_with("the kernel value k(x, x) of row 1 of X is -0.75: this is not a"));
    CHECK(message({1, 2, 3, 1e39}, {1, 2}).empty());
    CHECK(message_of(single, {1, 2, 3, -1e39}, {1, 2})
              .starts_with("X contains -1e+39 at row 1, column 1, beyond the range of single"));
    CHECK(message_of(single, {1, 2, 3, nan}, {1, 2}) == "X contains NaN at row 1, column 1");
    const double edge = std::ldexp(1.0, 128) -
                        std::ldexp(1.0, 103);  // halfway from the largest float to the power of two
    CHECK(message_of(single, {1, 2, 3, edge}, {1, 2}).starts_with("X contains"));
    CHECK(message_of(single, {1, 2, 3, std::nextafter(edge, 0.0)}, {1, 2}).empty());
}

}  // namespace
