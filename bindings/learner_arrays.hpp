// What a learner holds, as arrays for Python.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "arrays.hpp"
#include "dictionary_arrays.hpp"
#include "dual_ascent.hpp"
#include "learner.hpp"
#include "rls.hpp"

namespace parsimon::bindings {

// The dual variables of a learner with DualAscentUpdate, as a dict: arrays (m, n_outputs), and the
// value of the dual for each output.
inline nb::dict describe_dual(const Learner& learner) {
    const auto* update = dynamic_cast<const DualAscentUpdate*>(&learner.update());
    if (!update) throw nb::type_error("this learner ascends no dual");
    const Dictionary& dictionary = learner.dictionary();
    const std::size_t m = dictionary.size(), C = dictionary.n_outputs();
    std::vector<double> column(dictionary.capacity());
    nb::dict result;
    const auto add = [&](const char* name, auto&& fill) {
        Result array({m, C});
        for (std::size_t c = 0; m > 0 && c < C; ++c) {
            fill(c, column.data());
            for (std::size_t j = 0; j < m; ++j) array.data()[j * C + c] = column[j];
        }
        result[name] = array.release();
    };
    add("alpha", [&](std::size_t c, double* out) { update->alpha(dictionary, c, out); });
    add("alpha_star", [&](std::size_t c, double* out) { update->alpha_star(dictionary, c, out); });
    add("residual", [&](std::size_t c, double* out) { update->residual(c, out); });
    Result values({C});
    for (std::size_t c = 0; c < C; ++c)
        values.data()[c] = m > 0 ? update->dual(dictionary, c) : 0.0;
    result["value"] = values.release();
    return result;
}

inline Array to_array(const std::vector<double>& values) {
    Result result({values.size()});
    std::copy(values.begin(), values.end(), result.data());
    return result.release();
}

// Everything that a merge needs of a model, taken under one lock.
inline nb::dict snapshot(const Learner& learner, bool with_factor) {
    const Dictionary& dictionary = learner.dictionary();
    const Ledger ledger = learner.ledger();
    nb::dict result;
    result["centers"] = centers(dictionary);
    result["learned_weights"] = weights(dictionary, 0, learner.n_outputs());
    result["weights"] = weights(dictionary, learner.shown(), learner.n_outputs());
    if (with_factor && dictionary.has_factor()) result["factor"] = triangle(dictionary.factor());
    result["sums"] = learner.sums();
    result["seen"] = ledger.seen;
    result["averaged"] = ledger.averaged;
    result["spent"] = ledger.spent;
    const Intercepts intercepts = learner.intercepts();
    result["intercepts"] = to_array(intercepts.values);
    result["intercept_averages"] = to_array(intercepts.averages);
    result["means"] = to_array(intercepts.means);
    result["total"] = intercepts.total;
    result["count"] = intercepts.count;
    result["settled"] = intercepts.settled;
    result["squares"] = intercepts.squares;
    return result;
}

// The factor (m, m) of the covariance of recursive least squares.
inline Array covariance_factor(const Learner& learner) {
    const auto* update = dynamic_cast<const RLSUpdate*>(&learner.update());
    if (!update) throw nb::type_error("this learner keeps no covariance");
    return triangle(update->covariance().factor());
}

// The variance of the noise of each output, (n_outputs,), or None if the update knows none.
inline std::optional<Array> noise(const Learner& learner) {
    const Noise* noise = learner.update().noise();
    if (!noise) return std::nullopt;
    std::vector<double> values(learner.n_outputs());
    for (std::size_t c = 0; c < values.size(); ++c) values[c] = noise->value(c);
    return to_array(values);
}

}  // namespace parsimon::bindings
