// A Learner that Python threads can share.
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "dictionary_handle.hpp"
#include "learner.hpp"
#include "state_arrays.hpp"
#include "threads.hpp"
#include "waiting.hpp"

namespace parsimon::bindings {

inline constexpr std::size_t rows_of_a_piece = 256;  // rows that a thread predicts at a time

// A Learner with a lock: many threads may predict while one thread learns.
class SharedLearner {
public:
    SharedLearner(std::shared_ptr<Kernel> kernel, std::shared_ptr<Loss> loss,
                  std::shared_ptr<Admission> admission, std::shared_ptr<Update> update,
                  std::shared_ptr<Compression> compression, std::size_t n_features,
                  std::size_t n_outputs, std::size_t batch_size, std::size_t reserve,
                  std::optional<std::uint64_t> average_after, bool at_once, bool intercept,
                  double unit, double forgetting, double average_power)
        : learner_({kernel,
                    loss,
                    admission,
                    update,
                    compression,
                    batch_size,
                    average_after.value_or(std::numeric_limits<std::uint64_t>::max()),
                    {intercept, unit, forgetting},
                    average_power},
                   n_features, n_outputs, reserve, at_once),
          batch_size_(batch_size) {}

    void learn(const Matrix& X, const Matrix& Y, const std::optional<Vector>& weights,
               std::size_t n_outputs) {
        learn_block(X, Y, weights, n_outputs, nullptr, nullptr);
    }

    Array predict_then_learn(const Matrix& X, const Matrix& Y, const std::optional<Vector>& weights,
                             std::size_t n_outputs) {
        std::optional<Result> result;
        learn_block(X, Y, weights, n_outputs, &result, nullptr);
        return result->release();
    }

    // The same with the variance of each observation before it was learned.
    nb::tuple predict_then_learn_with_variances(const Matrix& X, const Matrix& Y,
                                                const std::optional<Vector>& weights,
                                                std::size_t n_outputs) {
        require_variances();
        std::optional<Result> result, variances;
        learn_block(X, Y, weights, n_outputs, &result, &variances);
        return nb::make_tuple(result->release(), variances->release());
    }

    // Throws at the first row that cannot be learned.
    void check(const Matrix& X, const Matrix& Y, const std::optional<Vector>& weights,
               std::size_t n_outputs) {
        require_block(X, Y, weights);
        nb::gil_scoped_release release;
        ModelLock::Learning guard(lock_, as_it_is);
        require_targets(Y.shape(1), n_outputs);
        learner_.check_samples(X.data(), Y.data(), weights ? weights->data() : nullptr, X.shape(0),
                               n_outputs);
    }

