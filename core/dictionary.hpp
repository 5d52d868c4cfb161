// The dictionary: centres, their weights, and (where a part needs it) the inverse factor of their
// Gram matrix.
//
//     f_c(x) = sum_j w_jc k(d_j, x)
//
// CONVENTION
// - Centres 0..size-1 are in insertion order; a removal closes the gap and permutes nothing.
// - weights: output c of centre j at c * capacity + j; diagonal_j = k(d_j, d_j).
// - With a factor: S is lower triangular with positive diagonal, packed by rows, and S'S = K^-1 up
//   to `drift`.
// - With a ridge g, S'S = (K + g I)^-1. Three residuals differ then: the ridge objective
//   k(x,x) - h'a, the squared distance of k(x, .) to the combination a, k(x,x) - h'a - g a'a, and
//   the Schur complement k(x,x) + g - h'a. Removals are not for dictionaries with a ridge, because
//   their costs do not include it.
// - Aligned states see every append after it happened, and every removal before anything but the
//   factor forgets the centre.
// - Capacity changes only in `make_room` and `reserve`. Nothing else allocates once
//   `reserve_scratch` has been called, with two exceptions: a rebuild holds a second factor for the
//   moment, and a replacement with a factor holds a copy of it to go back to.
// - The cost of a removal is a squared RKHS norm, summed over outputs.
// - A kernel may throw. It is evaluated before anything is changed: after an exception the
//   dictionary is as it was.
// - Points are contiguous rows of doubles, owned by the caller and copied. They must be finite, and
//   their k(x, x) at most `largest_kernel_value` (input.hpp). This is required, not checked.
// - Threads: const members may run on many threads at once, while no other member runs. The
//   dictionary shares the kernel. It does not own aligned states: they must outlive its last use.
// - A pointer from `weights` or `diagonal` is valid until the dictionary changes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "factor.hpp"
#include "kernels.hpp"
#include "squares.hpp"

namespace parsimon {

class Dictionary;

// What a point sees of the dictionary. `h` grows with the dictionary (`extend`); the projection is
// computed when first asked for.
struct Look {
    const double* x = nullptr;  // (depth,) the point, annotated by the kernel
    double kxx = 0.0;           // k(x, x)
    double* h = nullptr;        // (capacity,) k(x, d_j)
    double* t = nullptr;        // (capacity,) S h
    double* a =
        nullptr;  // (capacity,) S'S h: coefficients of the projection of k(x, .) onto the span
    double objective = 0.0;     // k(x, x) - t't
    double residual = 0.0;      // squared distance of k(x, .) to the combination a of the centres
    std::size_t n_known = 0;    // centres in h
    std::size_t projected = 0;  // centres in t, a and residual
    std::size_t compared = 0;   // centres among which `nearest` was found
    std::size_t nearest = 0;    // the centre nearest to x in input space
    double distance = 0.0;      // squared Euclidean distance to it
};

// Room for the looks of a batch.
class Looks {
public:
    Looks(std::size_t count, const Dictionary& dictionary);
    void fit(const Dictionary& dictionary);  // after make_room
    Look& operator[](std::size_t i) { return looks_[i]; }
    std::size_t size() const { return looks_.size(); }
    std::size_t nbytes() const;

private:
    friend class Dictionary;
    std::vector<Look> looks_;
    std::vector<double> points_, h_, t_, a_;
    std::vector<double> kxx_;
    std::size_t stride_ = 0;
};

// State that something else keeps for each centre.
class Aligned {
public:
    virtual ~Aligned() = default;
    virtual void reserve(std::size_t /*capacity*/) {}
    // The newest centre is in; `look` still holds what it saw of the others.
    virtual void appended(const Dictionary&, const Look& look) = 0;
    // Centre j is about to go. n = S'S e_j as it was with j, null without a factor; the factor has
    // forgotten j already, weights and centres have not.
    virtual void removing(Dictionary&, std::size_t j, const double* n) = 0;
};

struct Needs {
    bool factor = false;
    bool neighbours = false;
    double ridge = 0.0;  // of the factor
    friend bool operator==(const Needs&, const Needs&) = default;
    friend Needs operator|(Needs a, Needs b) {
        return {a.factor || b.factor, a.neighbours || b.neighbours,
                a.ridge > b.ridge ? a.ridge : b.ridge};
    }
};

class Dictionary {
public:
    // A centre enters only if its squared distance to the span exceeds `floor` times k(x,x) + sum_i
    // a_i^2 k(d_i,d_i). It bounds the norm of the factor's new row, and with it the growth of
    // rounding errors.
    static constexpr double floor = 2e-7;
    static constexpr double drift_limit = 5e-7;
    // A kernel function of so small a norm is taken as zero: it never becomes a centre where
    // coherence or the factor is asked.
    static bool negligible(double kxx) { return !(kxx >= 1e-100); }

