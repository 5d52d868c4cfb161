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

TEST(pruning_together_equals_one_by_one) {
    for (const std::size_t budget : {0, 3, 17, 29, 30}) {
        Dictionary together(parsimon::gaussian(1.0), 2, 3, {.factor = true, .neighbours = false});
        Dictionary singly(parsimon::gaussian(1.0), 2, 3, {.factor = true, .neighbours = true});
        for (Dictionary* dictionary : {&together, &singly}) {
            std::mt19937 rng(4);
            std::normal_distribution<double> normal;
            Looks looks(1, *dictionary);
            while (dictionary->size() < 30) {
                const double x[2] = {2 * normal(rng), 2 * normal(rng)},
                             w[3] = {normal(rng), normal(rng), normal(rng)};
                if (dictionary->make_room(1)) looks.fit(*dictionary);
                dictionary->look(looks, x, 1);
                if (dictionary->accepts(looks[0])) dictionary->append(looks[0], w);
            }
        }
        const double paid = together.project_out_cheapest(0.0, budget),
                     alone = singly.project_out_cheapest(0.0, budget);
        CHECK(together.size() == budget && singly.size() == budget);
        CHECK_NEAR(paid, alone, 1e-9 * (1 + alone));
        for (std::size_t j = 0; j < budget; ++j)
            for (std::size_t c = 0; c < 3; ++c)
                CHECK_NEAR(together.weights(c)[j], singly.weights(c)[j], 1e-8);
    }
}

TEST(pruning_near_copies_keeps_its_digits) {
    // Two bunches of four near copies. Without all of them nothing is left of f, so the costs add
    // up to its squared norm. What is left of a column of K^-1 after its near copies have gone has
    // lost 7 digits: those that go last must be taken from the factor again.
    constexpr std::size_t m = 8, d = 4;
    Dictionary dictionary(gaussian(1.0), d, 1, {.factor = true});
    Looks looks(1, dictionary);
    std::mt19937 rng(3);
    std::normal_distribution<double> normal;
    double x[m][d] = {}, w[m];
    for (std::size_t i = 0; i < m; ++i) {
        x[i][0] = i < 4 ? 0.0 : 2.0;
        x[i][i % 4] += 6e-4;
        w[i] = normal(rng);
        if (dictionary.make_room(1)) looks.fit(dictionary);
        dictionary.look(looks, x[i], 1);
        CHECK(dictionary.accepts(looks[0]));
        dictionary.append(looks[0], w + i);
    }
    double norm = 0.0;
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j < m; ++j) {
            double r2 = 0.0;
            for (std::size_t f = 0; f < d; ++f) r2 += (x[i][f] - x[j][f]) * (x[i][f] - x[j][f]);
            norm += w[i] * w[j] * std::exp(-r2);
        }
    CHECK_NEAR(dictionary.project_out_cheapest(0.0, 0), norm, 1e-12 * norm);
}

// A dictionary of n points on a line, 1 apart, with weights as given.
void spread(Dictionary& dictionary, Looks& looks, const std::vector<double>& weights) {
    for (const double w : weights) {
        if (dictionary.make_room(1)) looks.fit(dictionary);
        const double x = static_cast<double>(dictionary.size());
        dictionary.look(looks, &x, 1);
        dictionary.append(looks[0], &w);
    }
}

TEST(an_allowance_is_for_all_of_a_pruning) {
    // Far apart, each costs its squared weight: 0 and what adds up to the allowance may go, though
    // the others cost no more each.
    for (const bool neighbours : {false, true}) {
        Dictionary dictionary(gaussian(1e3), 1, 1, {.factor = true, .neighbours = neighbours});
        Looks looks(1, dictionary);
        spread(dictionary, looks, {1.0, 0.0, 1.0, 1.0, 1.0, 2.0, 0.0, 1.0});
        CHECK(dictionary.project_out_cheapest(0.0, 8) == 0.0);
        CHECK(dictionary.size() == 6);  // what costs nothing is within no allowance at all
        CHECK_NEAR(dictionary.project_out_cheapest(3.0, 8), 3.0, 1e-12);
        CHECK(dictionary.size() == 3);
        CHECK_NEAR(dictionary.project_out_cheapest(0.5, 1), 2.0,
                   1e-12);  // the budget asks for more
        double left = 0.0;
        dictionary.centre(0, &left);
        CHECK(dictionary.size() == 1 && left == 5.0 && dictionary.weights(0)[0] == 2.0);
    }
}

