// Ways to wait for the lock of a model (model_lock.hpp).
#pragma once

#include <nanobind/nanobind.h>

#include "model_lock.hpp"

namespace parsimon::bindings {

// Releases the GIL while waiting, because the thread that holds the lock may need it.
constexpr auto without_gil = [](auto&& wait) {
    nanobind::gil_scoped_release release;
    wait();
};
// Waits without further action. For callers that have released the GIL already.
constexpr auto as_it_is = [](auto&& wait) { wait(); };

}  // namespace parsimon::bindings
