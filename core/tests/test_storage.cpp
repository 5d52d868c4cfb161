// What numbers are kept in: temporary arrays, symmetric matrices, states.
#include <cmath>
#include <cstdint>
#include <limits>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "buffer.hpp"
#include "check.hpp"
#include "scratch.hpp"
#include "squares.hpp"
#include "state.hpp"
#include "symmetric.hpp"

namespace {

using namespace parsimon;

TEST(buffers_begin_at_a_cache_line) {
    std::vector<Buffer<double>> buffers;
    for (const std::size_t n : {1u, 3u, 8u, 100u, 1000u, 100000u}) {
        buffers.emplace_back(n, 1.0);
        CHECK(reinterpret_cast<std::uintptr_t>(buffers.back().data()) % 64 == 0);
    }
    bool refused = false;
    try {
        LineAllocator<double>().allocate(std::numeric_limits<std::size_t>::max() / 4);
    } catch (const std::bad_array_new_length&) {
        refused = true;
    }
    CHECK(refused);
}

TEST(temporary_arrays_are_apart_and_given_back) {
    Scratch scratch;
    std::size_t before = 0;
    for (int round = 0; round < 5; ++round) {
        auto a = scratch.take(10), b = scratch.take(100);
        {
            auto c = scratch.take(50);
            std::fill_n(a.data(), 10, 1.0);
            std::fill_n(b.data(), 100, 2.0);
            std::fill_n(c.data(), 50, 3.0);
            for (std::size_t i = 0; i < 10; ++i) CHECK(a.data()[i] == 1.0);
            for (std::size_t i = 0; i < 100; ++i) CHECK(b.data()[i] == 2.0);
        }
        auto again = scratch.take(40);
        CHECK(again.data() != a.data() && again.data() != b.data());
        if (round == 0) before = scratch.nbytes();
        CHECK(scratch.nbytes() == before && before >= 160 * sizeof(double));
    }
    auto first = scratch.take(1000);  // the first array, which has room for 10, grows
    CHECK(scratch.nbytes() >= before + 990 * sizeof(double));
    std::fill_n(first.data(), 1000, 4.0);
}

TEST(a_symmetric_matrix_is_one) {
    std::mt19937 rng(2);
    std::normal_distribution<double> normal;
    std::vector<std::vector<double>> dense;
    SymmetricMatrix matrix;
    const std::size_t most = 20, stride = simd::padded(most);
    matrix.reserve(most);
    for (int step = 0; step < 300; ++step) {
        const std::size_t m = dense.size(), kind = rng() % 4;
        std::vector<double> a(stride), row(stride), x(2 * stride), y(2 * stride);
        for (auto* v : {&a, &x})
            for (double& e : *v) e = normal(rng);  // what is beyond the matrix is some number
        if (kind < 2 && m < most) {
            matrix.append(kind ? a.data() : nullptr, a[m]);
            dense.emplace_back(m);
            for (std::size_t i = 0; i < m; ++i) {
                dense[m][i] = kind ? a[i] : 0.0;
                dense[i].push_back(dense[m][i]);
            }
            dense[m].push_back(a[m]);
        } else if (kind == 2 && m > 0) {
            const std::size_t j = rng() % m;
            if (step % 2)
                matrix.remove(j);
            else
                matrix.forget(j);
            dense.erase(dense.begin() + static_cast<std::ptrdiff_t>(j));
            for (auto& line : dense) line.erase(line.begin() + static_cast<std::ptrdiff_t>(j));
        } else {
            matrix.add_outer(0.7, a.data());
            for (std::size_t i = 0; i < m; ++i)
                for (std::size_t j = 0; j < m; ++j) dense[i][j] += 0.7 * a[i] * a[j];
        }
        CHECK(matrix.size() == dense.size());
        for (std::size_t i = 0; i < dense.size(); ++i) {  // also before it is tidy
            matrix.row(i, row.data());
            for (std::size_t j = 0; j < dense.size(); ++j)
                CHECK_NEAR(row[j], dense[i][j], 1e-12 * (1 + std::fabs(row[j])));
        }
        if (step % 3 == 0 && matrix.size() > 1) {  // several are forgotten, and one comes
            for (int k = 0; k < 2; ++k) {
                const std::size_t j = rng() % matrix.size();
                matrix.forget(j);
                dense.erase(dense.begin() + static_cast<std::ptrdiff_t>(j));
                for (auto& line : dense) line.erase(line.begin() + static_cast<std::ptrdiff_t>(j));
            }
            matrix.append(x.data(), 2.5);
            const std::size_t last = dense.size();
            dense.emplace_back(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(last));
            for (std::size_t i = 0; i < last; ++i) dense[i].push_back(x[i]);
            dense[last].push_back(2.5);
        }
        matrix.tidy();
        matrix.multiply(x.data(), 2, stride, y.data());
        for (std::size_t i = 0; i < dense.size(); ++i) {
            matrix.row(i, row.data());
            for (std::size_t j = 0; j < dense.size(); ++j)
                CHECK_NEAR(row[j], dense[i][j], 1e-12 * (1 + std::fabs(row[j])));
            for (std::size_t c = 0; c < 2; ++c) {
                double product = 0.0, size = 1.0;
                for (std::size_t j = 0; j < dense.size(); ++j) {
                    product += dense[i][j] * x[c * stride + j];
                    size += std::fabs(dense[i][j] * x[c * stride + j]);
                }
                CHECK_NEAR(y[c * stride + i], product, 1e-13 * size);
            }
        }
    }
}

TEST(squares_are_summed_over_outputs) {
    const double W[] = {1, 2, 3, 100, 4, 5, 6, 100};
    double sums[3] = {9, 9, 9};
    sum_squares(W, 2, 4, 3, sums);
    CHECK(sums[0] == 17 && sums[1] == 29 && sums[2] == 45);
}

// A whole with a part that has a part, all with the same names.
struct Nested {
    std::uint64_t number = 0;
    double numbers[3] = {};