TEST(the_least_of_many_is_the_first_of_them) {
    Dictionary dictionary(gaussian(1.0), 1, 1, {});
    Looks looks(1, dictionary);
    std::vector<double> weights(700, 2.0);
    for (const std::size_t j : {650u, 300u, 301u}) weights[j] = 1.0;
    spread(dictionary, looks, weights);
    CHECK(dictionary.least([](std::size_t, double square) { return square; }) == 300);
}

double cubic(const double* a, const double* b) {
    return std::pow(a[0] * b[0] + a[1] * b[1] + 1.0, 3);
}

// Solves A x = b by elimination; A (n, n) is positive definite.
std::vector<double> solve(std::vector<double> A, std::vector<double> b) {
    const std::size_t n = b.size();
    for (std::size_t k = 0; k < n; ++k)
        for (std::size_t i = k + 1; i < n; ++i) {
            const double factor = A[i * n + k] / A[k * n + k];
            for (std::size_t j = k; j < n; ++j) A[i * n + j] -= factor * A[k * n + j];
            b[i] -= factor * b[k];
        }
    for (std::size_t k = n; k-- > 0;) {
        for (std::size_t j = k + 1; j < n; ++j) b[k] -= A[k * n + j] * b[j];
        b[k] /= A[k * n + k];
    }
    return b;
}

// What a look must hold of the dictionary of these points.
void check_look(const Look& look, const Dictionary& dictionary,
                const std::vector<std::vector<double>>& points, const double* x) {
    const std::size_t m = points.size();
    std::vector<double> K(m * m), h(m);
    double coherence = 0.0;
    for (std::size_t i = 0; i < m; ++i) {
        h[i] = cubic(points[i].data(), x);
        coherence = std::max(
            coherence,
            std::fabs(h[i]) / std::sqrt(cubic(x, x) * cubic(points[i].data(), points[i].data())));
        for (std::size_t j = 0; j < m; ++j)
            K[i * m + j] =
                cubic(points[i].data(), points[j].data()) + (i == j ? dictionary.ridge() : 0.0);
    }
    const auto a = solve(K, h);
    double residual = cubic(x, x);
    CHECK(look.known == m && look.projected == m);
    for (std::size_t i = 0; i < m; ++i) {
        CHECK_NEAR(look.h[i], h[i], 1e-13 * (1 + std::fabs(h[i])));
        CHECK_NEAR(look.a[i], a[i], 1e-8 * (1 + std::fabs(a[i])));
        CHECK_NEAR(dictionary.diagonal()[i], cubic(points[i].data(), points[i].data()),
                   1e-13 * dictionary.diagonal()[i]);
        residual -= a[i] * (h[i] + dictionary.ridge() * a[i]);
    }
    CHECK_NEAR(look.residual, residual, 1e-8 * cubic(x, x));
    CHECK_NEAR(dictionary.coherence(look), coherence, 1e-13);
}

