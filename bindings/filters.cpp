#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "fourier.hpp"
#include "model_lock.hpp"
#include "multikernel.hpp"
#include "state_arrays.hpp"
#include "threads.hpp"
#include "waiting.hpp"

namespace parsimon::bindings {
namespace {

constexpr std::size_t rows_of_a_piece = 256;  // rows that a thread predicts at a time
using Weights = std::optional<Vector>;

// A Filter with a lock: many threads may predict while one thread learns.
class SharedFilter {
public:
    explicit SharedFilter(std::unique_ptr<Filter> filter) : filter_(std::move(filter)) {}

    void learn(const Matrix& X, const Matrix& Y, const Weights& weights, std::size_t n_outputs) {
        learn_block(X, Y, weights, n_outputs, nullptr);
    }
    Array predict_then_learn(const Matrix& X, const Matrix& Y, const Weights& weights,
                             std::size_t n_outputs) {
        std::optional<Result> result;
        learn_block(X, Y, weights, n_outputs, &result);
        return result->release();
    }
    // Learns one sample. Returns False if x is not an array of doubles, or if y is neither a number
    // nor such an array. The caller converts them then.
    bool learn_one(nb::handle x, nb::handle y, double weight) {
        Vector point, targets;
        double target = 0.0;
        if (!nb::try_cast(x, point, false)) return false;
        const bool number = nb::try_cast(y, target, true);
        if (!number && !nb::try_cast(y, targets, false)) return false;
        require_columns(point.shape(0), filter_->n_features(), "X");
        const double *values = number ? &target : targets.data(),
                     *weights = weight == 1.0 ? nullptr : &weight;
        ModelLock::Learning guard(lock_, without_gil);
        require_targets(number ? 1 : targets.shape(0), filter_->n_outputs());
        filter_->check_samples(point.data(), values, weights, 1, filter_->n_outputs());
        filter_->learn(point.data(), values, weights, 1, nullptr);
        return true;
    }
    void check(const Matrix& X, const Matrix& Y, const Weights& weights, std::size_t n_outputs) {
        require_block(X, Y, weights);
        nb::gil_scoped_release release;
        ModelLock::Reading guard(lock_, as_it_is);
        require_targets(Y.shape(1), n_outputs);
        filter_->check_samples(X.data(), Y.data(), weights ? weights->data() : nullptr, X.shape(0),
                               n_outputs);
    }
    // Learns the mean of all targets before the samples, which must have been checked.
    void hold_targets(const Matrix& Y, const Weights& weights) {
        ModelLock::Learning guard(lock_, without_gil);
        require_targets(Y.shape(1), filter_->n_outputs());
        if (weights && weights->shape(0) != Y.shape(0))
            throw nb::value_error("there must be one weight per row");
        filter_->hold_targets(Y.data(), weights ? weights->data() : nullptr, Y.shape(0));
    }
    void release_targets() {
        ModelLock::Learning guard(lock_, without_gil);
        filter_->release_targets();
    }
    void set_budget(std::size_t budget) {
        ModelLock::Learning guard(lock_, without_gil);
        filter_->set_budget(budget);
    }

    nb::tuple state() {
        State state;
        {
            ModelLock::Learning guard(lock_, without_gil);
            filter_->visit(StateVisitor::writer(state));
        }
        return to_python(state);
    }
    void restore(const nb::dict& arrays, const nb::dict& counts, std::size_t n_features) {
        State state = from_python(arrays, counts);
        ModelLock::Learning guard(lock_, without_gil);
        if (filter_->seen() > 0) throw std::runtime_error("this filter has learned already");
        filter_->visit(StateVisitor::reader(state, n_features));
    }
    void require_sound() {
        ModelLock::Learning guard(lock_, without_gil);
        filter_->require_sound();
    }

    Array predict(const Matrix& X, std::size_t threads) const {
        return each_row(X, threads, false, &Filter::predict);
    }
    // Returns df/dx for the rows of X, (n, n_outputs, n_features).
    Array gradient(const Matrix& X, std::size_t threads) const {
        return each_row(X, threads, true, &Filter::gradient);
    }

    // Calls what(filter) while holding the lock for reading.
    template <class Read>
    auto read(Read&& what) const {
        ModelLock::Reading guard(lock_, without_gil);
        return what(*filter_);
    }

private:
    void require_block(const Matrix& X, const Matrix& Y, const Weights& weights) const {
        require_columns(X.shape(1), filter_->n_features(), "X");
        if (Y.shape(0) != X.shape(0) || (weights && weights->shape(0) != X.shape(0)))
            throw nb::value_error("X, y and sample_weight must have as many rows");
    }
    static void require_targets(std::size_t found, std::size_t expected) {
        if (found != expected)
            throw nb::value_error(("y has " + std::to_string(found) + " outputs, but " +
                                   std::to_string(expected) + " are expected")
                                      .c_str());
    }

