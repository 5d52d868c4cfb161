// The dictionary: centres d_j, their weights w_jc for each output c, and (where a part needs it) a
// factor of the inverse of their Gram matrix K_ij = k(d_i, d_j). Together they are the functions
//
//     f_c(x) = sum_j w_jc k(d_j, x).
//
// CONVENTION
// - Centres 0..size-1 are in insertion order. A removal keeps the order.
// - The weight of centre j for output c is at weights(c)[j]. weights(c + 1) is `capacity` numbers
//   after weights(c). diagonal_j = k(d_j, d_j).
// - Without a factor, neighbours and aligned states, dropping centre 0 moves nothing. It leaves a
//   gap before the first centre, in points, weights and diagonal alike. The gap is closed when its
//   room is needed. No result depends on it: the order of all sums is that of the centres.
// - After `reuse_places`, no removal moves a point, and a new centre takes the free place. Kernel
//   values are put into the order of the centres as soon as they are computed.
// - The factor S is lower triangular with positive diagonal and packed by rows. S'S = K^-1 up to a
//   rounding error that `drift` estimates. With a ridge g, S'S = (K + g I)^-1.
// - With a ridge, a = S'S h and h_j = k(x, d_j), three residuals of a point x differ: the ridge
//   objective k(x,x) - h'a, the squared distance k(x,x) - h'a - g a'a of k(x, .) to sum_j a_j
//   k(d_j, .), and the Schur complement k(x,x) + g - h'a.
// - With a ridge, `project_out` still removes row and column j of K + g I. Weights that solve (K +
//   g I) w = y then solve it for the other pairs (d_i, y_i). But the costs of removals do not
//   include the ridge.
// - With `Needs::pairs`, each centre stands for one sample, and has a ridge of its own: then g I is
//   the diagonal matrix of these ridges. Copies of a centre can be centres too.
// - Aligned states are told of an append after it is done. They are told of a removal before it is
//   done; at that time only the factor has already removed the centre.
// - Capacity changes only in `make_room` and `reserve`. After `reserve_scratch` nothing else
//   allocates, with two exceptions: `rebuild` builds a second factor, and `replace` saves a copy of
//   the factor in order to restore it.
// - The cost of a removal is the squared RKHS norm of the change of f, summed over outputs.
// - A kernel may throw. Kernels are evaluated before anything is changed, so that an exception
//   leaves the dictionary as it was.
// - Points are contiguous rows of doubles, owned by the caller and copied. They must be finite, and
//   their k(x, x) at most `largest_kernel_value` (input.hpp). This is required, not checked.
// - Threads: many threads may call const members at once, while no thread calls another member. A
//   member that is not const may share its work among the threads of `team`. This changes no bit,
//   but such regions allocate working memory when they are first used. The dictionary shares the
//   kernel. Aligned states are not owned and must outlive its last use.
// - A pointer from `weights` or `diagonal` is valid until the dictionary changes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "buffer.hpp"
#include "factor.hpp"
#include "kernels.hpp"
#include "squares.hpp"
#include "team.hpp"