    // Learns the mean and the unit of all targets before the samples, which must have been checked.
    void hold_targets(const Matrix& Y, const std::optional<Vector>& weights) {
        if (weights && weights->shape(0) != Y.shape(0))
            throw nb::value_error("there must be one weight per row");
        nb::gil_scoped_release release;
        ModelLock::Learning guard(lock_, as_it_is);
        require_targets(Y.shape(1), outputs());
        learner_.hold_targets(Y.data(), weights ? weights->data() : nullptr, Y.shape(0));
    }
    void release_targets() {
        nb::gil_scoped_release release;
        ModelLock::Learning guard(lock_, as_it_is);
        learner_.release_targets();
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

    void compress_by(std::shared_ptr<Compression> compression, std::size_t reserve,
                     std::size_t budget) {
        nb::gil_scoped_release release;
        ModelLock::Learning guard(lock_, as_it_is);
        learner_.compress_by(std::move(compression), reserve, budget);
    }

    void climb(std::size_t steps) {
        nb::gil_scoped_release release;
        ModelLock::Learning guard(lock_, as_it_is);
        learner_.climb(steps);
    }

    nb::tuple state() {
        State state;
        {
            ModelLock::Learning guard(lock_, without_gil);
            learner_.visit(StateVisitor::writer(state));
        }
        return to_python(state);
    }
    void restore(const nb::dict& arrays, const nb::dict& counts, std::size_t n_features) {
        State state = from_python(arrays, counts);
        ModelLock::Learning guard(lock_, without_gil);
        if (learner_.seen() > 0 || learner_.dictionary().size() > 0)
            throw std::runtime_error("this learner has learned already");
        learner_.visit(StateVisitor::reader(state, n_features));
    }
    void adopt(DictionaryHandle& merged, const Sums& sums, std::uint64_t seen,
               std::uint64_t averaged, std::uint64_t alive, double spent, const Vector& intercepts,
               const Vector& averages, const Vector& means, double total, double squares,
               std::uint64_t count, std::uint64_t settled) {
        const Dictionary& own = learner_.dictionary();
        if (!(merged.dictionary.needs() == own.needs()) ||
            merged.dictionary.n_outputs() != own.n_outputs() ||
            (sums.coordinates != Sums::Coordinates::none && sums.size != merged.dictionary.size()))
            throw nb::value_error("the dictionary or the sums are not those of such a learner");
        nb::gil_scoped_release release;
        ModelLock::Learning guard(lock_, as_it_is);
        if (learner_.seen() > 0 || own.size() > 0)
            throw std::runtime_error("this learner has learned already");
        const auto copied = [](const Vector& values) {
            return std::vector<double>(values.data(), values.data() + values.shape(0));
        };
        learner_.adopt(
            merged.dictionary, sums, {seen, averaged, alive, spent},
            {copied(intercepts), copied(averages), copied(means), total, squares, count, settled});
    }
    void require_sound() {
        ModelLock::Learning guard(lock_, without_gil);
        learner_.require_sound();
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
        return each_row(X, threads, X.shape(1), &Learner::gradient);
    }
    // Returns the variance of an observation at the rows of X, (n, n_outputs, 1).
    Array variances(const Matrix& X, std::size_t threads) const {
        require_variances();
        return each_row(X, threads, 1, &Learner::variances);
    }
    // Returns predictions and variances of one moment, each (n, n_outputs).
    nb::tuple predict_with_variances(const Matrix& X, std::size_t threads) const {
        require_variances();
        require_features(X.shape(1));
        std::optional<Result> result, variances;
        {
            nb::gil_scoped_release release;
            ModelLock::Reading guard(lock_, as_it_is);
            const std::size_t n = X.shape(0), d = X.shape(1), C = outputs();
            result.emplace(std::initializer_list<std::size_t>{n, C});
            variances.emplace(std::initializer_list<std::size_t>{n, C});
            predict_rows(X.data(), n, result->data(), threads);
            in_threads(n, threads, [&](std::size_t first, std::size_t last) {
                learner_.variances(X.data() + first * d, last - first,
                                   variances->data() + first * C);
            });
        }
        return nb::make_tuple(result->release(), variances->release());
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

    // Calls what(learner) while holding the lock for reading.
    template <class Read>
    auto read(Read&& what) const {
        ModelLock::Reading guard(lock_, without_gil);
        return what(learner_);
    }

    double drift() {
        ModelLock::Learning guard(lock_, without_gil);
        return learner_.dictionary().has_factor() ? learner_.dictionary().drift() : 0.0;
    }

private:
    std::size_t outputs() const { return learner_.n_outputs(); }
    void require_features(std::size_t found) const {
        require_columns(found, learner_.dictionary().n_features(), "X");
    }
    void require_block(const Matrix& X, const Matrix& Y,
                       const std::optional<Vector>& weights) const {
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
        const std::size_t expected = learner_.n_targets(n_outputs);
        if (found != expected)
            throw nb::value_error(("y has " + std::to_string(found) + " outputs, but " +
                                   std::to_string(expected) + " are expected")
                                      .c_str());
    }

    void predict_rows(const double* x, std::size_t n, double* out, std::size_t threads) const {
        Scratch scratch;
        learner_.check_inputs(x, n, scratch);
        const std::size_t d = learner_.dictionary().n_features(), C = outputs();
        in_threads(n, threads, [&](std::size_t first, std::size_t last) {
            learner_.predict(x + first * d, last - first, out + first * C);
        });
    }

    void require_variances() const {
        if (!learner_.has_variances()) throw nb::type_error("this learner keeps no variances");
    }

    // Returns what(x, n, out) of the rows of X, with `numbers` for each output: (n, n_outputs,
    // numbers).
    Array each_row(const Matrix& X, std::size_t threads, std::size_t numbers,
                   void (Learner::*what)(const double*, std::size_t, double*) const) const {
        const std::size_t n = X.shape(0), d = X.shape(1);
        require_features(d);
        std::optional<Result> result;
        {
            nb::gil_scoped_release release;
            ModelLock::Reading guard(lock_, as_it_is);
            result.emplace(std::initializer_list<std::size_t>{n, outputs(), numbers});
            Scratch scratch;
            learner_.check_inputs(X.data(), n, scratch);
            in_threads(n, threads, [&](std::size_t first, std::size_t last) {
                (learner_.*what)(X.data() + first * d, last - first,
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

    void learn_row(const double* x, const double* y, std::size_t n_targets, double weight) {
        const double* weights = weight == 1.0 ? nullptr : &weight;
        ModelLock::Learning guard(lock_, without_gil);
        require_targets(n_targets, outputs());
        learner_.check_samples(x, y, weights, 1, outputs());
        learner_.learn(x, y, weights, 1, nullptr);
    }

    // If `n_outputs` is larger than the number of outputs, outputs are added after the block was
    // checked.
    void learn_block(const Matrix& X, const Matrix& Y, const std::optional<Vector>& weights,
                     std::size_t n_outputs, std::optional<Result>* result,
                     std::optional<Result>* variances) {
        const std::size_t n = X.shape(0), d = X.shape(1), T = Y.shape(1);
        require_block(X, Y, weights);
        nb::gil_scoped_release release;
        ModelLock::Learning guard(lock_, as_it_is);
        n_outputs = std::max(n_outputs, outputs());
        require_targets(T, n_outputs);
        for (auto* wanted : {result, variances})
            if (wanted) wanted->emplace(std::initializer_list<std::size_t>{n, n_outputs});
        const auto place = [n_outputs](std::optional<Result>* wanted, std::size_t first) {
            return wanted ? (*wanted)->data() + first * n_outputs : nullptr;
        };
        const double* w = weights ? weights->data() : nullptr;
        learner_.check_samples(X.data(), Y.data(), w, n, n_outputs);
        learner_.set_outputs(n_outputs);
        // Learn whole batches at a time and check for Ctrl-C in between. Check only every 0.1 s,
        // because acquiring the GIL can be slow. Release the lock first, because a signal handler
        // may use the model.
        const std::size_t chunk = std::max<std::size_t>(1, 64 / batch_size_) * batch_size_;
        auto heard = std::chrono::steady_clock::now();
        for (std::size_t first = 0; first < n; first += chunk) {
            learner_.learn(X.data() + first * d, Y.data() + first * T, w ? w + first : nullptr,
                           std::min(chunk, n - first), place(result, first),
                           place(variances, first));
            if (first + chunk < n &&
                std::chrono::steady_clock::now() - heard > std::chrono::milliseconds(100)) {
                guard.release();
                {
                    nb::gil_scoped_acquire acquire;
                    if (PyErr_CheckSignals() != 0) throw nb::python_error();
                }
                guard.take();
                if (outputs() != n_outputs)
                    throw std::runtime_error(
                        "another thread added outputs to this model while it learned");
                heard = std::chrono::steady_clock::now();
            }
        }
    }

    ModelLock lock_;
    Learner learner_;
    std::size_t batch_size_;
};

}  // namespace parsimon::bindings
