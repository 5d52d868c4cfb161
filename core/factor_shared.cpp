// Operations on the factor whose work several threads share. They give the bits of the operations
// of one thread.
#include <algorithm>

#include "factor.hpp"
#include "factor_groups.hpp"
#include "simd/loops.hpp"
#include "sizes.hpp"
#include "team.hpp"

namespace parsimon {

using groups::most;
using groups::width;

namespace {

// Rows of a piece for one vector, and columns of a piece for several. A piece stays in the cache.
constexpr std::size_t rows_of_a_piece = 16, columns_of_a_piece = 256;

// The columns js of a triangle in all groups of rows from that of row js[0] on.
class Entries {
public:
    // Copies them to `data`, which has room for `room(size)` numbers.
    Entries(const TriangularFactor& factor, const std::size_t* js, std::size_t count, double* data,
            Team& team)
        : first_(js[0] / width * width), size_(factor.size()), js_(js), count_(count), data_(data) {
        team.in_pieces(size_ - first_, simd::most_rows, [&](std::size_t from, std::size_t to) {
            const std::size_t i = first_ + from;
            groups::copy_entries(factor, i, to - from, js_, used(i, to - from), of(i));
        });
    }
    static std::size_t room(std::size_t size) { return (size + width) * most; }
    double* of(std::size_t i) const { return data_ + (i - first_) * most; }
    // How many of the columns the group of `rows` rows from row i on has.
    std::size_t used(std::size_t i, std::size_t rows) const {
        return static_cast<std::size_t>(std::lower_bound(js_, js_ + count_, i + rows) - js_);
    }
    // Calls work(i, rows, used) for the groups that have columns from `from` on.
    template <class Work>
    void in_groups(std::size_t from, Work&& work) const {
        groups::in_groups(first_, size_, [&](std::size_t i, std::size_t rows) {
            if (simd::padded(i + rows) > from) work(i, rows, used(i, rows));
        });
    }

private:
    std::size_t first_, size_;
    const std::size_t* js_;
    std::size_t count_;
    double* data_;
};

}  // namespace

double TriangularFactor::multiply(const double* h, double* t, double* a, Team& team) const {
    if (!team.shares(size_, size_)) return multiply(0, size_, h, t, a);
    // While one thread reads rows from memory, another can add its rows to a from the cache. Rows
    // are added in order.
    team.in_turn(size_, rows_of_a_piece, [&](std::size_t first, std::size_t last, auto&& wait) {
        simd::loops().measure(rows_.data(), first, last, h, t);
        wait();
        simd::loops().combine(rows_.data(), first, last, t, a);
    });
    double squares = 0.0;
    for (std::size_t i = 0; i < size_; i += width) {  // in the order of `project`
        double some = 0.0;
        for (std::size_t r = i; r < std::min(i + width, size_); ++r) some += t[r] * t[r];
        squares += some;
    }
    return squares;
}

void TriangularFactor::multiply_shared(const Vectors& vectors, double* squares, double* across,
                                       double* sums, Team& team) const {
    // Not structured bindings, which lambdas cannot capture everywhere
    const double* const* h = vectors.h;
    const std::size_t count = vectors.count;
    double *const *t = vectors.t, *const *a = vectors.a;
    const std::size_t padded = simd::padded(count);
    const simd::Tiles tiles{sums, count};
    team.in_pieces(size_, columns_of_a_piece, [&](std::size_t first, std::size_t last) {
        simd::loops().lay_across(h, count, first, last, across);
        std::fill(sums + first * count, sums + simd::padded(last) * count, 0.0);
    });
    team.in_turn(size_, simd::most_rows, [&](std::size_t i, std::size_t last, auto&& wait) {
        double found[simd::most_rows * most];
        const std::size_t rows = last - i;
        groups::multiply_rows(*this, i, rows, across, padded, found);
        simd::loops().lay_along(found, rows, count, t, i);
        wait();
        simd::loops().add_rows(row(i), rows, simd::padded(i + 1), found, tiles, count, 0,
                               simd::padded(last));
    });
    team.in_pieces(count, 1, [&](std::size_t k, std::size_t) {
        squares[k] = 0.0;
        for (std::size_t i = 0; i < size_; ++i) squares[k] += t[k][i] * t[k][i];
        copy_vector(tiles, k, a[k]);
    });
}

simd::Tiles TriangularFactor::columns(const std::size_t* js, std::size_t count, double* out,
                                      Team& team) const {
    if (!team.shares(size_ - js[0], size_, count)) return columns(js, count, out);
    const simd::Tiles tiles{out, count};
    auto room = team.scratch().take(Entries::room(size_));
    const Entries entries(*this, js, count, room.data(), team);
    team.in_pieces(simd::padded(size_), columns_of_a_piece, [&](std::size_t from, std::size_t to) {
        std::fill(out + from * count, out + to * count, 0.0);
        entries.in_groups(from, [&](std::size_t i, std::size_t rows, std::size_t used) {
            simd::loops().add_rows(row(i), rows, simd::padded(i + 1), entries.of(i), tiles, used,
                                   from, to);
        });
    });
    return tiles;
}

namespace {

// Moves a piece of the columns of a row, from..to-1, to the row's new place `out`, without the
// columns js. `shift` of these are before the piece, and `removed` before the end of the row. The
// first `shift` columns go to places that the piece before may still have to read. They wait in
// `aside`.
struct Piece {
    std::size_t from, to;
    const std::size_t* js;
    std::size_t shift;