namespace parsimon {

class Dictionary;

// A point x together with its kernel values and its projection onto the span of the centres. `h`
// covers centres appended later only after `extend`. The projection is computed on demand.
struct Look {
    const double* x = nullptr;  // (depth,) the point, annotated by the kernel
    double kxx = 0.0;           // k(x, x)
    double* h = nullptr;        // (capacity,) k(x, d_j)
    double* t = nullptr;        // (capacity,) S h
    double* a = nullptr;        // (capacity,) S'S h, coefficients of the projection onto the span
    double objective = 0.0;     // k(x, x) - t't
    double residual = 0.0;      // squared distance of k(x, .) to sum_j a_j k(d_j, .)
    std::size_t n_known = 0;    // number of centres that h covers
    std::size_t projected = 0;  // number of centres that t and residual cover
    std::size_t combined = 0;   // number of centres that a covers
    std::size_t compared = 0;   // number of centres that `nearest` was searched in
    std::size_t nearest = 0;    // the centre nearest to x in input space
    double distance = 0.0;      // squared Euclidean distance to that centre
    double ridge = 0.0;         // g, if the point becomes a centre
    std::size_t centre = none;  // the centre that the point became
    static constexpr std::size_t none = static_cast<std::size_t>(-1);
};

// The looks of the points of a batch, with their memory.
class Looks {
public:
    Looks(std::size_t count, const Dictionary& dictionary);
    void fit(const Dictionary& dictionary);  // resizes; call it after make_room
    Look& operator[](std::size_t i) { return looks_[i]; }
    std::size_t size() const { return looks_.size(); }
    std::size_t nbytes() const;

private:
    friend class Dictionary;
    std::vector<Look> looks_;
    Buffer<double> points_, h_, t_, a_;
    std::vector<double> kxx_;
    std::size_t stride_ = 0;
    std::size_t count_ = 0;  // how many looks were taken together
    // The points that became centres, among the first `searched_`, and their kernel values with the
    // points after them, in rows of `padded(size)`. `between_` is empty unless batches have 2 to 64
    // points and the kernel computes several rows in less time.
    Points mates_;
    Buffer<double> between_;
    // Which centres they became. No centre may leave between the looks and the last `extend`.
    std::vector<std::size_t> entered_;
    std::size_t searched_ = 0;
};

// State that another object keeps for each centre, in the order of the centres.
class Aligned {
public:
    virtual ~Aligned() = default;
    virtual void reserve(std::size_t /*capacity*/) {}
    // The newest centre was appended. `look` still holds its kernel values with the other centres.
    virtual void appended(const Dictionary&, const Look& look) = 0;
    // Centre j is about to be removed: the factor has removed it, weights and centres still hold
    // it. n (size,) is column j of S'S before the removal, or null without a factor.
    virtual void removing(Dictionary&, std::size_t j, const double* n) = 0;
};

// What the parts of an algorithm need the dictionary to keep. `a | b` meets both.
struct Needs {
    bool factor = false;
    bool neighbours = false;
    double ridge = 0.0;  // of the factor
    bool pairs = false;  // whether each centre stands for one sample; requires a factor and a ridge
    friend bool operator==(const Needs&, const Needs&) = default;
    friend Needs operator|(Needs a, Needs b) {
        return {a.factor || b.factor, a.neighbours || b.neighbours,
                a.ridge > b.ridge ? a.ridge : b.ridge, a.pairs || b.pairs};
    }
};

// The centres, weights and factor described at the top of this file.
class Dictionary {
public:
    // With a factor, x can become a centre only if its Schur complement exceeds `floor` times
    // k(x,x) + sum_i a_i^2 k(d_i,d_i). This bounds the norm of the new row of the factor, and so
    // the growth of rounding errors.
    static constexpr double floor = 2e-7;
    // The same with `Needs::pairs`. The ridge already bounds the norm of a row. If it is at least
    // 2e-5 times the largest k(x,x), all points are accepted.
    static constexpr double floor_of_pairs = 1e-9;
    static constexpr double drift_limit = 5e-7;
    // A k(x, x) this small counts as zero: the coherence is 1, and `accepts` refuses the point.
    static bool negligible(double kxx) { return !(kxx >= 1e-100); }

    Dictionary(KernelPtr kernel, std::size_t n_features, std::size_t n_outputs, Needs needs,
               std::size_t reserve = 0);
    Dictionary(const Dictionary&) = delete;
    Dictionary& operator=(const Dictionary&) = delete;

