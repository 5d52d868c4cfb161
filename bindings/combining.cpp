#include "combining.hpp"

#include <algorithm>
#include <cstdint>

#include "arrays.hpp"
#include "bindings.hpp"

namespace parsimon::bindings {
namespace {

using Cube = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Labels = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void require(bool sound, const char* message) {
    if (!sound) throw nb::value_error(message);
}

Result copy(const Matrix& values) {
    Result result({values.shape(0), values.shape(1)});
    std::copy_n(values.data(), values.size(), result.data());
    return result;
}

// The state (E + 1, E) holds the squares, then the products.
nb::tuple stack(const Matrix& predictions, const Vector& targets, std::uint64_t seen,
                const Matrix& state, double memory, double ridge) {
    const std::size_t n = predictions.shape(0), E = predictions.shape(1);
    require(targets.shape(0) == n, "predictions and targets must have as many rows");
    require(state.shape(0) == E + 1 && state.shape(1) == E, "the state must have shape (E + 1, E)");
    Result out({n}), next = copy(state);
    {
        nb::gil_scoped_release release;
        Stack{E, memory, ridge}.run(predictions.data(), targets.data(), n, seen, next.data(),
                                    next.data() + E * E, out.data());
    }
    return nb::make_tuple(out.release(), next.release());
}

Array stack_weights(const Matrix& state, double ridge) {
    const std::size_t E = state.shape(1);
    require(state.shape(0) == E + 1, "the state must have shape (E + 1, E)");
    Result out({E});
    Stack{E, 1.0, ridge}.weights(state.data(), state.data() + E * E, out.data());
    return out.release();
}

// The state (k + 1,) holds the means of k columns, then the number of rows.
nb::tuple recent_mean(const Matrix& values, const Vector& state, double memory) {
    const std::size_t n = values.shape(0), k = values.shape(1);
    require(state.shape(0) == k + 1, "the state must have one number more than there are columns");
    Result out({n, k}), next({k + 1});
    std::copy_n(state.data(), k + 1, next.data());
    RecentMean{k, memory}.run(values.data(), n, next.data(), out.data());
    return nb::make_tuple(out.release(), next.release());
}

Pool made(const Vector& scored, std::size_t n_classes, double forgetting, double ridge,
          double memory) {
    return {scored.shape(0), n_classes, forgetting,
            ridge,           memory,    std::span(scored.data(), scored.shape(0))};
}

void require_pool(const Cube& outputs, const Vector& scored, const Matrix& state) {
    const std::size_t E = scored.shape(0);
    require(outputs.shape(1) == E, "outputs must have shape (n, E, C)");
    require(state.shape(0) == E + Pool::n_rows && state.shape(1) == E,
            "the state must have shape (E + 5, E)");
}

Array pool_begin(const Vector& scored) {
    Result state({scored.shape(0) + Pool::n_rows, scored.shape(0)});
    made(scored, 0, 1.0, 1.0, 1.0).begin(state.data());
    return state.release();
}

void require_labels(const Labels& labels, std::size_t known, std::size_t n, std::size_t C) {
    require(labels.shape(0) == n && known <= C, "there must be a label for each row");
    for (std::size_t i = 0; i < n; ++i) {
        const auto label = labels.data()[i];
        require(label >= 0 && static_cast<std::size_t>(label) <= known &&
                    static_cast<std::size_t>(label) < C,
                "labels must be numbers of classes, in the order in which they appear");
        if (static_cast<std::size_t>(label) == known) ++known;
    }
}

nb::tuple pool(const Cube& outputs, const Labels& labels, std::size_t known, const Vector& scored,
               const Matrix& state, double forgetting, double ridge, double memory) {
    require_pool(outputs, scored, state);
    const std::size_t n = outputs.shape(0), C = outputs.shape(2);
    require_labels(labels, known, n, C);
    Result out({n, C}), next = copy(state);
    {
        nb::gil_scoped_release release;
        made(scored, C, forgetting, ridge, memory)
            .run(outputs.data(), labels.data(), known, n, next.data(), out.data());
    }
    return nb::make_tuple(out.release(), next.release());
}

Array pool_now(const Cube& outputs, std::size_t known, const Vector& scored, const Matrix& state) {
    require_pool(outputs, scored, state);
    const std::size_t n = outputs.shape(0), C = outputs.shape(2);
    require(known >= 1 && known <= C, "there must be a class");
    Result out({n, C});
    {
        nb::gil_scoped_release release;
        made(scored, C, 1.0, 1.0, 1.0).combine(outputs.data(), known, n, state.data(), out.data());
    }
    return out.release();
}

Array pool_shares(const Vector& scored, const Matrix& state) {
    require(state.shape(0) == scored.shape(0) + Pool::n_rows && state.shape(1) == scored.shape(0),
            "the state must have shape (E + 5, E)");
    Result out({scored.shape(0)});
    made(scored, 0, 1.0, 1.0, 1.0).shares(state.data(), out.data());
    return out.release();
}

nb::tuple label_history(const Labels& labels, std::size_t known, std::int64_t previous,
                        const Matrix& table) {
    const std::size_t n = labels.shape(0), C = table.shape(1);
    require(table.shape(0) == C + 1, "the table must have shape (C + 1, C)");
    require(previous >= -1 && previous < static_cast<std::int64_t>(C), "no such label");
    require((previous >= 0) == (known > 0), "the last label must be known");
    require_labels(labels, known, n, C);
    Result out({n, 2, C}), next = copy(table);
    {
        nb::gil_scoped_release release;
        LabelHistory{C}.run(labels.data(), known, n, previous, next.data(), out.data());
    }
    return nb::make_tuple(out.release(), next.release(), previous);
}

Array label_history_now(std::size_t known, std::int64_t previous, const Matrix& table) {
    const std::size_t C = table.shape(1);
    require(table.shape(0) == C + 1 && known >= 1 && known <= C && previous >= 0 &&
                previous < static_cast<std::int64_t>(C),
            "the table must have shape (C + 1, C), with a last label");
    Result out({2, C});
    LabelHistory{C}.predict(known, previous, table.data(), out.data());
    return out.release();
}

}  // namespace

void bind_combining(nb::module_& m) {
    m.def("stack", &stack, nb::arg("predictions"), nb::arg("targets"), nb::arg("seen"),
          nb::arg("state"), nb::arg("memory"), nb::arg("ridge"));
    m.def("stack_weights", &stack_weights, nb::arg("state"), nb::arg("ridge"));
    m.def("recent_mean", &recent_mean, nb::arg("values"), nb::arg("state"), nb::arg("memory"));
    m.def("pool_begin", &pool_begin, nb::arg("scored"));
    m.def("pool", &pool, nb::arg("outputs"), nb::arg("labels"), nb::arg("known"), nb::arg("scored"),
          nb::arg("state"), nb::arg("forgetting"), nb::arg("ridge"), nb::arg("memory"));
    m.def("pool_now", &pool_now, nb::arg("outputs"), nb::arg("known"), nb::arg("scored"),
          nb::arg("state"));
    m.def("pool_shares", &pool_shares, nb::arg("scored"), nb::arg("state"));
    m.def("label_history", &label_history, nb::arg("labels"), nb::arg("known"), nb::arg("previous"),
          nb::arg("table"));
    m.def("label_history_now", &label_history_now, nb::arg("known"), nb::arg("previous"),
          nb::arg("table"));
}

}  // namespace parsimon::bindings
