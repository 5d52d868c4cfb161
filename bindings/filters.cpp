#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "fourier.hpp"
#include "multikernel.hpp"
#include "shared_model.hpp"

namespace parsimon::bindings {
namespace {

// A Filter with a lock: many threads may predict while one thread learns.
class SharedFilter : public SharedModel<Filter> {
public:
    explicit SharedFilter(std::unique_ptr<Filter> filter) : SharedModel(std::move(filter), 1) {}

    void set_budget(std::size_t budget) {
        ModelLock::Learning guard(lock_, without_gil);
        model_->set_budget(budget);
    }
};

// A method that reads the filter under its lock.
constexpr auto of_filter = [](auto what) { return reading<SharedFilter>(what); };

}  // namespace

void bind_filters(nb::module_& m) {
    bind_model<SharedFilter>(m, "Filter")
        .def("set_budget", &SharedFilter::set_budget, nb::arg("budget"))
        .def("points", of_filter([](const Filter& f) {
                 Result result({f.n_points(), f.n_features()});
                 f.copy_points(result.data());
                 return result.release();
             }))
        .def("weights", of_filter([](const Filter& f) {
                 Result result({f.size(), f.n_outputs()});
                 f.copy_weights(result.data());
                 return result.release();
             }))
        .def_prop_ro("n_points", of_filter([](const Filter& f) { return f.n_points(); }));
    m.def(
        "multi_kernel_filter",
        [](const std::vector<std::shared_ptr<Kernel>>& kernels, std::size_t n_features,
           std::size_t n_outputs, bool intercept, double step_size, double coherence, double ridge,
           std::size_t budget) {
            return new SharedFilter(std::make_unique<MultiKernelFilter>(
                std::vector<KernelPtr>(kernels.begin(), kernels.end()), n_features, n_outputs,
                intercept, step_size, coherence, ridge, budget));
        },
        nb::arg("kernels"), nb::arg("n_features"), nb::arg("n_outputs"), nb::arg("intercept"),
        nb::arg("step_size"), nb::arg("coherence"), nb::arg("ridge"), nb::arg("budget"));
    m.def(
        "fourier_filter",
        [](const Matrix& frequencies, const Vector& phases, std::size_t n_outputs, bool intercept,
           double step_size) {
            if (frequencies.shape(0) != phases.shape(0) || phases.shape(0) == 0)
                throw nb::value_error("there must be one phase per frequency");
            return new SharedFilter(std::make_unique<FourierFilter>(
                frequencies.data(), phases.data(), phases.shape(0), frequencies.shape(1), n_outputs,
                intercept, step_size));
        },
        nb::arg("frequencies"), nb::arg("phases"), nb::arg("n_outputs"), nb::arg("intercept"),
        nb::arg("step_size"));
}

}  // namespace parsimon::bindings