    std::size_t size() const { return size_; }
    std::size_t capacity() const { return capacity_; }
    std::size_t n_features() const { return n_features_; }
    std::size_t n_outputs() const { return n_outputs_; }
    std::size_t depth() const { return points_.depth(); }  // features and extra numbers
    const Kernel& kernel() const { return *kernel_; }
    const KernelPtr& shared_kernel() const { return kernel_; }
    const Needs& needs() const { return needs_; }
    bool has_factor() const { return needs_.factor; }
    double ridge() const { return needs_.ridge; }
    bool meets(Needs needs) const { return (needs_ | needs) == needs_; }  // keeps all of `needs`
    double* weights(std::size_t output) {
        return weights_.data() + output * capacity_ + points_.gap();
    }
    const double* weights(std::size_t output) const {
        return weights_.data() + output * capacity_ + points_.gap();
    }
    const TriangularFactor& factor() const { return factor_; }
    const double* diagonal() const { return diagonal_.data() + points_.gap(); }  // k(d_j, d_j)
    void centre(std::size_t j, double* out) const;                               // (n_features,)
    std::size_t nbytes() const;  // in bytes, without aligned states

    // The threads that share the work of members that are not const.
    Team& team() { return team_; }
    // From now on `state` is told of appends and removals.
    void attach(Aligned& state);
    void reserve_outputs(std::size_t n) { weights_.reserve(n * capacity_); }  // for n outputs
    // Inserts n outputs with weights 0 before output `at`.
    void add_outputs(std::size_t at, std::size_t n);

    // Makes room for `more` further centres, and at least doubles the capacity if it must grow.
    // Returns whether it grew. If so, call Looks::fit.
    bool make_room(std::size_t more);
    // Makes room for n centres without doubling. Returns whether the capacity grew.
    bool reserve(std::size_t n);
    // Allocates the working memory for looks of `batch` points and for `drift` at this capacity.
    void reserve_scratch(std::size_t batch);

    // Computes h and k(x, x) of the points x (n, n_features). Requires Looks::fit since the last
    // make_room.
    void look(Looks& looks, const double* x, std::size_t n) { look(looks, x, n, scratch_, &team_); }
    void look(Looks& looks, const double* x, std::size_t n, Scratch& scratch,
              Team* team = nullptr) const;
    // Computes h for the centres appended since the look was taken.
    void extend(Look& look);
    // The same for look i of a batch, in less time if these centres are of the batch too. Looks of
    // a batch must be extended in order.
    void extend(Looks& looks, std::size_t i);
    // Computes t, a and residual for the centres that h covers. Requires a factor.
    void project(Look& look) const;
    // The same for n looks that cover the same centres, in one pass over the factor for each 32.
    void project(Look* const* looks, std::size_t n);
    // Computes t and residual at least. After `be_lazy` and without a ridge, a is left out, which
    // takes half the time of `project`.
    void measure(Look& look) const;
    // Says that most points that are measured do not need a.
    void be_lazy() { lazy_ = true; }
    // Says that centres are often removed. Points of many features are then not moved: new ones
    // take the places of those that are gone. Requires that there is no centre yet.
    void reuse_places() {
        if (n_features_ >= simd::least_for_products) points_.reuse_places();
    }
    bool reuses_places() const { return points_.reuses_places(); }
    // Points as the dictionary stores them: none yet, in order.
    Points no_points() const { return Points(n_features_, kernel_->extra(), kernel_->single()); }
    // Leaves no place free, after many centres were removed.
    void pack() { points_.pack(); }
    // max_j |k(x, d_j)| / sqrt(k(x,x) k(d_j,d_j)), or 1 if k(x, x) counts as zero.
    double coherence(const Look& look) const;
    // Computes nearest and distance. The distance is infinite if there are no centres.
    void find_nearest(Look& look);
    // Whether the features of the point equal those of a centre.
    bool holds(const Look& look) const;
    // Whether the point may become a centre: always without a factor, else if `floor` allows it and
    // the point is not a copy of a centre, or if `floor_of_pairs` allows it.
    bool accepts(Look& look) const;
    // The Schur complement k(x,x) + g - h'a. Requires `measure`.
    double schur(const Look& look) const { return look.objective + look.ridge; }

