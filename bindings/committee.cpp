#include "committee.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "moments.hpp"
#include "shared_learner.hpp"

namespace parsimon::bindings {
namespace {

using Cube = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

std::vector<double> copied(const Vector& values) {
    return {values.data(), values.data() + values.shape(0)};
}

// Up to this number of rows, predicting takes less time than waiting for the GIL can take.
constexpr std::size_t few_rows = 16;

// Learners that see the same rows. The outputs of each are (C,), the rest of it being 0. After them
// come experts whose outputs are the same for every row.
class Committee {
public:
    Committee(std::vector<std::shared_ptr<SharedLearner>> learners,
              const std::vector<Vector>& firsts, const std::vector<std::optional<Vector>>& scales,
              const std::optional<Matrix>& moments, double clip, std::size_t n_features,
              const Matrix& constants)
        : learners_(std::move(learners)),
          clip_(clip),
          n_features_(n_features),
          n_outputs_(constants.shape(1)),
          constants_(constants.data(), constants.data() + constants.size()) {
        if (firsts.size() != learners_.size() || scales.size() != learners_.size())
            throw nb::value_error("there must be a view for each learner");
        if (moments) {
            if (moments->shape(0) != 2) throw nb::value_error("the moments must have shape (2, d)");
            require_columns(moments->shape(1), n_features, "moments");
            moments_.assign(moments->data(), moments->data() + moments->size());
        }
        for (std::size_t e = 0; e < learners_.size(); ++e) {
            View view{copied(firsts[e]), scales[e] ? copied(*scales[e]) : std::vector<double>()};
            const std::size_t inputs = view.n_inputs(n_features);
            if (!view.scale.empty()) require_columns(view.scale.size(), inputs, "scale");
            views_.push_back(std::move(view));
        }
    }

    // Returns the outputs for rows X, (n, E + K, C).
    Array outputs(const Matrix& X) const {
        const std::size_t n = X.shape(0), C = n_outputs_,
                          width = learners_.size() * C + constants_.size();
        require_columns(X.shape(1), n_features_, "X");
        Result result({n, learners_.size() + constants_.size() / std::max<std::size_t>(C, 1), C});
        const auto predict = [&](auto&& waits) {
            std::vector<double> row(n_features_), inputs;
            for (std::size_t i = 0; i < n; ++i)
                predict_row(X.data() + i * n_features_, row, inputs, result.data() + i * width,
                            waits);
        };
        if (n > few_rows) {
            nb::gil_scoped_release release;
            predict(as_it_is);
        } else {
            predict(without_gil);
        }
        return result.release();
    }

private:
    template <class Waits>
    void predict_row(const double* x, std::vector<double>& row, std::vector<double>& inputs,
                     double* out, Waits&& waits) const {
        const std::size_t d = n_features_;
        std::copy_n(x, d, row.data());
        if (!moments_.empty())
            for (std::size_t j = 0; j < d; ++j)
                standardise(x + j, 1, &moments_[j], &moments_[d + j], 0, clip_, &row[j], 1);
        for (std::size_t e = 0; e < learners_.size(); ++e, out += n_outputs_) {
            inputs.resize(views_[e].n_inputs(d));
            views_[e].see(row.data(), d, inputs.data());
            learners_[e]->predict_into(inputs.data(), inputs.size(), out, n_outputs_, waits);
        }
        std::copy(constants_.begin(), constants_.end(), out);
    }

    std::vector<std::shared_ptr<SharedLearner>> learners_;
    std::vector<View> views_;
    std::vector<double> moments_;  // means, then deviations; empty if rows are not scaled
    double clip_;
    std::size_t n_features_, n_outputs_;
    std::vector<double> constants_;  // (K, C)
};

// Combines column c of the outputs (n, E, C) with constants in the order of `WeightedSum`.
Array weighted_sum(const Cube& outputs, std::size_t c, const Vector& weights,
                   const Vector& constants) {
    const std::size_t n = outputs.shape(0), E = outputs.shape(1), C = outputs.shape(2);
    if (c >= C || weights.shape(0) != E || constants.shape(0) != 6)
        throw nb::value_error("there must be a weight for each expert, and six constants");
    const double* k = constants.data();
    const WeightedSum sum{copied(weights), k[0], k[1], k[2], k[3], k[4], k[5]};
    Result result({n});
    for (std::size_t i = 0; i < n; ++i)
        result.data()[i] = sum.combine(outputs.data() + i * E * C + c, C);
    return result.release();
}

}  // namespace

void bind_committee(nb::module_& m) {
    nb::class_<Committee>(m, "Committee")
        .def(nb::init<std::vector<std::shared_ptr<SharedLearner>>, const std::vector<Vector>&,
                      const std::vector<std::optional<Vector>>&, const std::optional<Matrix>&,
                      double, std::size_t, const Matrix&>(),
             nb::arg("learners"), nb::arg("firsts"), nb::arg("scales"), nb::arg("moments").none(),
             nb::arg("clip"), nb::arg("n_features"), nb::arg("constants"))
        .def("outputs", &Committee::outputs, nb::arg("X"));
    m.def("weighted_sum", &weighted_sum, nb::arg("outputs"), nb::arg("c"), nb::arg("weights"),
          nb::arg("constants"));
}

}  // namespace parsimon::bindings
