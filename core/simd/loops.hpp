// The inner loops, compiled once per instruction set and chosen at run time.
//
// They are plain functions in a table. They know nothing of dictionaries or learners and allocate
// nothing. The order of each sum depends only on its length.
#pragma once

#include <cstddef>
#include <span>

#include "layout.hpp"  // beside this file, also where it is installed

namespace parsimon::simd {

// The parameters of a kernel, in the order of the arguments of its `value` (shapes.hpp).
constexpr std::size_t most_parameters = 4;
struct Shape {
    double parameters[most_parameters] = {};
};

// Computes out[r, j] = k(x_r, c_j) for all rows and all points of all panels.
using Evaluate = void (*)(const Rows& x, const Panels& centres, std::size_t n_features,
                          const Shape& shape, const Block& out);

// Computes the values, and their derivatives with respect to the sum.
using Differentiate = void (*)(const Rows& x, const Panels& centres, std::size_t n_features,
                               const Shape& shape, const Block& values, const Block& slopes);

// The derivative of k(x, c) with respect to feature f of x is a combination of these terms.
enum class Term : std::size_t {
    squared,   // 2 (x_f - c_f), of the squared distance
    absolute,  // sign(x_f - c_f), of the sum of absolute differences; 0 where they are equal
    product,   // c_f, of the inner product
    own,       // x_f, of a norm of x
};
constexpr std::size_t n_sums = 3;  // terms that belong to a sum over the features: all but `own`
constexpr std::size_t n_terms = 4;
constexpr std::size_t index(Term term) { return static_cast<std::size_t>(term); }

// out[r, f] += sum_j a[r, j] t_f(x_r, c_j), for a term t of a sum. All lanes are added, so a must
// be 0 past the last point.
using Accumulate = void (*)(const Rows& x, const Panels& centres, std::size_t n_features,
                            const Block& a, const Block& out);

// A kernel that is a function of one sum over the features.
struct Leaf {
    const char* name;
    std::size_t n_parameters;
    // Whether the sum is 0 for x = c. If so, k(x, x) is the same for all x.
    bool of_distance;
    Term term;  // of its sum
    Evaluate evaluate;
    Differentiate differentiate;  // null if the kernel has no `slope`
};

// The table of loops for one instruction set.
struct Loops {
    const char* name;
    std::span<const Leaf> leaves;
    Evaluate squared_distance;      // out[r, j] = ||x_r - c_j||^2
    Accumulate accumulate[n_sums];  // by term

    double (*dot)(const double* x, const double* y, std::size_t n);  // x'y
    // out[k] = x'y_k for `count` vectors y_k, `stride` apart, with the bits of `dot`.
    void (*dot_each)(const double* x, const double* y, std::size_t count, std::size_t stride,
                     std::size_t n, double* out);
    void (*axpy)(double scale, const double* x, double* y, std::size_t n);  // y += scale x
    void (*scale)(double scale, double* x, std::size_t n);                  // x *= scale
    double (*max_abs)(const double* x, std::size_t n);                      // max_i |x_i|

    // For rows i = first..last-1 of a lower triangle S: t_i = S_i h, a += t_i S_i. Returns the sum
    // of the t_i^2. One pass over S does both products. Here and below, vectors have room for whole
    // panels, with finite numbers there.
    double (*project)(const double* S, std::size_t first, std::size_t last, const double* h,
                      double* t, double* a);

    // The two products of `project` by themselves: t_i = S_i h, which returns the sum of the t_i^2,
    // and a += sum_i t_i S_i. They give the same bits.
    double (*measure)(const double* S, std::size_t first, std::size_t last, const double* h,
                      double* t);
    void (*combine)(const double* S, std::size_t first, std::size_t last, const double* t,
                    double* a);

    // Carlson's update of the lower triangle R with P = R'R, in one pass over R:
    //     P <- scale^2 P,  then  P <- P - P a a'P / (noise + a'P a).
    // k must be 0 and becomes P a, with P after the scaling. Returns noise + a'P a. Adds ||R a||^2,
    // with R before, to `square`.
    double (*absorb)(double* R, std::size_t m, const double* a, double noise, double scale,
                     double* k, double& square);

    // Applies up to four rotations with v, one after the other, in one pass over the n columns.
    void (*turn)(const Turn* turns, std::size_t count, double* v, std::size_t n);

    // The following work on consecutive rows of a triangle, from a multiple of eight on. `length`
    // is the padded length of the first row.