    Dictionary(KernelPtr kernel, std::size_t n_features, std::size_t n_outputs, Needs needs,
               std::size_t reserve = 0);
    Dictionary(const Dictionary&) = delete;
    Dictionary& operator=(const Dictionary&) = delete;

    std::size_t size() const { return size_; }
    std::size_t capacity() const { return capacity_; }
    std::size_t n_features() const { return n_features_; }
    std::size_t n_outputs() const { return n_outputs_; }
    std::size_t depth() const { return points_.depth(); }
    const Kernel& kernel() const { return *kernel_; }
    const Needs& needs() const { return needs_; }
    bool has_factor() const { return needs_.factor; }
    double ridge() const { return needs_.ridge; }
    bool meets(Needs needs) const { return (needs_ | needs) == needs_; }
    double* weights(std::size_t output) { return weights_.data() + output * capacity_; }
    const double* weights(std::size_t output) const { return weights_.data() + output * capacity_; }
    const TriangularFactor& factor() const { return factor_; }
    const double* diagonal() const { return diagonal_.data(); }  // k(d_j, d_j)
    void centre(std::size_t j, double* out) const;               // (n_features,)
    std::size_t nbytes() const;                                  // without what aligned states hold

    void attach(Aligned& state);
    void reserve_outputs(std::size_t n) { weights_.reserve(n * capacity_); }
    // n outputs more, from `at` on, with f = 0.
    void add_outputs(std::size_t at, std::size_t n);

    // Room for `more` further centres; at least doubles when it grows. Returns whether it did:
    // looks must be fit again then.
    bool make_room(std::size_t more);
    // Room for n centres in all, and no more. Returns whether it had to be made.
    bool reserve(std::size_t n);
    // Takes at once the scratch that looks of `batch` points and the probe need at this capacity.
    void reserve_scratch(std::size_t batch);

    // Looks of n points. Requires looks.fit since the last make_room.
    void look(Looks& looks, const double* x, std::size_t n);
    // Brings h up to date with centres appended since.
    void extend(Look& look);
    // Brings t, a and residual up to date. Requires a factor.
    void project(Look& look) const;
    // The same for several that know the same centres, in one sweep over the factor.
    void project(Look* const* looks, std::size_t n) const;
    // max_j |k(x, d_j)| / sqrt(k(x,x) k(d_j,d_j)); 1 where k(x, .) is zero.
    double coherence(const Look& look) const;
    // Brings nearest and distance up to date; without centres the distance is infinite.
    void find_nearest(Look& look);
    // Whether the point is an exact copy of a centre, whatever rounding says.
    bool holds(const Look& look) const;
    // The factor's veto: true without a factor, else whether the centre keeps the factor sound.
    // Exact copies never do.
    bool accepts(Look& look) const;

    // The point becomes the newest centre with weights w (n_outputs,), zeros if null. Requires
    // room, an extended look, accepts(look).
    void append(Look& look, const double* w);
    // Adds n terms w_i k(x_i, .) to f, x (n, n_features), w (n, n_outputs): each is a new centre
    // or, where the factor would not bear that, projected onto the span; `entered` (n,) says which.
    // `looks` is where they are looked at, as many at a time as it has room for.
    void add(const double* x, const double* w, std::size_t n, Looks& looks, bool* entered);
    // The same into an empty dictionary without neighbours, with a factor S (n, n) that is known
    // already.
    void adopt(const double* x, const double* w, std::size_t n, const double* S);
    // The others take over: f becomes its projection onto them. Returns the cost. Requires a
    // factor.
    double project_out(std::size_t j);
    // Destructive matching pursuit with pre-fitting (Koppel et al. 2019): the cheapest centre is
    // projected out, again and again, while there are more than `budget` or the costs add up to at
    // most `allowance`. As nested projections are orthogonal, the sum, which it returns, is the
    // squared RKHS distance from f as it was. Requires a factor.
    double project_out_cheapest(double allowance, std::size_t budget);
    // The centre goes with its weights.
    void drop(std::size_t j);
    // drop(j), then append z with weights w; false, and nothing changed, if z would not be
    // accepted. `looks` is where z is looked at (one place, fit).
    bool replace(std::size_t j, const double* z, const double* w, Looks& looks);

    // The most coherent pair of centres i < j and its coherence (0 with fewer than two). Requires
    // neighbours.
    struct Pair {
        std::size_t i = 0, j = 0;
        double coherence = 0.0;
    };
    Pair most_coherent() const;

