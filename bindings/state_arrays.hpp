// A state as Python dictionaries: of arrays, and of whole numbers.
#pragma once

#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>

#include "arrays.hpp"
#include "state.hpp"

namespace parsimon::bindings {

inline nb::tuple to_python(const State& state) {
    nb::dict arrays, counts;
    for (const auto& [name, values] : state.arrays) {
        Result array({values.size()});
        std::copy(values.begin(), values.end(), array.data());
        arrays[name.c_str()] = array.release();
    }
    for (const auto& [name, value] : state.counts) counts[name.c_str()] = value;
    return nb::make_tuple(arrays, counts);
}

inline State from_python(const nb::dict& arrays, const nb::dict& counts) {
    State state;
    for (const auto& [name, values] : arrays) {
        const auto array = nb::cast<Vector>(values);
        state.arrays[nb::cast<std::string>(name)].assign(array.data(), array.data() + array.shape(0));
    }
    for (const auto& [name, value] : counts) state.counts[nb::cast<std::string>(name)] = nb::cast<std::uint64_t>(value);
    return state;
}

}  // namespace parsimon::bindings
