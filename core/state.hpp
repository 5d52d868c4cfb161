// The stored state of a model, from which learning can continue bit for bit.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "input.hpp"
#include "sizes.hpp"

namespace parsimon {

// Numbers by name. Counts are whole numbers. Arrays are flat.
struct State {
    std::map<std::string, std::vector<double>> arrays;
    std::map<std::string, std::uint64_t> counts;
};

// Writes a state or reads it. A class lists its content once, in a function `visit` that serves for
// both. Reading throws InputError if something is missing, has another size, or is not finite.
class StateVisitor {
public:
    // A visitor that writes to `state`, or that reads from it.
    static StateVisitor writer(State& state) { return {state, true}; }
    // `n_features` is the number of features of points in the state, if the model that reads it has
    // more. 0 means that the numbers are equal.
    static StateVisitor reader(State& state, std::size_t n_features = 0) {
        StateVisitor visitor(state, false);
        visitor.n_features_ = n_features;
        return visitor;
    }
    bool reading() const { return !writing_; }

    // A visitor for a part of the model. Its names get the prefix "name.".
    StateVisitor part(const std::string& name) const {
        StateVisitor inner = *this;
        inner.prefix_ += name + ".";
        return inner;
    }

    // The version of the layout of what is visited next in this part. Version 0 is not written.
    // Returns the version that is read. Throws InputError if it is newer than `known`.
    std::uint64_t version(std::uint64_t known) {
        std::uint64_t found = known;
        if (reading()) {
            const auto place = state_->counts.find(prefix_ + "version");
            found = place == state_->counts.end() ? 0 : place->second;
            if (found > known)
                refuse("the state's ", prefix_.empty() ? "model" : prefix_, " is of version ",
                       found, ", and versions up to ", known, " can be read: update parsimon");
        } else if (known > 0) {
            state_->counts[prefix_ + "version"] = known;
        }
        return found;
    }

    // Visits a whole number, at most `at_most`.
    void count(const char* name, std::uint64_t& value,
               std::uint64_t at_most = std::uint64_t{1} << 62) {
        if (writing_) {
            state_->counts[prefix_ + name] = value;
            return;
        }
        const auto found = state_->counts.find(prefix_ + name);
        if (found == state_->counts.end()) refuse("the state lacks ", prefix_, name);
        if (found->second > at_most)
            refuse("the state's ", prefix_, name, " is ", found->second, ": at most ", at_most,
                   " is possible");
        value = found->second;
    }
    // Visits a whole number that is usually 0. A zero is not written, and a missing number is read
    // as 0.
    void rare_count(const char* name, std::uint64_t& value, std::uint64_t at_most) {
        if (writing_ ? value == 0 : !state_->counts.contains(prefix_ + name))
            value = 0;
        else
            count(name, value, at_most);
    }
    // Visits a number of elements. Returns n when writing, and the stored number when reading.
    std::size_t size(const char* name, std::size_t n, std::uint64_t at_most) {
        std::uint64_t value = n;
        count(name, value, at_most);
        return static_cast<std::size_t>(value);
    }
    // When reading, throws InputError unless the array `name` has n numbers. Call it before memory
    // for them is allocated.
    void expect(const char* name, std::size_t n) const {
        if (!writing_) array(name, n);
    }
    // Visits an array of n numbers.
    void numbers(const char* name, double* data, std::size_t n) {
        if (writing_) {
            state_->arrays[prefix_ + name].assign(data, data + n);
            return;
        }
        const auto& values = array(name, n);
        std::copy(values.begin(), values.end(), data);
    }
    void number(const char* name, double& value) { numbers(name, &value, 1); }
    // Visits n points of d features each. Features that the state lacks are read as 0, which
    // changes no distance and no inner product.
    void points(const char* name, double* data, std::size_t n, std::size_t d) {
        const std::size_t known = stored_features(d);
        if (known == d) return numbers(name, data, n * d);
        const auto& values = array(name, n * known);
        std::fill_n(data, n * d, 0.0);
        for (std::size_t i = 0; i < n; ++i)
            std::copy_n(values.data() + i * known, known, data + i * d);
    }
    // `expect` for n points of d features.
    void expect_points(const char* name, std::size_t n, std::size_t d) const {
        expect(name, expected(n, stored_features(d)));
    }
    // Visits one array that consists of several pieces in memory, one after the other.
    template <class Piece>
    void pieces(const char* name, std::size_t n_pieces, Piece&& piece) {  // piece(i): (data, n)
        std::size_t total = 0;
        for (std::size_t i = 0; i < n_pieces; ++i)
            total += std::pair<double*, std::size_t>(piece(i)).second;
        std::vector<double>* values = nullptr;
        if (writing_) {
            values = &state_->arrays[prefix_ + name];
            values->resize(total);
        } else {
            array(name, total);
            values = &state_->arrays[prefix_ + name];
        }
        double* place = values->data();
        for (std::size_t i = 0; i < n_pieces; ++i) {
            const auto [data, n] = std::pair<double*, std::size_t>(piece(i));
            if (writing_)
                std::copy_n(data, n, place);
            else
                std::copy_n(place, n, data);
            place += n;
        }
    }

private:
    StateVisitor(State& state, bool writing) : state_(&state), writing_(writing) {}
    const std::vector<double>& array(const char* name, std::size_t n) const {
        const auto found = state_->arrays.find(prefix_ + name);
        if (found == state_->arrays.end()) refuse("the state lacks ", prefix_, name);
        if (found->second.size() != n)
            refuse("the state's ", prefix_, name, " holds ", found->second.size(), " numbers, not ",
                   n);
        for (const double value : found->second)
            if (!std::isfinite(value))
                refuse("the state's ", prefix_, name, " contains ", kind_of_number(value));
        return found->second;
    }

    std::size_t stored_features(std::size_t d) const {
        return writing_ || n_features_ == 0 || n_features_ > d ? d : n_features_;
    }

    State* state_;
    bool writing_;
    std::size_t n_features_ = 0;
    std::string prefix_;
};

}  // namespace parsimon
