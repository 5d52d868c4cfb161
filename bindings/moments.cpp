#include "moments.hpp"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
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
        throw nb::value_error(
            (std::string(what) + " must have one row per column of numbers").c_str());
    if (count > 0 && lines.shape(1) > 1 && lines.stride(1) != 1)
        throw nb::value_error((std::string(what) + " must have its rows in one piece").c_str());
}
const double* line(const Lines& lines, std::size_t i) {
    return lines.data() + static_cast<std::int64_t>(i) * lines.stride(0);
}

// Throws unless there is a place for each of k columns in a matrix of this width.
void require_places(const std::vector<std::size_t>& places, std::size_t k, std::size_t width) {
    if (places.size() != k) throw nb::value_error("there must be a place for each column");
    for (const std::size_t place : places)
        if (place >= width) throw nb::index_error("there is no such column");
}

// The moments of k columns in `state` (4, k), and back.
std::vector<Moments> unpacked(const Matrix& state, std::size_t k) {
    if (state.shape(0) != 4 || state.shape(1) != k)
        throw nb::value_error("the state must have shape (4, k)");
    std::vector<Moments> found(k);
    const double* s = state.data();
    for (std::size_t j = 0; j < k; ++j) found[j] = {s[j], s[k + j], s[2 * k + j], s[3 * k + j]};
    return found;
}
Array packed(const std::vector<Moments>& moments) {
    const std::size_t k = moments.size();
    Result state({4, k});
    for (std::size_t j = 0; j < k; ++j) {
        state.data()[j] = moments[j].count;
        state.data()[k + j] = moments[j].shift;
        state.data()[2 * k + j] = moments[j].total;
        state.data()[3 * k + j] = moments[j].squares;
    }
    return state.release();
}

// Adds values (k, n) to the moments in `state` (4, k). Returns means and deviations (k, n + 1), and
// the new state.
nb::tuple learn_moments(const Lines& values, const Matrix& state) {
    const std::size_t k = values.shape(0), n = values.shape(1);
    require_lines(values, k, "values");
    std::vector<Moments> moments = unpacked(state, k);
    Result means({k, n + 1}), deviations({k, n + 1});
    {
        nb::gil_scoped_release release;
        for (std::size_t j = 0; j < k; ++j)
            learn(moments[j], line(values, j), n, means.data() + j * (n + 1),
                  deviations.data() + j * (n + 1));
    }
    return nb::make_tuple(means.release(), deviations.release(), packed(moments));
}

// Adds values (n,) to the moments of one column in `state` (4, 1). Returns the new state.
Array add_moments(const Vector& values, const Matrix& state) {
    std::vector<Moments> moments = unpacked(state, 1);
    {
        nb::gil_scoped_release release;
        add(moments[0], values.data(), values.shape(0));
    }
    return packed(moments);
}

// Adds k columns (n,) to the moments in `state` (4, k), and writes them standardised to the columns
// `places` of out (n, width). Returns the new state.
Array learn_standardised_into(const std::vector<Vector>& columns, const Matrix& state, double clip,
                              const Columns& out, const std::vector<std::size_t>& places) {
    const std::size_t k = columns.size(), n = out.shape(0), width = out.shape(1);
    std::vector<Moments> moments = unpacked(state, k);
    require_places(places, k, width);
    std::vector<const double*> values;
    for (const Vector& column : columns) {
        if (column.shape(0) != n)
            throw nb::value_error("each column must have as many values as out has rows");
        values.push_back(column.data());
    }
    {
        nb::gil_scoped_release release;
        learn_standardised(moments.data(), values.data(), k, n, clip, out.data(), width,
                           places.data());
    }
    return packed(moments);
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
    if (out.shape(0) != n) throw nb::value_error("out must have as many rows as there are values");
    require_places(places, k, width);
    nb::gil_scoped_release release;
    // Rows per pass. All columns of these rows are written while the rows are in the cache.
    constexpr std::size_t rows = 256;
    for (std::size_t first = 0; first < n; first += rows)
        for (std::size_t j = 0; j < k; ++j)
            standardise(line(values, j) + first, std::min(rows, n - first),
                        line(means, j) + first * pace, line(deviations, j) + first * pace, pace,
                        clip, out.data() + first * width + places[j], width);
}

// The first of the values (n,) whose size is above `largest`, or -1.
std::int64_t first_above_in(const Vector& values, double largest) {
    nb::gil_scoped_release release;
    return first_above(values.data(), values.shape(0), largest);
}

// start + values[0] + values[1] + ..., in this order.
double sum_in_order(double start, const Vector& values) {
    nb::gil_scoped_release release;
    return std::accumulate(values.data(), values.data() + values.shape(0), start);
}

}  // namespace

void bind_moments(nb::module_& m) {
    m.def("learn_moments", &learn_moments, nb::arg("values"), nb::arg("state"));
    m.def("add_moments", &add_moments, nb::arg("values"), nb::arg("state"));
    m.def("learn_standardised_into", &learn_standardised_into, nb::arg("columns"), nb::arg("state"),
          nb::arg("clip"), nb::arg("out"), nb::arg("places"));
    m.def("first_above", &first_above_in, nb::arg("values"), nb::arg("largest"));
    m.def("sum_in_order", &sum_in_order, nb::arg("start"), nb::arg("values"));
    m.def("standardise_into", &standardise_into, nb::arg("values"), nb::arg("means"),
          nb::arg("deviations"), nb::arg("clip"), nb::arg("out"), nb::arg("places"));
}

}  // namespace parsimon::bindings
