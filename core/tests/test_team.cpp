// Operations that threads share give the bits of one thread.
#include <atomic>
#include <random>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "factor.hpp"
#include "learner.hpp"
#include "recipes.hpp"
#include "team.hpp"

namespace {

using namespace parsimon;

const std::size_t sizes[] = {1, 7, 33, 130, 300, 601};

std::vector<double> numbers_of(std::size_t n, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<double> values(n);
    for (double& value : values) value = static_cast<double>(random() % 2001) / 1000.0 - 1.0;
    return values;
}

// A factor of n coordinates with random rows.
TriangularFactor factor_of(std::size_t n) {
    TriangularFactor factor;
    factor.reserve(n);
    for (std::size_t i = 0; i < n; ++i) {
        const auto row = numbers_of(i + 1, static_cast<unsigned>(i));
        factor.append(0.1, row.data(), 1.5);
    }
    return factor;
}

// Some of n coordinates: a few at the beginning, side by side and at the end of a piece.
std::vector<std::size_t> chosen(std::size_t n, std::size_t apart) {
    std::vector<std::size_t> js;
    for (std::size_t j = apart; j < n && js.size() < 30; j += apart) {
        js.push_back(j);
        if (j % 2 && j + 1 < n && apart > 1) js.push_back(j + 1);
    }
    for (const std::size_t j : {std::size_t{255}, std::size_t{256}, n - 1})
        if (j < n && (js.empty() || j > js.back())) js.push_back(j);
    return js;
}

bool equal(const TriangularFactor& a, const TriangularFactor& b) {
    bool same = a.size() == b.size();
    for (std::size_t i = 0; same && i < a.size(); ++i) {
        same = a.diagonal()[i] == b.diagonal()[i];
        for (std::size_t j = 0; j < simd::padded(i + 1); ++j) same &= a.row(i)[j] == b.row(i)[j];
    }
    return same;
}

TEST(a_product_that_threads_share_has_the_same_bits) {
    for (const std::size_t n : sizes)
        for (const std::size_t threads : {2u, 3u}) {
            Team team(threads, 0.0);
            const TriangularFactor factor = factor_of(n);
            const std::size_t room = simd::padded(n);
            auto h = numbers_of(room, 5);
            std::vector<double> t(room), a(room), shared_t(room), shared_a(room);
            const double squares = factor.multiply(0, n, h.data(), t.data(), a.data());
            CHECK(squares == factor.multiply(h.data(), shared_t.data(), shared_a.data(), team));
            CHECK(t == shared_t);
            CHECK(a == shared_a);
        }
}

TEST(products_with_several_vectors_have_the_same_bits) {
    for (const std::size_t n : sizes)
        for (const std::size_t count : {4u, 9u, 32u}) {
            const TriangularFactor factor = factor_of(n);
            const std::size_t room = simd::padded(n), wide = simd::padded(count);
            const auto values = numbers_of(count * room, 6);
            std::vector<const double*> h;
            for (std::size_t k = 0; k < count; ++k) h.push_back(values.data() + k * room);
            std::vector<double> across(wide * room), sums(wide * room);
            std::vector<double> t(2 * count * room), a(2 * count * room), squares(2 * count);
            std::vector<double*> ts, as;
            for (std::size_t k = 0; k < 2 * count; ++k) {
                ts.push_back(t.data() + k * room);
                as.push_back(a.data() + k * room);
            }
            factor.multiply({h.data(), count, ts.data(), as.data()}, squares.data(), across.data(),
                            sums.data());
            for (const std::size_t threads : {2u, 3u}) {
                Team team(threads, 0.0);
                factor.multiply_shared({h.data(), count, ts.data() + count, as.data() + count},
                                       squares.data() + count, across.data(), sums.data(), team);
                const auto same = [](const std::vector<double>& x) {
                    const auto half = static_cast<std::ptrdiff_t>(x.size() / 2);
                    return std::equal(x.begin(), x.begin() + half, x.begin() + half);
                };
                CHECK(same(t) && same(a) && same(squares));
            }
        }
}

TEST(columns_that_threads_share_have_the_same_bits) {
    for (const std::size_t n : sizes)
        for (const std::size_t apart : {1u, 5u, 40u})
            for (const std::size_t threads : {2u, 3u}) {
                Team team(threads, 0.0);
                const TriangularFactor factor = factor_of(n);
                const auto js = chosen(n, apart);
                const std::size_t count = js.size(), room = simd::padded(n) * count;
                std::vector<double> one(room), shared(room);
                factor.columns(js.data(), count, one.data());
                factor.columns(js.data(), count, shared.data(), team);
                CHECK(one == shared);
            }
}

TEST(removals_that_threads_share_have_the_same_bits) {
    for (const std::size_t n : sizes)
        for (const std::size_t apart : {1u, 2u, 5u, 40u})
            for (const std::size_t threads : {2u, 3u}) {
                Team team(threads, 0.0);
                TriangularFactor one = factor_of(n), shared = one;
                const auto js = chosen(n, apart);
                if (js.size() == n) continue;
                std::vector<double> work(simd::padded(n) * js.size());
                one.remove(js.data(), js.size(), work.data());
                shared.remove(js.data(), js.size(), work.data(), team);
                CHECK(equal(one, shared));
            }
}

TEST(one_removal_that_threads_share_has_the_same_bits) {
    for (const std::size_t n : sizes)
        for (std::size_t j = 0; j < n; j += 1 + n / 7)
            for (const std::size_t threads : {2u, 3u}) {
                Team team(threads, 0.0);
                TriangularFactor one = factor_of(n), shared = one;
                one.remove(j);
                shared.remove(j, team);
                CHECK(equal(one, shared));
                CHECK(std::equal(one.carry(), one.carry() + n, shared.carry()));
            }
}

// A kernel that must stay on the thread that learns.
class AloneKernel final : public Kernel {
public:
    void rows(const simd::Rows& x, const simd::Panels& centres, std::size_t d, std::size_t at,
              const simd::Block& out, Scratch& scratch) const override {
        if (std::this_thread::get_id() != home) throw std::runtime_error("another thread");
        inner->rows(x, centres, d, at, out, scratch);
    }
    void diagonal(const simd::Rows& x, std::size_t d, std::size_t at, double* out,
                  Scratch& scratch) const override {
        inner->diagonal(x, d, at, out, scratch);
    }
    bool unit_diagonal() const override { return true; }

private:
    KernelPtr inner = gaussian(0.1);
    std::thread::id home = std::this_thread::get_id();
};

KernelPtr kernel_of(int kind) {
    switch (kind) {
        case 0:
            return gaussian(0.02);
        case 1:
            return normalized(sum(gaussian(0.02), product(linear(), constant(0.5))));
        case 2:
            return single_precision(gaussian(0.02));
        default:
            return std::make_shared<AloneKernel>();
    }
}

// The numbers of a model that learned in so many threads.
std::vector<double> learned(std::size_t threads, int kind, std::size_t batch, bool merges) {
    const std::size_t n = 240, d = 40;
    const auto factor = std::make_shared<ProjectedGradientUpdate>(0.8, 1e-6, 0.0, 1.0, true);
    const auto plain = std::make_shared<PlainGradientUpdate>(0.8, 1e-6, 0.0, 1.0, true);
    Recipe recipe{.kernel = kernel_of(kind),
                  .loss = std::make_shared<SquaredLoss>(),
                  .admission = std::make_shared<ProposedAdmission>(),
                  .update = factor,
                  .compression = std::make_shared<MatchingPursuitCompression>(0.2, 1.5, 90),
                  .batch_size = batch,
                  .average_after = 50};
    if (merges) {
        recipe.update = plain;
        recipe.compression = std::make_shared<MergingPursuitCompression>(0.01, 1.5, 90, 5);
    }
    Learner model(recipe, d, 2);
    model.set_threads(threads, 0.0);
    const auto x = numbers_of(n * d, 1), y = numbers_of(n * 2, 2);
    std::vector<double> found(n * 2);
    for (std::size_t first = 0; first < n; first += 60)
        model.learn(x.data() + first * d, y.data() + first * 2, nullptr, 60,
                    found.data() + first * 2);
    found.push_back(static_cast<double>(model.dictionary().size()));
    found.push_back(model.spent());
    for (std::size_t c = 0; c < 4; ++c)
        found.insert(found.end(), model.dictionary().weights(c),
                     model.dictionary().weights(c) + model.dictionary().size());
    return found;
}

TEST(threads_change_no_bit_of_a_model) {
    for (const bool merges : {false, true})
        for (const int kind : {0, 1, 2, 3})
            for (const std::size_t batch : {1u, 3u, 32u}) {
                if (merges && kind != 0) continue;
                const auto one = learned(1, kind, batch, merges);
                for (const std::size_t threads : {2u, 3u})
                    CHECK(one == learned(threads, kind, batch, merges));
            }
}

TEST(a_team_can_rest_and_work_again) {
    Team team(3, 0.0);
    for (int time = 0; time < 4; ++time) {
        const Team::Shift shift(team);
        std::vector<int> times(1000, 0);
        for (int region = 0; region < 50; ++region)
            team.in_pieces(1000, 7, [&](std::size_t first, std::size_t last) {
                for (std::size_t i = first; i < last; ++i) ++times[i];
            });
        for (const int t : times) CHECK(t == 50);
    }
    std::size_t expected = 0;
    team.in_turn(100, 3, [&](std::size_t first, std::size_t last, auto&& wait) {
        wait();
        CHECK(expected == first);
        expected = last;
    });
    CHECK(expected == 100);
}

TEST(an_error_in_a_team_is_thrown_and_the_team_goes_on) {
    Team team(3, 0.0);
    for (int time = 0; time < 3; ++time) {
        bool thrown = false;
        try {
            team.in_pieces(100, 1, [](std::size_t first, std::size_t) {
                if (first == 50) throw std::runtime_error("fifty");
            });
        } catch (const std::runtime_error&) {
            thrown = true;
        }
        CHECK(thrown);
        std::atomic<int> done = 0;
        team.in_pieces(10, 1, [&](std::size_t, std::size_t) { ++done; });
        CHECK(done == 10);
    }
}

TEST(small_work_is_not_shared) {
    const Team one(1, 0.0), usual(8);
    CHECK(!one.shares(1e9));
    CHECK(!usual.shares(1000, 1000));
    CHECK(usual.shares(1100, 1000));
}

}  // namespace
