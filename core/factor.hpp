// A positive definite matrix P (n, n), stored as P = R'R with R lower triangular with positive
// diagonal.
//
// The inverse Gram matrix of the dictionary and the covariance of recursive least squares are
// stored this way. Rounding can make an explicit matrix asymmetric or indefinite, but not R'R.
//
// CONVENTION
// - R is stored by rows. Row i has i + 1 entries and then zeros up to whole panels
//   (simd/loops.hpp). For the given order of coordinates, R is unique.
// - Vectors passed in must have room for whole panels. The numbers in the padding must be finite
//   and do not affect results.
// - The diagonal of P is kept up to date. If a subtraction cancels most digits of an entry, the
//   entry is summed again from its column of R.
// - Capacity changes only in `reserve`. Nothing else allocates, but for the working memory of
//   operations with a team. They give the bits of the same operations without one.
#pragma once

#include <cstddef>

#include "buffer.hpp"
#include "scratch.hpp"
#include "simd/loops.hpp"
#include "state.hpp"
#include "team.hpp"

namespace parsimon {

// The factor R, with operations that change P in place.
class TriangularFactor {
public:
    std::size_t size() const { return size_; }
    void reserve(std::size_t capacity);
    std::size_t nbytes() const;
    // Row i of R, with i + 1 entries and padding.
    double* row(std::size_t i) { return rows_.data() + simd::row_start(i); }
    const double* row(std::size_t i) const { return rows_.data() + simd::row_start(i); }
    // The diagonal P_kk, (size,).
    const double* diagonal() const { return diagonal_.data(); }
    void sum_diagonal();  // recomputes it from the columns of R

    // Appends the row (scale * values, diagonal) to R, with values (size,).
    void append(double scale, const double* values, double diagonal);

    // For rows i = first..last-1 of R: t_i = R_i h and a += sum_i t_i R_i. Returns sum_i t_i^2.
    // Over all rows, with a = 0 before, this gives a = P h and h'P h.
    double multiply(std::size_t first, std::size_t last, const double* h, double* t,
                    double* a) const;
    // The two halves of `multiply`: t_i = R_i h, which returns sum_i t_i^2, and a += sum_i t_i R_i.
    double measure(std::size_t first, std::size_t last, const double* h, double* t) const;
    void combine(std::size_t first, std::size_t last, const double* t, double* a) const;

    // `multiply` over all rows, for a = 0, shared by the threads of a team.
    double multiply(const double* h, double* t, double* a, Team& team) const;

    // `multiply` over all rows for `count` vectors at once, at most `most_at_once`. squares
    // (count,) receives the sums of squares. `across` and `sums` are working memory for as many
    // vectors, rounded up to whole panels. `multiply_shared` is shared by the threads of a team.
    struct Vectors {
        const double* const* h;
        std::size_t count;
        double *const *t, *const *a;
    };
    void multiply(const Vectors& vectors, double* squares, double* across, double* sums) const;
    void multiply_shared(const Vectors& vectors, double* squares, double* across, double* sums,
                         Team& team) const;

    // Columns js of P, in increasing order, at most `most_at_once`. `out` has room for them.
    simd::Tiles columns(const std::size_t* js, std::size_t count, double* out) const;
    simd::Tiles columns(const std::size_t* js, std::size_t count, double* out, Team& team) const;
    // Copies vector k to out (padded size,).
    void copy_vector(const simd::Tiles& tiles, std::size_t k, double* out) const;

    // The update of a covariance P after an observation a'v + noise of v, in one pass over R:
    //     P <- scale^2 P,  then  P <- P - P a a'P / (noise + a'P a).
    // `noise` is a variance and may be 0. Writes P a, with P after the scaling, to k (size,).
    // Returns noise + a'P a. The method is Carlson's.
    double absorb(const double* a, double noise, double scale, double* k);
    // v'P v of the last vector that was absorbed, with P before the scaling.
    double absorbed_square() const { return absorbed_square_; }

    // Removes coordinate j by conditioning: P <- P_(-j,-j) - P_(-j,j) P_(j,-j) / P_jj. Then `carry`
    // (size,) holds column j of the old P divided by sqrt(P_jj).
    void remove(std::size_t j);
    void remove(std::size_t j, Team& team);
    // Removes the coordinates js, in increasing order, in one pass. At most `most_at_once`. `work`
    // has room for as many vectors. `carry` is undefined afterwards.
    void remove(const std::size_t* js, std::size_t count, double* work);
    void remove(const std::size_t* js, std::size_t count, double* work, Team& team);
    // Allocates what a team needs for these, with factors of this capacity.
    static void reserve_shared(std::size_t capacity, std::size_t count, Team& team);
    static constexpr std::size_t most_at_once = simd::most_vectors;
    const double* carry() const { return carry_.data(); }

    // P <- P + q q', in one pass over R. q (size,) is overwritten.
    void add(double* q);

    // P <- A P A' with A v = v - n v_j / n_j without entry j: the covariance of weights v when
    // weight j is projected out, with n (size,) column j of K^-1. `row` is working memory of this
    // capacity.
    void project_out(std::size_t j, const double* n, double* row);

    // v'P v
    double squared_norm(const double* v) const;

    // P <- scale^2 P
    void scale(double scale);
    // The same, but the diagonal of R stays at least `least`.
    void fade(double scale, double least);

    // save_tail stores what remove(j) changes, tail(j) numbers. restore_tail undoes the removal.
    std::size_t tail(std::size_t j) const {
        return simd::row_start(size_) - simd::row_start(j) + 2 * size_;
    }
    void save_tail(std::size_t j, double* out) const;
    void restore_tail(std::size_t j, const double* saved, std::size_t size);

    // Writes or reads a factor of `size` coordinates (state.hpp). Reading requires capacity for
    // them.
    void visit(StateVisitor visitor, std::size_t size);
    // Throws InputError unless learning can lead to these numbers (sound.hpp).
    void require_sound() const;

private:
    // Rows that are rotated in one pass. A group that starts at a multiple of this has rows of
    // equal padded length.
    static constexpr std::size_t row_group = 4;
    std::size_t rows_at(std::size_t i) const {  // of the group that begins with row i
        return i % row_group == 0 && i + row_group <= size_ ? row_group : 1;
    }
    // Finds c and s of consecutive turns. Before, s has the entries of the rows in the removed
    // column. `pivot` is the entry of the carry. Returns its new value.
    static double plan_turns(double* c, double* s, std::size_t rows, double pivot);
    // Rotates columns from..to-1 of a group of rows from row i on against the carry, as far as the
    // rows have them. `in` and `out` of the turns are for column `from`.
    void turn_up(const simd::Turn* turns, std::size_t i, std::size_t rows, std::size_t from,
                 std::size_t to);
    void begin_carry(std::size_t j);  // with row j
    void end_carry(std::size_t j);    // takes its squares from the diagonal, without entry j
    // Subtracts the squares of the carries from the diagonal, and removes the entries js.
    void take_from_diagonal(const std::size_t* js, std::size_t count, const simd::Tiles& carries,
                            const simd::Pivots& pivots);
    // Whether subtractions have cancelled most digits of P_kk.
    bool lacks_digits(std::size_t k) const { return !(diagonal_[k] > 1e-3 * summed_[k]); }
    void sum_cancelled();  // sums such entries again
    double column_square(std::size_t k) const;

    std::size_t size_ = 0;
    Buffer<double> rows_, carry_;
    // P_kk, and the largest value of P_kk since it was last summed from the column.
    Buffer<double> diagonal_, summed_;
    double absorbed_square_ = 0.0;
};

}  // namespace parsimon
