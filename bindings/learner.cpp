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

// A method that reads the learner under its lock.
constexpr auto of_learner = [](auto what) { return reading<SharedLearner>(what); };

}  // namespace

void bind_learner(nb::module_& m) {
    m.def(
        "require_finite",
        [](const Matrix& X, const char* what, bool single) {
            require_finite(X.data(), X.shape(0), X.shape(1), what, single);
        },
        nb::arg("X"), nb::arg("what"), nb::arg("single") = false);
    bind_model<SharedLearner>(m, "Learner")
        .def(nb::init<std::shared_ptr<Kernel>, std::shared_ptr<Loss>, std::shared_ptr<Admission>,
                      std::shared_ptr<Update>, std::shared_ptr<Compression>, std::size_t,
                      std::size_t, std::size_t, std::size_t, std::optional<std::uint64_t>, bool,
                      bool, double, double, double>(),
             nb::arg("kernel"), nb::arg("loss"), nb::arg("admission"), nb::arg("update"),
             nb::arg("compression"), nb::arg("n_features"), nb::arg("n_outputs"),
             nb::arg("batch_size"), nb::arg("reserve"), nb::arg("average_after") = nb::none(),
             nb::arg("at_once") = true, nb::arg("intercept") = false, nb::arg("unit") = 1.0,
             nb::arg("forgetting") = 1.0, nb::arg("average_power") = 0.0)
        .def("predict_then_learn_with_variances", &SharedLearner::predict_then_learn_with_variances,
             nb::arg("X"), nb::arg("Y"), nb::arg("weights").none(), nb::arg("n_outputs"))
        .def("predict_then_learn_with_gradients", &SharedLearner::predict_then_learn_with_gradients,
             nb::arg("X"), nb::arg("Y"), nb::arg("n_outputs"), nb::arg("parts"), nb::arg("scale"))
        .def("compress_by", &SharedLearner::compress_by, nb::arg("compression"), nb::arg("reserve"),
             nb::arg("budget"))
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
        .def("set_threads", &SharedLearner::set_threads, nb::arg("threads"),
             nb::arg("least") = Team::usual_least)
        .def("climb", &SharedLearner::climb, nb::arg("steps"))
        .def("dual", of_learner(&describe_dual))
        .def("variances", &SharedLearner::variances, nb::arg("X"), nb::arg("threads") = 1)
        .def("predict_with_variances", &SharedLearner::predict_with_variances, nb::arg("X"),
             nb::arg("threads") = 1)
        .def("noise", of_learner(&noise))
        .def("centers", of_learner([](const Learner& l) { return centers(l.dictionary()); }))
        .def("weights", of_learner([](const Learner& l) {
                 return weights(l.dictionary(), l.shown(), l.n_outputs());
             }))
        .def_prop_ro("unit", of_learner([](const Learner& l) { return l.unit(); }))
        .def("drift", &SharedLearner::drift)
        .def("covariance_factor", of_learner(&covariance_factor))
        .def_prop_ro("needs", of_learner([](const Learner& l) {
                         const Needs needs = l.dictionary().needs();
                         return nb::make_tuple(needs.factor, needs.neighbours, needs.ridge,
                                               needs.pairs);
                     }))
        .def_prop_ro("n_centers",
                     of_learner([](const Learner& l) { return l.dictionary().size(); }))
        .def_prop_ro("spent", of_learner([](const Learner& l) { return l.spent(); }))
        .def_prop_ro("rebuilds",
                     of_learner([](const Learner& l) { return l.dictionary().rebuilds(); }));
}

}  // namespace parsimon::bindings
