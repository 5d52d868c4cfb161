#include "sparse_coder.hpp"

#include <algorithm>
#include <cmath>

#include "simd/loops.hpp"

namespace parsimon {

SparseCoder::Cost SparseCoder::code(const double* G, std::size_t stride, std::size_t n,
                                    const double* b, double energy, double lambda, double* alpha) {
    double largest = 0.0;
    for (std::size_t j = 0; j < n; ++j) largest = std::max(largest, G[j * stride + j]);
    const Problem problem{G, stride, n, b, energy, lambda, 1e-28 * largest, largest};
    c_.resize(n);
    correlate(problem, alpha);
    Cost cost = measure(problem, alpha);
    // The equations are tried when gap / energy is below this. It is lowered after each try.
    double next_try = 1e-3;
    for (std::size_t sweeps = 0; sweeps < most_sweeps && cost.gap > tolerance_ * 0.5 * energy;
         ++sweeps) {
        double change = sweep(problem, alpha, false);
        for (std::size_t inner = 0; inner < 20 && change > 0.0; ++inner) {
            const double now = sweep(problem, alpha, true);
            if (now <= 1e-2 * change) break;
        }
        cost = measure(problem, alpha);
        if (cost.gap <= next_try * energy) {
            next_try = 1e-1 * cost.gap / energy;
            if (polish(problem, alpha)) return measure(problem, alpha);
        }
        if (change <= 1e-13 * std::sqrt(energy)) break;
    }
    if (polish(problem, alpha)) return measure(problem, alpha);
    return cost;
}

void SparseCoder::correlate(const Problem& problem, const double* alpha) {
    std::copy_n(problem.b, problem.n, c_.begin());
    for (std::size_t j = 0; j < problem.n; ++j)
        if (alpha[j] != 0.0)
            simd::loops().axpy(-alpha[j], problem.G + j * problem.stride, c_.data(), problem.n);
}

// Minimises along each coordinate in turn. Returns the largest change of a coordinate, times the
// norm of its atom.
double SparseCoder::sweep(const Problem& problem, double* alpha, bool active_only) {
    double largest = 0.0;
    for (std::size_t j = 0; j < problem.n; ++j) {
        const double old = alpha[j], norm = problem.G[j * problem.stride + j];
        if (old == 0.0 && (active_only || std::fabs(c_[j]) <= problem.lambda)) continue;
        double now = 0.0;
        if (norm > problem.least_diagonal) {  // an atom with zero norm is left out
            const double z = c_[j] + norm * old;
            now = z > problem.lambda    ? (z - problem.lambda) / norm
                  : z < -problem.lambda ? (z + problem.lambda) / norm
                                        : 0.0;
        }
        if (now == old) continue;
        simd::loops().axpy(old - now, problem.G + j * problem.stride, c_.data(), problem.n);
        alpha[j] = now;
        largest = std::max(largest, std::fabs(now - old) * std::sqrt(norm));
    }
    return largest;
}

SparseCoder::Cost SparseCoder::measure(const Problem& problem, const double* alpha) const {
    double b_alpha = 0.0, c_alpha = 0.0, l1 = 0.0, steepest = 0.0;
    for (std::size_t j = 0; j < problem.n; ++j) {
        b_alpha += problem.b[j] * alpha[j];
        c_alpha += c_[j] * alpha[j];
        l1 += std::fabs(alpha[j]);
        steepest = std::max(steepest, std::fabs(c_[j]));
    }
    // With the residual rho = phi - D alpha,
    //     phi'rho = energy - b'alpha,  ||rho||^2 = phi'rho - c'alpha.
    // The dual point theta is the best multiple of rho with ||D'theta||_inf <= lambda.
    const double along = problem.energy - b_alpha, squares = std::max(0.0, along - c_alpha);
    double s = squares > 0.0 ? along / squares : 0.0;
    if (std::fabs(s) * steepest > problem.lambda) s = std::copysign(problem.lambda / steepest, s);
    const double gap = 0.5 * squares + problem.lambda * l1 - (s * along - 0.5 * s * s * squares);
    // With lambda = 0 no multiple of rho is feasible. The gap is then that of the normal equations:
    // ||D'rho||_inf^2 relative to the largest squared norm of an atom.
    if (problem.lambda == 0.0)
        return {squares, steepest * steepest / std::max(problem.largest_diagonal, 1e-300)};
    return {squares, gap > 0.0 ? gap : 0.0};
}

bool SparseCoder::polish(const Problem& problem, double* alpha) {
    active_.clear();
    for (std::size_t j = 0; j < problem.n; ++j)
        if (alpha[j] != 0.0) active_.push_back(j);
    const std::size_t a = active_.size();
    factor_.resize(a * a);
    solution_.resize(a);
    for (std::size_t i = 0; i < a; ++i) {  // G_AA = L L'
        const double* row = problem.G + active_[i] * problem.stride;
        double* l = factor_.data() + i * a;
        for (std::size_t j = 0; j <= i; ++j) {
            const double* other = factor_.data() + j * a;
            double sum = row[active_[j]];
            for (std::size_t k = 0; k < j; ++k) sum -= l[k] * other[k];
            if (j < i)
                l[j] = sum / other[j];
            else if (sum > 1e-12 * row[active_[i]])
                l[i] = std::sqrt(sum);
            else
                return false;
        }
    }
    for (std::size_t i = 0; i < a; ++i) {
        double sum = problem.b[active_[i]] - std::copysign(problem.lambda, alpha[active_[i]]);
        for (std::size_t k = 0; k < i; ++k) sum -= factor_[i * a + k] * solution_[k];
        solution_[i] = sum / factor_[i * a + i];
    }
    for (std::size_t i = a; i-- > 0;) {
        double sum = solution_[i];
        for (std::size_t k = i + 1; k < a; ++k) sum -= factor_[k * a + i] * solution_[k];
        solution_[i] = sum / factor_[i * a + i];
        if (!(solution_[i] * alpha[active_[i]] > 0.0)) return false;
    }
    // Check the optimality conditions |b - G alpha| <= lambda of the other coordinates.
    auto& found = factor_;  // no longer needed
    found.assign(problem.b, problem.b + problem.n);
    for (std::size_t i = 0; i < a; ++i)
        simd::loops().axpy(-solution_[i], problem.G + active_[i] * problem.stride, found.data(),
                           problem.n);
    double scale = problem.lambda;
    for (std::size_t j = 0; j < problem.n; ++j) scale = std::max(scale, std::fabs(problem.b[j]));
    for (std::size_t j = 0; j < problem.n; ++j)
        if (alpha[j] == 0.0 && problem.G[j * problem.stride + j] > problem.least_diagonal &&
            !(std::fabs(found[j]) <= problem.lambda + 1e-12 * scale))
            return false;
    for (std::size_t i = 0; i < a; ++i) alpha[active_[i]] = solution_[i];
    std::copy_n(found.begin(), problem.n, c_.begin());
    return true;
}

}  // namespace parsimon
