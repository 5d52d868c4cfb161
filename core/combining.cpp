#include "combining.hpp"

#include <algorithm>
#include <cmath>

namespace parsimon {

void RidgeSolver::solve(const double* A, double ridge, const double* b, double* x) {
    double* L = factor_.data();
    for (std::size_t i = 0; i < size_; ++i)
        for (std::size_t j = 0; j <= i; ++j) {
            double v = A[i * size_ + j] + (i == j ? ridge : 0.0);
            for (std::size_t k = 0; k < j; ++k) v -= L[i * size_ + k] * L[j * size_ + k];
            // Rounding can take at most a small part of the ridge.
            L[i * size_ + j] = i == j ? std::sqrt(std::max(v, 0.5 * ridge)) : v / L[j * size_ + j];
        }
    for (std::size_t i = 0; i < size_; ++i) {
        double v = b[i];
        for (std::size_t k = 0; k < i; ++k) v -= L[i * size_ + k] * x[k];
        x[i] = v / L[i * size_ + i];
    }
    for (std::size_t i = size_; i-- > 0;) {
        double v = x[i];
        for (std::size_t k = i + 1; k < size_; ++k) v -= L[k * size_ + i] * x[k];
        x[i] = v / L[i * size_ + i];
    }
}

void Stack::weights(const double* squares, const double* products, double* out) const {
    RidgeSolver(n_experts).solve(squares, ridge, products, out);
    for (std::size_t e = 0; e < n_experts; ++e) out[e] += 1.0 / static_cast<double>(n_experts);
}

void Stack::run(const double* p, const double* targets, std::size_t n, std::uint64_t seen,
                double* squares, double* products, double* out) const {
    const std::size_t E = n_experts;
    RidgeSolver solver(E);
    std::vector<double> change(E);
    for (std::size_t i = 0; i < n; ++i, p += E) {
        solver.solve(squares, ridge, products, change.data());
        double mean = 0.0, shift = 0.0;
        for (std::size_t e = 0; e < E; ++e) {
            mean += p[e] / static_cast<double>(E);
            shift += change[e] * p[e];
        }
        out[i] = mean + shift;
        const double rest = targets[i] - mean;
        const double age = first_memory + 0.5 * static_cast<double>(seen + i);
        const double keep = 1.0 - 1.0 / std::min(memory, age);
        for (std::size_t e = 0; e < E; ++e) {
            for (std::size_t f = 0; f < E; ++f)
                squares[e * E + f] = keep * squares[e * E + f] + p[e] * p[f];
            products[e] = keep * products[e] + p[e] * rest;
        }
    }
}

// Working memory for one row.
struct Pool::Row {
    Row(std::size_t E, std::size_t C)
        : probabilities(E * C), logs(E * C), pooled(C), mixed(C), mean(E), gradient(E), solver(E) {}
    std::vector<double> probabilities, logs, pooled, mixed, mean, gradient;
    RidgeSolver solver;
};

namespace {

// v (n,) becomes exp(v) / sum exp(v).
void softmax(double* v, std::size_t n) {
    const double largest = *std::max_element(v, v + n);
    double total = 0.0;
    for (std::size_t c = 0; c < n; ++c) total += v[c] = std::exp(v[c] - largest);
    for (std::size_t c = 0; c < n; ++c) v[c] /= total;
}

// Rows of values (E, C) that begin with NaN become the mean of the other rows. Without others they
// become uniform.
void wake(double* values, std::size_t E, std::size_t known, std::size_t C) {
    std::vector<double> mean(known, 0.0);
    double awake = 0.0;
    for (std::size_t e = 0; e < E; ++e) {
        if (std::isnan(values[e * C])) continue;
        awake += 1.0;
        for (std::size_t c = 0; c < known; ++c) mean[c] += values[e * C + c];
    }
    for (double& value : mean)
        value = awake > 0.0 ? value / awake : 1.0 / static_cast<double>(known);
    for (std::size_t e = 0; e < E; ++e)
        if (std::isnan(values[e * C])) std::copy(mean.begin(), mean.end(), values + e * C);
}

}  // namespace

void RecentMean::run(const double* values, std::size_t n, double* state, double* out) const {
    double& count = state[n_columns];
    for (std::size_t i = 0; i < n; ++i) {
        count += 1.0;
        const double share = std::max((1.0 + power) / (count + power), 1.0 / memory);
        for (std::size_t c = 0; c < n_columns; ++c) {
            out[i * n_columns + c] = state[c];
            state[c] += share * (values[i * n_columns + c] - state[c]);
        }
    }
}

void Pool::begin(double* state) const {
    const std::size_t E = n_experts;
    std::fill_n(state, (E + n_rows) * E, 0.0);
    std::fill_n(state, E, 1.0 / static_cast<double>(E));
    std::fill_n(state + E, E, first_scale);
}

void Pool::combine_row(const double* outputs, std::size_t known, const double* state, Row& row,
                       double* out) const {
    const std::size_t E = n_experts, C = n_classes;
    const double *weights = state, *scales = state + E, *losses = state + 3 * E,
                 *rivals = state + 4 * E;
    const double uniform = 1.0 / static_cast<double>(known);
    double* p = row.probabilities.data();
    for (std::size_t e = 0; e < E; ++e, p += C, outputs += C) {
        p[0] = outputs[0];
        if (std::isnan(p[0])) continue;
        double total = 0.0;
        for (std::size_t c = 0; c < known; ++c)
            total += p[c] = scored[e] != 0.0 ? scales[e] * outputs[c] : outputs[c];
        if (scored[e] != 0.0)
            softmax(p, known);
        else
            for (std::size_t c = 0; c < known; ++c) p[c] = total > 0.0 ? p[c] / total : uniform;
    }
    wake(row.probabilities.data(), E, known, C);
    for (std::size_t e = 0; e < E; ++e)
        for (std::size_t c = 0; c < known; ++c) {
            double& value = row.probabilities[e * C + c];
            value = (1.0 - floor) * value + floor * uniform;
            row.logs[e * C + c] = std::log(value);
        }
    const double least = *std::min_element(losses, losses + E);
    double total = 0.0;
    for (std::size_t e = 0; e < E; ++e) total += std::exp(least - losses[e]);
    for (std::size_t c = 0; c < known; ++c) {
        row.pooled[c] = row.mixed[c] = 0.0;
        for (std::size_t e = 0; e < E; ++e) {
            row.pooled[c] += weights[e] * row.logs[e * C + c];
            row.mixed[c] += std::exp(least - losses[e]) / total * row.probabilities[e * C + c];
        }
    }
    softmax(row.pooled.data(), known);
    const double share = 1.0 / (1.0 + std::exp(std::min(rivals[0] - rivals[1], 700.0)));
    for (std::size_t c = 0; c < known; ++c) {
        row.pooled[c] = (1.0 - 0.1 * floor) * row.pooled[c] + 0.1 * floor * uniform;
        out[c] = share * row.pooled[c] + (1.0 - share) * row.mixed[c];
    }
}

void Pool::learn_row(const double* outputs, std::size_t label, std::size_t known, double* state,
                     Row& row) const {
    const std::size_t E = n_experts, C = n_classes;
    double *weights = state, *scales = state + E, *scale_squares = state + 2 * E,
           *losses = state + 3 * E, *rivals = state + 4 * E, *squares = state + n_rows * E;
    const double keep = 1.0 - 1.0 / memory, leak = (1.0 - forgetting) * ridge;
    rivals[0] = keep * rivals[0] - std::log(row.pooled[label]);
    rivals[1] = keep * rivals[1] - std::log(row.mixed[label]);
    for (std::size_t e = 0; e < E; ++e) {
        const double* l = row.logs.data() + e * C;
        losses[e] = keep * losses[e] - l[label];
        row.mean[e] = 0.0;
        for (std::size_t c = 0; c < known; ++c) row.mean[e] += row.pooled[c] * l[c];
        row.gradient[e] =
            l[label] - row.mean[e] - leak * (weights[e] - 1.0 / static_cast<double>(E));
    }
    for (std::size_t e = 0; e < E; ++e)
        for (std::size_t f = 0; f <= e; ++f) {
            double v = 0.0;
            for (std::size_t c = 0; c < known; ++c)
                v += row.pooled[c] * (row.logs[e * C + c] - row.mean[e]) *
                     (row.logs[f * C + c] - row.mean[f]);
            squares[e * E + f] = forgetting * squares[e * E + f] + v;
            squares[f * E + e] = squares[e * E + f];
        }
    row.solver.solve(squares, ridge, row.gradient.data(), row.mean.data());
    for (std::size_t e = 0; e < E; ++e) weights[e] += row.mean[e];
    for (std::size_t e = 0; e < E; ++e) {
        const double *f = outputs + e * C, *p = row.probabilities.data() + e * C;
        if (scored[e] == 0.0 || std::isnan(f[0])) continue;
        double mean = 0.0, variance = 0.0;
        for (std::size_t c = 0; c < known; ++c) mean += p[c] * f[c];
        for (std::size_t c = 0; c < known; ++c) variance += p[c] * (f[c] - mean) * (f[c] - mean);
        scale_squares[e] = forgetting * scale_squares[e] + variance;
        scales[e] += (f[label] - mean - (1.0 - forgetting) * (scales[e] - first_scale)) /
                     (scale_squares[e] + 1.0);
        scales[e] = std::clamp(scales[e], least_scale, largest_scale);
    }
}

void Pool::run(const double* outputs, const std::int64_t* labels, std::size_t known, std::size_t n,
               double* state, double* out) const {
    const std::size_t E = n_experts, C = n_classes;
    Row row(E, C);
    for (std::size_t i = 0; i < n; ++i, outputs += E * C, out += C) {
        const auto label = static_cast<std::size_t>(labels[i]);
        if (known > 0) {
            combine_row(outputs, known, state, row, out);
            if (label < known) learn_row(outputs, label, known, state, row);
        }
        known = std::max(known, label + 1);
    }
}

void Pool::combine(const double* outputs, std::size_t known, std::size_t n, const double* state,
                   double* out) const {
    Row row(n_experts, n_classes);
    for (std::size_t i = 0; i < n; ++i)
        combine_row(outputs + i * n_experts * n_classes, known, state, row, out + i * n_classes);
}

void Pool::shares(const double* state, double* out) const {
    const std::size_t E = n_experts;
    const double *losses = state + 3 * E, *rivals = state + 4 * E;
    const double least = *std::min_element(losses, losses + E);
    const double share = 1.0 / (1.0 + std::exp(std::min(rivals[0] - rivals[1], 700.0)));
    double total = 0.0;
    for (std::size_t e = 0; e < E; ++e) total += std::exp(least - losses[e]);
    for (std::size_t e = 0; e < E; ++e)
        out[e] = share * state[e] + (1.0 - share) * std::exp(least - losses[e]) / total;
}

void LabelHistory::predict(std::size_t known, std::int64_t previous, const double* table,
                           double* out) const {
    const std::size_t C = n_classes;
    double total = 0.0, after = 0.0;
    for (std::size_t c = 0; c < known; ++c) total += table[c];
    const double* row = table + (static_cast<std::size_t>(previous) + 1) * C;
    for (std::size_t c = 0; c < known; ++c) after += row[c];
    for (std::size_t c = 0; c < known; ++c) {
        out[c] = (table[c] + 0.5) / (total + 0.5 * static_cast<double>(known));
        // Two rows of the frequencies come first, so that a rare label has a prediction.
        out[C + c] = (row[c] + 2.0 * out[c]) / (after + 2.0);
    }
}

void LabelHistory::run(const std::int64_t* labels, std::size_t known, std::size_t n,
                       std::int64_t& previous, double* table, double* out) const {
    const std::size_t C = n_classes;
    for (std::size_t i = 0; i < n; ++i, out += 2 * C) {
        const auto label = static_cast<std::size_t>(labels[i]);
        if (known > 0) predict(known, previous, table, out);
        known = std::max(known, label + 1);
        for (std::size_t c = 0; c < known; ++c) table[c] *= memory;
        table[label] += 1.0;
        if (previous >= 0) {
            double* row = table + (static_cast<std::size_t>(previous) + 1) * C;
            for (std::size_t c = 0; c < known; ++c) row[c] *= transition_memory;
            row[label] += 1.0;
        }
        previous = labels[i];
    }
}

}  // namespace parsimon
