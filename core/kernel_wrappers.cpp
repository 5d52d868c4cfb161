// Kernels around another kernel.
#include <algorithm>
#include <limits>
#include <utility>

#include "kernels.hpp"

namespace parsimon {

using simd::Block;
using simd::Panels;
using simd::Rows;
using simd::Term;

namespace {

// k(x, y) / sqrt(k(x, x) k(y, y)). Stores k(x, x) of the inner kernel with each point.
class NormalizedKernel final : public Kernel {
public:
    explicit NormalizedKernel(KernelPtr inner) : inner_(std::move(inner)) {}

    void rows(const Rows& x, const Panels& centres, std::size_t d, std::size_t at, const Block& out,
              Scratch& scratch) const override {
        inner_->rows(x, centres, d, at + 1, out, scratch);
        for (std::size_t r = 0; r < x.count; ++r) {
            const double own = x.data[r * x.stride + d + at];
            for (std::size_t p = 0; p < centres.count; ++p) {
                const double* theirs =
                    centres.extras + (p * centres.n_extras + at) * simd::panel_width;
                double* value = out.data + r * out.stride + p * simd::panel_width;
                for (std::size_t l = 0; l < simd::panel_width; ++l) {
                    const double scale = geometric_mean(own, theirs[l]);
                    value[l] = scale > 0.0 ? value[l] / scale : 0.0;
                }
            }
        }
    }
    void diagonal(const Rows& x, std::size_t d, std::size_t at, double* out,
                  Scratch&) const override {
        for (std::size_t r = 0; r < x.count; ++r)
            out[r] = x.data[r * x.stride + d + at] > 0.0 ? 1.0 : 0.0;
    }
    bool unit_diagonal() const override { return false; }  // 0 where the inner kernel vanishes
    Terms terms() const override {
        const Terms inner = inner_->terms();
        return norm_varies(inner) ? inner | Term::own : inner;
    }
    // With n(x) = inner(x, x): dk(x, c)/dx = (d inner(x, c)/dx) / sqrt(n(x) n(c)) - k(x, c) / (2
    // n(x)) dn(x)/dx.
    void differentiate(const Rows& x, const Panels& centres, std::size_t d, std::size_t at,
                       const Block& values, const Slopes& slopes, Scratch& scratch) const override {
        constexpr std::size_t width = simd::panel_width, own_term = index(Term::own);
        const Terms inner = inner_->terms();
        inner_->differentiate(x, centres, d, at + 1, values, slopes, scratch);
        for (std::size_t r = 0; r < x.count; ++r) {
            const double* point = x.data + r * x.stride;
            const double own = point[d + at];
            const double part =
                norm_varies(inner) && own > 0.0
                    ? bounded(norm_slope(point, centres.n_extras, d, at, scratch) / own)
                    : 0.0;
            for (std::size_t p = 0; p < centres.count; ++p) {
                const double* theirs = centres.extras + (p * centres.n_extras + at) * width;
                double* value = values.data + r * values.stride + p * width;
                for (std::size_t l = 0; l < width; ++l) {
                    const double scale = geometric_mean(own, theirs[l]);
                    value[l] = scale > 0.0 ? value[l] / scale : 0.0;
                    for (std::size_t t = 0; t < simd::n_terms; ++t) {
                        if (!inner.has(t)) continue;
                        double& slope = slopes.row(t, r)[p * width + l];
                        slope = scale > 0.0 ? slope / scale : 0.0;
                    }
                    if (!norm_varies(inner)) continue;
                    double& slope = slopes.row(own_term, r)[p * width + l];
                    slope = (inner.has(own_term) ? slope : 0.0) - value[l] * part;
                }
            }
        }
    }
    std::size_t extra() const override { return 1 + inner_->extra(); }
    std::size_t levels() const override { return inner_->levels(); }
    bool shareable() const override { return inner_->shareable(); }
    void annotate(double* point, std::size_t d, std::size_t at, Scratch& scratch) const override {
        inner_->annotate(point, d, at + 1, scratch);
        inner_->diagonal({point, 1, 0}, d, at + 1, point + d + at, scratch);
    }

private:
    // The quotient can overflow where the norm is almost zero. Infinity times 0 would be NaN.
    static double bounded(double value) {
        constexpr double largest = std::numeric_limits<double>::max();
        return std::clamp(value, -largest, largest);
    }
    static bool norm_varies(Terms inner) {
        return inner.has(Term::product) || inner.has(Term::own);
    }
    // Returns s with dn(x)/dx = 2 s x. The kernel is symmetric, so dn(x)/dx is twice d inner(x,
    // c)/dx at c = x. There the terms of differences are 0. The others are multiples of x.
    double norm_slope(const double* point, std::size_t n_extras, std::size_t d, std::size_t at,
                      Scratch& scratch) const {
        constexpr std::size_t width = simd::panel_width;
        const Terms inner = inner_->terms();
        auto room = scratch.take((d + n_extras + 1 + inner.count()) * width);
        for (std::size_t f = 0; f < d + n_extras; ++f)
            std::fill_n(room.data() + f * width, width, point[f]);
        double* values = room.data() + (d + n_extras) * width;
        const Slopes slopes(inner, values + width, width, width);
        inner_->differentiate({point, 1, d + n_extras},
                              {.doubles = room.data(),
                               .extras = room.data() + d * width,
                               .count = 1,
                               .n_features = d,
                               .n_extras = n_extras,
                               .points = width},
                              d, at + 1, {values, width}, slopes, scratch);
        double sum = 0.0;
        for (const Term term : {Term::product, Term::own})
            if (inner.has(term)) sum += slopes.of[index(term)][0];
        return sum;
    }
    KernelPtr inner_;
};

// Rounds the features of points to single precision, and evaluates the inner kernel in double. If
// `coarse`, predictions may use products in single precision.
class SinglePrecisionKernel final : public Kernel {
public:
    SinglePrecisionKernel(KernelPtr inner, bool coarse)
        : inner_(std::move(inner)), coarse_(coarse) {}

    void rows(const Rows& x, const Panels& centres, std::size_t d, std::size_t at, const Block& out,
              Scratch& scratch) const override {
        inner_->rows(x, centres, d, at, out, scratch);
    }
    void diagonal(const Rows& x, std::size_t d, std::size_t at, double* out,
                  Scratch& scratch) const override {
        inner_->diagonal(x, d, at, out, scratch);
    }
    bool unit_diagonal() const override { return inner_->unit_diagonal(); }
    Terms terms() const override { return inner_->terms(); }
    void differentiate(const Rows& x, const Panels& centres, std::size_t d, std::size_t at,
                       const Block& values, const Slopes& slopes, Scratch& scratch) const override {
        inner_->differentiate(x, centres, d, at, values, slopes, scratch);
    }
    bool single() const override { return true; }
    bool coarse() const override { return coarse_; }
    std::size_t extra() const override { return inner_->extra(); }
    std::size_t levels() const override { return inner_->levels(); }
    bool shareable() const override { return inner_->shareable(); }
    void annotate(double* point, std::size_t d, std::size_t at, Scratch& scratch) const override {
        for (std::size_t f = 0; f < d; ++f) point[f] = static_cast<float>(point[f]);
        inner_->annotate(point, d, at, scratch);
    }

private:
    KernelPtr inner_;
    bool coarse_;
};

}  // namespace

KernelPtr normalized(KernelPtr kernel) {
    return std::make_shared<NormalizedKernel>(std::move(kernel));
}
KernelPtr single_precision(KernelPtr kernel, bool coarse) {
    return std::make_shared<SinglePrecisionKernel>(std::move(kernel), coarse);
}

}  // namespace parsimon
