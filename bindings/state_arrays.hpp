// A state as two Python dicts, one of arrays and one of whole numbers.
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
        std::string key;
        Vector array;
        if (!nb::try_cast(name, key) || !nb::try_cast(values, array, false))
            refuse("the state holds what is no array of numbers");
        state.arrays[key].assign(array.data(), array.data() + array.shape(0));
    }
    for (const auto& [name, value] : counts) {
        std::string key;
        std::uint64_t number = 0;
        if (!nb::try_cast(name, key) || !nb::try_cast(value, number, false))
            refuse("the state holds what is no whole number");
        state.counts[key] = number;
    }
    return state;
}

}  // namespace parsimon::bindings
