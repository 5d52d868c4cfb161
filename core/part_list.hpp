// Lists of parts, one list per kind of part. The rest of the library makes parts by name.
//
// A part is a class with a `name` and a constructor whose parameters are numbers: double,
// std::size_t or bool. PartList<Base, A, B> makes an A or a B by name. Lists with two equal names
// do not compile (`distinct`).
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

// A number that converts to the type of a constructor's parameter. Conversions to std::size_t and
// bool throw InputError if they would change the value.
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

// The number of parameters of the constructor, at most 5.
template <class Part, std::size_t n = 5>
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

// The list of the parts `Each` of one kind.
template <class Base, class... Each>
struct PartList {
    // Makes the part with this name. Throws InputError if there is none, or if the number of
    // parameters is wrong. `kind` names the kind of part in the message.
    static std::shared_ptr<Base> make(const char* kind, std::string_view name,
                                      std::span<const double> parameters) {
        std::shared_ptr<Base> result;
        ((name == Each::name && (result = made<Each>(kind, parameters))) || ...);
        if (!result) refuse("there is no ", kind, " '", name, "' in the core");
        return result;
    }
    // Whether all names are different.
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
