// The inner loops, compiled once for each instruction set and chosen at run time.
//
// A table of plain functions: they know nothing of dictionaries or learners, they allocate nothing,
// and each sums in an order fixed by the length alone.
#pragma once

#include <cstddef>
#include <span>

namespace parsimon::simd {

constexpr std::size_t panel_width = 8;  // centres that lie side by side in a panel
constexpr std::size_t row_block =
    64;  // rows for which centres are fetched once, if that many are evaluated at a time

constexpr std::size_t padded(std::size_t n) {
    return (n + panel_width - 1) / panel_width * panel_width;
}

// A lower triangle by rows, each padded with zeros to whole panels: eight rows at a time have the
// same length. Row i starts here.
constexpr std::size_t row_start(std::size_t i) {
    const std::size_t block = i / panel_width;
    return panel_width * panel_width / 2 * block * (block + 1) +
           i % panel_width * panel_width * (block + 1);
}

// In panels of eight points, number f of `depth` of point j is here.
constexpr std::size_t place(std::size_t j, std::size_t f, std::size_t depth) {
    return (j / panel_width * depth + f) * panel_width + j % panel_width;
}

// Points in panels of eight. Points past the last are zero. Features are stored in double or in
// single precision, and computed with in double; what else a kernel keeps with each point is always
// double.
struct Panels {
    const double* doubles = nullptr;  // (count, n_features, 8); null if there are singles
    const float* singles = nullptr;   // the same; null if there are doubles
    const double* extras = nullptr;   // (count, n_extras, 8)
    std::size_t count = 0;
    std::size_t n_features = 0;
    std::size_t n_extras = 0;
    std::size_t points = 0;  // how many there are; the loops evaluate every lane all the same

    double feature(std::size_t j, std::size_t f) const {
        const std::size_t at = place(j, f, n_features);
        return singles ? singles[at] : doubles[at];
    }
};

// Points in rows.
struct Rows {
    const double* data;  // (count, stride)
    std::size_t count;
    std::size_t stride;
};

// A block of kernel values: out[r * stride + j], j < 8 * panels.count.
struct Block {
    double* data;
    std::size_t stride;
};

// One row of a plane rotation with a vector v that is carried from row to row: out = c in - s v,
// then v = s in + c v. `out` may be `in`.
struct Turn {
    double c, s;
    const double* in;
    double* out;
};

// The parameters of a kernel, in the order in which its value takes them (shapes.hpp).
constexpr std::size_t most_parameters = 4;
struct Shape {
    double parameters[most_parameters] = {};
};

using Evaluate = void (*)(const Rows& x, const Panels& centres, std::size_t n_features,
                          const Shape& shape, const Block& out);

// A kernel of one sum over the features.
struct Leaf {
    const char* name;
    std::size_t n_parameters;
    bool of_distance;  // whether the sum is 0 for x = c, so that k(x, x) is the same for all x
    Evaluate evaluate;
};

struct Loops {
    const char* name;
    std::span<const Leaf> leaves;
    Evaluate squared_distance;  // not a kernel: ||x - c||^2

    double (*dot)(const double* x, const double* y, std::size_t n);
    void (*axpy)(double scale, const double* x, double* y, std::size_t n);  // y += scale x
    double (*max_abs)(const double* x, std::size_t n);

    // Rows first..last-1 of a lower triangle S: t_i = S_i . h, a += t_i S_i. Returns the sum of
    // their t_i^2. One pass over S does both products. Here and below vectors have room for whole
    // panels, and finite numbers there.
    double (*project)(const double* S, std::size_t first, std::size_t last, const double* h,
                      double* t, double* a);

    // The second half of it, t given: a += t_i S_i.
    void (*combine)(const double* S, std::size_t first, std::size_t last, const double* t,
                    double* a);

    // Carlson's update of the lower triangle R, P = R'R, after scaling it: P <- s^2 P, then P <- P
    // - P a a'P / (noise + a'P a). k, zero on entry, becomes P a; returns noise + a'P a. One pass
    // over R does it all.
    double (*absorb)(double* R, std::size_t m, const double* a, double noise, double scale,
                     double* k);

    // Turns up to four rows with v, one after the other, in one pass over the n columns.
    void (*turn)(const Turn* turns, std::size_t count, double* v, std::size_t n);

    // y += (T + T') x for `count` vectors, one after every `stride` numbers, T a lower triangle.
    void (*symmetric)(const double* T, std::size_t m, const double* x, std::size_t count,
                      std::size_t stride, double* y);

    // T + T' += scale a a'
    void (*add_outer)(double* T, std::size_t m, double scale, const double* a);

    // sums_k += S_ik^2 over rows i of the lower triangle.
    void (*column_squares)(const double* S, std::size_t m, double* sums);
};

// The fastest table this processor can run.
const Loops& loops();

// Every table this processor can run, for tests: `n` of them from the slowest on.
const Loops* const* all_loops(std::size_t& n);

}  // namespace parsimon::simd
