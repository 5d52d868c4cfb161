// The lasso on a Gram matrix: sparse codes of a vector over a few atoms.
#pragma once

#include <cstddef>
#include <vector>

namespace parsimon {

// Minimises ||phi - D alpha||^2 / 2 + lambda ||alpha||_1, given G = D'D, b = D'phi and ||phi||^2.
//
// The method is coordinate descent. A pass over all coordinates is followed by passes over the
// nonzero coordinates A, the active set. The search ends when the duality gap is at most
// `tolerance` ||phi||^2 / 2.
//
// Once the gap is small, the active set is usually final. Then the equations G_AA alpha_A = b_A -
// lambda sign_A are solved directly. If the solution has the signs assumed and satisfies the
// optimality conditions of the other coordinates, it is the minimum up to rounding.
//
// Atoms with less than 1e-14 of the largest norm are left out. If atoms are linearly dependent, the
// minimum need not be unique, and the result depends on the starting point.
class SparseCoder {
public:
    static constexpr std::size_t most_sweeps = 500;

    explicit SparseCoder(double tolerance = 1e-12) : tolerance_(tolerance) {}

    // The squared error and the duality gap of a code.
    struct Cost {
        double squared_error;  // ||phi - D alpha||^2, at least 0
        double gap;            // the remaining duality gap
    };
    // G (n, n) has rows `stride` apart, b (n,), energy = ||phi||^2. alpha (n,) holds the starting
    // point and receives the code.
    Cost code(const double* G, std::size_t stride, std::size_t n, const double* b, double energy,
              double lambda, double* alpha);
    // b - G alpha (n,) for the last code.
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
    // c_ = b - G alpha.
    void correlate(const Problem& problem, const double* alpha);
    double sweep(const Problem& problem, double* alpha, bool active_only);
    // The squared error and the duality gap at alpha.
    Cost measure(const Problem& problem, const double* alpha) const;
    // Solves the equations of the active set. Returns whether the solution is the minimum.
    bool polish(const Problem& problem, double* alpha);

    double tolerance_;
    std::vector<double> c_, factor_, solution_;
    std::vector<std::size_t> active_;
};

}  // namespace parsimon