    // Returns what(x, n, out) of the rows of X: (n, n_outputs), or (n, n_outputs, n_features).
    Array each_row(const Matrix& X, std::size_t threads, bool by_feature,
                   void (Filter::*what)(const double*, std::size_t, double*) const) const {
        const std::size_t n = X.shape(0), d = X.shape(1);
        require_columns(d, filter_->n_features(), "X");
        std::optional<Result> result;
        {
            nb::gil_scoped_release release;
            ModelLock::Reading guard(lock_, as_it_is);
            const std::size_t C = filter_->n_outputs(), each = by_feature ? C * d : C;
            if (by_feature)
                result.emplace(std::initializer_list<std::size_t>{n, C, d});
            else
                result.emplace(std::initializer_list<std::size_t>{n, C});
            filter_->check_inputs(X.data(), n);
            const auto work = [&](std::size_t first, std::size_t last) {
                (filter_.get()->*what)(X.data() + first * d, last - first,
                                       result->data() + first * each);
            };
            if (threads < 2)
                work(0, n);
            else
                in_pieces(n, rows_of_a_piece, threads, [&](std::size_t first, std::size_t last) {
                    ModelLock::Reading helping(lock_, ModelLock::Reading::Helping());
                    work(first, last);
                });
        }
        return result->release();
    }

    // If `n_outputs` is larger than the number of outputs, outputs are added after the block was
    // checked.
    void learn_block(const Matrix& X, const Matrix& Y, const Weights& weights,
                     std::size_t n_outputs, std::optional<Result>* result) {
        const std::size_t n = X.shape(0), d = X.shape(1), T = Y.shape(1), chunk = 64;
        require_block(X, Y, weights);
        nb::gil_scoped_release release;
        ModelLock::Learning guard(lock_, as_it_is);
        n_outputs = std::max(n_outputs, filter_->n_outputs());
        require_targets(T, n_outputs);
        if (result) result->emplace(std::initializer_list<std::size_t>{n, n_outputs});
        double* predictions = result ? (*result)->data() : nullptr;
        const double* w = weights ? weights->data() : nullptr;
        filter_->check_samples(X.data(), Y.data(), w, n, n_outputs);
        filter_->set_outputs(n_outputs);
        // Check for Ctrl-C every 0.1 s. Release the lock first, because a signal handler may use
        // the model.
        auto heard = std::chrono::steady_clock::now();
        for (std::size_t first = 0; first < n; first += chunk) {
            filter_->learn(X.data() + first * d, Y.data() + first * T, w ? w + first : nullptr,
                           std::min(chunk, n - first),
                           predictions ? predictions + first * T : nullptr);
            if (first + chunk >= n ||
                std::chrono::steady_clock::now() - heard <= std::chrono::milliseconds(100))
                continue;
            guard.release();
            {
                nb::gil_scoped_acquire acquire;
                if (PyErr_CheckSignals() != 0) throw nb::python_error();
            }
            guard.take();
            if (filter_->n_outputs() != n_outputs)
                throw std::runtime_error(
                    "another thread added outputs to this model while it learned");
            heard = std::chrono::steady_clock::now();
        }
    }

    ModelLock lock_;
    std::unique_ptr<Filter> filter_;
};

// A method that reads the filter under its lock.
template <class Read>
auto reading(Read what) {
    return [what](const SharedFilter& filter) { return filter.read(what); };
}

}  // namespace

void bind_filters(nb::module_& m) {
    nb::class_<SharedFilter>(m, "Filter")
        .def("learn", &SharedFilter::learn, nb::arg("X"), nb::arg("Y"),
             nb::arg("weights").none() = nb::none(), nb::arg("n_outputs") = 0)
        .def("predict_then_learn", &SharedFilter::predict_then_learn, nb::arg("X"), nb::arg("Y"),
             nb::arg("weights").none() = nb::none(), nb::arg("n_outputs") = 0)
        .def("learn_one", &SharedFilter::learn_one, nb::arg("x").none(), nb::arg("y").none(),
             nb::arg("weight") = 1.0)
        .def("check", &SharedFilter::check, nb::arg("X"), nb::arg("Y"), nb::arg("weights").none(),
             nb::arg("n_outputs"))
        .def("hold_targets", &SharedFilter::hold_targets, nb::arg("Y"), nb::arg("weights").none())
        .def("release_targets", &SharedFilter::release_targets)
        .def("set_budget", &SharedFilter::set_budget, nb::arg("budget"))
        .def("state", &SharedFilter::state)
        .def("restore", &SharedFilter::restore, nb::arg("arrays"), nb::arg("counts"),
             nb::arg("n_features") = 0)
        .def("require_sound", &SharedFilter::require_sound)
        .def("predict", &SharedFilter::predict, nb::arg("X"), nb::arg("threads") = 1)
        .def("gradient", &SharedFilter::gradient, nb::arg("X"), nb::arg("threads") = 1)
        .def("points", reading([](const Filter& f) {
                 Result result({f.n_points(), f.n_features()});
                 f.copy_points(result.data());
                 return result.release();
             }))
        .def("weights", reading([](const Filter& f) {
                 Result result({f.size(), f.n_outputs()});
                 f.copy_weights(result.data());
                 return result.release();
             }))
        .def("intercept", reading([](const Filter& f) {
                 Result result({f.n_outputs()});
                 std::copy_n(f.intercept(), f.n_outputs(), result.data());
                 return result.release();
             }))
        .def_prop_ro("n_points", reading([](const Filter& f) { return f.n_points(); }))
        .def_prop_ro("n_samples_seen", reading([](const Filter& f) { return f.seen(); }))
        .def_prop_ro("n_features", reading([](const Filter& f) { return f.n_features(); }))
        .def_prop_ro("n_outputs", reading([](const Filter& f) { return f.n_outputs(); }))
        .def_prop_ro("nbytes", reading([](const Filter& f) { return f.nbytes(); }));
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
