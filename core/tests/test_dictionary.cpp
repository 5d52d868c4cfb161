// The dictionary's invariants after random appends, removals and replacements.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "check.hpp"
#include "dictionary.hpp"

namespace {

using namespace parsimon;

// Remembers which point each centre is, and checks that it hears of everything.
class Tags final : public Aligned {
public:
    void appended(const Dictionary& dictionary, const Look& look) override {
        tags.push_back(look.x[0]);
        CHECK(tags.size() == dictionary.size());
    }
    void removing(Dictionary& dictionary, std::size_t j, const double* n) override {
        CHECK(dictionary.size() == tags.size());
        std::vector<double> point(dictionary.n_features());
        dictionary.centre(j, point.data());
        CHECK(point[0] == tags[j]);
        if (n) {
            // n = K^-1 e_j, so K n = e_j.
            CHECK(n[j] > 0.0);
            last.assign(n, n + tags.size());
        }
        tags.erase(tags.begin() + static_cast<std::ptrdiff_t>(j));
    }
    std::vector<double> tags, last;
};

std::vector<double> gram(const Dictionary& dictionary) {
    const std::size_t m = dictionary.size(), d = dictionary.n_features();
    std::vector<double> points(m * d), K(m * m);
    for (std::size_t j = 0; j < m; ++j) dictionary.centre(j, points.data() + j * d);
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j < m; ++j) {
            double r2 = 0;
            for (std::size_t f = 0; f < d; ++f)
                r2 += (points[i * d + f] - points[j * d + f]) *
                      (points[i * d + f] - points[j * d + f]);
            K[i * m + j] = std::exp(-r2);
        }
    return K;
}

double worst_entry(const Dictionary& dictionary) {
    const std::size_t m = dictionary.size();
    const auto K = gram(dictionary);
    std::vector<double> SK(m * m), P(m * m);
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t k = 0; k <= i; ++k)
            for (std::size_t j = 0; j < m; ++j)
                SK[i * m + j] += dictionary.factor().row(i)[k] * K[k * m + j];
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t k = 0; k <= i; ++k)
            for (std::size_t j = 0; j < m; ++j)
                P[k * m + j] += dictionary.factor().row(i)[k] * SK[i * m + j];
    double worst = 0;
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j < m; ++j)
            worst = std::max(worst, std::fabs(P[i * m + j] - (i == j)));
    return worst;
}

void exercise(bool with_factor) {
    std::mt19937 rng(3);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    std::normal_distribution<double> near(0.0, 0.02);
    const std::size_t d = 2, C = 3;
    Dictionary dictionary(gaussian(1.0), d, C, {with_factor});
    Tags tags;
    dictionary.attach(tags);
    Looks looks(1, dictionary);
    std::vector<std::vector<double>> points, weights;  // what the dictionary should hold
    std::size_t refused = 0;
    for (int operation = 0; operation < 3000; ++operation) {
        dictionary.make_room(1);
        looks.fit(dictionary);
        const std::vector<double> x = {uniform(rng) * 2 + near(rng), uniform(rng) * 2 + near(rng)};
        const std::vector<double> w = {uniform(rng), uniform(rng), uniform(rng)};
        const std::size_t m = dictionary.size(), j = m ? rng() % m : 0;
        const unsigned kind = rng() % 10;
        const auto index = static_cast<std::ptrdiff_t>(j);
        if (m < 2 || (kind < 5 && m < 60)) {
            dictionary.look(looks, x.data(), 1);
            if (dictionary.accepts(looks[0])) {
                dictionary.append(looks[0], w.data());
                points.push_back(x);
                weights.push_back(w);
            } else {
                ++refused;
            }
        } else if (kind < 8) {
            if (with_factor) {
                const double cost = dictionary.removal_cost(j);
                const double booked = dictionary.project_out(j);
                CHECK_NEAR(booked, cost, 1e-9 * (1 + cost));
                for (std::size_t i = 0; i < m; ++i)
                    for (std::size_t c = 0; c < C; ++c)
                        if (i != j) weights[i][c] -= weights[j][c] * tags.last[i] / tags.last[j];
            } else {
                dictionary.drop(j);
            }
            points.erase(points.begin() + index);
            weights.erase(weights.begin() + index);
        } else if (kind < 9) {
            dictionary.drop(j);
            points.erase(points.begin() + index);
            weights.erase(weights.begin() + index);
        } else if (dictionary.replace(j, x.data(), w.data(), looks)) {
            points.erase(points.begin() + index);
            weights.erase(weights.begin() + index);
            points.push_back(x);
            weights.push_back(w);
        } else {
            ++refused;
        }
        CHECK(dictionary.size() == points.size());
        for (std::size_t i = 0; i < points.size(); ++i) {
            CHECK(tags.tags[i] == points[i][0]);
            for (std::size_t c = 0; c < C; ++c)
                CHECK_NEAR(dictionary.weights(c)[i], weights[i][c],
                           1e-6 * (1 + std::fabs(weights[i][c])));
        }
        if (with_factor)  // kept up to date by differences, but right
            for (std::size_t i = 0; i < dictionary.size(); ++i) {
                double exact = 0.0;
                for (std::size_t r = i; r < dictionary.size(); ++r)
                    exact += dictionary.factor().row(r)[i] * dictionary.factor().row(r)[i];
                CHECK_NEAR(dictionary.factor().diagonal()[i], exact, 1e-9 * exact);
            }
        dictionary.maintain();
        if (with_factor && operation % 100 == 0) {
            CHECK(worst_entry(dictionary) < 2e-6);
            CHECK(dictionary.drift() < 1e-5);
        }
    }
    if (with_factor) {
        CHECK(refused > 0);
        dictionary.rebuild();
        CHECK(worst_entry(dictionary) < 2e-6);
    }
}

