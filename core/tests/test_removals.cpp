// Removals from an explicit inverse take the centres that plain downdates of it would take,
// whatever the block.
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "check.hpp"
#include "removals.hpp"

namespace {

using namespace parsimon;

// P = A'A + I, which is positive definite, and weights.
struct Problem {
    std::size_t m, C;
    std::vector<double> P, W;

    Problem(std::size_t m, std::size_t C, unsigned seed) : m(m), C(C), P(m * m), W(C * m) {
        std::mt19937 rng(seed);
        std::normal_distribution<double> normal;
        std::vector<double> A(m * m);
        for (double& a : A) a = normal(rng) / std::sqrt(static_cast<double>(m));
        for (double& w : W) w = normal(rng);
        for (std::size_t i = 0; i < m; ++i)
            for (std::size_t j = 0; j < m; ++j) {
                P[i * m + j] = i == j;
                for (std::size_t k = 0; k < m; ++k) P[i * m + j] += A[k * m + i] * A[k * m + j];
            }
    }
};

// A pursuit that updates P after every removal.
struct Plain {
    std::vector<std::size_t> order;
    std::vector<double> W;  // what is left
    double spent = 0.0;

    Plain(Problem p, std::size_t most, double allowance) {
        std::vector<bool> gone(p.m);
        for (std::size_t left = p.m; left > 0; --left) {
            std::size_t best = p.m;
            double least = 0.0;
            for (std::size_t j = 0; j < p.m; ++j) {
                double square = 0.0;
                for (std::size_t c = 0; c < p.C; ++c) square += p.W[c * p.m + j] * p.W[c * p.m + j];
                const double cost = square / p.P[j * p.m + j];
                if (!gone[j] && (best == p.m || cost < least)) best = j, least = cost;
            }
            if (left <= most && least > allowance) break;
            const std::vector<double> column(
                p.P.begin() + static_cast<std::ptrdiff_t>(best * p.m),
                p.P.begin() + static_cast<std::ptrdiff_t>((best + 1) * p.m));
            for (std::size_t c = 0; c < p.C; ++c) {
                const double w = p.W[c * p.m + best] / column[best];
                for (std::size_t i = 0; i < p.m; ++i) p.W[c * p.m + i] -= w * column[i];
            }
            for (std::size_t i = 0; i < p.m; ++i)
                for (std::size_t j = 0; j < p.m; ++j)
                    if (!gone[i] && !gone[j])
                        p.P[i * p.m + j] -= column[i] * column[j] / column[best];
            gone[best] = true;
            order.push_back(best);
            allowance -= least;
            spent += least;
        }
        W = p.W;
    }
};

struct Run {
    Removals done;
    std::vector<double> diagonal, U;
    std::unique_ptr<bool[]> gone;

    Run(Problem& p, std::size_t room, std::size_t most, double allowance, double lost)
        : diagonal(p.m), U(room * p.m), gone(new bool[p.m]()) {
        for (std::size_t i = 0; i < p.m; ++i) diagonal[i] = p.P[i * p.m + i];
        const auto before = diagonal;
        for (std::size_t i = 0; i < p.m; ++i)  // what is above the diagonal is not looked at
            for (std::size_t j = i + 1; j < p.m; ++j)
                p.P[i * p.m + j] = std::numeric_limits<double>::quiet_NaN();
        done = remove_cheapest(
            {p.m, p.C, p.P.data(), p.W.data(), diagonal.data(), before.data(), gone.get()},
            U.data(), room, most, allowance, lost);
    }
    bool same(const std::vector<std::size_t>& order, std::size_t m) const {
        std::vector<bool> expected(m);
        for (std::size_t k = 0; k < done.count; ++k) expected[order[k]] = true;
        for (std::size_t i = 0; i < m; ++i)
            if (gone[i] != expected[i]) return false;
        return true;
    }
};

TEST(the_cheapest_go_first) {
    for (const std::size_t C : {1u, 3u})
        for (const std::size_t m : {1u, 7u, 40u}) {
            const Problem whole(m, C, 5);
            const Plain plain(whole, m / 2, 0.3);
            Problem p = whole;
            const Run run(p, m, m / 2, 0.3, 0.0);
            CHECK(run.done.end ==
                  (plain.order.size() == m ? Removals::End::full : Removals::End::done));
            CHECK(run.done.count == plain.order.size());
            CHECK(run.same(plain.order, m));
            CHECK(std::fabs(run.done.spent - plain.spent) <= 1e-12 * (1.0 + plain.spent));
        }
}

TEST(columns_are_corrected_in_all_their_pieces) {
    // More than the thousand that are corrected at a time. P = I + a a' with weights along it: each
    // removal changes all other costs.
    const std::size_t m = 1100;
    Problem p(1, 1, 1);
    p.m = m;
    p.P.assign(m * m, 0.0);
    p.W.resize(m);
    std::mt19937 rng(11);
    std::normal_distribution<double> normal;
    std::vector<double> a(m);
    for (double& v : a) v = normal(rng);
    for (std::size_t i = 0; i < m; ++i) {
        p.W[i] = 2.0 * a[i] + 0.1 * normal(rng);
        for (std::size_t j = 0; j < m; ++j) p.P[i * m + j] = (i == j) + a[i] * a[j];
    }
    const Plain plain(p, m - 6, 0.0);
    const Run run(p, 8, m - 6, 0.0, 0.0);
    CHECK(run.done.count == 6 && plain.order.size() == 6);
    CHECK(run.same(plain.order, m));
    CHECK_NEAR(run.done.spent, plain.spent, 1e-10 * plain.spent);
    for (std::size_t i = 0; i < m; ++i)
        if (!run.gone[i]) CHECK_NEAR(p.W[i], plain.W[i], 1e-9);
}

TEST(a_block_is_as_long_as_there_is_room) {
    Problem p(30, 2, 6);
    const Plain plain(p, 5, 0.0);
    const Run run(p, 4, 5, 0.0, 0.0);
    CHECK(run.done.end == Removals::End::full);
    CHECK(run.done.count == 4);
    CHECK(run.same(plain.order, 30));
}

TEST(lost_digits_and_costs_that_are_no_numbers_are_told) {
    Problem worn(10, 1, 7);
    CHECK(Run(worn, 10, 1, 0.0, 0.999999).done.end == Removals::End::lost);
    Problem large(10, 1, 8);
    for (double& w : large.W) w = 1e200;
    const Run infinite(large, 10, 5, 0.0, 0.0);
    CHECK(infinite.done.end == Removals::End::lost);
    CHECK(infinite.done.count == 0);
    Problem nothing(10, 1, 9);
    nothing.W[3] = std::numeric_limits<double>::quiet_NaN();
    CHECK(Run(nothing, 10, 5, 0.0, 0.0).done.end == Removals::End::lost);
    CHECK(Run(nothing, 10, 10, 1e9, 0.0).done.end == Removals::End::done);  // nobody must go
}

TEST(what_an_earlier_block_removed_is_not_removed_again) {
    const double P[] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, before[] = {1, 1, 1};
    double W[] = {0, 2, 3}, diagonal[] = {1, 1, 1}, U[9];
    bool gone[] = {true, false, false};
    const Inverse inverse{3, 1, P, W, diagonal, before, gone};
    const Removals done = remove_cheapest(inverse, U, 3, 1, 0.0, 1e-7);
    CHECK(done.count == 1 && gone[1] && !gone[2]);
}

}  // namespace
