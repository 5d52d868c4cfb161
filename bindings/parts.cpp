#include "parts.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bindings.hpp"

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

Array loss_flow(const Loss& loss, const Vector& f, const Vector& y, double reach) {
    require_target(loss, f, y);
    if (!(reach > 0.0)) throw nb::value_error("reach must be above 0");
    Result g({f.shape(0)});
    loss.flow(f.data(), y.data(), reach, g.data(), f.shape(0));
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

// Binds a function that makes a part of the list by name.
template <class List>
void bind_list(nb::module_& m, const char* kind) {
    m.def(
        kind,
        [kind](const std::string& name, const std::vector<double>& parameters) {
            return List::make(kind, name, parameters);
        },
        nb::arg("name"), nb::arg("parameters"));
}

}  // namespace

void bind_parts(nb::module_& m) {
    nb::class_<Loss>(m, "Loss")
        .def("value", &loss_value, nb::arg("f"), nb::arg("y"))
        .def("values", &loss_values, nb::arg("F"), nb::arg("Y"))
        .def("gradient", &loss_gradient, nb::arg("f"), nb::arg("y"))
        .def("flow", &loss_flow, nb::arg("f"), nb::arg("y"), nb::arg("reach"));
    nb::class_<Admission>(m, "Admission");
    nb::class_<Update>(m, "Update")
        .def_prop_ro("pooling", &pooling)
        .def_prop_ro("forgets", &Update::forgets);
    nb::class_<Compression>(m, "Compression");
    bind_list<Losses>(m, "loss");
    bind_list<Admissions>(m, "admission");
    bind_list<Updates>(m, "update");
    bind_list<Compressions>(m, "compression");
}

}  // namespace parsimon::bindings
