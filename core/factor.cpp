#include "factor.hpp"

#include <algorithm>
#include <cmath>

#include "simd/loops.hpp"
#include "sizes.hpp"
#include "sound.hpp"

namespace parsimon {

void TriangularFactor::reserve(std::size_t capacity) {
    numbers(capacity, capacity + simd::panel_width);  // throws if the size overflows
    rows_.resize(simd::row_start(capacity));
    carry_.resize(simd::padded(capacity));
    diagonal_.resize(simd::padded(capacity));
    summed_.resize(simd::padded(capacity));
}

std::size_t TriangularFactor::nbytes() const {
    return (rows_.capacity() + carry_.capacity() + diagonal_.capacity() + summed_.capacity()) *
           sizeof(double);
}

void TriangularFactor::append(double scale, const double* values, double diagonal) {
    double* last = row(size_);
    for (std::size_t i = 0; i < size_; ++i) {
        last[i] = scale * values[i];
        diagonal_[i] += last[i] * last[i];
        summed_[i] = std::max(summed_[i], diagonal_[i]);
    }
    last[size_] = diagonal;
    diagonal_[size_] = summed_[size_] = diagonal * diagonal;
    std::fill(last + size_ + 1, last + simd::padded(size_ + 1), 0.0);
    ++size_;
}

double TriangularFactor::multiply(std::size_t first, std::size_t last, const double* h, double* t,
                                  double* a) const {
    return simd::loops().project(rows_.data(), first, last, h, t, a);
}

double TriangularFactor::measure(std::size_t first, std::size_t last, const double* h,
                                 double* t) const {
    return simd::loops().measure(rows_.data(), first, last, h, t);
}

void TriangularFactor::combine(std::size_t first, std::size_t last, const double* t,
                               double* a) const {
    simd::loops().combine(rows_.data(), first, last, t, a);
}

double TriangularFactor::absorb(const double* a, double noise, double scale, double* k) {
    std::fill_n(k, simd::padded(size_), 0.0);
    absorbed_square_ = 0.0;
    const double alpha =
        simd::loops().absorb(rows_.data(), size_, a, noise, scale, k, absorbed_square_);
    const double square = scale * scale, inverse = 1.0 / alpha;
    bool cancelled = false;
    for (std::size_t i = 0; i < size_; ++i) {  // without branches, so that it is vectorised
        diagonal_[i] = diagonal_[i] * square - k[i] * k[i] * inverse;
        summed_[i] *= square;
        cancelled |= lacks_digits(i);
    }
    if (cancelled) sum_cancelled();
    return alpha;
}

double TriangularFactor::column_square(std::size_t k) const {
    double total = 0.0;
    for (std::size_t i = k; i < size_; ++i) total += row(i)[k] * row(i)[k];
    return total;
}

void TriangularFactor::sum_diagonal() {
    std::fill_n(diagonal_.data(), simd::padded(size_), 0.0);
    simd::loops().column_squares(rows_.data(), size_, diagonal_.data());
    std::copy_n(diagonal_.data(), size_, summed_.data());
}

double TriangularFactor::squared_norm(const double* v) const {
    return simd::loops().squared_norm(rows_.data(), size_, v);
}

void TriangularFactor::scale(double scale) {
    for (std::size_t i = 0; i < size_; ++i) {
        double* line = row(i);
        for (std::size_t j = 0; j <= i; ++j) line[j] *= scale;
        diagonal_[i] *= scale * scale;
        summed_[i] *= scale * scale;
    }
}

void TriangularFactor::fade(double scale, double least) {
    this->scale(scale);
    for (std::size_t i = 0; i < size_; ++i) row(i)[i] = std::max(row(i)[i], least);
    sum_diagonal();
}

void TriangularFactor::project_out(std::size_t j, const double* n, double* row) {
    // Conditioning on v_j = 0 removes from P the part c c' that varies with v_j, with c the carry.
    // After the projection, the other weights vary with v_j by c - c_j n / n_j.
    remove(j);
    const double ratio = carry_[j] / n[j];
    for (std::size_t i = 0; i < j; ++i) row[i] = carry_[i] - ratio * n[i];
    for (std::size_t i = j; i < size_; ++i) row[i] = carry_[i + 1] - ratio * n[i + 1];
    add(row);
}

double TriangularFactor::plan_turns(double* c, double* s, std::size_t rows, double pivot) {
    double squares = pivot * pivot;
    for (std::size_t r = 0; r < rows; ++r) {
        squares += s[r] * s[r];
        const double radius = std::sqrt(squares);
        c[r] = pivot / radius;
        s[r] /= radius;
        pivot = radius;
    }
    return pivot;
}

void TriangularFactor::turn_up(const simd::Turn* turns, std::size_t i, std::size_t rows,
                               std::size_t from, std::size_t to) {
    // The columns that all rows of the group have
    const std::size_t common = std::max(from, std::min(to, i + 1)) - from;
    double* carry = carry_.data() + from;
    simd::loops().turn(turns, rows, carry, common);
    for (std::size_t k = common; from + k < std::min(to, i + rows); ++k)
        for (std::size_t r = from + k - i; r < rows; ++r) {
            const double x = turns[r].in[k], y = carry[k];
            turns[r].out[k] = turns[r].c * x - turns[r].s * y;
            carry[k] = turns[r].s * x + turns[r].c * y;
        }
}

void TriangularFactor::remove(std::size_t j) {
    // The removed row becomes a vector `carry`. Every later row is rotated against the carry, so
    // that its entry in the removed column becomes zero and moves to the carry.
    begin_carry(j);
    simd::Turn turns[row_group];
    double c[row_group], s[row_group], *above = row(j);
    for (std::size_t i = j + 1; i < size_;) {
        const std::size_t rows = rows_at(i);
        for (std::size_t r = 0; r < rows; ++r) s[r] = row(i + r)[j];
        carry_[j] = plan_turns(c, s, rows, carry_[j]);
        for (std::size_t r = 0; r < rows; ++r) {
            double* line = row(i + r);
            turns[r] = {c[r], s[r], line, above};
            above = line;
        }
        turn_up(turns, i, rows, 0, j);
        for (std::size_t r = 0; r < rows; ++r) {
            turns[r].in += j + 1;
            turns[r].out += j;
        }
        turn_up(turns, i, rows, j + 1, size_);
        i += rows;
    }
    end_carry(j);
}

void TriangularFactor::begin_carry(std::size_t j) {
    std::copy_n(row(j), j + 1, carry_.data());
    std::fill(carry_.data() + j + 1, carry_.data() + simd::padded(size_), 0.0);
}

void TriangularFactor::end_carry(std::size_t j) {
    const double* carry = carry_.data();
    --size_;
    bool cancelled = false;
    for (std::size_t left = 0, k = 0; left <= 1; ++left)
        for (const std::size_t end = left == 0 ? j : size_; k < end; ++k) {
            diagonal_[k] = diagonal_[k + left] - carry[k + left] * carry[k + left];
            summed_[k] = summed_[k + left];
            cancelled |= lacks_digits(k);
        }
    if (cancelled) sum_cancelled();
}

void TriangularFactor::add(double* q) {
    // q is a further row of R. From the last row up, each row is rotated against q, so that the
    // entry of q in the row's last column becomes zero and moves to the diagonal of R.
    for (std::size_t k = 0; k < size_; ++k) {
        diagonal_[k] += q[k] * q[k];
        summed_[k] = std::max(summed_[k], diagonal_[k]);
    }
    simd::Turn turns[row_group];
    for (std::size_t i = size_; i > 0;) {
        const std::size_t rows = i % row_group == 0 ? row_group : 1, first = i - rows;
        for (std::size_t r = 0; r < rows; ++r) {
            const std::size_t k = i - 1 - r;
            double* line = row(k);
            const double radius = std::sqrt(line[k] * line[k] + q[k] * q[k]);
            const double c = line[k] / radius, s = q[k] / radius;
            turns[r] = {c, -s, line, line};
            line[k] = radius;
            // The columns in which the rows of the group differ
            for (std::size_t f = first; f < k; ++f) {
                const double x = line[f], y = q[f];
                line[f] = c * x + s * y;
                q[f] = c * y - s * x;
            }
        }
        simd::loops().turn(turns, rows, q, first);
        i = first;
    }
}

void TriangularFactor::sum_cancelled() {
    for (std::size_t k = 0; k < size_; ++k)
        if (lacks_digits(k)) diagonal_[k] = summed_[k] = column_square(k);
}

void TriangularFactor::visit(StateVisitor visitor, std::size_t size) {
    visitor.version(0);
    visitor.pieces("rows", size, [this](std::size_t i) { return std::pair(row(i), i + 1); });
    visitor.numbers("diagonal", diagonal_.data(), size);
    visitor.numbers("summed", summed_.data(), size);
    size_ = size;
    for (std::size_t i = 0; visitor.reading() && i < size; ++i)
        if (!(row(i)[i] > 0.0))
            refuse("the state's factor is not one: its diagonal holds ", row(i)[i]);
}

void TriangularFactor::require_sound() const {
    for (std::size_t i = 0; i < size_; ++i) {
        sound::require_within(row(i), i + 1, sound::largest_entry, "factors");
        if (!(row(i)[i] >= sound::least_pivot))
            refuse("the state's factor is not one: its diagonal holds ", row(i)[i]);
    }
    std::vector<double> squares(simd::padded(size_));
    simd::loops().column_squares(rows_.data(), size_, squares.data());
    for (std::size_t k = 0; k < size_; ++k)
        if (!(std::fabs(diagonal_[k] - squares[k]) <= sound::drift * squares[k] &&
              summed_[k] >= (1.0 - sound::drift) * diagonal_[k] &&
              summed_[k] <= 2e3 * diagonal_[k]))
            refuse("the state's variances are not those of its factor: ", diagonal_[k], ", ",
                   summed_[k], " and ", squares[k]);
}

void TriangularFactor::save_tail(std::size_t j, double* out) const {
    const std::size_t rows = simd::row_start(size_) - simd::row_start(j);
    std::copy_n(row(j), rows, out);
    std::copy_n(diagonal_.data(), size_, out + rows);
    std::copy_n(summed_.data(), size_, out + rows + size_);
}

void TriangularFactor::restore_tail(std::size_t j, const double* saved, std::size_t size) {
    size_ = size;
    const std::size_t rows = simd::row_start(size_) - simd::row_start(j);
    std::copy_n(saved, rows, row(j));
    std::copy_n(saved + rows, size_, diagonal_.data());
    std::copy_n(saved + rows + size_, size_, summed_.data());
}

}  // namespace parsimon
