// The dictionary as a Python object.
#pragma once

#include <memory>

#include "arrays.hpp"
#include "dictionary.hpp"

namespace parsimon::bindings {

// A dictionary with memory for the look of one point.
struct DictionaryHandle {
    DictionaryHandle(std::shared_ptr<Kernel> kernel, std::size_t n_features, std::size_t n_outputs,
                     bool factor, bool neighbours, double ridge, bool pairs, std::size_t reserve)
        : dictionary(kernel, n_features, n_outputs, {factor, neighbours, ridge, pairs}, reserve),
          looks(1, dictionary) {
        dictionary.reserve_scratch(1);
    }

    // The look of x (n_features,). It is valid until the next call or change.
    Look& look(const Vector& x) {
        require_columns(x.shape(0), dictionary.n_features(), "x");
        dictionary.make_room(1);
        looks.fit(dictionary);
        dictionary.look(looks, x.data(), 1);
        return looks[0];
    }
    void require_index(std::size_t j) const {
        if (j >= dictionary.size()) throw nb::index_error("no such centre");
    }
    void require_factor() const {
        if (!dictionary.has_factor()) throw nb::value_error("this dictionary keeps no factor");
    }
    void require_weights(const Vector& w) const {
        require_columns(w.shape(0), dictionary.n_outputs(), "w");
    }

    Dictionary dictionary;
    Looks looks;
};

}  // namespace parsimon::bindings
