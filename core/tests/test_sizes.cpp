// Sizes and locks: products that cannot wrap, states that take what they hold, readers that come
// back.
#include <limits>
#include <new>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "check.hpp"
#include "compression.hpp"
#include "learner.hpp"
#include "model_lock.hpp"
#include "rls.hpp"
#include "sizes.hpp"
#include "sound.hpp"

namespace {

using namespace parsimon;

constexpr std::size_t most = std::numeric_limits<std::size_t>::max();

template <class Error, class Call>
bool throws(Call&& call) {
    try {
        call();
    } catch (const Error&) {
        return true;
    }
    return false;
}

// SPL with a budget, which keeps centres, weights, factor and neighbours.
Learner spl(std::size_t budget, std::size_t batch_size, bool at_once) {
    return Learner(
        {gaussian(1.0), std::make_shared<SquaredLoss>(), std::make_shared<CoherenceAdmission>(0.95),
         std::make_shared<ProjectedGradientUpdate>(0.5, 0.0, 0.0, 1.0),
         std::make_shared<MostCoherentCompression>(budget, true), batch_size},
        2, 1, budget + batch_size, at_once);
}

struct Rows {
    explicit Rows(std::size_t n) : x(2 * n), y(n) {
        std::mt19937 rng(5);
        std::normal_distribution<double> normal;
        for (double& v : x) v = normal(rng);
        for (double& v : y) v = normal(rng);
    }
    std::vector<double> x, y;
};

TEST(products_of_sizes_do_not_wrap) {
    CHECK(numbers(3, 4) == 12 && numbers(0, most) == 0 && numbers(most, 0) == 0);
    CHECK(throws<std::bad_alloc>([] { numbers(most, 2); }));
    CHECK(throws<std::bad_alloc>([] { numbers(most / 16, 2); }));  // a number of 8 bytes each
    CHECK(expected(3, 4) == 12 && expected(most, 2) == most && expected(most / 2 + 1, 2) == most);
    CHECK(expected_triangle(4) == 10 && expected_triangle(5) == 15 &&
          expected_triangle(most - 1) == most);
}

TEST(a_state_takes_what_it_holds_until_a_sample_is_learned) {
    const Rows rows(40);
    Learner first = spl(12, 1, true);
    const std::size_t taken = first.nbytes();
    first.learn(rows.x.data(), rows.y.data(), nullptr, 20, nullptr);
    CHECK(first.nbytes() == taken);
    State state;
    first.visit(StateVisitor::writer(state));
    Learner large =
        spl(std::size_t{1} << (4 * sizeof(std::size_t) + 1), 1, false);  // its square wraps
    large.visit(StateVisitor::reader(state));
    CHECK(large.nbytes() < 2 * taken);
    CHECK(throws<std::bad_alloc>(
        [&] { large.learn(rows.x.data(), rows.y.data(), nullptr, 1, nullptr); }));
    CHECK(large.seen() == 20 && large.nbytes() < 2 * taken);
    Learner again = spl(12, 1, false);
    again.visit(StateVisitor::reader(state));
    for (Learner* learner : {&first, &again})
        learner->learn(rows.x.data() + 40, rows.y.data() + 20, nullptr, 20, nullptr);
    CHECK(again.nbytes() == taken);
    std::vector<double> a(40), b(40);
    first.predict(rows.x.data(), 40, a.data());
    again.predict(rows.x.data(), 40, b.data());
    CHECK(a == b);
}

TEST(numbers_that_learning_does_not_lead_to_are_refused) {
    const Rows rows(40);
    Learner learner = spl(12, 1, true);
    learner.learn(rows.x.data(), rows.y.data(), nullptr, 40, nullptr);
    learner.require_sound();
    State state;
    learner.visit(StateVisitor::writer(state));
    for (const char* name :
         {"dictionary.weights", "dictionary.diagonal", "dictionary.factor.rows",
          "dictionary.factor.diagonal", "dictionary.factor.summed", "dictionary.points"})
        for (const double factor : {1e300, 3.0}) {
            State forged = state;
            for (double& value : forged.arrays[name]) value *= factor;
            Learner other = spl(12, 1, false);
            other.visit(StateVisitor::reader(forged));
            const bool harmless = factor == 3.0 && std::string(name) == "dictionary.weights";
            const bool still_a_bound =
                factor == 3.0 && std::string(name) == "dictionary.factor.summed";
            CHECK(throws<InputError>([&] { other.require_sound(); }) !=
                  (harmless || still_a_bound));
        }
}

TEST(working_memory_is_counted) {
    ProjectedGradientUpdate update(0.5, 0.0, 0.0, 1.0);
    update.make_ready(100);
    CHECK(update.nbytes() >= 100 * sizeof(Look*));
    Dictionary dictionary(gaussian(1.0), 50, 3, {}, 20);
    MergeCompression merge(10);
    CHECK(merge.nbytes() == 0);
    merge.make_ready(dictionary);
    CHECK(merge.nbytes() >= (20 + 3 * 50 + 3) * sizeof(double));
}

constexpr auto plainly = [](auto&& wait) { wait(); };

TEST(a_thread_that_reads_a_model_may_read_it_again_and_not_change_it) {
    ModelLock model, other;
    {
        ModelLock::Reading reading(model, plainly);
        ModelLock::Reading again(model, plainly);
        CHECK(throws<std::runtime_error>([&] { ModelLock::Learning learning(model, plainly); }));
        ModelLock::Learning elsewhere(other, plainly);
        CHECK(throws<std::runtime_error>([&] { ModelLock::Reading learned(other, plainly); }));
        CHECK(throws<std::runtime_error>([&] { ModelLock::Learning twice(other, plainly); }));
        bool helper_refused = false, stranger_reads = false;
        std::thread([&] {
            ModelLock::Reading helping(model, ModelLock::Reading::Helping());
            ModelLock::Reading nested(model, plainly);
            helper_refused =
                throws<std::runtime_error>([&] { ModelLock::Learning learning(model, plainly); });
        }).join();
        std::thread([&] {
            ModelLock::Reading reading_too(model, plainly);
            stranger_reads = true;
        }).join();
        CHECK(helper_refused && stranger_reads);
    }
    ModelLock::Learning learning(model, plainly);
    learning.release();
    {
        ModelLock::Reading meanwhile(model, plainly);
    }
    learning.take();
    CHECK(throws<std::runtime_error>([&] { ModelLock::Reading reading(model, plainly); }));
}

TEST(a_model_is_read_by_many_or_changed_by_one) {
    ModelLock model;
    long value = 0, torn = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 2000; ++i)
                if (t == 0) {
                    ModelLock::Learning learning(model, plainly);
                    ++value;
                    ++value;
                } else {
                    ModelLock::Reading reading(model, plainly);
                    if (value % 2 != 0) torn = 1;
                }
        });
    for (auto& thread : threads) thread.join();
    CHECK(value == 4000 && torn == 0);
}

TEST(every_number_is_looked_at) {
    for (std::size_t bad = 0; bad < 3; ++bad) {
        double values[] = {1.0, -1.0, 1.0};
        sound::require_within(values, 3, 1.0, "numbers");
        values[bad] *= 2.0;
        bool refused = false;
        try {
            sound::require_within(values, 3, 1.0, "numbers");
        } catch (const InputError&) {
            refused = true;
        }
        CHECK(refused);
    }
}

}  // namespace
