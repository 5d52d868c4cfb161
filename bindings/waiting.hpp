// How to wait for a model (model_lock.hpp).
#pragma once

#include <nanobind/nanobind.h>

#include "model_lock.hpp"

namespace parsimon::bindings {

// Without the GIL, which whoever holds the model may need.
constexpr auto without_gil = [](auto&& wait) {
    nanobind::gil_scoped_release release;
    wait();
};
// The GIL was released before.
constexpr auto as_it_is = [](auto&& wait) { wait(); };

}  // namespace parsimon::bindings