TEST(invariants_with_a_factor) { exercise(true); }
TEST(invariants_without_a_factor) { exercise(false); }

TEST(a_refused_replacement_changes_nothing) {
    Dictionary dictionary(gaussian(1.0), 1, 1, {true});
    Looks looks(1, dictionary);
    const double w = 1.0;
    for (const double x : {0.0, 1.0, 2.5}) {
        dictionary.make_room(1);
        looks.fit(dictionary);
        dictionary.look(looks, &x, 1);
        dictionary.append(looks[0], &w);
    }
    dictionary.make_room(1);
    looks.fit(dictionary);
    std::vector<double> S(dictionary.factor().tail(0));
    dictionary.factor().save_tail(0, S.data());
    const double copy = 2.5;
    CHECK(!dictionary.replace(0, &copy, &w, looks));
    std::vector<double> after(S.size());
    dictionary.factor().save_tail(0, after.data());
    CHECK(S == after);
    CHECK(dictionary.size() == 3);
    // In the place of itself it may come: the question is put to the others.
    CHECK(dictionary.replace(2, &copy, &w, looks));
}

// Grows a dictionary of points on a line, 0.5 apart.
void line(Dictionary& dictionary, Looks& looks, int from, int to) {
    for (int i = from; i < to; ++i) {
        dictionary.make_room(1);
        looks.fit(dictionary);
        const double x = 0.5 * i, w = 1.0;
        dictionary.look(looks, &x, 1);
        CHECK(dictionary.accepts(looks[0]));
        dictionary.append(looks[0], &w);
    }
}

void poison(Dictionary& dictionary, double by) {
    const_cast<double*>(dictionary.factor().row(3))[1] += by;
}

TEST(a_drifting_factor_is_rebuilt) {
    Dictionary dictionary(gaussian(4.0), 1, 1, {true});
    Looks looks(1, dictionary);
    line(dictionary, looks, 0, 30);
    CHECK(dictionary.drift() < 1e-12);
    poison(dictionary, 1e-3);
    CHECK(dictionary.drift() > 1e-5);
    for (int i = 30; dictionary.rebuilds() == 0 && i < 400; ++i) {
        line(dictionary, looks, i, i + 1);
        dictionary.maintain();
    }
    CHECK(dictionary.rebuilds() == 1);
    CHECK(dictionary.drift() < 1e-12);
}

