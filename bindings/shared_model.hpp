// A model of targets that Python threads can share: what learners and filters have in common.
#pragma once

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "locked.hpp"
#include "threads.hpp"

namespace parsimon::bindings {

inline constexpr std::size_t rows_of_a_piece = 256;  // rows that a thread predicts at a time
using Weights = std::optional<Vector>;

// A Learner or a Filter with a lock: many threads may predict while one thread learns.
template <class Model>
class SharedModel : public Locked<Model> {
public:
    SharedModel(std::unique_ptr<Model> model, std::size_t batch_size)
        : Locked<Model>(std::move(model)), batch_size_(batch_size) {}

    void learn(const Matrix& X, const Matrix& Y, const Weights& weights, std::size_t n_outputs) {
        learn_block(X, Y, weights, n_outputs);
    }

    Array predict_then_learn(const Matrix& X, const Matrix& Y, const Weights& weights,
                             std::size_t n_outputs) {
        std::optional<Result> result;
        learn_block(X, Y, weights, n_outputs, result);
        return result->release();
    }

    // Throws at the first row that cannot be learned.
    void check(const Matrix& X, const Matrix& Y, const Weights& weights, std::size_t n_outputs) {
        require_block(X, Y, weights);
        nb::gil_scoped_release release;
        ModelLock::Learning guard(lock_, as_it_is);
        require_targets(Y.shape(1), n_outputs);
        model_->check_samples(X.data(), Y.data(), weights ? weights->data() : nullptr, X.shape(0),
                              n_outputs);
    }

    // Learns the mean and the unit of all targets before the samples, which must have been checked.
    void hold_targets(const Matrix& Y, const Weights& weights) {
        if (weights && weights->shape(0) != Y.shape(0))
            throw nb::value_error("there must be one weight per row");
        nb::gil_scoped_release release;
        ModelLock::Learning guard(lock_, as_it_is);
        require_targets(Y.shape(1), outputs());
        model_->hold_targets(Y.data(), weights ? weights->data() : nullptr, Y.shape(0));
    }
    void release_targets() {
        nb::gil_scoped_release release;
        ModelLock::Learning guard(lock_, as_it_is);
        model_->release_targets();
    }

    // Learns one sample. Returns False if x is not an array of doubles, or if y is neither a number
    // nor such an array. The caller converts them then.
    bool learn_one(nb::handle x, nb::handle y, double weight) {
        Vector point, targets;
        double target = 0.0;
        if (!nb::try_cast(x, point, false)) return false;
        const bool number = nb::try_cast(y, target, true);
        if (!number && !nb::try_cast(y, targets, false)) return false;
        require_features(point.shape(0));
        learn_row(point.data(), number ? &target : targets.data(), number ? 1 : targets.shape(0),
                  weight);
        return true;
    }

    Array predict(const Matrix& X, std::size_t threads) const {
        require_features(X.shape(1));
        std::optional<Result> result;
        {
            nb::gil_scoped_release release;
            ModelLock::Reading guard(lock_, as_it_is);
            // Under the lock, because learning may add outputs.
            result.emplace(std::initializer_list<std::size_t>{X.shape(0), outputs()});
            predict_rows(X.data(), X.shape(0), result->data(), threads);
        }
        return result->release();
    }

    // Returns df/dx for the rows of X, (n, n_outputs, n_features).
    Array gradient(const Matrix& X, std::size_t threads) const {
        return each_row(X, threads, X.shape(1), &Model::gradient);
    }

    // Predicts one point, for models with one output. Returns None if x is not an array of doubles.
    // The caller converts it then.
    std::optional<double> predict_one(nb::handle x) const {
        Vector point;
        if (!nb::try_cast(x, point, false)) return std::nullopt;
        require_features(point.shape(0));
        ModelLock::Reading guard(lock_, without_gil);
        std::vector<double> f(outputs());
        predict_rows(point.data(), 1, f.data(), 1);
        return f[0];
    }

protected:
    using Locked<Model>::lock_;
    using Locked<Model>::model_;

    std::size_t batch_size() const { return batch_size_; }
    std::size_t outputs() const { return model_->n_outputs(); }
    void require_features(std::size_t found) const {
        require_columns(found, model_->n_features(), "X");
    }

    void predict_rows(const double* x, std::size_t n, double* out, std::size_t threads) const {
        model_->check_inputs(x, n);
        const std::size_t d = model_->n_features(), C = outputs();
        in_threads(n, threads, [&](std::size_t first, std::size_t last) {
            model_->predict(x + first * d, last - first, out + first * C);
        });
    }

    // Returns what(x, n, out) of the rows of X, with `numbers` for each output: (n, n_outputs,
    // numbers).
    Array each_row(const Matrix& X, std::size_t threads, std::size_t numbers,
                   void (Model::*what)(const double*, std::size_t, double*) const) const {
        const std::size_t n = X.shape(0), d = X.shape(1);
        require_features(d);
        std::optional<Result> result;
        {
            nb::gil_scoped_release release;
            ModelLock::Reading guard(lock_, as_it_is);
            result.emplace(std::initializer_list<std::size_t>{n, outputs(), numbers});
            model_->check_inputs(X.data(), n);
            in_threads(n, threads, [&](std::size_t first, std::size_t last) {
                (*model_.*what)(X.data() + first * d, last - first,
                                result->data() + first * outputs() * numbers);
            });
        }
        return result->release();
    }

