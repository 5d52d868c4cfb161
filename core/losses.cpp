#include "losses.hpp"

#include <limits>
#include <type_traits>

#include "input.hpp"

namespace parsimon {
namespace {

// The most classes, besides the true one, for which the path of the logistic loss is computed.
constexpr std::size_t most_exact = 128;

// log(1 + exp(x))
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }

std::size_t known_classes(const double* y) { return static_cast<std::size_t>(y[1]); }

// The class with the largest f_c besides `own`, or `known` if there is no other class.
std::size_t runner_up(const double* f, std::size_t own, std::size_t known) {
    std::size_t best = known;
    for (std::size_t c = 0; c < known; ++c)
        if (c != own && (best == known || f[c] > f[best])) best = c;
    return best;
}

}  // namespace

const char* MarginLoss::objection(const double* y, std::size_t n) const {
    const bool good =
        std::all_of(y, y + n, [](double v) { return v == -1.0 || v == 0.0 || v == 1.0; });
    return good ? nullptr : "must be -1 or 1 for each output, or 0 for one that takes no part";
}
double MarginLoss::value(const double* f, const double* y, std::size_t n) const {
    double total = 0.0;
    for (std::size_t c = 0; c < n; ++c)
        if (y[c] != 0.0) total += value_at(y[c] * f[c]);
    return total;
}
void MarginLoss::gradient(const double* f, const double* y, double* g, std::size_t n) const {
    for (std::size_t c = 0; c < n; ++c) g[c] = y[c] != 0.0 ? y[c] * slope(y[c] * f[c]) : 0.0;
}

void MarginLoss::flow(const double* f, const double* y, double reach, double* g,
                      std::size_t n) const {
    for (std::size_t c = 0; c < n; ++c)
        g[c] = y[c] != 0.0 ? -y[c] * rise(y[c] * f[c], reach) / reach : 0.0;
}

double LogisticLoss::rise(double z, double reach) const {
    // The margin z solves z' = 1 / (1 + exp(z)), so the rise d solves d + exp(z) (exp(d) - 1) =
    // reach. It is divided by exp(z) if z > 0. Both terms are convex and increasing. Newton's
    // method from a point beyond the solution decreases towards it.
    const double shift = std::max(z, 0.0), own = std::exp(-shift), other = std::exp(z - shift),
                 time = own * reach, bound = std::log(reach) - z;
    double rise = std::min(reach, softplus(bound));
    for (int i = 0; i < 60; ++i) {
        const double grown = std::exp(z - shift + rise),
                     added = rise < 1.0 ? other * std::expm1(rise) : grown - other,
                     step = (own * rise + added - time) / (own + grown);
        rise -= step;
        if (!(step > 1e-16 * rise)) break;
    }
    return std::max(rise, 0.0);
}

const char* ClassLoss::objection(const double* y, std::size_t n_outputs) const {
    const bool good = y[0] >= 0.0 && y[0] < y[1] && y[1] <= static_cast<double>(n_outputs) &&
                      y[0] == std::floor(y[0]) && y[1] == std::floor(y[1]);
    return good ? nullptr : "must be a class from 0 on, and how many classes are known";
}

double MulticlassHingeLoss::value(const double* f, const double* y, std::size_t) const {
    const std::size_t known = known_classes(y), own = static_cast<std::size_t>(y[0]),
                      other = runner_up(f, own, known);
    return other < known ? std::max(0.0, 1.0 + f[other] - f[own]) : 0.0;
}
void MulticlassHingeLoss::gradient(const double* f, const double* y, double* g,
                                   std::size_t n) const {
    std::fill_n(g, n, 0.0);
    const std::size_t known = known_classes(y), own = static_cast<std::size_t>(y[0]),
                      other = runner_up(f, own, known);
    if (other == known || !(1.0 + f[other] - f[own] > 0.0)) return;
    g[other] = 1.0;
    g[own] = -1.0;
}

void MulticlassHingeLoss::flow(const double* f, const double* y, double reach, double* g,
                               std::size_t n) const {
    // The true class rises at speed 1, and its runner-up falls at speed 1. Where k classes are tied
    // as runners-up, each falls at speed 1 / k. `level` is where they are.
    std::fill_n(g, n, 0.0);
    const std::size_t known = known_classes(y), own = static_cast<std::size_t>(y[0]),
                      other = runner_up(f, own, known);
    if (other == known) return;
    double level = f[other], margin = 1.0 + level - f[own], left = reach;
    while (margin > 0.0 && left > 0.0) {
        double tied = 0.0, next = -std::numeric_limits<double>::infinity();
        for (std::size_t c = 0; c < known; ++c) {
            if (c == own) continue;
            if (f[c] >= level)
                tied += 1.0;
            else
                next = std::max(next, f[c]);
        }
        const double closes = margin / (1.0 + 1.0 / tied), ties = (level - next) * tied,
                     time = std::min({left, closes, ties});
        level = time == ties ? next : level - time / tied;
        margin = time == closes ? 0.0 : margin - time * (1.0 + 1.0 / tied);
        left -= time;
    }
    for (std::size_t c = 0; c < known; ++c)
        if (c != own && f[c] > level) g[c] = (f[c] - level) / reach;
    g[own] = -(reach - left) / reach;
}

