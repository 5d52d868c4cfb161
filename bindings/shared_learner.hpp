// A Learner that Python threads can share.
#pragma once

#include <nanobind/stl/shared_ptr.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "dictionary_handle.hpp"
#include "learner.hpp"
#include "shared_model.hpp"

namespace parsimon::bindings {

using Parts = nb::ndarray<const std::int64_t, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;

// A Learner with a lock: many threads may predict while one thread learns.
class SharedLearner : public SharedModel<Learner> {
public:
    SharedLearner(std::shared_ptr<Kernel> kernel, std::shared_ptr<Loss> loss,
                  std::shared_ptr<Admission> admission, std::shared_ptr<Update> update,
                  std::shared_ptr<Compression> compression, std::size_t n_features,
                  std::size_t n_outputs, std::size_t batch_size, std::size_t reserve,
                  std::optional<std::uint64_t> average_after, bool at_once, bool intercept,
                  double unit, double forgetting, double average_power)
        : SharedModel(std::make_unique<Learner>(
                          Recipe{kernel,
                                 loss,
                                 admission,
                                 update,
                                 compression,
                                 batch_size,
                                 average_after.value_or(std::numeric_limits<std::uint64_t>::max()),
                                 {intercept, unit, forgetting},
                                 average_power},
                          n_features, n_outputs, reserve, at_once),
                      batch_size) {}

    // As predict_then_learn, with the variance of each observation before it was learned.
    nb::tuple predict_then_learn_with_variances(const Matrix& X, const Matrix& Y,
                                                const Weights& weights, std::size_t n_outputs) {
        require_variances();
        std::optional<Result> result, variances;
        learn_block(X, Y, weights, n_outputs, result, variances);
        return nb::make_tuple(result->release(), variances->release());
    }

    // As predict_then_learn, with sums of squared derivatives, (parts, n_features). A part (first,
    // last, every) is over each `every`-th row from first to last - 1, as the model is once it has
    // learned row last - 1. Derivatives are multiplied by `scale` (n_features). Parts are in order
    // and do not overlap. They may end within a batch, so the batch size must be 1.
    nb::tuple predict_then_learn_with_gradients(const Matrix& X, const Matrix& Y,
                                                std::size_t n_outputs, const Parts& parts,
                                                const Vector& scale) {
        const std::size_t n = X.shape(0), d = X.shape(1);
        if (batch_size() != 1) throw nb::value_error("gradients need a batch size of 1");
        require_columns(scale.shape(0), d, "scale");
        require_parts(parts, n);
        const std::size_t count = parts.shape(0);
        const auto part = [&](std::size_t k, std::size_t i) {
            return static_cast<std::size_t>(parts.data()[3 * k + i]);
        };
        std::optional<Result> result;
        Result sums({count, d});
        std::vector<double> rows, found;
        std::size_t next = 0;
        const auto end = [&](std::size_t) { return next < count ? part(next, 1) : n; };
        const auto after = [&](std::size_t last) {
            if (next == count || part(next, 1) != last) return;
            rows.clear();
            for (std::size_t i = part(next, 0); i < last; i += part(next, 2))
                rows.insert(rows.end(), X.data() + i * d, X.data() + (i + 1) * d);
            found.resize(numbers(rows.size(), outputs()));
            model_->gradient(rows.data(), rows.size() / d, found.data());
            double* sum = sums.data() + next * d;
            for (std::size_t i = 0; i < found.size(); i += d)
                for (std::size_t j = 0; j < d; ++j) {
                    const double g = found[i + j] * scale.data()[j];
                    sum[j] += g * g;
                }
            ++next;
        };
        learn_chunks(X, Y, std::nullopt, n_outputs, end, after, result);
        return nb::make_tuple(result->release(), sums.release());
    }

    void compress_by(std::shared_ptr<Compression> compression, std::size_t reserve,
                     std::size_t budget) {
        nb::gil_scoped_release release;
        ModelLock::Learning guard(lock_, as_it_is);
        model_->compress_by(std::move(compression), reserve, budget);
    }

    void set_threads(std::size_t threads, double least) {
        ModelLock::Learning guard(lock_, without_gil);
        model_->set_threads(threads, least);
    }

    void climb(std::size_t steps) {
        nb::gil_scoped_release release;
        ModelLock::Learning guard(lock_, as_it_is);
        model_->climb(steps);
    }

    void adopt(DictionaryHandle& merged, const Sums& sums, std::uint64_t seen,
               std::uint64_t averaged, std::uint64_t alive, double spent, const Vector& intercepts,
               const Vector& averages, const Vector& means, double total, double squares,
               std::uint64_t count, std::uint64_t settled) {
        const Dictionary& own = model_->dictionary();
        if (!(merged.dictionary.needs() == own.needs()) ||
            merged.dictionary.n_outputs() != own.n_outputs() ||
            (sums.coordinates != Sums::Coordinates::none && sums.size != merged.dictionary.size()))
            throw nb::value_error("the dictionary or the sums are not those of such a learner");
        nb::gil_scoped_release release;
        ModelLock::Learning guard(lock_, as_it_is);
        require_blank();
        const auto copied = [](const Vector& values) {
            return std::vector<double>(values.data(), values.data() + values.shape(0));
        };
        model_->adopt(
            merged.dictionary, sums, {seen, averaged, alive, spent},
            {copied(intercepts), copied(averages), copied(means), total, squares, count, settled});
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
                model_->variances(X.data() + first * d, last - first,
                                  variances->data() + first * C);
            });
        }
        return nb::make_tuple(result->release(), variances->release());
    }

    // Writes the outputs for a point of n numbers to out, which has room for `room` outputs.
    // `waits` says how to wait for the lock.
    template <class Waits>
    void predict_into(const double* x, std::size_t n, double* out, std::size_t room,
                      Waits&& waits) const {
        ModelLock::Reading guard(lock_, waits);
        require_features(n);
        if (outputs() > room)
            throw nb::value_error("a learner has more outputs than there is room");
        predict_rows(x, 1, out, 1);
    }

    double drift() {
        ModelLock::Learning guard(lock_, without_gil);
        return model_->dictionary().has_factor() ? model_->dictionary().drift() : 0.0;
    }

private:
    static void require_parts(const Parts& parts, std::size_t n) {
        std::int64_t before = 0;
        for (std::size_t k = 0; k < parts.shape(0); ++k) {
            const std::int64_t* part = parts.data() + 3 * k;
            if (part[0] < before || part[1] <= part[0] || part[2] < 1)
                throw nb::value_error("the parts of the rows are not in order");
            before = part[1];
        }
        if (before > static_cast<std::int64_t>(n))
            throw nb::value_error("the parts of the rows are more than there are rows");
    }
    void require_variances() const {
        if (!model_->has_variances()) throw nb::type_error("this learner keeps no variances");
    }
};

}  // namespace parsimon::bindings