    // Adds `rise` to f_c at all centres: w_c += rise K^-1 1, unless the norm of that function is
    // larger than with centres that have nothing in common. Then the kernel cannot express a
    // constant, and f between the centres would be far from one. Requires a factor.
    // With `always`, it is added in any case.
    void shift(std::size_t c, double rise, bool always = false);
    // Makes the point the newest centre, with weights w (n_outputs,), or 0 if null. Requires room,
    // `extend` and accepts(look).
    void append(Look& look, const double* w);
    // Adds n terms w_i k(x_i, .) to f, with x (n, n_features) and w (n, n_outputs). Each x_i that
    // is accepted becomes a centre, the other terms are projected onto the span. entered (n,) tells
    // which entered. `looks` is working memory.
    void add(const double* x, const double* w, std::size_t n, Looks& looks, bool* entered);
    // Makes the n points centres of an empty dictionary without neighbours, with factor S (n, n).
    void adopt(const double* x, const double* w, std::size_t n, const double* S);
    // Removes centre j and replaces f by its projection onto the span of the others. Returns the
    // cost. Requires a factor.
    double project_out(std::size_t j);
    // Destructive matching pursuit with pre-fitting (Koppel et al. 2019): projects out the cheapest
    // centre repeatedly, while there are more than `budget` or the costs sum to at most
    // `allowance`. Returns the sum. It is the squared RKHS distance between the old and the new f,
    // because nested projections are orthogonal. Requires a factor.
    double project_out_cheapest(double allowance, std::size_t budget);
    // Removes centre j and its weights. The other weights stay.
    void drop(std::size_t j);
    // drop(j), then append z with weights w (n_outputs,). If z would not be accepted, returns false
    // and changes nothing. `looks` is working memory for one point, fit.
    bool replace(std::size_t j, const double* z, const double* w, Looks& looks);

    // The most coherent pair of centres i < j (0 with fewer than two). Requires neighbours.
    struct Pair {
        std::size_t i = 0, j = 0;
        double coherence = 0.0;
    };
    Pair most_coherent() const;

    // row_j = k(d_i, d_j) for all j. `row` must have room for whole panels.
    void gram_row(std::size_t i, double* row);

    // cost_j = ||w_j||^2 / (S'S)_jj. Requires a factor.
    double removal_cost(std::size_t j) const { return squared_weight(j) / factor_.diagonal()[j]; }
    // ||w_j||^2 = sum_c w_jc^2
    double squared_weight(std::size_t j) const;
    std::size_t cheapest() const { return cheapest(factor_.diagonal()); }  // by removal_cost
    // The centre with the least ||w_j||^2 / scale_j.
    std::size_t cheapest(const double* scale) const {
        return least([scale](std::size_t j, double square) { return square / scale[j]; });
    }
    // The first centre with the least cost(j, ||w_j||^2).
    template <class Cost>
    std::size_t least(Cost&& cost) const;

    // f_c(x) of the points x (n, n_features) for outputs first..first+count-1, into out (n, count).
    void predict(const double* x, std::size_t n, std::size_t first, std::size_t count,
                 double* out) const;
    void predict(const double* x, std::size_t n, double* out) const {
        predict(x, n, 0, n_outputs_, out);
    }
    // df/dx of the same outputs, (n, count, n_features). Throws InputError if there is none.
    void gradient(const double* x, std::size_t n, std::size_t first, std::size_t count,
                  double* out) const;
    // f (n_outputs,) at the point of the look.
    void evaluate(const Look& look, double* f) const;
    // k(x, x) of the points x (n, n_features), into out (n,).
    void self_values(const double* x, std::size_t n, double* out) const;

    // Estimates the error of the factor: ||S'S K z - z||_inf for a vector z of random signs, in
    // units of sqrt(k(d_i, d_i)), or infinity if this is NaN. Requires a factor.
    double drift();
    // Every few changes, measures `drift` and rebuilds the factor if it exceeds drift_limit. Call
    // it when no look is in use.
    void maintain();
    // Computes the factor anew from the centres.
    void rebuild();
    std::uint64_t rebuilds() const { return rebuilds_; }