    // t[r, k] = row_r h_k over the first `columns` columns, for up to eight rows and for `width`
    // vectors h, a multiple of eight. Entry j of vector k is h[j * width + k], and t has rows of
    // `most_vectors` numbers.
    void (*multiply_rows)(const double* rows, std::size_t n_rows, std::size_t length,
                          std::size_t columns, const double* h, std::size_t width, double* t);
    // Lays elements first..last-1 of `count` vectors across, as `multiply_rows` takes them. Fills
    // up rows with 0.
    void (*lay_across)(const double* const* v, std::size_t count, std::size_t first,
                       std::size_t last, double* out);
    // Lays rows, as `multiply_rows` returns them, along `count` vectors, from element `first` on.
    void (*lay_along)(const double* rows, std::size_t n_rows, std::size_t count, double* const* v,
                      std::size_t first);
    // v_k += sum_r b[r, k] row_r for the first `used` vectors and up to `most_rows` rows, with b in
    // rows of `most_vectors` numbers. The vectors are read and written once for all rows. Only
    // columns from..to-1 are added. Both must be multiples of eight.
    void (*add_rows)(const double* rows, std::size_t n_rows, std::size_t length, const double* b,
                     const Tiles& v, std::size_t used, std::size_t from, std::size_t to);
    // Rotations without square roots (Gentleman 1973) that remove column j_k of the rows by vector
    // v_k: for each row y with weight d = 1, and for each k with e = y_(j_k),
    //     y <- y - e / sigma_k^2 v_k,  v_k <- v_k + d e y,  with y before,
    //     sigma_k^2 <- sigma_k^2 + d e^2,  d <- d sigma_k^2 / sigma_k^2, before over after.
    // The rotated row is sqrt(d) y, and the rotated vector is v_k / sigma_k. A vector that is 0
    // takes over the row: then d becomes 0. `plan_turns` finds the factors of y and v_k, and
    // sqrt(d) as `scale`, from `entries`, the rows in the columns j_k. `turn_rows` changes only
    // columns from..to-1, as `add_rows`.
    void (*plan_turns)(Pivots& pivots, double* entries, std::size_t n_rows, std::size_t used,
                       double* a, double* b, double* scale);
    void (*turn_rows)(double* rows, std::size_t n_rows, std::size_t length, const double* a,
                      const double* b, const Tiles& v, std::size_t used, std::size_t from,
                      std::size_t to);

    // out = scale in. `out` may be `in` or begin before it.
    void (*scale_to)(double scale, const double* in, double* out, std::size_t n);
    // As `scale_to`, without the numbers in the gaps. n is a multiple of eight. May write up to
    // eight numbers behind the last one of `out`, but not behind in[n - 1].
    void (*scale_without)(double scale, const double* in, const Gaps& gaps, double* out,
                          std::size_t n);
    // y -= sum_k factors_k v_k, for vectors of n numbers.
    void (*subtract_multiples)(double* y, const double* const* v, const double* factors,
                               std::size_t count, std::size_t n);
    // Whether values_i - column_i^2 pivot > share before_i for all i with values_i != 0.
    bool (*keeps_share)(const double* values, const double* column, double pivot,
                        const double* before, double share, std::size_t n);
    // y_i -= scale x_i^2
    void (*take_squares)(double scale, const double* x, double* y, std::size_t n);
    // W_ci -= factors_c column_i, where row c of W begins at W + c * stride. Then squares_i +=
    // sum_c W_ci^2.
    void (*eliminate)(const double* column, const double* factors, std::size_t n_outputs,
                      std::size_t stride, double* W, double* squares, std::size_t n);
    // The first i with the least x_i / y_i, or n if no ratio is a number below infinity.
    std::size_t (*least_ratio)(const double* x, const double* y, std::size_t n);

    // y += (T + T') x for `count` vectors x, `stride` apart, with T a lower triangle.
    void (*symmetric)(const double* T, std::size_t m, const double* x, std::size_t count,
                      std::size_t stride, double* y);

    // y = (T + T') x for many vectors, in less time than `symmetric`. The result differs by
    // rounding. The vectors x are `x_stride` apart and have m numbers each.
    void (*symmetric_products)(const double* T, std::size_t m, const double* x,
                               std::size_t x_stride, std::size_t count, double* y,
                               std::size_t y_stride);

    // out[k * out_stride + l] = x_k'y_l for l <= k < count, with vectors of n numbers. The vectors
    // are `x_stride` and `y_stride` apart. The products for l > k are not all computed.
    void (*products)(const double* x, std::size_t x_stride, const double* y, std::size_t y_stride,
                     std::size_t count, std::size_t n, double* out, std::size_t out_stride);

    // out = a x + b y. Returns out'out.
    double (*combine_two)(double a, const double* x, double b, const double* y, double* out,
                          std::size_t n);
    // y += scale x and z += scale w. Sets squares to y'y before and after.
    void (*step)(double scale, const double* x, double* y, const double* w, double* z,
                 std::size_t n, double* squares);
    // sums_i = sum_c W_ci^2, where row c of W begins at W + c * stride.
    void (*sum_squares)(const double* W, std::size_t count, std::size_t stride, std::size_t n,
                        double* sums);
    // W_ci = scale W_ci + factors_c x_i, then sums_i = sum_c W_ci^2, for at least one row of W.
    void (*scale_and_add)(double scale, const double* factors, const double* x, double* W,
                          std::size_t count, std::size_t stride, std::size_t n, double* sums);

    // Changes T so that T + T' grows by scale a a'.
    void (*add_outer)(double* T, std::size_t m, double scale, const double* a);

    // sums_k += sum_i S_ik^2 over all rows i of the lower triangle.
    void (*column_squares)(const double* S, std::size_t m, double* sums);
    // ||S h||^2
    double (*squared_norm)(const double* S, std::size_t m, const double* h);

    // The best single centre z = h x + (1 - h) y to replace u k(x, .) + v k(y, .), for a Gaussian
    // kernel, one x and n centres y. uu = ||u||^2, and for each y: uv = u'v, vv = ||v||^2 and
    // k = k(x, y). Sets h in [0, 1], and kept = ||u k(x, z) + v k(y, z)||^2, which h maximises.
    // k(x, z) = k^((1-h)^2) and k(y, z) = k^(h^2).
    void (*merges)(double uu, const double* uv, const double* vv, const double* k, std::size_t n,
                   double* h, double* kept);
};

// The fastest table that this processor can run.
const Loops& loops();

// All tables that this processor can run, for tests: `n` tables from the slowest to the fastest.
const Loops* const* all_loops(std::size_t& n);

}  // namespace parsimon::simd