    void visit(StateVisitor visitor, int depth) {
        visitor.count("number", number, 7);
        visitor.numbers("numbers", numbers, 3);
        if (depth == 0) return;
        numbers[0] += 1.0;
        Nested inner = *this;
        inner.visit(visitor.part("inner"), depth - 1);
        if (visitor.reading()) deepest = inner.deepest + inner.numbers[0];
    }
    double deepest = 0.0;
};

TEST(a_part_of_a_part_has_names_of_its_own) {
    Nested whole;
    State state;
    whole.visit(StateVisitor::writer(state), 2);
    CHECK(state.arrays.size() == 3 && state.counts.size() == 3);
    CHECK(state.arrays.count("numbers") && state.arrays.count("inner.numbers") &&
          state.arrays.count("inner.inner.numbers"));
    CHECK(state.arrays["inner.numbers"][0] == 1.0 && state.arrays["inner.inner.numbers"][0] == 2.0);
}

TEST(a_state_that_cannot_be_is_refused) {
    State good;
    Nested().visit(StateVisitor::writer(good), 0);
    const auto refused = [&](auto&& damage) {
        State state = good;
        damage(state);
        Nested other;
        try {
            other.visit(StateVisitor::reader(state), 0);
        } catch (const InputError&) {
            return true;
        }
        return false;
    };
    CHECK(!refused([](State&) {}));
    CHECK(!refused([](State& s) { s.counts["number"] = 7; }));
    CHECK(refused([](State& s) { s.counts["number"] = 8; }));
    CHECK(refused([](State& s) { s.counts.clear(); }));
    CHECK(refused([](State& s) { s.arrays.clear(); }));
    CHECK(refused([](State& s) { s.arrays["numbers"].resize(2); }));
    CHECK(refused([](State& s) { s.arrays["numbers"].resize(4); }));
    for (const double value :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
        CHECK(refused([value](State& s) { s.arrays["numbers"][1] = value; }));
}

}  // namespace
