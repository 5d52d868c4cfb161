// The lasso on a Gram matrix: sparse codes over a few atoms.
#pragma once

#include <cstddef>
#include <vector>

namespace parsimon {

// Minimises ||phi - D alpha||^2 / 2 + lambda ||alpha||_1 given G = D'D, b = D'phi and ||phi||^2.
//
// Coordinate descent: sweeps over all coordinates, each followed by sweeps over those that are not
// zero (the active set), until the duality gap is at most `tolerance` ||phi||^2 / 2. Once the gap
// is small the active set is mostly the right one, so that the equations G_AA alpha_A = b_A -
// lambda sign_A are tried: where their solution has those signs and no other coordinate objects, it
// is the minimum, to rounding. Atoms of less than 1e-14 of the largest norm take no part. Where the
// atoms are dependent the minimum need not be unique; which one is found depends on where the
// search begins.
class SparseCoder {
public:
    static constexpr std::size_t most_sweeps = 500;

    explicit SparseCoder(double tolerance = 1e-12) : tolerance_(tolerance) {}

    struct Cost {
        double squared_error;  // ||phi - D alpha||^2, at least 0
        double gap;            // what is left of the duality gap
    };
    // G (n, n) by rows, `stride` apart; b (n,); `energy` = ||phi||^2. alpha (n,): where the search
    // begins, and the codes.
    Cost code(const double* G, std::size_t stride, std::size_t n, const double* b, double energy,
              double lambda, double* alpha);
    // b - G alpha of the codes found last, (n,).
    const double* correlation() const { return c_.data(); }
    std::size_t nbytes() const {
        return (c_.capacity() + factor_.capacity() + solution_.capacity()) * sizeof(double) +
               active_.capacity() * sizeof(std::size_t);
    }

private:
    struct Problem {
        const double* G;
        std::size_t stride, n;
        const double* b;
        double energy, lambda, least_diagonal, largest_diagonal;
    };
    void correlate(const Problem& problem, const double* alpha);
    double sweep(const Problem& problem, double* alpha, bool active_only);
    Cost measure(const Problem& problem, const double* alpha) const;
    bool polish(const Problem& problem, double* alpha);

    double tolerance_;
    std::vector<double> c_, factor_, solution_;
    std::vector<std::size_t> active_;
};

}  // namespace parsimon
