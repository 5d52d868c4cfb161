#include "conformal.hpp"

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"

namespace parsimon::bindings {
namespace {

Calibrator made(const Vector& state, double misses, double rate) {
    const std::size_t n = state.shape(0);
    if (n < 4 || n % 2 != 0) throw nb::value_error("the state must have 2 + 2 window numbers");
    if (!(state.data()[1] >= 0.0))
        throw nb::value_error("the number of scores must not be negative");
    return {n / 2 - 1, misses, rate};
}

Array begin(std::size_t window, double misses) {
    const Calibrator calibrator{window, misses, 0.0};
    Result state({calibrator.size()});
    calibrator.begin(state.data());
    return state.release();
}

nb::tuple calibrate(const Vector& scores, const std::optional<Vector>& missed, const Vector& state,
                    double misses, double rate, double highest) {
    Calibrator calibrator = made(state, misses, rate);
    calibrator.highest = highest;
    const std::size_t n = scores.shape(0);
    if (missed && missed->shape(0) != n) throw nb::value_error("there must be one miss per score");
    Result widths({n}), next({calibrator.size()});
    std::copy_n(state.data(), calibrator.size(), next.data());
    {
        nb::gil_scoped_release release;
        calibrator.run(scores.data(), missed ? missed->data() : nullptr, n, next.data(),
                       widths.data());
    }
    return nb::make_tuple(widths.release(), next.release());
}

// Intervals and the next state: (low, high, state).
nb::tuple calibrate_ends(const Vector& centres, const Vector& scales, const Vector& targets,
                         const Vector& scores, const std::optional<Vector>& missed,
                         const Vector& state, double misses, double rate) {
    const Calibrator calibrator = made(state, misses, rate);
    const std::size_t n = scores.shape(0);
    for (const Vector* given : {&centres, &scales, &targets})
        if (given->shape(0) != n) throw nb::value_error("there must be as many numbers of each");
    if (missed && missed->shape(0) != n) throw nb::value_error("there must be one miss per score");
    Result low({n}), high({n}), next({calibrator.size()});
    std::vector<double> widths(n);
    std::copy_n(state.data(), calibrator.size(), next.data());
    const Calibrator::Ends ends{centres.data(), scales.data(), targets.data(), low.data(),
                                high.data()};
    calibrator.run(scores.data(), missed ? missed->data() : nullptr, n, next.data(), widths.data(),
                   &ends);
    return nb::make_tuple(low.release(), high.release(), next.release());
}

}  // namespace

void bind_conformal(nb::module_& m) {
    m.def("calibrator_begin", &begin, nb::arg("window"), nb::arg("misses"));
    m.def("calibrate", &calibrate, nb::arg("scores"), nb::arg("missed").none(), nb::arg("state"),
          nb::arg("misses"), nb::arg("rate"), nb::arg("highest"));
    m.def("calibrate_ends", &calibrate_ends, nb::arg("centres"), nb::arg("scales"),
          nb::arg("targets"), nb::arg("scores"), nb::arg("missed").none(), nb::arg("state"),
          nb::arg("misses"), nb::arg("rate"));
    m.def(
        "calibrator_width",
        [](const Vector& state, double misses) {
            return made(state, misses, 0.0).width(state.data());
        },
        nb::arg("state"), nb::arg("misses"));
}

}  // namespace parsimon::bindings
