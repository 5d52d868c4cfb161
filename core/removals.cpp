#include "removals.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "simd/loops.hpp"
#include "squares.hpp"

namespace parsimon {
namespace {

// u = P_j - sum_k U_kj U_k, in pieces that stay near.
void column(const Inverse& inverse, const double* U, std::size_t count, std::size_t j, double* u) {
    constexpr std::size_t piece = 1024;
    const std::size_t m = inverse.m;
    std::copy_n(inverse.P + j * m, j, u);
    for (std::size_t i = j; i < m; ++i) u[i] = inverse.P[i * m + j];
    for (std::size_t first = 0; first < m; first += piece) {
        const std::size_t n = std::min(piece, m - first);
        for (std::size_t k = 0; k < count; ++k)
            simd::loops().axpy(-U[k * m + j], U + k * m + first, u + first, n);
    }
}

}  // namespace

Removals remove_cheapest(const Inverse& inverse, double* U, std::size_t room, std::size_t most,
                         double allowance, double lost) {
    const std::size_t m = inverse.m;
    std::vector<double> sums(m);
    Removals result;
    const auto ended = [&](Removals::End end) {
        result.end = end;
        return result;
    };
    std::size_t left = static_cast<std::size_t>(std::count(inverse.gone, inverse.gone + m, false));
    while (result.count < room) {
        sum_squares(inverse.W, inverse.n_outputs, m, m, sums.data());
        std::size_t j = m;
        double cost = 0.0;
        bool known = true;
        for (std::size_t i = 0; i < m; ++i) {
            if (inverse.gone[i]) continue;
            const double own = sums[i] / inverse.diagonal[i];
            known = known && !std::isnan(own);
            if (j == m || own < cost) j = i, cost = own;
        }
        if (j == m || (left <= most && !(known && cost <= allowance)))
            return ended(Removals::End::done);
        double* u = U + result.count * m;
        column(inverse, U, result.count, j, u);
        if (!(known && std::isfinite(cost) && u[j] > 0.0)) return ended(Removals::End::lost);
        const double scale = 1.0 / std::sqrt(u[j]);
        for (std::size_t i = 0; i < m; ++i) u[i] = inverse.gone[i] ? 0.0 : u[i] * scale;
        for (std::size_t c = 0; c < inverse.n_outputs; ++c) {
            double* w = inverse.W + c * m;
            simd::loops().axpy(-w[j] / u[j], u, w, m);
        }
        inverse.gone[j] = true;
        --left;
        bool worn = false;
        for (std::size_t i = 0; i < m; ++i) {
            inverse.diagonal[i] -= u[i] * u[i];
            worn = worn || (!inverse.gone[i] && inverse.diagonal[i] < lost * inverse.before[i]);
        }
        allowance -= cost;
        result.spent += cost;
        ++result.count;
        if (worn) return ended(Removals::End::lost);
    }
    return result;
}

}  // namespace parsimon
