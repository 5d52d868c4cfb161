#include "removals.hpp"

#include <algorithm>

#include "arrays.hpp"
#include "bindings.hpp"

namespace parsimon::bindings {
namespace {

template <class T, class Shape>
using Own = nb::ndarray<T, Shape, nb::c_contig, nb::device::cpu>;  // an array that C++ writes to

// remove_cheapest (removals.hpp). Returns the count, the sum of the costs, and whether it is done
// or has lost its digits.
nb::tuple remove(const Matrix& P, const Own<double, nb::ndim<2>>& W,
                 const Own<double, nb::ndim<1>>& diagonal, const Vector& before,
                 const Own<bool, nb::ndim<1>>& gone, const Own<double, nb::ndim<2>>& U,
                 std::size_t most, double allowance, double lost) {
    const std::size_t m = P.shape(0), sizes[] = {P.shape(1),      W.shape(1),    diagonal.shape(0),
                                                 before.shape(0), gone.shape(0), U.shape(1)};
    if (std::any_of(std::begin(sizes), std::end(sizes), [m](std::size_t n) { return n != m; }))
        throw nb::value_error("the arrays are not of as many centres");
    Removals done;
    {
        nb::gil_scoped_release release;
        const Inverse inverse{
            m, W.shape(0), P.data(), W.data(), diagonal.data(), before.data(), gone.data()};
        done = remove_cheapest(inverse, U.data(), U.shape(0), most, allowance, lost);
    }
    return nb::make_tuple(done.count, done.spent, done.end == Removals::End::done,
                          done.end == Removals::End::lost);
}

}  // namespace

void bind_removals(nb::module_& m) {
    m.def("remove_cheapest", &remove, nb::arg("P"), nb::arg("W"), nb::arg("diagonal"),
          nb::arg("before"), nb::arg("gone"), nb::arg("U"), nb::arg("most"), nb::arg("allowance"),
          nb::arg("lost"));
}

}  // namespace parsimon::bindings