    void move(const double* in, std::size_t last, std::size_t removed, double scale, double* out,
              double* aside) const {
        std::size_t column = from;
        for (std::size_t g = shift; column < last; ++g) {
            const std::size_t end = g < removed ? std::min(js[g], last) : last;
            if (column < end) {
                const std::size_t split = std::clamp(from + g, column, end);
                for (std::size_t c = column; c < split; ++c)
                    aside[c - g - (from - shift)] = scale * in[c];
                simd::loops().scale_to(scale, in + split, out + split - g, end - split);
            }
            column = end + 1;
        }
    }
};

// Rows from `first` on, and how many of the rows js are before each.
class Remaining {
public:
    Remaining(const std::size_t* js, std::size_t count, std::size_t first)
        : js_(js), count_(count), gone_(before(js, count, first)) {}
    static std::size_t before(const std::size_t* js, std::size_t count, std::size_t row) {
        return static_cast<std::size_t>(std::lower_bound(js, js + count, row) - js);
    }
    // Whether the next row, r, remains.
    bool remains(std::size_t r) {
        if (gone_ == count_ || js_[gone_] != r) return true;
        ++gone_;
        return false;
    }
    std::size_t gone() const { return gone_; }

private:
    const std::size_t* js_;
    std::size_t count_, gone_;
};

}  // namespace

void TriangularFactor::reserve_shared(std::size_t capacity, std::size_t count, Team& team) {
    if (!team.may_share(capacity, capacity, count)) return;
    const std::size_t pieces = simd::padded(capacity) / columns_of_a_piece + 1;
    team.scratch().reserve(1, 3 * Entries::room(capacity) + numbers(capacity, 1 + pieces * count));
}

void TriangularFactor::remove(std::size_t j, Team& team) {
    if (!team.shares(size_ - j, size_)) return remove(j);
    // As for one thread, but first all rotations are planned, from column j alone. Then each piece
    // of columns is rotated and moved by itself. Pieces right of column j begin at a column from
    // which the loops for one thread would go on in whole panels.
    const std::size_t right = j + 1, below = size_ - right,
                      lefts = (j + columns_of_a_piece - 1) / columns_of_a_piece,
                      rights = (below + columns_of_a_piece - 1) / columns_of_a_piece;
    auto room = team.scratch().take((2 + rights) * below);
    double *c = room.data(), *s = c + below, *aside = s + below;
    const auto in_groups = [&](std::size_t from, auto&& work) {
        for (std::size_t i = right, rows; i < size_; i += rows) {
            rows = rows_at(i);
            if (i + rows > from) work(i, rows);  // otherwise it has no such columns
        }
    };
    // Rotates columns from..to-1 of some rows. Row r is written to out(r).
    const auto turn = [&](std::size_t i, std::size_t rows, std::size_t from, std::size_t to,
                          auto&& out) {
        simd::Turn turns[row_group];
        for (std::size_t r = 0; r < rows; ++r) {
            const std::size_t at = i + r - right;
            turns[r] = {c[at], s[at], row(i + r) + from, out(r)};
        }
        turn_up(turns, i, rows, from, to);
    };
    team.in_pieces(below, simd::most_rows, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) s[i] = row(right + i)[j];
    });
    begin_carry(j);
    double pivot = carry_[j];
    in_groups(0, [&](std::size_t i, std::size_t rows) {
        pivot = plan_turns(c + i - right, s + i - right, rows, pivot);
    });
    team.in_pieces(lefts + rights, 1, [&](std::size_t piece, std::size_t) {
        if (piece < lefts) {
            const std::size_t from = piece * columns_of_a_piece,
                              to = std::min(from + columns_of_a_piece, j);
            return in_groups(from, [&](std::size_t i, std::size_t rows) {
                turn(i, rows, from, to, [&](std::size_t r) { return row(i + r - 1) + from; });
            });
        }
        const std::size_t from = right + (piece - lefts) * columns_of_a_piece, first = from + width,
                          to = std::min(from + columns_of_a_piece, size_);
        double* waits = aside + (piece - lefts) * below;
        in_groups(from, [&](std::size_t i, std::size_t rows) {
            // The first column goes to a place that the piece before may still have to read. So it
            // waits in `aside`. The others of its panel are rotated with it.
            double panel[row_group][width];
            turn(i, rows, from, std::min(first, to), [&](std::size_t r) { return panel[r]; });
            for (std::size_t r = 0; r < rows; ++r) {
                if (i + r < from) continue;
                waits[i + r - right] = panel[r][0];
                std::copy(panel[r] + 1, panel[r] + std::min(first, i + r + 1) - from,
                          row(i + r - 1) + from);
            }
            if (i + rows > first)
                turn(i, rows, first, to, [&](std::size_t r) { return row(i + r - 1) + first - 1; });
        });
    });
    team.in_pieces(below, simd::most_rows, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            for (std::size_t k = 0; k <= i; k += columns_of_a_piece)
                row(j + i)[j + k] = aside[k / columns_of_a_piece * below + i];
    });
    carry_[j] = pivot;
    end_carry(j);
}

