#include <nanobind/stl/shared_ptr.h>

#include "admission.hpp"
#include "arrays.hpp"
#include "bindings.hpp"
#include "compression.hpp"
#include "losses.hpp"
#include "updates.hpp"

namespace parsimon::bindings {
namespace {

double loss_value(const Loss& loss, const Vector& f, const Vector& y) {
    require_columns(y.shape(0), f.shape(0), "y");
    return loss.value(f.data(), y.data(), f.shape(0));
}

Array loss_gradient(const Loss& loss, const Vector& f, const Vector& y) {
    require_columns(y.shape(0), f.shape(0), "y");
    Result g({f.shape(0)});
    loss.gradient(f.data(), y.data(), g.data(), f.shape(0));
    return g.release();
}

}  // namespace

void bind_parts(nb::module_& m) {
    nb::class_<Loss>(m, "Loss")
        .def("value", &loss_value, nb::arg("f"), nb::arg("y"))
        .def("gradient", &loss_gradient, nb::arg("f"), nb::arg("y"));
    nb::class_<SquaredLoss, Loss>(m, "SquaredLoss").def(nb::init<>());

    nb::class_<Admission>(m, "Admission");
    nb::class_<AlwaysAdmission, Admission>(m, "AlwaysAdmission").def(nb::init<>());
    nb::class_<CoherenceAdmission, Admission>(m, "CoherenceAdmission").def(nb::init<double>(), nb::arg("threshold"));

    nb::class_<Update>(m, "Update");
    nb::class_<NLMSUpdate, Update>(m, "NLMSUpdate").def(nb::init<double, double>(), nb::arg("step_size"), nb::arg("ridge"));

    nb::class_<Compression>(m, "Compression");
    nb::class_<NoCompression, Compression>(m, "NoCompression").def(nb::init<>());
    nb::class_<LeastCostCompression, Compression>(m, "LeastCostCompression").def(nb::init<std::size_t>(), nb::arg("budget"));
    nb::class_<OldestCompression, Compression>(m, "OldestCompression").def(nb::init<std::size_t>(), nb::arg("budget"));
}

}  // namespace parsimon::bindings
