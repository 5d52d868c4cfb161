#include "dictionary.hpp"

#include <nanobind/stl/shared_ptr.h>

#include <algorithm>
#include <memory>

#include "arrays.hpp"
#include "bindings.hpp"
#include "dictionary_arrays.hpp"
#include "dictionary_handle.hpp"

namespace parsimon::bindings {
namespace {

// The look of a point x (n_features,) as a dict.
nb::dict describe_look(DictionaryHandle& handle, const Vector& x) {
    Look& look = handle.look(x);
    const std::size_t m = handle.dictionary.size();
    nb::dict result;
    const auto array = [m](const double* data) {
        Result r({m});
        std::copy_n(data, m, r.data());
        return r.release();
    };
    result["kernel_row"] = array(look.h);
    result["kxx"] = look.kxx;
    result["coherence"] = handle.dictionary.coherence(look);
    result["accepted"] = handle.dictionary.accepts(look);
    if (handle.dictionary.has_factor()) {
        handle.dictionary.project(look);
        result["coefficients"] = array(look.a);
        result["residual"] = look.residual;
    }
    return result;
}

// Appends x with weights w. Returns False if the factor refuses x.
bool append(DictionaryHandle& handle, const Vector& x, const Vector& w) {
    handle.require_weights(w);
    Look& look = handle.look(x);
    if (!handle.dictionary.accepts(look)) return false;
    handle.dictionary.append(look, w.data());
    return true;
}

// Replaces centre j by z with weights w. Returns False if the factor refuses z.
bool replace(DictionaryHandle& handle, std::size_t j, const Vector& z, const Vector& w) {
    handle.require_index(j);
    handle.require_weights(w);
    require_columns(z.shape(0), handle.dictionary.n_features(), "z");
    handle.dictionary.make_room(1);
    handle.looks.fit(handle.dictionary);
    return handle.dictionary.replace(j, z.data(), w.data(), handle.looks);
}

// Adds the terms W_i k(x_i, .). Returns a list that says which x_i became centres.
nb::list add(DictionaryHandle& handle, const Matrix& X, const Matrix& W) {
    require_columns(X.shape(1), handle.dictionary.n_features(), "X");
    require_columns(W.shape(1), handle.dictionary.n_outputs(), "W");
    if (X.shape(0) != W.shape(0)) throw nb::value_error("X and W must have as many rows");
    const auto entered = std::make_unique<bool[]>(X.shape(0));
    {
        nb::gil_scoped_release release;
        Looks looks(32, handle.dictionary);
        handle.dictionary.add(X.data(), W.data(), X.shape(0), looks, entered.get());
    }
    nb::list result;
    for (std::size_t i = 0; i < X.shape(0); ++i) result.append(nb::bool_(entered[i]));
    return result;
}

// Makes the rows of X the centres of an empty dictionary, with weights W and factor S (n, n).
void adopt(DictionaryHandle& handle, const Matrix& X, const Matrix& W, const Matrix& S) {
    handle.require_factor();
    require_columns(X.shape(1), handle.dictionary.n_features(), "X");
    require_columns(W.shape(1), handle.dictionary.n_outputs(), "W");
    const std::size_t n = X.shape(0);
    if (W.shape(0) != n || S.shape(0) != n || S.shape(1) != n)
        throw nb::value_error("X, W and S must have as many rows, and S as many columns");
    if (handle.dictionary.size() > 0 || handle.dictionary.needs().neighbours)
        throw nb::value_error("only an empty dictionary without neighbours adopts centres");
    nb::gil_scoped_release release;
    handle.dictionary.adopt(X.data(), W.data(), n, S.data());
}

Array predict(const DictionaryHandle& handle, const Matrix& X) {
    require_columns(X.shape(1), handle.dictionary.n_features(), "X");
    Result result({X.shape(0), handle.dictionary.n_outputs()});
    handle.dictionary.predict(X.data(), X.shape(0), result.data());
    return result.release();
}

Array removal_costs(const DictionaryHandle& handle) {
    handle.require_factor();
    Result result({handle.dictionary.size()});
    for (std::size_t j = 0; j < handle.dictionary.size(); ++j)
        result.data()[j] = handle.dictionary.removal_cost(j);
    return result.release();
}

void set_weights(DictionaryHandle& handle, const Matrix& W) {
    if (W.shape(0) != handle.dictionary.size() || W.shape(1) != handle.dictionary.n_outputs())
        throw nb::value_error("weights must have shape (size, n_outputs)");
    for (std::size_t j = 0; j < W.shape(0); ++j)
        for (std::size_t c = 0; c < W.shape(1); ++c)
            handle.dictionary.weights(c)[j] = W.data()[j * W.shape(1) + c];
}

}  // namespace

void bind_dictionary(nb::module_& m) {
    nb::class_<DictionaryHandle>(m, "Dictionary")
        .def(nb::init<std::shared_ptr<Kernel>, std::size_t, std::size_t, bool, bool, double, bool,
                      std::size_t>(),
             nb::arg("kernel"), nb::arg("n_features"), nb::arg("n_outputs") = 1,
             nb::arg("factor") = true, nb::arg("neighbours") = true, nb::arg("ridge") = 0.0,
             nb::arg("pairs") = false, nb::arg("reserve") = 0)
        .def("look", &describe_look, nb::arg("x"))
        .def("append", &append, nb::arg("x"), nb::arg("w"))
        .def("add", &add, nb::arg("X"), nb::arg("W"))
        .def("adopt", &adopt, nb::arg("X"), nb::arg("W"), nb::arg("S"))
        .def("replace", &replace, nb::arg("j"), nb::arg("z"), nb::arg("w"))
        .def(
            "project_out",
            [](DictionaryHandle& h, std::size_t j) {
                h.require_index(j);
                h.require_factor();
                return h.dictionary.project_out(j);
            },
            nb::arg("j"))
        .def(
            "project_out_cheapest",
            [](DictionaryHandle& h, double allowance, std::size_t budget) {
                h.require_factor();
                nb::gil_scoped_release release;
                const double spent = h.dictionary.project_out_cheapest(allowance, budget);
                h.dictionary.maintain();
                return spent;
            },
            nb::arg("allowance"), nb::arg("budget"))
        .def(
            "drop",
            [](DictionaryHandle& h, std::size_t j) {
                h.require_index(j);
                h.dictionary.drop(j);
            },
            nb::arg("j"))
        .def("predict", &predict, nb::arg("X"))
        .def("removal_costs", &removal_costs)
        .def("centers", [](const DictionaryHandle& h) { return centers(h.dictionary); })
        .def("weights",
             [](const DictionaryHandle& h) {
                 return weights(h.dictionary, 0, h.dictionary.n_outputs());
             })
        .def("set_weights", &set_weights, nb::arg("W"))
        .def("factor",
             [](const DictionaryHandle& h) {
                 return (h.require_factor(), triangle(h.dictionary.factor()));
             })
        .def("most_coherent",
             [](const DictionaryHandle& h) {
                 const auto pair = h.dictionary.most_coherent();
                 return nb::make_tuple(pair.i, pair.j, pair.coherence);
             })
        .def("drift",
             [](DictionaryHandle& h) { return (h.require_factor(), h.dictionary.drift()); })
        .def("maintain", [](DictionaryHandle& h) { h.dictionary.maintain(); })
        .def("rebuild", [](DictionaryHandle& h) { (h.require_factor(), h.dictionary.rebuild()); })
        .def_prop_ro("rebuilds", [](const DictionaryHandle& h) { return h.dictionary.rebuilds(); })
        .def_prop_ro("capacity", [](const DictionaryHandle& h) { return h.dictionary.capacity(); })
        .def_prop_ro("nbytes", [](const DictionaryHandle& h) { return h.dictionary.nbytes(); })
        .def("__len__", [](const DictionaryHandle& h) { return h.dictionary.size(); })
        .def_prop_ro_static("floor", [](nb::handle) { return Dictionary::floor; });
}

}  // namespace parsimon::bindings
