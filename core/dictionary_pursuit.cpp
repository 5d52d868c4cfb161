// Destructive matching pursuit: repeatedly projects out the cheapest centre.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "dictionary.hpp"
#include "pursuit.hpp"

namespace parsimon {

double Dictionary::project_out_cheapest(double allowance, std::size_t budget) {
    double spent = 0.0;
    while (size_ > 0 && project_out_together(allowance, budget, spent)) continue;
    return spent;
}

std::size_t Dictionary::cheapest_candidates(double allowance, std::size_t budget,
                                            const double* squares, std::size_t* candidates) const {
    const std::size_t most = together_;
    const double* inverse = factor_.diagonal();
    constexpr std::size_t piece = 256;  // centres per pass
    std::size_t count = 0, within = 0;  // within: how many costs are at most the allowance
    double costs[piece], least[TriangularFactor::most_at_once] = {};
    for (std::size_t first = 0; first < size_; first += piece) {
        const std::size_t n = std::min(piece, size_ - first);
        for (std::size_t i = 0; i < n; ++i) costs[i] = squares[first + i] / inverse[first + i];
        for (std::size_t i = 0; i < n; ++i) {
            const double cost = costs[i];
            within += cost <= allowance;
            if (count == most && !(cost < least[most - 1])) continue;
            std::size_t place = count < most ? count++ : most - 1;
            for (; place > 0 && cost < least[place - 1]; --place) {
                least[place] = least[place - 1];
                candidates[place] = candidates[place - 1];
            }
            least[place] = cost;
            candidates[place] = first + i;
        }
    }
    if (size_ <= budget && !(least[0] <= allowance)) return 0;
    const std::size_t beyond = size_ > budget ? size_ - budget : 0,
                      wanted = std::max({within, beyond, std::size_t{1}});
    // Removals change the costs of the others, so that some more are likely to be among the next.
    return std::min(count, wanted > 1 ? wanted + wanted / 4 : 1);
}

// Projects out several centres, and returns whether more may follow. One pass over the factor
// computes the columns of K^-1 for the cheapest centres. Another pass removes the centres from the
// factor.
bool Dictionary::project_out_together(double& allowance, std::size_t budget, double& spent) {
    // A column that keeps a smaller share of its size after corrections is computed again.
    constexpr double digits = 1e-3;
    const std::size_t m = size_, stride = simd::padded(m);
    std::size_t candidates[TriangularFactor::most_at_once] = {};
    auto work = scratch_.take((together_ + 2) * stride);
    double *squares = work.data(), *diagonal = squares + stride, *columns = diagonal + stride;
    sum_squares(weights_.data(), n_outputs_, capacity_, m, squares);
    const std::size_t count = cheapest_candidates(allowance, budget, squares, candidates),
                      first = candidates[0];
    if (count == 0) return false;
    if (count == 1 || !aligned_.empty() || needs_.neighbours) {
        const double paid = project_out(first);
        allowance -= paid;
        spent += paid;
        return true;
    }
    std::sort(candidates, candidates + count);
    auto room = scratch_.take(count * stride);
    const simd::Tiles tiles = factor_.columns(candidates, count, room.data(), team_);
    std::copy_n(factor_.diagonal(), m, diagonal);
    Pursuit pursuit(m, {weights_.data(), n_outputs_, capacity_}, diagonal, squares);
    while (pursuit.count() < count) {
        const std::size_t best = pursuit.cheapest(),
                          place = static_cast<std::size_t>(
                              std::find(candidates, candidates + count, best) - candidates);
        if (place == count || (m - pursuit.count() <= budget && !(pursuit.cost(best) <= allowance)))
            break;
        double* column = columns + pursuit.count() * stride;
        factor_.copy_vector(tiles, place, column);
        pursuit.correct(column, best);
        const bool kept = pursuit.keeps_digits(column, best, factor_.diagonal(), digits);
        if (!kept && pursuit.count() > 0) break;
        const double paid = pursuit.project_out(best, column);
        allowance -= paid;
        spent += paid;
        if (!kept) break;
    }
    if (pursuit.count() == 0) {  // the costs are NaN; the budget must be kept nevertheless
        if (m <= budget) return false;
        spent += project_out(first);
        return true;
    }
    std::copy_n(pursuit.removed(), pursuit.count(), candidates);
    std::sort(candidates, candidates + pursuit.count());
    factor_.remove(candidates, pursuit.count(), room.data(), team_);
    erase(candidates, pursuit.count());
    return true;
}

}  // namespace parsimon