double MultinomialLogisticLoss::value(const double* f, const double* y, std::size_t) const {
    const std::size_t known = known_classes(y), own = static_cast<std::size_t>(y[0]);
    const double top = *std::max_element(f, f + known);
    double total = 0.0;
    for (std::size_t c = 0; c < known; ++c) total += std::exp(f[c] - top);
    return std::log(total) + top - f[own];
}
void MultinomialLogisticLoss::gradient(const double* f, const double* y, double* g,
                                       std::size_t n) const {
    std::fill_n(g, n, 0.0);
    const std::size_t known = known_classes(y), own = static_cast<std::size_t>(y[0]);
    const double top = *std::max_element(f, f + known);
    double total = 0.0;
    for (std::size_t c = 0; c < known; ++c) total += g[c] = std::exp(f[c] - top);
    for (std::size_t c = 0; c < known; ++c) g[c] /= total;
    // The gradient is p - 1 here. Summing the other probabilities keeps the digits when p is nearly
    // 1.
    double others = 0.0;
    for (std::size_t c = 0; c < known; ++c)
        if (c != own) others += g[c];
    g[own] = -others;
}

void MultinomialLogisticLoss::flow(const double* f, const double* y, double reach, double* g,
                                   std::size_t n) const {
    // With Z = sum_c exp f_c, the path has (exp(-f_c))' = 1 / Z for each class c but the true one,
    // y, and the sum of all f_c is constant. So with one number s >= 0,
    //
    //     f_c(s) = f_c - log(1 + s b_c),    f_y(s) = f_y + sum_c log(1 + s b_c),
    //
    // where b_c = exp(f_c - top). The time to s is
    //
    //     t(s) = sum_c log(1 + s b_c) + b_y int_0^s prod_c (1 + v b_c) dv.
    //
    // The product is a polynomial in v with positive coefficients. t(s) = reach is solved for
    // u = log s, with logarithms of all terms, because b_y may be too small for a number.
    std::fill_n(g, n, 0.0);
    const std::size_t known = known_classes(y), own = static_cast<std::size_t>(y[0]);
    if (known < 2) return;
    const double top = *std::max_element(f, f + known), base = f[own] - top;
    double odds[most_exact], polynomial[most_exact + 1] = {1.0}, total = std::exp(base);
    std::size_t count = 0;
    for (std::size_t c = 0; c < known; ++c) {
        if (c == own) continue;
        if (count == most_exact) return gradient(f, y, g, n);  // it is bounded, and cheaper
        const double b = std::exp(f[c] - top);
        total += b;
        odds[count] = f[c] - top;
        for (std::size_t k = ++count; k > 0; --k)
            polynomial[k] = (k < count ? polynomial[k] : 0.0) + b * polynomial[k - 1];
    }
    for (std::size_t k = 0; k <= count; ++k)
        polynomial[k] = base + std::log(polynomial[k] / static_cast<double>(k + 1));
    // t(u) and its derivative
    const auto time = [&](double u, double& rate) {
        double logs = 0.0, area = 0.0;
        rate = 0.0;
        for (std::size_t i = 0; i < count; ++i) {
            logs += softplus(u + odds[i]);
            rate += 1.0 / (1.0 + std::exp(-u - odds[i]));
        }
        for (std::size_t k = 0; k <= count; ++k) {
            const double power = static_cast<double>(k + 1),
                         term = std::exp(polynomial[k] + power * u);
            area += term;
            rate += power * term;
        }
        return logs + area;
    };
    constexpr double infinity = std::numeric_limits<double>::infinity();
    double low = -infinity, high = infinity, u = std::log(reach / total);
    for (int i = 0; i < 300; ++i) {
        double rate = 0.0;
        const double found = time(u, rate);
        if (std::fabs(found - reach) <= 1e-15 * reach) break;
        (found < reach ? low : high) = u;  // a time that is not finite is too long
        double next = u - (found - reach) / rate;
        if (!(next > low && next < high))
            next = std::isinf(high) ? u + 2.0 : std::isinf(low) ? u - 2.0 : 0.5 * (low + high);
        if (next == u) break;
        u = next;
    }
    double moved = 0.0;
    std::size_t i = 0;
    for (std::size_t c = 0; c < known; ++c) {
        if (c == own) continue;
        g[c] = softplus(u + odds[i++]) / reach;
        moved += g[c];
    }
    g[own] = -moved;
}

}  // namespace parsimon