TEST(looks_are_what_their_formulas_say) {
    // With norms other than 1, with and without a ridge; seen at once, or brought up to date after
    // others have entered.
    for (const double ridge : {0.0, 0.3}) {
        Dictionary dictionary(polynomial(1.0, 1.0, 3), 2, 1,
                              {.factor = true, .neighbours = false, .ridge = ridge});
        std::vector<std::vector<double>> points;
        Looks looks(6, dictionary);
        std::mt19937 rng(12);
        std::normal_distribution<double> normal;
        for (int round = 0; round < 40; ++round) {
            if (dictionary.make_room(6)) looks.fit(dictionary);
            std::vector<double> x(12);
            for (double& v : x) v = 0.8 * normal(rng);
            dictionary.look(looks, x.data(), 6);
            Look* all[6];
            for (std::size_t i = 0; i < 6; ++i) all[i] = &looks[i];
            if (round % 2) dictionary.project(all, 6);
            for (std::size_t i = 0; i < 6; ++i) {
                dictionary.extend(looks[i]);
                dictionary.project(looks[i]);
                check_look(looks[i], dictionary, points, x.data() + 2 * i);
                const double w = normal(rng);
                if (dictionary.size() >= 7 || !(looks[i].residual > 0.05 * looks[i].kxx) ||
                    !dictionary.accepts(looks[i]))
                    continue;
                dictionary.append(looks[i], &w);
                points.push_back({x[2 * i], x[2 * i + 1]});
                CHECK(looks[i].h[points.size() - 1] == looks[i].kxx);
            }
            CHECK(dictionary.drift() < 1e-9);
            if (ridge == 0.0 &&
                points.size() > 3) {  // removals are not for dictionaries with a ridge
                const std::size_t j = rng() % points.size();
                dictionary.drop(j);
                points.erase(points.begin() + static_cast<std::ptrdiff_t>(j));
            }
            if (round % 8 == 0) {
                dictionary.rebuild();
                CHECK(dictionary.drift() < 1e-9);
            }
        }
        CHECK(points.size() > 2);
    }
}

TEST(acceptance_is_a_matter_of_scale) {
    // k(x, y) = x'y, so that all numbers are at hand. Beside the centre (1, 0) the point (1e4, s)
    // has the coefficient 1e4 and the residual s^2: it is accepted if s^2 > floor (k(x, x) + 1e8),
    // which is about 40.
    const auto accepts = [](std::vector<double> centre, std::vector<double> x) {
        Dictionary dictionary(linear(), 2, 1, {.factor = true});
        dictionary.make_room(2);
        Looks looks(1, dictionary);
        dictionary.look(looks, centre.data(), 1);
        dictionary.append(looks[0], nullptr);
        dictionary.look(looks, x.data(), 1);
        return dictionary.accepts(looks[0]);
    };
    CHECK(accepts({1, 0}, {1e4, std::sqrt(50.0)}));
    CHECK(!accepts({1, 0}, {1e4, std::sqrt(30.0)}));
    CHECK(accepts({1, 0}, {0, 1e-49}));
    CHECK(!accepts({1, 0}, {0, 1e-51}));  // taken as zero
}

TEST(a_replacement_is_measured_against_the_others) {
    // The large centre is the one replaced: the bound on what replaces it is that of the small
    // ones.
    Dictionary dictionary(linear(), 3, 1, {.factor = true});
    dictionary.make_room(4);
    Looks looks(1, dictionary);
    const double centres[][3] = {{1e6, 0, 0}, {0, 1, 0}, {0, 0, 1}}, z[] = {1.0, 1.0, 0.0}, w = 2.0;
    for (const auto& centre : centres) {
        dictionary.look(looks, centre, 1);
        dictionary.append(looks[0], &w);
    }
    CHECK(dictionary.replace(0, z, &w, looks));
    double point[3];
    dictionary.centre(2, point);
    CHECK(point[0] == 1.0 && point[1] == 1.0 && dictionary.diagonal()[2] == 2.0 &&
          dictionary.drift() < 1e-12);
}

TEST(terms_that_are_added_become_centres_or_are_taken_over) {
    // Every point comes twice, so that half of the terms are taken over without any loss.
    Dictionary dictionary(gaussian(1.0), 2, 2, {.factor = true});
    Looks looks(5, dictionary);
    constexpr std::size_t n = 24;
    std::vector<double> x(2 * n), w(2 * n);
    std::mt19937 rng(13);
    std::normal_distribution<double> normal;
    for (std::size_t i = 0; i < 2 * n; ++i) {
        x[i] = i < n ? 2.0 * normal(rng) : x[i - n];
        w[i] = normal(rng);
    }
    bool entered[n];
    dictionary.add(x.data(), w.data(), n, looks, entered);
    CHECK(dictionary.size() == n / 2);
    for (std::size_t i = 0; i < n; ++i) CHECK(entered[i] == (i < n / 2));
    for (std::size_t i = 0; i < n / 2; ++i) {
        double f[2], expected[2] = {};
        dictionary.predict(x.data() + 2 * i, 1, f);
        for (std::size_t j = 0; j < n; ++j)
            for (std::size_t c = 0; c < 2; ++c)
                expected[c] +=
                    w[2 * j + c] *
                    std::exp(-(x[2 * i] - x[2 * j]) * (x[2 * i] - x[2 * j]) -
                             (x[2 * i + 1] - x[2 * j + 1]) * (x[2 * i + 1] - x[2 * j + 1]));
        for (std::size_t c = 0; c < 2; ++c) CHECK_NEAR(f[c], expected[c], 1e-9);
    }
}

