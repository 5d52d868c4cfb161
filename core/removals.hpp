// Destructive matching pursuit (pursuit.hpp) with an explicit inverse P of the Gram matrix, for
// thousands of centres. After a block of removals, the caller updates P <- P - U'U.
#pragma once

#include <cstddef>

namespace parsimon {

// The centres that remain: their inverse Gram matrix P and their weights W.
struct Inverse {
    std::size_t m;
    std::size_t n_outputs;
    const double* P;       // (m, m), the lower triangle
    double* W;             // (n_outputs, m)
    double* diagonal;      // (m,) the diagonal of P after the removals
    const double* before;  // (m,) the diagonal when P was last computed from the Gram matrix
    bool* gone;            // (m,) whether the centre was removed
};

// The result of a block of removals.
struct Removals {
    // Why the block ended.
    enum class End {
        full,  // U is full: P must be updated
        done,  // no further centre may be removed
        lost,  // P has lost too many digits
    };
    std::size_t count = 0;
    double spent = 0.0;  // the sum of the costs
    End end = End::full;
};

// Projects out the cheapest centres while more than `most` are left, or while the cost is at most
// what is left of the allowance. For each removed centre j, writes a row of U (room, m): column j
// of the inverse at that time, divided by the root of its entry j. `lost` is the smallest allowed
// ratio of `diagonal` to `before`.
Removals remove_cheapest(const Inverse& inverse, double* U, std::size_t room, std::size_t most,
                         double allowance, double lost);

}  // namespace parsimon
