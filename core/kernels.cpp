// Kernels of one sum, constants, sums and products.
#include "kernels.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "input.hpp"

namespace parsimon {

using simd::Block;
using simd::Panels;
using simd::Rows;
using simd::Shape;

void Kernel::differentiate(const Rows&, const Panels&, std::size_t, std::size_t, const Block&,
                           const Slopes&, Scratch&) const {
    refuse("this kernel has no derivative");
}

namespace {

// A kernel of one sum over the features (simd/shapes.hpp).
class LeafKernel final : public Kernel {
public:
    LeafKernel(const simd::Leaf& leaf, const Shape& shape) : leaf_(leaf), shape_(shape) {
        if (!leaf_.of_distance) return;
        constexpr std::size_t width = simd::panel_width;
        const double zeros[width] = {};
        double values[width];
        leaf_.evaluate({zeros, 1, 1},
                       {.doubles = zeros, .count = 1, .n_features = 1, .points = width}, 1, shape_,
                       {values, width});
        at_zero_ = values[0];
    }
    void rows(const Rows& x, const Panels& centres, std::size_t d, std::size_t, const Block& out,
              Scratch&) const override {
        leaf_.evaluate(x, centres, d, shape_, out);
    }
    void diagonal(const Rows& x, std::size_t d, std::size_t, double* out,
                  Scratch& scratch) const override {
        if (leaf_.of_distance) {
            std::fill_n(out, x.count, at_zero_);
            return;
        }
        // Evaluate the point against a panel of copies of itself, with the same loop as `rows`. So
        // the bits equal those against a stored copy.
        constexpr std::size_t width = simd::panel_width;
        auto panel = scratch.take((d + 1) * width);
        double* values = panel.data() + d * width;
        for (std::size_t r = 0; r < x.count; ++r) {
            const double* point = x.data + r * x.stride;
            for (std::size_t f = 0; f < d; ++f)
                std::fill_n(panel.data() + f * width, width, point[f]);
            leaf_.evaluate({point, 1, x.stride},
                           {.doubles = panel.data(), .count = 1, .n_features = d, .points = width},
                           d, shape_, {values, width});
            out[r] = values[0];
        }
    }
    bool shareable() const override { return true; }
    bool unit_diagonal() const override { return leaf_.of_distance && at_zero_ == 1.0; }
    Terms terms() const override {
        return leaf_.differentiate ? Terms(leaf_.term) : Terms::unknown();
    }
    void differentiate(const Rows& x, const Panels& centres, std::size_t d, std::size_t,
                       const Block& values, const Slopes& slopes, Scratch&) const override {
        leaf_.differentiate(x, centres, d, shape_, values,
                            {slopes.of[index(leaf_.term)], slopes.stride});
    }

private:
    const simd::Leaf& leaf_;
    Shape shape_;
    double at_zero_ = 0.0;  // k(x, x) if the sum is a distance
};

// k(x, y) = value.
class ConstantKernel final : public Kernel {
public:
    explicit ConstantKernel(double value) : value_(value) {}
    void rows(const Rows& x, const Panels& centres, std::size_t, std::size_t, const Block& out,
              Scratch&) const override {
        for (std::size_t r = 0; r < x.count; ++r)
            std::fill_n(out.data + r * out.stride, centres.count * simd::panel_width, value_);
    }
    void diagonal(const Rows& x, std::size_t, std::size_t, double* out, Scratch&) const override {
        std::fill_n(out, x.count, value_);
    }
    bool shareable() const override { return true; }
    bool unit_diagonal() const override { return value_ == 1.0; }
    Terms terms() const override { return {}; }
    void differentiate(const Rows& x, const Panels& centres, std::size_t d, std::size_t at,
                       const Block& values, const Slopes&, Scratch& scratch) const override {
        rows(x, centres, d, at, values, scratch);
    }

private:
    double value_;
};

// Sum or product of two kernels: evaluates both, then combines the values elementwise.
template <class Combine>
class PairKernel final : public Kernel {
public:
    PairKernel(KernelPtr left, KernelPtr right)
        : left_(std::move(left)), right_(std::move(right)) {}

