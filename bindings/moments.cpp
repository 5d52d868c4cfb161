#include "moments.hpp"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"

namespace parsimon::bindings {
namespace {

// A matrix whose rows are contiguous. The rows may be apart in memory.
using Lines = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;
using Columns = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void require_lines(const Lines& lines, std::size_t count, const char* what) {
    if (lines.shape(0) != count)
        throw nb::value_error((std::string(what) + " has not as many rows").c_str());
    if (count > 0 && lines.shape(1) > 1 && lines.stride(1) != 1)
        throw nb::value_error((std::string(what) + " must have its rows in one piece").c_str());
}
const double* line(const Lines& lines, std::size_t i) {
    return lines.data() + static_cast<std::int64_t>(i) * lines.stride(0);
}

// Adds values (k, n) to the moments in `state` (4, k). Returns means and deviations (k, n + 1), and
// the new state.
nb::tuple learn_moments(const Lines& values, const Matrix& state) {
    const std::size_t k = values.shape(0), n = values.shape(1);
    require_lines(values, k, "values");
    if (state.shape(0) != 4 || state.shape(1) != k)
        throw nb::value_error("the state must have shape (4, k)");
    Result means({k, n + 1}), deviations({k, n + 1}), after({4, k});
    {
        nb::gil_scoped_release release;
        const double* s = state.data();
        for (std::size_t j = 0; j < k; ++j) {
            Moments moments{s[j], s[k + j], s[2 * k + j], s[3 * k + j]};
            learn(moments, line(values, j), n, means.data() + j * (n + 1),
                  deviations.data() + j * (n + 1));
            after.data()[j] = moments.count;
            after.data()[k + j] = moments.shift;
            after.data()[2 * k + j] = moments.total;
            after.data()[3 * k + j] = moments.squares;
        }
    }
    return nb::make_tuple(means.release(), deviations.release(), after.release());
}

// Standardises values (k, n) with means and deviations (k, n) or (k, 1). Writes row j to column
// places[j] of out (n, width).
void standardise_into(const Lines& values, const Lines& means, const Lines& deviations, double clip,
                      const Columns& out, const std::vector<std::size_t>& places) {
    const std::size_t k = values.shape(0), n = values.shape(1), width = out.shape(1);
    require_lines(values, k, "values");
    require_lines(means, k, "means");
    require_lines(deviations, k, "deviations");
    const std::size_t m = means.shape(1), pace = m == 1 ? 0 : 1;
    if ((m != n && m != 1) || deviations.shape(1) != m)
        throw nb::value_error("means and deviations must be one for all rows or one for each");
    if (out.shape(0) != n || places.size() != k)
        throw nb::value_error(
            "out must have as many rows as there are values, and a place for each of them");
    for (const std::size_t place : places)
        if (place >= width) throw nb::index_error("there is no such column");
    nb::gil_scoped_release release;
    // Rows per pass. All columns of these rows are written while the rows are in the cache.
    constexpr std::size_t rows = 256;
    for (std::size_t first = 0; first < n; first += rows)
        for (std::size_t j = 0; j < k; ++j)
            standardise(line(values, j) + first, std::min(rows, n - first),
                        line(means, j) + first * pace, line(deviations, j) + first * pace, pace,
                        clip, out.data() + first * width + places[j], width);
}

}  // namespace

void bind_moments(nb::module_& m) {
    m.def("learn_moments", &learn_moments, nb::arg("values"), nb::arg("state"));
    m.def("standardise_into", &standardise_into, nb::arg("values"), nb::arg("means"),
          nb::arg("deviations"), nb::arg("clip"), nb::arg("out"), nb::arg("places"));
}

}  // namespace parsimon::bindings
