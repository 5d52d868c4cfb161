// A model of the core with a lock, and what the bindings of all such models share.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <utility>

#include "arrays.hpp"
#include "state_arrays.hpp"
#include "waiting.hpp"

namespace parsimon::bindings {

// A model with a lock: many threads may read it while one thread learns.
template <class Model>
class Locked {
public:
    explicit Locked(std::unique_ptr<Model> model) : model_(std::move(model)) {}

    nb::tuple state() {
        State state;
        {
            ModelLock::Learning guard(lock_, without_gil);
            model_->visit(StateVisitor::writer(state));
        }
        return to_python(state);
    }
    void restore(const nb::dict& arrays, const nb::dict& counts, std::size_t n_features) {
        State state = from_python(arrays, counts);
        ModelLock::Learning guard(lock_, without_gil);
        require_blank();
        model_->visit(StateVisitor::reader(state, n_features));
    }
    void require_sound() {
        ModelLock::Learning guard(lock_, without_gil);
        model_->require_sound();
    }

    // Calls what(model) while holding the lock for reading.
    template <class Read>
    auto read(Read&& what) const {
        ModelLock::Reading guard(lock_, without_gil);
        return what(std::as_const(*model_));
    }

protected:
    void require_blank() const {
        if (!model_->blank()) throw std::runtime_error("this model has learned already");
    }
    // Calls learn(first, last) for chunks of n rows and checks for Ctrl-C in between. end(first)
    // says where the chunk that begins there ends. Checks only every 0.1 s, because acquiring the
    // GIL can be slow. The caller has released the GIL. `guard` is released meanwhile, because a
    // signal handler may use the model.
    template <class End, class Learn>
    static void in_chunks(std::size_t n, End&& end, ModelLock::Learning& guard, Learn&& learn) {
        auto checked = std::chrono::steady_clock::now();
        for (std::size_t first = 0, last = 0; first < n; first = last) {
            last = std::min(end(first), n);
            learn(first, last);
            if (last == n ||
                std::chrono::steady_clock::now() - checked <= std::chrono::milliseconds(100))
                continue;
            guard.release();
            {
                nb::gil_scoped_acquire acquire;
                if (PyErr_CheckSignals() != 0) throw nb::python_error();
            }
            guard.take();
            checked = std::chrono::steady_clock::now();
        }
    }

    ModelLock lock_;
    std::unique_ptr<Model> model_;
};

// A method of the class Shared that calls what(model) under the lock.
template <class Shared, class Read>
auto reading(Read what) {
    return [what](const Shared& shared) { return shared.read(what); };
}

// Binds a class with a lock, and the methods and properties that all such classes have.
template <class Shared>
nb::class_<Shared> bind_locked(nb::module_& m, const char* name) {
    return nb::class_<Shared>(m, name)
        .def("state", &Shared::state)
        .def("restore", &Shared::restore, nb::arg("arrays"), nb::arg("counts"),
             nb::arg("n_features") = 0)
        .def("require_sound", &Shared::require_sound)
        .def_prop_ro("n_samples_seen", reading<Shared>([](const auto& l) { return l.seen(); }))
        .def_prop_ro("nbytes", reading<Shared>([](const auto& l) { return l.nbytes(); }));
}

}  // namespace parsimon::bindings
