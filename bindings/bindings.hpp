#pragma once

#include <nanobind/nanobind.h>

namespace parsimon::bindings {

// Each function adds the classes and functions of its file to the module.
void bind_kernels(nanobind::module_& m);
void bind_parts(nanobind::module_& m);
void bind_dictionary(nanobind::module_& m);
void bind_learner(nanobind::module_& m);
void bind_filters(nanobind::module_& m);
void bind_atoms(nanobind::module_& m);
void bind_moments(nanobind::module_& m);
void bind_combining(nanobind::module_& m);
void bind_committee(nanobind::module_& m);
void bind_conformal(nanobind::module_& m);
void bind_sums(nanobind::module_& m);
void bind_removals(nanobind::module_& m);

}  // namespace parsimon::bindings