    // row_j = k(d_i, d_j), with room for whole panels.
    void gram_row(std::size_t i, double* row);

    // cost_j = ||w_j||^2 / (S'S)_jj. Requires a factor.
    double removal_cost(std::size_t j) const { return squared_weight(j) / factor_.diagonal()[j]; }
    // ||w_j||^2, over the outputs.
    double squared_weight(std::size_t j) const;
    std::size_t cheapest() const { return cheapest(factor_.diagonal()); }
    // The centre of least ||w_j||^2 / scale_j.
    std::size_t cheapest(const double* scale) const {
        return least([scale](std::size_t j, double square) { return square / scale[j]; });
    }
    // The first centre of least cost(j, ||w_j||^2).
    template <class Cost>
    std::size_t least(Cost&& cost) const;

    // f(x) for n points, (n, count), of `count` outputs from `first` on. Const and free of shared
    // scratch: threads may predict together.
    void predict(const double* x, std::size_t n, std::size_t first, std::size_t count,
                 double* out) const;
    void predict(const double* x, std::size_t n, double* out) const {
        predict(x, n, 0, n_outputs_, out);
    }
    void evaluate(const Look& look, double* f) const;
    // k(x, x) of n points, (n,).
    void self_values(const double* x, std::size_t n, double* out) const;

    // ||S'S K z - z||_inf for a vector z of random signs, in units of sqrt(k(d_i, d_i)); infinity
    // where it is not a number. Requires a factor.
    double drift();
    // Probes every few changes and rebuilds the factor beyond the limit. Call when no look is in
    // use.
    void maintain();
    void rebuild();
    std::uint64_t rebuilds() const { return rebuilds_; }

    // All of it but the kernel. Read into a dictionary that is empty.
    void visit(StateVisitor visitor);
    // Throws InputError unless the numbers are such as learning leads to (sound.hpp): asked of a
    // state that was read from a file.
    void require_sound();

private:
    double schur(const Look& look) const { return look.objective + needs_.ridge; }
    bool copies(const Look& look, std::size_t i,
                std::size_t j) const;  // whether it is centre j, which is in its place i
    void settle(Look& look) const;     // its residual, once a and objective are known
    bool sound(Look& look, std::size_t without)
        const;  // accepts, asked of the dictionary without a centre that the look has left out
    void erase(std::size_t j,
               const double* n);  // tells the aligned, closes the gap everywhere but in the factor
    void erase(const std::size_t* js, std::size_t count);
    // Up to `most_at_once` of the cheapest, in rising order of cost; 0 if none may go.
    std::size_t cheapest_candidates(double allowance, std::size_t budget, const double* squares,
                                    std::size_t* candidates) const;
    bool project_out_together(double& allowance, std::size_t budget, double* squares,
                              double& spent);
    const double* column_from_carry(std::size_t j);
    void append_neighbour(const Look& look);
    void find_neighbours_without(std::size_t j);  // of a centre that is about to go
    void remove_neighbour(std::size_t j);

    KernelPtr kernel_;
    std::size_t n_features_, n_outputs_;
    Needs needs_;
    std::size_t size_ = 0, capacity_ = 0;
    Points points_;
    TriangularFactor factor_;
    std::vector<double> diagonal_, weights_, column_;
    std::vector<double>
        neighbour_coherence_;             // of each centre with the centre most coherent with it
    std::vector<std::size_t> neighbour_;  // which is that
    std::vector<double> next_coherence_;  // the same without a centre that is about to go
    std::vector<std::size_t> next_neighbour_;
    std::vector<Aligned*> aligned_;
    Scratch scratch_;
    std::uint64_t probe_interval() const { return 4 * size_ + 64; }
    std::uint64_t changes_ = 0, next_probe_ = 64, rebuilds_ = 0;
};

template <class Cost>
std::size_t Dictionary::least(Cost&& cost) const {
    constexpr std::size_t piece = 256;  // so that each output's weights are read in one go
    std::size_t best = 0;
    double lowest = std::numeric_limits<double>::infinity(), squares[piece];
    for (std::size_t first = 0; first < size_; first += piece) {
        const std::size_t n = std::min(piece, size_ - first);
        sum_squares(weights_.data() + first, n_outputs_, capacity_, n, squares);
        for (std::size_t i = 0; i < n; ++i) {
            const double found = cost(first + i, squares[i]);
            if (found < lowest) {
                lowest = found;
                best = first + i;
            }
        }
    }
    return best;
}

}  // namespace parsimon
