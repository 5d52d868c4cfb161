// A dictionary that drops its first centre leaves a gap, and one of many features reuses the places
// of its centres. Nothing that it computes depends on this: it equals, bit for bit, a dictionary
// that was stored and read.
#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

#include "check.hpp"
#include "compression.hpp"
#include "dictionary.hpp"

namespace {

using namespace parsimon;

using Numbers = std::vector<double>;

// All that a dictionary says about the points x (n, d).
Numbers said(Dictionary& dictionary, const Numbers& x, std::size_t n) {
    const std::size_t m = dictionary.size(), d = dictionary.n_features(),
                      C = dictionary.n_outputs();
    Numbers all, part(n * C * d);
    const auto add = [&](const double* values, std::size_t count) {
        all.insert(all.end(), values, values + count);
    };
    for (std::size_t j = 0; j < m; ++j) {
        dictionary.centre(j, part.data());
        add(part.data(), d);
    }
    for (std::size_t c = 0; c < C; ++c) add(dictionary.weights(c), m);
    add(dictionary.diagonal(), m);
    Looks looks(n, dictionary);
    dictionary.look(looks, x.data(), n);
    for (std::size_t i = 0; i < n; ++i) {
        Look& look = looks[i];
        add(look.h, m);
        dictionary.evaluate(look, part.data());
        add(part.data(), C);
        dictionary.find_nearest(look);
        const double others[] = {dictionary.coherence(look), look.distance,
                                 static_cast<double>(m > 0 ? look.nearest : 0),
                                 static_cast<double>(dictionary.holds(look))};
        add(others, 4);
    }
    Numbers row(simd::padded(m));
    for (std::size_t j = 0; j < m; ++j) {
        dictionary.gram_row(j, row.data());
        add(row.data(), m);
    }
    dictionary.predict(x.data(), n, part.data());
    add(part.data(), n * C);
    dictionary.gradient(x.data(), n, 0, C, part.data());
    add(part.data(), n * C * d);
    all.push_back(
        static_cast<double>(dictionary.least([](std::size_t, double square) { return square; })));
    return all;
}

void exercise(const KernelPtr& kernel, std::size_t reserve, bool reuses = false) {
    std::mt19937 rng(5);
    std::normal_distribution<double> normal;
    const std::size_t d = reuses ? 40 : 3, C = 2, n = 5;
    Dictionary dictionary(kernel, d, C, {}, reserve);
    if (reuses) dictionary.reuse_places();
    Looks looks(n, dictionary), one(1, dictionary);
    std::size_t largest = 0;
    Numbers x(n * d), w(C);
    const auto draw = [&](Numbers& values) {
        for (double& v : values) v = static_cast<float>(normal(rng));
    };
    for (int step = 0; step < 600; ++step) {
        const std::size_t count = 1 + rng() % n;
        draw(x);
        dictionary.make_room(count);
        looks.fit(dictionary);
        dictionary.look(looks, x.data(), count);
        for (std::size_t i = 0; i < count; ++i) {  // a batch, with looks that are extended
            rng() % 3 == 0 ? dictionary.extend(looks[i]) : dictionary.extend(looks, i);
            CHECK(looks[i].n_known == dictionary.size());
            one.fit(dictionary);
            dictionary.look(one, x.data() + i * d, 1);
            for (std::size_t j = 0; j < dictionary.size(); ++j) CHECK(looks[i].h[j] == one[0].h[j]);
            if (rng() % 3 == 0) continue;
            draw(w);
            dictionary.append(looks[i], w.data());
        }
        const std::size_t most = 20 + rng() % 20;
        while (dictionary.size() > most) dictionary.drop(0);
        if (rng() % 4 == 0 && dictionary.size() > 0) dictionary.drop(rng() % dictionary.size());
        if (rng() % 4 == 0 && dictionary.size() > 0) {
            draw(x);
            one.fit(dictionary);
            const std::size_t j = rng() % 2 ? 0 : rng() % dictionary.size();
            CHECK(dictionary.replace(j, x.data(), w.data(), one));
        }
        if (rng() % 53 == 0)
            while (dictionary.size() > 0) dictionary.drop(0);
        State state;
        dictionary.visit(StateVisitor::writer(state));
        Dictionary read(kernel, d, C, {});
        read.visit(StateVisitor::reader(state));
        draw(x);
        if (dictionary.size() > 0) dictionary.centre(dictionary.size() / 2, x.data());
        CHECK(said(dictionary, x, n) == said(read, x, n));
        largest = std::max(largest, dictionary.capacity());
    }
    if (reserve > 0) CHECK(largest == simd::padded(reserve));
}

TEST(nothing_depends_on_the_gap) {
    exercise(gaussian(0.7), 0);
    exercise(gaussian(0.7), 43);
    exercise(gaussian(0.7), 43 + OldestCompression(40).spare());
    exercise(normalized(polynomial(0.3, 1.0, 3)), 43);
    exercise(single_precision(gaussian(0.7)), 43);
}

TEST(nothing_depends_on_the_places_of_points_of_many_features) {
    exercise(gaussian(0.02), 0, true);
    exercise(gaussian(0.02), 43, true);
    exercise(laplacian(0.02), 43, true);
    exercise(normalized(polynomial(0.03, 1.0, 3)), 43, true);
    exercise(single_precision(gaussian(0.02)), 43, true);
}

}  // namespace