    // Calls work(first, last) for pieces of the rows. The threads hold the lock for reading.
    template <class Work>
    void in_threads(std::size_t n, std::size_t threads, Work&& work) const {
        if (threads < 2) return work(0, n);
        in_pieces(n, rows_of_a_piece, threads, [&](std::size_t first, std::size_t last) {
            ModelLock::Reading guard(lock_, ModelLock::Reading::Helping());
            work(first, last);
        });
    }

    // Learns a block. If `n_outputs` is larger than the number of outputs, outputs are added after
    // the block was checked. The optional Results `wanted` receive what Model::learn writes for
    // each row, (n, n_outputs): predictions, then variances.
    template <class... Wanted>
    void learn_block(const Matrix& X, const Matrix& Y, const Weights& weights,
                     std::size_t n_outputs, Wanted&... wanted) {
        // Whole batches at a time
        const std::size_t chunk = std::max<std::size_t>(1, 64 / batch_size_) * batch_size_;
        learn_chunks(
            X, Y, weights, n_outputs, [&](std::size_t first) { return first + chunk; },
            [](std::size_t) {}, wanted...);
    }

    // As learn_block, in chunks that end where end(first) says. Calls after(last) after each one.
    template <class End, class After, class... Wanted>
    void learn_chunks(const Matrix& X, const Matrix& Y, const Weights& weights,
                      std::size_t n_outputs, End&& end, After&& after, Wanted&... wanted) {
        const std::size_t n = X.shape(0), d = X.shape(1), T = Y.shape(1);
        require_block(X, Y, weights);
        nb::gil_scoped_release release;
        ModelLock::Learning guard(lock_, as_it_is);
        n_outputs = std::max(n_outputs, outputs());
        require_targets(T, n_outputs);
        (wanted.emplace(std::initializer_list<std::size_t>{n, n_outputs}), ...);
        const double* w = weights ? weights->data() : nullptr;
        model_->check_samples(X.data(), Y.data(), w, n, n_outputs);
        model_->set_outputs(n_outputs);
        this->in_chunks(n, end, guard, [&](std::size_t first, std::size_t last) {
            if (outputs() != n_outputs)
                throw std::runtime_error(
                    "another thread added outputs to this model while it learned");
            model_->learn(X.data() + first * d, Y.data() + first * T, w ? w + first : nullptr,
                          last - first, wanted->data() + first * n_outputs...);
            after(last);
        });
    }

private:
    void require_block(const Matrix& X, const Matrix& Y, const Weights& weights) const {
        const std::size_t n = X.shape(0);
        require_features(X.shape(1));
        if (Y.shape(0) != n)
            throw nb::value_error(
                ("X has " + std::to_string(n) + " rows, y has " + std::to_string(Y.shape(0)))
                    .c_str());
        if (weights && weights->shape(0) != n)
            throw nb::value_error(("X has " + std::to_string(n) + " rows, sample_weight has " +
                                   std::to_string(weights->shape(0)))
                                      .c_str());
    }
    void require_targets(std::size_t found, std::size_t n_outputs) const {
        const std::size_t expected = model_->n_targets(n_outputs);
        if (found != expected)
            throw nb::value_error(("y has " + std::to_string(found) + " outputs, but " +
                                   std::to_string(expected) + " are expected")
                                      .c_str());
    }

    void learn_row(const double* x, const double* y, std::size_t n_targets, double weight) {
        const double* weights = weight == 1.0 ? nullptr : &weight;
        ModelLock::Learning guard(lock_, without_gil);
        require_targets(n_targets, outputs());
        model_->check_samples(x, y, weights, 1, outputs());
        model_->learn(x, y, weights, 1);
    }

    std::size_t batch_size_;
};

// Binds a SharedModel, and the methods and properties that all of them have.
template <class Shared>
nb::class_<Shared> bind_model(nb::module_& m, const char* name) {
    return bind_locked<Shared>(m, name)
        .def("learn", &Shared::learn, nb::arg("X"), nb::arg("Y"), nb::arg("weights") = nb::none(),
             nb::arg("n_outputs") = 0)
        .def("check", &Shared::check, nb::arg("X"), nb::arg("Y"), nb::arg("weights").none(),
             nb::arg("n_outputs"))
        .def("hold_targets", &Shared::hold_targets, nb::arg("Y"), nb::arg("weights").none())
        .def("release_targets", &Shared::release_targets)
        .def("predict_then_learn", &Shared::predict_then_learn, nb::arg("X"), nb::arg("Y"),
             nb::arg("weights") = nb::none(), nb::arg("n_outputs") = 0)
        .def("learn_one", &Shared::learn_one, nb::arg("x").none(), nb::arg("y").none(),
             nb::arg("weight") = 1.0)
        .def("predict", &Shared::predict, nb::arg("X"), nb::arg("threads") = 1)
        .def("gradient", &Shared::gradient, nb::arg("X"), nb::arg("threads") = 1)
        .def("predict_one", &Shared::predict_one, nb::arg("x").none())
        .def("intercept", reading<Shared>([](const auto& model) {
                 Result result({model.n_outputs()});
                 std::copy_n(model.intercept(), model.n_outputs(), result.data());
                 return result.release();
             }))
        .def_prop_ro("n_features", reading<Shared>([](const auto& l) { return l.n_features(); }))
        .def_prop_ro("n_outputs", reading<Shared>([](const auto& l) { return l.n_outputs(); }));
}

}  // namespace parsimon::bindings