    // Writes or reads everything but the kernel (state.hpp). Reading requires an empty dictionary.
    void visit(StateVisitor visitor);
    // Throws InputError unless learning can lead to the numbers that were read (sound.hpp).
    void require_sound();

private:
    double ridge_of(std::size_t j) const { return needs_.pairs ? ridges_[j] : needs_.ridge; }
    // Whether the point is a copy of centre j, whose kernel value is h[i].
    bool copies(const Look& look, std::size_t i, std::size_t j) const {
        // A cheap test of kernel values comes first, because most centres are not near the point.
        const double slack = 1e-9 * look.kxx;
        return std::fabs(look.h[i] - look.kxx) <= slack &&
               std::fabs(diagonal()[j] - look.kxx) <= slack && points_.equals(j, look.x);
    }
    void settle(Look& look) const;  // residual from a and objective
    // Finds the new centres among looks 0..i-1, and their kernel values with those from i on.
    void find_mates(Looks& looks, std::size_t i);
    // `accepts` for the dictionary without the centre `without`, which h does not cover.
    bool sound(Look& look, std::size_t without) const;
    // Tells aligned states, then removes centre j everywhere but in the factor.
    void erase(std::size_t j, const double* n);
    void erase(const std::size_t* js, std::size_t count);
    void close_gap(bool all);  // as Points::close_gap
    // As `look`, without the kernel values h.
    void open(Looks& looks, const double* x, std::size_t n, Scratch& scratch) const;
    // Whether nothing is kept that depends on kernel values between centres.
    bool keeps_centres_only() const {
        return !needs_.factor && !needs_.neighbours && aligned_.empty();
    }
    // Kernel values of the points with all centres, in order. If `out` begins at the first panel,
    // the value of the first centre is at lane(0). If `coarse`, products of single centres may be
    // in single precision.
    void kernel_rows(const simd::Rows& points, const simd::Block& out, Scratch& scratch,
                     bool coarse = false, Team* team = nullptr) const;
    // Computes t, a and residual of one look over all centres, if it has none yet.
    void project_shared(Look& look);
    // Finds up to `together_` of the cheapest centres, by increasing cost. Returns how many, or
    // 0 if none may be removed.
    std::size_t cheapest_candidates(double allowance, std::size_t budget, const double* squares,
                                    std::size_t* candidates) const;
    bool project_out_together(double& allowance, std::size_t budget, double& spent);
    const double* column_from_carry(std::size_t j);
    void append_neighbour(const Look& look);
    // Finds new neighbours for the centres whose neighbour is j, before j is removed.
    void find_neighbours_without(std::size_t j);
    void remove_neighbour(std::size_t j);

    KernelPtr kernel_;
    std::size_t n_features_, n_outputs_;
    Needs needs_;
    bool lazy_ = false;
    std::size_t together_ = 8;  // the most centres that are projected out in one pass
    std::size_t size_ = 0, capacity_ = 0;
    Points points_;
    TriangularFactor factor_;
    Buffer<double> diagonal_, weights_, column_, ridges_;
    // For each centre: its largest coherence with another centre, and which centre that is.
    std::vector<double> neighbour_coherence_;
    std::vector<std::size_t> neighbour_;
    // The same without a centre that is about to be removed.
    std::vector<double> next_coherence_;
    std::vector<std::size_t> next_neighbour_;
    std::vector<Aligned*> aligned_;
    Scratch scratch_;
    Team team_;
    std::uint64_t probe_interval() const { return 4 * size_ + 64; }
    std::uint64_t changes_ = 0, next_probe_ = 64, rebuilds_ = 0;
};

template <class Cost>
std::size_t Dictionary::least(Cost&& cost) const {
    constexpr std::size_t piece = 256;  // centres per pass
    std::size_t best = 0;
    double lowest = std::numeric_limits<double>::infinity(), squares[piece];
    for (std::size_t first = 0; first < size_; first += piece) {
        const std::size_t n = std::min(piece, size_ - first);
        sum_squares(weights(0) + first, n_outputs_, capacity_, n, squares);
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
