// Destructive matching pursuit (pursuit.hpp) over an explicit inverse of the Gram matrix, for
// thousands of centres at once. After a block of removals the inverse is brought up to date by
// P - U'U.
#pragma once

#include <cstddef>

namespace parsimon {

struct Inverse {
    std::size_t m;
    std::size_t n_outputs;
    const double* P;       // (m, m), the lower triangle
    double* W;             // (n_outputs, m)
    double* diagonal;      // (m,) of P, after the removals
    const double* before;  // (m,) what it was when all digits were there
    bool* gone;            // (m,)
};

struct Removals {
    enum class End {
        full,  // there is no row left in U: P must be brought up to date
        done,  // no centre may go any more
        lost,  // the inverse has lost its digits
    };
    std::size_t count = 0;
    double spent = 0.0;  // the costs, squared norms, summed
    End end = End::full;
};

// Projects out the cheapest centres while there are more than `most`, or while the cost is within
// what is left of the allowance. Writes a row of U (room, m) for each: its column of the inverse as
// it is by then, over the root of its pivot. `lost` is how far an entry of the diagonal may fall.
Removals remove_cheapest(const Inverse& inverse, double* U, std::size_t room, std::size_t most,
                         double allowance, double lost);

}  // namespace parsimon
