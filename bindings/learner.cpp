#include "learner.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>

#include <optional>

#include "arrays.hpp"
#include "bindings.hpp"
#include "dictionary_arrays.hpp"
#include "learner_arrays.hpp"
#include "shared_learner.hpp"

namespace parsimon::bindings {
namespace {

// A binding that calls what(learner) under the lock.
template <class Read>
auto reading(Read what) {
    return [what](const SharedLearner& learner) { return learner.read(what); };
}

}  // namespace

void bind_learner(nb::module_& m) {
    m.def(
        "require_finite",
        [](const Matrix& X, const char* what, bool single) {
            require_finite(X.data(), X.shape(0), X.shape(1), what, single);
        },
        nb::arg("X"), nb::arg("what"), nb::arg("single") = false);
    nb::class_<SharedLearner>(m, "Learner")
        .def(nb::init<std::shared_ptr<Kernel>, std::shared_ptr<Loss>, std::shared_ptr<Admission>,
                      std::shared_ptr<Update>, std::shared_ptr<Compression>, std::size_t,
                      std::size_t, std::size_t, std::size_t, std::optional<std::uint64_t>, bool,
                      bool, double, double, double>(),
             nb::arg("kernel"), nb::arg("loss"), nb::arg("admission"), nb::arg("update"),
             nb::arg("compression"), nb::arg("n_features"), nb::arg("n_outputs"),
             nb::arg("batch_size"), nb::arg("reserve"), nb::arg("average_after") = nb::none(),
             nb::arg("at_once") = true, nb::arg("intercept") = false, nb::arg("unit") = 1.0,
             nb::arg("forgetting") = 1.0, nb::arg("average_power") = 0.0)
        .def("learn", &SharedLearner::learn, nb::arg("X"), nb::arg("Y"),
             nb::arg("weights") = nb::none(), nb::arg("n_outputs") = 0)
        .def("check", &SharedLearner::check, nb::arg("X"), nb::arg("Y"), nb::arg("weights").none(),
             nb::arg("n_outputs"))
        .def("hold_targets", &SharedLearner::hold_targets, nb::arg("Y"), nb::arg("weights").none())
        .def("release_targets", &SharedLearner::release_targets)
        .def("predict_then_learn", &SharedLearner::predict_then_learn, nb::arg("X"), nb::arg("Y"),
             nb::arg("weights") = nb::none(), nb::arg("n_outputs") = 0)
        .def("predict_then_learn_with_variances", &SharedLearner::predict_then_learn_with_variances,
             nb::arg("X"), nb::arg("Y"), nb::arg("weights").none(), nb::arg("n_outputs"))
        .def("learn_one", &SharedLearner::learn_one, nb::arg("x").none(), nb::arg("y").none(),
             nb::arg("weight") = 1.0)
        .def("compress_by", &SharedLearner::compress_by, nb::arg("compression"), nb::arg("reserve"),
             nb::arg("budget"))
        .def("state", &SharedLearner::state)
        .def("restore", &SharedLearner::restore, nb::arg("arrays"), nb::arg("counts"),
             nb::arg("n_features") = 0)
        .def("require_sound", &SharedLearner::require_sound)
        .def(
            "snapshot",
            [](const SharedLearner& learner, bool factor) {
                return learner.read([&](const Learner& l) { return snapshot(l, factor); });
            },
            nb::arg("factor") = false)
        .def("adopt", &SharedLearner::adopt, nb::arg("dictionary"), nb::arg("sums"),
             nb::arg("seen"), nb::arg("averaged"), nb::arg("alive"), nb::arg("spent"),
             nb::arg("intercepts"), nb::arg("averages"), nb::arg("means"), nb::arg("total"),
             nb::arg("squares"), nb::arg("count"), nb::arg("settled"))
        .def("climb", &SharedLearner::climb, nb::arg("steps"))
        .def("dual", reading(&describe_dual))
        .def("predict", &SharedLearner::predict, nb::arg("X"), nb::arg("threads") = 1)
        .def("gradient", &SharedLearner::gradient, nb::arg("X"), nb::arg("threads") = 1)
        .def("variances", &SharedLearner::variances, nb::arg("X"), nb::arg("threads") = 1)
        .def("predict_with_variances", &SharedLearner::predict_with_variances, nb::arg("X"),
             nb::arg("threads") = 1)
        .def("noise", reading(&noise))
        .def("predict_one", &SharedLearner::predict_one, nb::arg("x").none())
        .def("centers", reading([](const Learner& l) { return centers(l.dictionary()); }))
        .def("weights", reading([](const Learner& l) {
                 return weights(l.dictionary(), l.shown(), l.n_outputs());
             }))
        .def("intercept", reading([](const Learner& l) {
                 return to_array({l.intercept(), l.intercept() + l.n_outputs()});
             }))
        .def_prop_ro("unit", reading([](const Learner& l) { return l.unit(); }))
        .def("drift", &SharedLearner::drift)
        .def("covariance_factor", reading(&covariance_factor))
        .def_prop_ro("needs", reading([](const Learner& l) {
                         const Needs needs = l.dictionary().needs();
                         return nb::make_tuple(needs.factor, needs.neighbours, needs.ridge,
                                               needs.pairs);
                     }))
        .def_prop_ro("n_centers", reading([](const Learner& l) { return l.dictionary().size(); }))
        .def_prop_ro("n_samples_seen", reading([](const Learner& l) { return l.seen(); }))
        .def_prop_ro("n_features",
                     reading([](const Learner& l) { return l.dictionary().n_features(); }))
        .def_prop_ro("n_outputs", reading([](const Learner& l) { return l.n_outputs(); }))
        .def_prop_ro("nbytes", reading([](const Learner& l) { return l.nbytes(); }))
        .def_prop_ro("spent", reading([](const Learner& l) { return l.spent(); }))
        .def_prop_ro("rebuilds",
                     reading([](const Learner& l) { return l.dictionary().rebuilds(); }));
}

}  // namespace parsimon::bindings
