#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "admission.hpp"
#include "arrays.hpp"
#include "bindings.hpp"
#include "compression.hpp"
#include "dual_ascent.hpp"
#include "losses.hpp"
#include "rls.hpp"
#include "updates.hpp"

namespace parsimon::bindings {
namespace {

void require_target(const Loss& loss, const Vector& f, const Vector& y) {
    if (f.shape(0) == 0) throw nb::value_error("f has no outputs");
    require_columns(y.shape(0), loss.n_targets(f.shape(0)), "y");
    if (const char* objection = loss.objection(y.data(), f.shape(0)))
        throw nb::value_error((std::string("y ") + objection).c_str());
}

double loss_value(const Loss& loss, const Vector& f, const Vector& y) {
    require_target(loss, f, y);
    return loss.value(f.data(), y.data(), f.shape(0));
}

Array loss_values(const Loss& loss, const Matrix& F, const Matrix& Y) {
    const std::size_t n = F.shape(0), C = F.shape(1), T = loss.n_targets(C);
    if (Y.shape(0) != n || Y.shape(1) != T || C == 0)
        throw nb::value_error("the shapes of F and Y do not fit");
    Result values({n});
    for (std::size_t i = 0; i < n; ++i) {
        if (const char* objection = loss.objection(Y.data() + i * T, C))
            throw nb::value_error(("y at row " + std::to_string(i) + " " + objection).c_str());
        values.data()[i] = loss.value(F.data() + i * C, Y.data() + i * T, C);
    }
    return values.release();
}

Array loss_gradient(const Loss& loss, const Vector& f, const Vector& y) {
    require_target(loss, f, y);
    Result g({f.shape(0)});
    loss.gradient(f.data(), y.data(), g.data(), f.shape(0));
    return g.release();
}

const char* pooling(const Update& update) {
    switch (update.pooling()) {
        case Update::Pooling::solve:
            return "solve";
        case Update::Pooling::climb:
            return "climb";
        default:
            return "none";
    }
}

}  // namespace

void bind_parts(nb::module_& m) {
    nb::class_<Loss>(m, "Loss")
        .def("value", &loss_value, nb::arg("f"), nb::arg("y"))
        .def("values", &loss_values, nb::arg("F"), nb::arg("Y"))
        .def("gradient", &loss_gradient, nb::arg("f"), nb::arg("y"));
    m.def(
        "loss",
        [](const std::string& name, const std::vector<double>& parameters) {
            return make_loss(name, parameters);
        },
        nb::arg("name"), nb::arg("parameters"));

    nb::class_<Admission>(m, "Admission");
    nb::class_<AlwaysAdmission, Admission>(m, "AlwaysAdmission").def(nb::init<>());
    nb::class_<ProposedAdmission, Admission>(m, "ProposedAdmission").def(nb::init<>());
    nb::class_<CoherenceAdmission, Admission>(m, "CoherenceAdmission")
        .def(nb::init<double>(), nb::arg("threshold"));

    nb::class_<AdaptiveCoherenceAdmission, Admission>(m, "AdaptiveCoherenceAdmission")
        .def(nb::init<std::size_t, double>(), nb::arg("fill"), nb::arg("threshold"));
    nb::class_<DependenceAdmission, Admission>(m, "DependenceAdmission")
        .def(nb::init<double, double, std::size_t>(), nb::arg("tolerance"), nb::arg("ridge"),
             nb::arg("most"));
    nb::class_<ResidualAdmission, Admission>(m, "ResidualAdmission")
        .def(nb::init<double>(), nb::arg("tolerance"));
    nb::class_<DistanceAdmission, Admission>(m, "DistanceAdmission")
        .def(nb::init<double>(), nb::arg("radius"));

    nb::class_<Update>(m, "Update")
        .def_prop_ro("pooling", &pooling)
        .def_prop_ro("forgets", &Update::forgets);
    nb::class_<PlainGradientUpdate, Update>(m, "PlainGradientUpdate")
        .def(nb::init<double, double, double, double>(), nb::arg("step_size"), nb::arg("shrinkage"),
             nb::arg("power"), nb::arg("delay"));
    nb::class_<ProjectedGradientUpdate, Update>(m, "ProjectedGradientUpdate")
        .def(nb::init<double, double, double, double>(), nb::arg("step_size"), nb::arg("shrinkage"),
             nb::arg("power"), nb::arg("delay"));
    nb::class_<QuantizedGradientUpdate, Update>(m, "QuantizedGradientUpdate")
        .def(nb::init<double, double, double, double>(), nb::arg("step_size"), nb::arg("shrinkage"),
             nb::arg("power"), nb::arg("delay"));
    nb::class_<SpanRLSUpdate, Update>(m, "SpanRLSUpdate")
        .def(nb::init<double, double>(), nb::arg("ridge"), nb::arg("forgetting"));
    nb::class_<RowRLSUpdate, Update>(m, "RowRLSUpdate")
        .def(nb::init<double, double>(), nb::arg("ridge"), nb::arg("forgetting"));
    nb::class_<DualAscentUpdate, Update>(m, "DualAscentUpdate")
        .def(nb::init<double, double, bool>(), nb::arg("epsilon"), nb::arg("box"), nb::arg("far"));
    nb::class_<NLMSUpdate, Update>(m, "NLMSUpdate")
        .def(nb::init<double, double>(), nb::arg("step_size"), nb::arg("ridge"));

    nb::class_<Compression>(m, "Compression");
    nb::class_<NoCompression, Compression>(m, "NoCompression").def(nb::init<>());
    nb::class_<LeastCostCompression, Compression>(m, "LeastCostCompression")
        .def(nb::init<std::size_t, double>(), nb::arg("budget"), nb::arg("tolerance") = 0.0);
    nb::class_<MatchingPursuitCompression, Compression>(m, "MatchingPursuitCompression")
        .def(nb::init<double, double, std::size_t>(), nb::arg("parsimony"), nb::arg("power"),
             nb::arg("budget"));
    nb::class_<SmallestCompression, Compression>(m, "SmallestCompression")
        .def(nb::init<std::size_t>(), nb::arg("budget"));
    nb::class_<MergeCompression, Compression>(m, "MergeCompression")
        .def(nb::init<std::size_t>(), nb::arg("budget"));
    nb::class_<LeastNeededCompression, Compression>(m, "LeastNeededCompression")
        .def(nb::init<std::size_t>(), nb::arg("budget"));
    nb::class_<MostCoherentCompression, Compression>(m, "MostCoherentCompression")
        .def(nb::init<std::size_t, bool>(), nb::arg("budget"), nb::arg("cheaper"));
    nb::class_<OldestCompression, Compression>(m, "OldestCompression")
        .def(nb::init<std::size_t>(), nb::arg("budget"));
}

}  // namespace parsimon::bindings
