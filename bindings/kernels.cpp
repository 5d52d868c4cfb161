#include "kernels.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "gradient.hpp"
#include "threads.hpp"

namespace parsimon::bindings {
namespace {

// A kernel defined by a Python function of two points. It is slow, with one call per value.
class CallableKernel final : public Kernel {
public:
    explicit CallableKernel(nb::callable function) : function_(std::move(function)) {}
    ~CallableKernel() override {
        nb::gil_scoped_acquire gil;
        function_.reset();
    }

    void rows(const simd::Rows& x, const simd::Panels& centres, std::size_t d, std::size_t,
              const simd::Block& out, Scratch& scratch) const override {
        nb::gil_scoped_acquire gil;
        constexpr std::size_t width = simd::panel_width;
        auto centre = scratch.take(d);
        for (std::size_t r = 0; r < x.count; ++r)
            std::fill_n(out.data + r * out.stride, centres.count * width, 0.0);
        for (std::size_t j = centres.before; j < centres.before + centres.points; ++j) {
            for (std::size_t f = 0; f < d; ++f) centre.data()[f] = centres.feature(j, f);
            for (std::size_t r = 0; r < x.count; ++r)
                out.data[r * out.stride + j] = call(x.data + r * x.stride, centre.data(), d);
        }
    }
    void diagonal(const simd::Rows& x, std::size_t d, std::size_t, double* out,
                  Scratch&) const override {
        nb::gil_scoped_acquire gil;
        for (std::size_t r = 0; r < x.count; ++r)
            out[r] = call(x.data + r * x.stride, x.data + r * x.stride, d);
    }
    bool unit_diagonal() const override { return false; }

private:
    double call(const double* x, const double* y, std::size_t d) const {
        nb::object result = function_(copy(x, d), copy(y, d));
        double value = 0.0;
        if (!nb::try_cast<double>(result, value))
            throw nb::type_error(("a kernel function must return a number, got " +
                                  std::string(nb::repr(result).c_str()))
                                     .c_str());
        if (!std::isfinite(value))
            throw nb::value_error(("the kernel function returned " + std::to_string(value) +
                                   ": its values must be finite")
                                      .c_str());
        return value;
    }
    static nb::object copy(const double* x, std::size_t d) {
        Result result({d});
        std::copy_n(x, d, result.data());
        return nb::cast(result.release());
    }
    nb::callable function_;
};

// The rows of X with the kernel's extra numbers, (n, depth).
std::vector<double> annotated(const Kernel& kernel, const Matrix& X, Scratch& scratch) {
    const std::size_t n = X.shape(0), d = X.shape(1), depth = d + kernel.extra();
    std::vector<double> points(numbers(n, depth));
    for (std::size_t i = 0; i < n; ++i) {
        std::copy_n(X.data() + i * d, d, points.data() + i * depth);
        kernel.annotate(points.data() + i * depth, d, 0, scratch);
    }
    return points;
}

// The annotated rows as panels of points.
Points in_panels(const Kernel& kernel, const std::vector<double>& rows, std::size_t n,
                 std::size_t d) {
    Points points(d, kernel.extra(), kernel.single());
    points.reserve(n);
    for (std::size_t j = 0; j < n; ++j) points.append(rows.data() + j * points.depth());
    return points;
}

// out[(i - first) * stride + j] = k(x_i, y_j) for i = first..last-1 and all points j of the panels.
void evaluate(const Kernel& kernel, const std::vector<double>& x, std::size_t first,
              std::size_t last, const simd::Panels& y, std::size_t d, double* out,
              std::size_t stride) {
    constexpr std::size_t tile = simd::row_block;
    const std::size_t width = y.count * simd::panel_width, depth = d + y.n_extras;
    Scratch scratch;
    std::vector<double> rows(numbers(tile, width));
    for (; first < last; first += tile) {
        const std::size_t count = std::min(tile, last - first);
        kernel.rows({x.data() + first * depth, count, depth}, y, d, 0, {rows.data(), width},
                    scratch);
        for (std::size_t r = 0; r < count; ++r, out += stride)
            std::copy_n(rows.data() + r * width, y.points, out);
    }
}

// k(x_i, y_j) as an array (n, m).
Array block(const Kernel& kernel, const Matrix& X, const Matrix& Y) {
    require_columns(Y.shape(1), X.shape(1), "Y");
    const std::size_t n = X.shape(0), m = Y.shape(0), d = X.shape(1);
    Result result({n, m});
    {
        nb::gil_scoped_release release;
        Scratch scratch;
        const Points points = in_panels(kernel, annotated(kernel, Y, scratch), m, d);
        evaluate(kernel, annotated(kernel, X, scratch), 0, n, points.panels(), d, result.data(), m);
    }
    return result.release();
}

// Points whose Gram matrix is computed in blocks of rows. They are stored by rows and in panels.
class Gram {
public:
    Gram(std::shared_ptr<Kernel> kernel, const Matrix& X)
        : kernel_(std::move(kernel)), n_(X.shape(0)), d_(X.shape(1)) {
        nb::gil_scoped_release release;
        Scratch scratch;
        rows_ = annotated(*kernel_, X, scratch);
        panels_ = in_panels(*kernel_, rows_, n_, d_);
    }
    // Fills rows first..last-1 of K (n, n) up to column last-1.
    void fill(std::size_t first, std::size_t last,
              const nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>& K) const {
        if (first > last || last > n_ || K.shape(0) != n_ || K.shape(1) != n_)
            throw nb::value_error("the Gram matrix has a row for each point");
        double* out = K.data() + first * n_;
        nb::gil_scoped_release release;
        simd::Panels before = panels_.panels();
        before.count = simd::padded(last) / simd::panel_width;
        before.points = last;
        evaluate(*kernel_, rows_, first, last, before, d_, out, n_);
    }

private:
    std::shared_ptr<Kernel> kernel_;
    std::size_t n_, d_;
    std::vector<double> rows_;
    Points panels_{0};
};

// k(x_i, x_i) as an array (n,).
Array diagonal(const Kernel& kernel, const Matrix& X) {
    const std::size_t n = X.shape(0), d = X.shape(1);
    Result result({n});
    {
        nb::gil_scoped_release release;
        Scratch scratch;
        const auto points = annotated(kernel, X, scratch);
        kernel.diagonal({points.data(), n, d + kernel.extra()}, d, 0, result.data(), scratch);
    }
    return result.release();
}

// Returns df/dx of f(x) = sum_j w_j k(x, c_j) for the rows of X, (n, C, d). W has shape (C, m).
Array gradient_of(const Kernel& kernel, const Matrix& X, const Matrix& centres, const Matrix& W,
                  std::size_t threads) {
    const std::size_t n = X.shape(0), d = X.shape(1), m = centres.shape(0), C = W.shape(0);
    require_columns(centres.shape(1), d, "centres");
    if (W.shape(1) != m) throw nb::value_error("there must be a weight for each centre");
    constexpr std::size_t piece = 256;  // rows that one of several threads takes at a time
    Result result({n, C, d});
    {
        nb::gil_scoped_release release;
        Scratch scratch;
        const Points points = in_panels(kernel, annotated(kernel, centres, scratch), m, d);
        const Expansion f{kernel, points.panels(), W.data(), m, C};
        in_pieces(n, piece, threads, [&](std::size_t first, std::size_t last) {
            gradient(f, X.data() + first * d, last - first, result.data() + first * C * d);
        });
    }
    return result.release();
}

// nanobind holds pointers to non-const objects. Kernels stay immutable, because all members are
// const.
std::shared_ptr<Kernel> shared(KernelPtr kernel) {
    return std::const_pointer_cast<Kernel>(std::move(kernel));
}

}  // namespace

void bind_kernels(nb::module_& m) {
    nb::class_<Kernel>(m, "Kernel")
        .def("block", &block, nb::arg("X"), nb::arg("Y"))
        .def("diagonal", &diagonal, nb::arg("X"))
        .def("gradient", &gradient_of, nb::arg("X"), nb::arg("centres"), nb::arg("W"),
             nb::arg("threads") = 1)
        .def_prop_ro("differentiable", [](const Kernel& k) { return k.terms().known(); });
    nb::class_<Gram>(m, "Gram")
        .def(nb::init<std::shared_ptr<Kernel>, const Matrix&>(), nb::arg("kernel"), nb::arg("X"))
        .def("fill", &Gram::fill, nb::arg("first"), nb::arg("last"), nb::arg("K"));
    m.def(
        "leaf",
        [](const std::string& name, const std::vector<double>& parameters) {
            return shared(leaf(name, parameters));
        },
        nb::arg("name"), nb::arg("parameters"));
    m.def("constant", [](double value) { return shared(constant(value)); }, nb::arg("value"));
    m.def(
        "sum",
        [](std::shared_ptr<Kernel> a, std::shared_ptr<Kernel> b) { return shared(sum(a, b)); },
        nb::arg("left"), nb::arg("right"));
    m.def(
        "product",
        [](std::shared_ptr<Kernel> a, std::shared_ptr<Kernel> b) { return shared(product(a, b)); },
        nb::arg("left"), nb::arg("right"));
    m.def(
        "normalized", [](std::shared_ptr<Kernel> k) { return shared(normalized(k)); },
        nb::arg("kernel"));
    m.def(
        "single_precision",
        [](std::shared_ptr<Kernel> k, bool coarse) { return shared(single_precision(k, coarse)); },
        nb::arg("kernel"), nb::arg("coarse"));
    m.def(
        "callable",
        [](nb::callable function) -> std::shared_ptr<Kernel> {
            return std::make_shared<CallableKernel>(std::move(function));
        },
        nb::arg("function"));
}

}  // namespace parsimon::bindings