void TriangularFactor::remove(const std::size_t* js, std::size_t count, double* work, Team& team) {
    if (count == 1) return remove(js[0], team);
    if (!team.shares(size_ - js[0], size_, count)) return remove(js, count, work);
    // As for one thread, but first all rotations are planned, from the columns js alone. Then each
    // piece of columns is rotated and moved by itself.
    const auto& loops = simd::loops();
    const simd::Tiles carries{work, count};
    const std::size_t begin = js[0] / width * width, rows_left = size_ - begin,
                      room = Entries::room(size_),
                      pieces = simd::padded(size_) / columns_of_a_piece + 1;
    auto plans = team.scratch().take(3 * room + size_ + pieces * rows_left * count);
    double *a = plans.data() + room, *b = a + room, *scales = b + room, *sides = scales + size_;
    const auto of = [begin](double* plan, std::size_t i) { return plan + (i - begin) * most; };
    // Where columns of row r wait that belong before the piece that begins at `from`
    const auto aside = [&](std::size_t from, std::size_t r) {
        return sides + (from / columns_of_a_piece * rows_left + r - begin) * count;
    };
    simd::Pivots pivots;
    const Entries entries(*this, js, count, plans.data(), team);
    entries.in_groups(0, [&](std::size_t i, std::size_t rows, std::size_t used) {
        loops.plan_turns(pivots, entries.of(i), rows, used, of(a, i), of(b, i), scales + i - begin);
    });
    team.in_pieces(simd::padded(size_), columns_of_a_piece, [&](std::size_t from, std::size_t to) {
        std::fill(work + from * count, work + to * count, 0.0);
        const Piece piece{from, to, js, Remaining::before(js, count, from)};
        entries.in_groups(from, [&](std::size_t i, std::size_t rows, std::size_t used) {
            loops.turn_rows(row(i), rows, simd::padded(i + 1), of(a, i), of(b, i), carries, used,
                            from, to);
            const std::size_t first = std::max(i, from);
            Remaining rest(js, count, first);
            for (std::size_t r = first; r < i + rows; ++r)
                if (rest.remains(r))
                    piece.move(row(r), std::min(to, r + 1), rest.gone(), scales[r - begin],
                               row(r - rest.gone()), aside(from, r));
        });
    });
    team.in_pieces(rows_left, simd::most_rows, [&](std::size_t first, std::size_t last) {
        Remaining rest(js, count, begin + first);
        for (std::size_t r = begin + first; r < begin + last; ++r) {
            if (!rest.remains(r)) continue;
            const std::size_t length = r + 1 - rest.gone();
            double* out = row(r - rest.gone());
            for (std::size_t from = columns_of_a_piece; from <= r; from += columns_of_a_piece) {
                const std::size_t to = std::min(from, length),
                                  start = from - Remaining::before(js, count, from);
                if (start < to) std::copy_n(aside(from, r), to - start, out + start);
            }
            std::fill(out + length, out + simd::padded(length), 0.0);
        }
    });
    take_from_diagonal(js, count, carries, pivots);
}

}  // namespace parsimon
