#include "conformal.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace parsimon {

std::size_t Calibrator::size() const { return 2 + 2 * window; }

std::size_t Calibrator::kept(const double* state) const {
    return static_cast<std::size_t>(std::min(state[1], static_cast<double>(window)));
}

std::vector<double> Calibrator::sorted(const double* state) const {
    std::vector<double> scores(state + 2, state + 2 + kept(state));
    std::sort(scores.begin(), scores.end());
    return scores;
}

double Calibrator::width(double a, const std::vector<double>& scores) const {
    if (scores.empty()) return std::numeric_limits<double>::infinity();
    const double n = static_cast<double>(scores.size()), place = std::ceil((1.0 - a) * (n + 1.0));
    if (place > n) return scores.back() * (1.0 + std::max(0.0, -a) / misses);
    return scores[static_cast<std::size_t>(std::max(place, 1.0)) - 1];
}

double Calibrator::width(const double* state) const { return width(state[0], sorted(state)); }

void Calibrator::run(const double* scores, const double* missed, std::size_t n, double* state,
                     double* widths, const Ends* ends) const {
    std::vector<double> ordered = sorted(state);
    double *ring = state + 2, *flags = ring + window;
    for (std::size_t i = 0; i < n; ++i) {
        widths[i] = width(state[0], ordered);
        const double score = scores[i];
        bool outside = score > widths[i];
        if (ends) {
            const double reach = std::isinf(widths[i]) ? widths[i] : widths[i] * ends->scales[i];
            ends->low[i] = ends->centres[i] - reach;
            ends->high[i] = ends->centres[i] + reach;
            outside = !(ends->low[i] <= ends->targets[i] && ends->targets[i] <= ends->high[i]);
        }
        if (std::isnan(score)) continue;
        const bool known = missed && !std::isnan(missed[i]),
                   miss = known ? missed[i] != 0.0 : outside;
        // Below the least a, the width is 101 times the largest score.
        state[0] = std::clamp(state[0] + rate * (misses - miss), -100.0 * misses, highest);
        const auto place = static_cast<std::size_t>(static_cast<std::uint64_t>(state[1]) % window);
        if (ordered.size() == window)
            ordered.erase(std::lower_bound(ordered.begin(), ordered.end(), ring[place]));
        ordered.insert(std::upper_bound(ordered.begin(), ordered.end(), score), score);
        ring[place] = score;
        flags[place] = miss;
        state[1] += 1.0;
    }
}

}  // namespace parsimon
