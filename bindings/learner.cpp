#include "learner.hpp"

#include <nanobind/stl/shared_ptr.h>

#include <algorithm>
#include <mutex>
#include <shared_mutex>

#include "arrays.hpp"
#include "bindings.hpp"
#include "dictionary_arrays.hpp"

namespace parsimon::bindings {
namespace {

// A learner that many threads may predict with while one learns: learning excludes, predicting shares.
class SharedLearner {
public:
    SharedLearner(std::shared_ptr<Kernel> kernel, std::shared_ptr<Loss> loss, std::shared_ptr<Admission> admission,
                  std::shared_ptr<Update> update, std::shared_ptr<Compression> compression, std::size_t n_features, std::size_t n_outputs,
                  std::size_t batch_size, std::size_t reserve)
        : learner_({kernel, loss, admission, update, compression, batch_size}, n_features, n_outputs, reserve), batch_size_(batch_size) {}

    void learn(const Matrix& X, const Matrix& Y) { learn_block(X, Y, nullptr); }

    Array predict_then_learn(const Matrix& X, const Matrix& Y) {
        Result result({X.shape(0), outputs()});
        learn_block(X, Y, result.data());
        return result.release();
    }

    void learn_one(const Vector& x, double y) {
        require_features(x.shape(0));
        if (outputs() != 1) throw nb::type_error("y must be an array: this model has several outputs");
        learn_row(x.data(), &y);
    }

    void learn_one_many(const Vector& x, const Vector& y) {
        require_features(x.shape(0));
        require_outputs(y.shape(0));
        learn_row(x.data(), y.data());
    }

    Array predict(const Matrix& X) const {
        require_features(X.shape(1));
        Result result({X.shape(0), outputs()});
        {
            nb::gil_scoped_release release;
            std::shared_lock lock(mutex_);
            predict_rows(X.data(), X.shape(0), result.data());
        }
        return result.release();
    }

    double predict_one(const Vector& x) const {
        require_features(x.shape(0));
        if (outputs() != 1) throw nb::type_error("several outputs");
        double f = 0.0;
        const auto lock = lock_briefly<std::shared_lock<std::shared_mutex>>();
        predict_rows(x.data(), 1, &f);
        return f;
    }

    template <class Read>
    auto read(Read&& what) const {
        const auto lock = lock_briefly<std::shared_lock<std::shared_mutex>>();
        return what(learner_);
    }

    double drift() {
        const auto lock = lock_briefly<std::unique_lock<std::shared_mutex>>();
        return learner_.dictionary().has_factor() ? learner_.dictionary().drift() : 0.0;
    }

private:
    std::size_t outputs() const { return learner_.dictionary().n_outputs(); }
    void require_features(std::size_t found) const { require_columns(found, learner_.dictionary().n_features(), "X"); }
    void require_outputs(std::size_t found) const {
        if (found != outputs())
            throw nb::value_error(
                ("y has " + std::to_string(found) + " outputs, but " + std::to_string(outputs()) + " are expected").c_str());
    }

    // For work that takes a moment: waits for the lock without the GIL, which the holder may need, but works with it.
    template <class Lock>
    Lock lock_briefly() const {
        Lock lock(mutex_, std::try_to_lock);
        if (!lock.owns_lock()) {
            nb::gil_scoped_release release;
            lock.lock();
        }
        return lock;
    }

    void predict_rows(const double* x, std::size_t n, double* out) const {
        Scratch scratch;
        learner_.check_inputs(x, n, scratch);
        learner_.predict(x, n, out);
    }

    void learn_row(const double* x, const double* y) {
        const auto lock = lock_briefly<std::unique_lock<std::shared_mutex>>();
        learner_.check_inputs(x, 1, learner_.scratch());
        learner_.check_targets(y, 1);
        learner_.learn(x, y, 1, nullptr);
    }

    void learn_block(const Matrix& X, const Matrix& Y, double* predictions) {
        const std::size_t n = X.shape(0), d = X.shape(1), C = outputs();
        require_features(d);
        require_outputs(Y.shape(1));
        if (Y.shape(0) != n) throw nb::value_error(("X has " + std::to_string(n) + " rows, y has " + std::to_string(Y.shape(0))).c_str());
        nb::gil_scoped_release release;
        std::unique_lock lock(mutex_);
        learner_.check_inputs(X.data(), n, learner_.scratch());
        learner_.check_targets(Y.data(), n);
        // Whole batches at a time, so that Ctrl-C is heard in between.
        const std::size_t chunk = std::max<std::size_t>(1, 512 / batch_size_) * batch_size_;
        for (std::size_t first = 0; first < n; first += chunk) {
            learner_.learn(X.data() + first * d, Y.data() + first * C, std::min(chunk, n - first),
                           predictions ? predictions + first * C : nullptr);
            if (first + chunk < n) {
                nb::gil_scoped_acquire acquire;
                if (PyErr_CheckSignals() != 0) throw nb::python_error();
            }
        }
    }

    mutable std::shared_mutex mutex_;
    Learner learner_;
    std::size_t batch_size_;
};

template <class Read>
auto reading(Read what) {
    return [what](const SharedLearner& learner) { return learner.read(what); };
}

}  // namespace

void bind_learner(nb::module_& m) {
    m.def(
        "require_finite", [](const Matrix& X, const char* what) { require_finite(X.data(), X.shape(0), X.shape(1), what); }, nb::arg("X"),
        nb::arg("what"));
    nb::class_<SharedLearner>(m, "Learner")
        .def(nb::init<std::shared_ptr<Kernel>, std::shared_ptr<Loss>, std::shared_ptr<Admission>, std::shared_ptr<Update>,
                      std::shared_ptr<Compression>, std::size_t, std::size_t, std::size_t, std::size_t>(),
             nb::arg("kernel"), nb::arg("loss"), nb::arg("admission"), nb::arg("update"), nb::arg("compression"), nb::arg("n_features"),
             nb::arg("n_outputs"), nb::arg("batch_size"), nb::arg("reserve"))
        .def("learn", &SharedLearner::learn, nb::arg("X"), nb::arg("Y"))
        .def("predict_then_learn", &SharedLearner::predict_then_learn, nb::arg("X"), nb::arg("Y"))
        .def("learn_one", &SharedLearner::learn_one, nb::arg("x"), nb::arg("y"))
        .def("learn_one", &SharedLearner::learn_one_many, nb::arg("x"), nb::arg("y"))
        .def("predict", &SharedLearner::predict, nb::arg("X"))
        .def("predict_one", &SharedLearner::predict_one, nb::arg("x"))
        .def("centers", reading([](const Learner& l) { return centers(l.dictionary()); }))
        .def("weights", reading([](const Learner& l) { return weights(l.dictionary()); }))
        .def("drift", &SharedLearner::drift)
        .def_prop_ro("n_centers", reading([](const Learner& l) { return l.dictionary().size(); }))
        .def_prop_ro("n_samples_seen", reading([](const Learner& l) { return l.seen(); }))
        .def_prop_ro("n_features", reading([](const Learner& l) { return l.dictionary().n_features(); }))
        .def_prop_ro("n_outputs", reading([](const Learner& l) { return l.dictionary().n_outputs(); }))
        .def_prop_ro("nbytes", reading([](const Learner& l) { return l.nbytes(); }))
        .def_prop_ro("spent", reading([](const Learner& l) { return l.spent(); }))
        .def_prop_ro("rebuilds", reading([](const Learner& l) { return l.dictionary().rebuilds(); }));
}

}  // namespace parsimon::bindings
