// Parts by name: one list for each kind of part, from which the rest of the library asks for them.
//
// A part is a class with a `name` and a constructor of numbers (whole numbers and flags among
// them). PartList<Base, A, B> makes an A or a B by name. Two equal names do not compile, and a
// wrong number of parameters is an error that says so.
#pragma once

#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "input.hpp"

namespace parsimon {

namespace detail {

// A number that becomes what a constructor takes: whole numbers and flags are checked.
struct Number {
    double value;
    operator double() const { return value; }
    operator std::size_t() const {
        if (!(value >= 0.0 && value <= 0x1p63 && value == std::floor(value)))
            refuse("expected a whole number from 0 to 2^63, got ", value);
        return static_cast<std::size_t>(value);
    }
    operator bool() const {
        if (value != 0.0 && value != 1.0) refuse("expected 0 or 1, got ", value);
        return value == 1.0;
    }
};
template <std::size_t>
using AnyNumber = Number;

template <class Part, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
    return std::is_constructible_v<Part, AnyNumber<I>...>;
}

// How many numbers the constructor takes, at most 4.
template <class Part, std::size_t n = 4>
constexpr std::size_t parameter_count() {
    if constexpr (takes<Part>(std::make_index_sequence<n>()))
        return n;
    else
        return parameter_count<Part, n - 1>();
}

template <class Part, std::size_t... I>
std::shared_ptr<Part> construct([[maybe_unused]] std::span<const double> parameters,
                                std::index_sequence<I...>) {
    return std::make_shared<Part>(Number{parameters[I]}...);
}

}  // namespace detail

template <class Base, class... Each>
struct PartList {
    // The part of that name. `kind` is what it is called in an error.
    static std::shared_ptr<Base> make(const char* kind, std::string_view name,
                                      std::span<const double> parameters) {
        std::shared_ptr<Base> result;
        ((name == Each::name && (result = made<Each>(kind, parameters))) || ...);
        if (!result) refuse("there is no ", kind, " '", name, "' in the core");
        return result;
    }
    static constexpr bool distinct() {
        const std::string_view names[] = {Each::name...};
        for (std::size_t i = 0; i < sizeof...(Each); ++i)
            for (std::size_t j = 0; j < i; ++j)
                if (names[i] == names[j]) return false;
        return true;
    }

private:
    template <class Part>
    static std::shared_ptr<Base> made(const char* kind, std::span<const double> parameters) {
        constexpr std::size_t n = detail::parameter_count<Part>();
        if (parameters.size() != n)
            refuse("the ", kind, " '", Part::name, "' takes ", n, " parameters, got ",
                   parameters.size());
        return detail::construct<Part>(parameters, std::make_index_sequence<n>());
    }
};

}  // namespace parsimon