TEST(normalized_kernels_do_not_mind_tiny_points) {
    for (const double scale :
         {1.0, 1e-78, 1e-90, 1e90}) {  // products of their norms vanish, or are beyond all numbers
        Dictionary dictionary(normalized(linear()), 2, 1, {});
        dictionary.make_room(1);
        Looks looks(1, dictionary);
        const double centre[] = {scale, 0.0}, x[] = {3.0 * scale, 4.0 * scale};
        dictionary.look(looks, centre, 1);
        dictionary.append(looks[0], nullptr);
        dictionary.look(looks, x, 1);
        CHECK_NEAR(looks[0].h[0], 0.6, 1e-15);
    }
}

TEST(kernels_of_kernels_keep_their_values_apart) {
    // Each normalised kernel keeps a value with every point, beside those of the others.
    const auto kernel =
        sum(normalized(polynomial(1.0, 1.0, 2)),
            product(normalized(sum(linear(), constant(0.3))), normalized(linear())));
    const auto value = [](const double* a, const double* b) {
        const auto dot = [](const double* p, const double* q) { return p[0] * q[0] + p[1] * q[1]; };
        const auto normal = [&](auto k) {
            return k(dot(a, b)) / std::sqrt(k(dot(a, a)) * k(dot(b, b)));
        };
        return normal([](double s) { return (s + 1.0) * (s + 1.0); }) +
               normal([](double s) { return s + 0.3; }) * normal([](double s) { return s; });
    };
    Dictionary dictionary(kernel, 2, 1, {});
    Looks looks(2, dictionary);
    std::mt19937 rng(14);
    std::normal_distribution<double> normal;
    std::vector<double> points;
    for (std::size_t i = 0; i < 11; ++i) {
        if (dictionary.make_room(1)) looks.fit(dictionary);
        const double x[] = {normal(rng), normal(rng), 2.0 * normal(rng), normal(rng)};
        dictionary.look(looks, x, 2);
        for (std::size_t r = 0; r < 2; ++r) {
            CHECK_NEAR(looks[r].kxx, 2.0, 1e-14);
            for (std::size_t j = 0; j < i; ++j)
                CHECK_NEAR(looks[r].h[j], value(x + 2 * r, points.data() + 2 * j), 1e-13);
        }
        dictionary.append(looks[0], nullptr);
        points.insert(points.end(), x, x + 2);
    }
}

TEST(kernels_know_whether_their_norm_is_one) {
    CHECK(gaussian(1.0)->unit_diagonal() && constant(1.0)->unit_diagonal() &&
          product(gaussian(1.0), laplacian(1.0))->unit_diagonal());
    CHECK(!constant(2.0)->unit_diagonal() && !sum(gaussian(1.0), laplacian(1.0))->unit_diagonal() &&
          !linear()->unit_diagonal());
    CHECK(!product(gaussian(1.0), linear())->unit_diagonal() &&
          single_precision(gaussian(1.0))->unit_diagonal());
    // A normalised kernel is 0, and no other number, where the kernel inside vanishes.
    Dictionary dictionary(normalized(linear()), 1, 1, {});
    dictionary.make_room(2);
    Looks looks(2, dictionary);
    const double x[] = {0.0, 3.0};
    dictionary.look(looks, x, 2);
    CHECK(looks[0].kxx == 0.0 && looks[1].kxx == 1.0);
    dictionary.append(looks[1], nullptr);
    dictionary.look(looks, x, 2);
    CHECK(looks[0].h[0] == 0.0 && looks[1].h[0] == 1.0);
}

}  // namespace