    void rows(const Rows& x, const Panels& centres, std::size_t d, std::size_t at, const Block& out,
              Scratch& scratch) const override {
        const std::size_t width = centres.count * simd::panel_width;
        auto other = scratch.take(x.count * width);
        left_->rows(x, centres, d, at, out, scratch);
        right_->rows(x, centres, d, at + left_->extra(), {other.data(), width}, scratch);
        for (std::size_t r = 0; r < x.count; ++r)
            combine(out.data + r * out.stride, other.data() + r * width, width);
    }
    void diagonal(const Rows& x, std::size_t d, std::size_t at, double* out,
                  Scratch& scratch) const override {
        auto other = scratch.take(x.count);
        left_->diagonal(x, d, at, out, scratch);
        right_->diagonal(x, d, at + left_->extra(), other.data(), scratch);
        combine(out, other.data(), x.count);
    }
    bool shareable() const override { return left_->shareable() && right_->shareable(); }
    bool unit_diagonal() const override {
        return Combine::keeps_unit && left_->unit_diagonal() && right_->unit_diagonal();
    }
    Terms terms() const override { return left_->terms() | right_->terms(); }
    void differentiate(const Rows& x, const Panels& centres, std::size_t d, std::size_t at,
                       const Block& values, const Slopes& slopes, Scratch& scratch) const override {
        const std::size_t width = centres.count * simd::panel_width, size = x.count * width;
        const Terms left = left_->terms(), right = right_->terms();
        auto room = scratch.take((1 + right.count()) * size);
        const Slopes others(right, room.data() + size, size, width);
        left_->differentiate(x, centres, d, at, values, slopes, scratch);
        right_->differentiate(x, centres, d, at + left_->extra(), {room.data(), width}, others,
                              scratch);
        for (std::size_t r = 0; r < x.count; ++r) {
            double* value = values.data + r * values.stride;
            const double* other = room.data() + r * width;
            for (std::size_t t = 0; t < simd::n_terms; ++t) {
                if (!left.has(t) && !right.has(t)) continue;
                double* slope = slopes.row(t, r);
                if (!left.has(t)) std::fill_n(slope, width, 0.0);
                const double* theirs = right.has(t) ? others.row(t, r) : nullptr;
                for (std::size_t j = 0; j < width; ++j)
                    slope[j] =
                        Combine::slope(value[j], slope[j], other[j], theirs ? theirs[j] : 0.0);
            }
            combine(value, other, width);
        }
    }
    std::size_t extra() const override { return left_->extra() + right_->extra(); }
    std::size_t levels() const override { return 1 + std::max(left_->levels(), right_->levels()); }
    void annotate(double* point, std::size_t d, std::size_t at, Scratch& scratch) const override {
        left_->annotate(point, d, at, scratch);
        right_->annotate(point, d, at + left_->extra(), scratch);
    }

private:
    static void combine(double* out, const double* other, std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) out[i] = Combine::of(out[i], other[i]);
    }
    KernelPtr left_, right_;
};

struct Add {
    static constexpr bool keeps_unit = false;
    static double of(double a, double b) { return a + b; }
    static double slope(double, double slope_a, double, double slope_b) {
        return slope_a + slope_b;
    }
};
struct Multiply {
    static constexpr bool keeps_unit = true;
    static double of(double a, double b) { return a * b; }
    static double slope(double a, double slope_a, double b, double slope_b) {
        return a * slope_b + b * slope_a;
    }
};

}  // namespace

KernelPtr leaf(std::string_view name, std::span<const double> parameters) {
    for (const simd::Leaf& known : simd::loops().leaves) {
        if (name != known.name) continue;
        if (parameters.size() != known.n_parameters)
            refuse("the kernel '", name, "' takes ", known.n_parameters, " parameters, got ",
                   parameters.size());
        Shape shape;
        std::copy(parameters.begin(), parameters.end(), shape.parameters);
        return std::make_shared<LeafKernel>(known, shape);
    }
    refuse("there is no kernel '", name, "' among those of core/simd/shapes.hpp");
}

KernelPtr constant(double value) { return std::make_shared<ConstantKernel>(value); }
KernelPtr sum(KernelPtr left, KernelPtr right) {
    return std::make_shared<PairKernel<Add>>(std::move(left), std::move(right));
}
KernelPtr product(KernelPtr left, KernelPtr right) {
    return std::make_shared<PairKernel<Multiply>>(std::move(left), std::move(right));
}

}  // namespace parsimon
