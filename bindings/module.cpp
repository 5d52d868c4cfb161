#include <nanobind/nanobind.h>

#include "bindings.hpp"
#include "simd/loops.hpp"

namespace nb = nanobind;

NB_MODULE(_core, m) {
    // A kernel made of a Python function may be part of a reference cycle that outlives the
    // interpreter.
    nb::set_leak_warnings(false);
    m.doc() = "The C++ core of parsimon.";
    m.def("instruction_set", [] { return parsimon::simd::loops().name; });
    parsimon::bindings::bind_kernels(m);
    parsimon::bindings::bind_parts(m);
    parsimon::bindings::bind_dictionary(m);
    parsimon::bindings::bind_learner(m);
    parsimon::bindings::bind_filters(m);
    parsimon::bindings::bind_atoms(m);
    parsimon::bindings::bind_moments(m);
    parsimon::bindings::bind_combining(m);
    parsimon::bindings::bind_committee(m);
    parsimon::bindings::bind_conformal(m);
    parsimon::bindings::bind_sums(m);
    parsimon::bindings::bind_removals(m);
}
