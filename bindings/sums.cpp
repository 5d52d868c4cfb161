#include "sums.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>

#include "arrays.hpp"
#include "bindings.hpp"
#include "input.hpp"

namespace parsimon::bindings {
namespace {

using Cube = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

constexpr std::array coordinate_names{"none", "rows", "combinations", "weights"};

Sums make(const std::string& coordinates, const Matrix& factor,
          const std::optional<Matrix>& squares, const Matrix& moments, const Cube& output_moments,
          const Cube& terms, std::uint64_t steps, std::uint64_t age, const Vector& noise,
          const Vector& n_errors) {
    const auto place = std::find(coordinate_names.begin(), coordinate_names.end(), coordinates);
    if (place == coordinate_names.end()) throw nb::value_error("no such coordinates");
    const std::size_t m = factor.shape(0), C = output_moments.shape(1);
    const bool fits = factor.shape(1) == m && moments.shape(1) == m &&
                      output_moments.shape(2) == m && terms.shape(1) == C && terms.shape(2) == m &&
                      (!squares || (squares->shape(0) == m && squares->shape(1) == m));
    if (!fits) throw nb::value_error("the sums are not over as many centres and outputs");
    const auto copy = [](const auto& array) {
        return std::vector<double>(array.data(), array.data() + array.size());
    };
    Sums sums;
    sums.coordinates =
        static_cast<Sums::Coordinates>(std::distance(coordinate_names.begin(), place));
    sums.size = m;
    sums.n_outputs = C;
    sums.factor = copy(factor);
    if (squares) sums.squares = copy(*squares);
    sums.moments = copy(moments);
    sums.output_moments = copy(output_moments);
    sums.terms = copy(terms);
    sums.steps = steps;
    sums.age = age;
    sums.noise = copy(noise);
    sums.n_errors = copy(n_errors);
    for (const auto* values : {&sums.factor, &sums.squares, &sums.moments, &sums.output_moments,
                               &sums.terms, &sums.noise, &sums.n_errors})
        for (const double value : *values)
            if (!std::isfinite(value))
                refuse("the numbers of the models are too large to be added");
    return sums;
}

Array array(const std::vector<double>& values, std::initializer_list<std::size_t> shape) {
    Result result(shape);
    std::copy(values.begin(), values.end(), result.data());
    return result.release();
}

// A (q, C, m) array of the sums.
Array by_output(const Sums& sums, const std::vector<double>& values) {
    const std::size_t each = sums.n_outputs * sums.size;
    return array(values, {each > 0 ? values.size() / each : 0, sums.n_outputs, sums.size});
}

}  // namespace

void bind_sums(nb::module_& m) {
    nb::class_<Sums>(m, "Sums")
        .def(
            "__init__",
            [](Sums* place, const std::string& coordinates, const Matrix& factor,
               const std::optional<Matrix>& squares, const Matrix& moments,
               const Cube& output_moments, const Cube& terms, std::uint64_t steps,
               std::uint64_t age, const Vector& noise, const Vector& n_errors) {
                new (place) Sums(make(coordinates, factor, squares, moments, output_moments, terms,
                                      steps, age, noise, n_errors));
            },
            nb::arg("coordinates"), nb::arg("factor"), nb::arg("squares").none(),
            nb::arg("moments"), nb::arg("output_moments"), nb::arg("terms"), nb::arg("steps"),
            nb::arg("age"), nb::arg("noise"), nb::arg("n_errors"))
        .def_prop_ro(
            "coordinates",
            [](const Sums& s) { return coordinate_names[static_cast<std::size_t>(s.coordinates)]; })
        .def_prop_ro(
            "factor", [](const Sums& s) { return array(s.factor, {s.size, s.size}); },
            nb::rv_policy::automatic)
        .def_prop_ro(
            "squares",
            [](const Sums& s) -> std::optional<Array> {
                if (s.squares.empty()) return std::nullopt;
                return array(s.squares, {s.size, s.size});
            },
            nb::rv_policy::automatic)
        .def_prop_ro(
            "moments",
            [](const Sums& s) {
                return array(s.moments, {s.size > 0 ? s.moments.size() / s.size : 0, s.size});
            },
            nb::rv_policy::automatic)
        .def_prop_ro(
            "output_moments", [](const Sums& s) { return by_output(s, s.output_moments); },
            nb::rv_policy::automatic)
        .def_prop_ro(
            "terms", [](const Sums& s) { return by_output(s, s.terms); }, nb::rv_policy::automatic)
        .def_ro("steps", &Sums::steps)
        .def_ro("age", &Sums::age)
        .def_prop_ro(
            "noise", [](const Sums& s) { return array(s.noise, {s.noise.size()}); },
            nb::rv_policy::automatic)
        .def_prop_ro(
            "n_errors", [](const Sums& s) { return array(s.n_errors, {s.n_errors.size()}); },
            nb::rv_policy::automatic);
}

}  // namespace parsimon::bindings
