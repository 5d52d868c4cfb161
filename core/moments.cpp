#include "moments.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace parsimon {

double Moments::mean() const { return total / std::max(count, 1.0) + (count > 0.0 ? shift : 0.0); }
double Moments::deviation() const { return std::sqrt(squares / std::max(count, 1.0)); }

void learn(Moments& moments, const double* values, std::size_t n, double* means,
           double* deviations) {
    auto [count, shift, total, squares] = moments;
    means[0] = moments.mean();
    deviations[0] = moments.deviation();
    double before = total / std::max(count, 1.0);
    for (std::size_t i = 0; i < n; ++i) {
        const double value = values[i];
        if (!std::isnan(value)) {
            if (count == 0.0) shift = value;
            count += 1.0;
            const double z = value - shift, apart = z - before;
            total += z;
            squares += apart * apart * (1.0 - 1.0 / count);
            before = total / count;
        }
        means[i + 1] = before + (count > 0.0 ? shift : 0.0);
        deviations[i + 1] = std::sqrt(squares / std::max(count, 1.0));
    }
    moments = {count, shift, total, squares};
}

void standardise(const double* values, std::size_t n, const double* means, const double* deviations,
                 std::size_t pace, double clip, double* out, std::size_t step) {
    for (std::size_t i = 0; i < n; ++i) {
        const double deviation = deviations[i * pace];
        const double scaled =
            (values[i] - means[i * pace]) /
            (deviation > 0.0 ? deviation : std::numeric_limits<double>::infinity());
        out[i * step] = std::isnan(scaled) ? 0.0 : std::clamp(scaled, -clip, clip);
    }
}

}  // namespace parsimon