TEST(a_factor_that_is_not_a_number_is_rebuilt) {
    Dictionary dictionary(gaussian(4.0), 1, 1, {true});
    Looks looks(1, dictionary);
    line(dictionary, looks, 0, 30);
    poison(dictionary, std::numeric_limits<double>::quiet_NaN());
    CHECK(dictionary.drift() == std::numeric_limits<double>::infinity());
}

TEST(a_copy_is_refused_even_if_the_factor_errs) {
    Dictionary dictionary(gaussian(4.0), 1, 1, {true});
    Looks looks(1, dictionary);
    line(dictionary, looks, 0, 10);
    for (const double by : {1e-3, -1e-3}) {
        poison(dictionary, by);
        dictionary.make_room(1);
        looks.fit(dictionary);
        for (int i = 0; i < 10; ++i) {
            const double x = 0.5 * i;
            dictionary.look(looks, &x, 1);
            CHECK(!dictionary.accepts(looks[0]));
        }
        poison(dictionary, -by);
    }
}

TEST(the_probe_does_not_mind_scale) {
    Dictionary dictionary(polynomial(1.0, 1.0, 3), 2, 1, {true});
    Looks looks(1, dictionary);
    std::mt19937 rng(6);
    std::normal_distribution<double> normal;
    for (int i = 0; i < 8; ++i) {
        dictionary.make_room(1);
        looks.fit(dictionary);
        const double x[] = {normal(rng) * std::pow(10.0, i % 4),
                            normal(rng) * std::pow(10.0, i % 3)},
                     w = 1.0;
        dictionary.look(looks, x, 1);
        if (dictionary.accepts(looks[0])) dictionary.append(looks[0], &w);
    }
    CHECK(dictionary.size() > 3);
    CHECK(dictionary.drift() < 1e-8);
}

TEST(neighbours_are_those_of_a_rescan) {
    Dictionary dictionary(sum(gaussian(1.0), constant(0.5)), 2, 1, {true, true});
    Looks looks(1, dictionary);
    std::mt19937 rng(10);
    std::uniform_real_distribution<double> uniform(-3, 3);
    for (int operation = 0; operation < 2000; ++operation) {
        dictionary.make_room(1);
        looks.fit(dictionary);
        const double x[] = {uniform(rng), uniform(rng)}, w = 1.0;
        dictionary.look(looks, x, 1);
        if (dictionary.size() < 2 ||
            (rng() % 2 && dictionary.size() < 25 && dictionary.accepts(looks[0]))) {
            dictionary.append(looks[0], &w);
        } else {
            dictionary.project_out(rng() % dictionary.size());
        }
        const auto coherence = [&](std::size_t i, std::size_t j) {
            double a[2], b[2];
            dictionary.centre(i, a);
            dictionary.centre(j, b);
            const double r2 = (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]);
            return (std::exp(-r2) + 0.5) / 1.5;
        };
        double largest = 0.0;
        for (std::size_t i = 0; i < dictionary.size(); ++i)
            for (std::size_t j = 0; j < i; ++j) largest = std::max(largest, coherence(i, j));
        const auto pair = dictionary.most_coherent();
        CHECK_NEAR(pair.coherence, largest, 1e-12);
        if (dictionary.size() > 1)
            CHECK(pair.i < pair.j && std::fabs(coherence(pair.i, pair.j) - largest) < 1e-12);
    }
}

TEST(a_reserved_dictionary_does_not_grow) {
    Dictionary dictionary(gaussian(1.0), 1, 1, {true}, 20);
    Looks looks(1, dictionary);
    dictionary.drift();
    const std::size_t capacity = dictionary.capacity();
    const double* place = dictionary.factor().row(0);
    std::mt19937 rng(4);
    std::uniform_real_distribution<double> uniform(-30, 30);
    for (int i = 0; i < 1000; ++i) {
        dictionary.make_room(1);
        looks.fit(dictionary);
        const double x = uniform(rng), w = 1.0;
        dictionary.look(looks, &x, 1);
        if (dictionary.accepts(looks[0])) dictionary.append(looks[0], &w);
        while (dictionary.size() > 19) dictionary.project_out(dictionary.cheapest());
        dictionary.maintain();
    }
    CHECK(dictionary.capacity() == capacity);
    CHECK(dictionary.factor().row(0) == place);
}

}  // namespace
