#include "removals.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "pursuit.hpp"
#include "squares.hpp"

namespace parsimon {

Removals remove_cheapest(const Inverse& inverse, double* U, std::size_t room, std::size_t most,
                         double allowance, double lost) {
    const std::size_t m = inverse.m;
    std::vector<double> squares(m);
    for (std::size_t i = 0; i < m; ++i)
        if (inverse.gone[i]) inverse.diagonal[i] = 0.0;
    sum_squares(inverse.W, inverse.n_outputs, m, m, squares.data());
    Pursuit pursuit(m, {inverse.W, inverse.n_outputs, m}, inverse.diagonal, squares.data());
    std::size_t left = static_cast<std::size_t>(std::count(inverse.gone, inverse.gone + m, false));
    Removals result;
    while (pursuit.count() < std::min(room, Pursuit::most)) {
        bool numbers = true;
        for (std::size_t i = 0; i < m; ++i)
            numbers = numbers && (inverse.gone[i] || !std::isnan(pursuit.cost(i)));
        const std::size_t j = pursuit.cheapest();
        if (left <= most && !(numbers && j < m && pursuit.cost(j) <= allowance)) {
            result.end = Removals::End::done;
            break;
        }
        if (!numbers || j == m) {
            result.end = left == 0 ? Removals::End::done : Removals::End::lost;
            break;
        }
        double* u = U + pursuit.count() * m;
        std::copy_n(inverse.P + j * m, j, u);
        for (std::size_t i = j; i < m; ++i) u[i] = inverse.P[i * m + j];
        pursuit.correct(u, j);
        for (std::size_t i = 0; i < m; ++i)
            if (inverse.gone[i]) u[i] = 0.0;
        if (!(u[j] > 0.0)) {
            result.end = Removals::End::lost;
            break;
        }
        const bool kept = pursuit.keeps_digits(u, j, inverse.before, lost);
        const double paid = pursuit.project_out(j, u);
        inverse.gone[j] = true;
        --left;
        allowance -= paid;
        result.spent += paid;
        if (!kept) {
            result.end = Removals::End::lost;
            break;
        }
    }
    result.count = pursuit.count();
    for (std::size_t r = 0; r < result.count; ++r) {
        double* u = U + r * m;
        const double scale = 1.0 / std::sqrt(u[pursuit.removed()[r]]);
        for (std::size_t i = 0; i < m; ++i) u[i] *= scale;
    }
    return result;
}

}  // namespace parsimon
