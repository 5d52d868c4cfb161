#include "filter.hpp"

#include "input.hpp"

namespace parsimon {

void Filter::check_samples(const double* x, const double* y, const double* weights, std::size_t n,
                           std::size_t n_outputs) const {
    check_inputs(x, n);
    require_usable_targets(y, n, n_outputs);
    require_usable_weights(weights, n);
}

void Filter::set_outputs(std::size_t n_outputs) {
    if (n_outputs <= n_outputs_) return;
    f_.resize(n_outputs);
    offset_.reserve_outputs(n_outputs);
    resize_outputs(n_outputs);
    offset_.set_outputs(n_outputs);
    n_outputs_ = n_outputs;
}

void Filter::learn(const double* x, const double* y, const double* weights, std::size_t n,
                   double* predictions) {
    const std::size_t d = n_features_, C = n_outputs_;
    for (std::size_t i = 0; i < n; ++i) {
        const double weight = weights ? weights[i] : 1.0;
        look(x + i * d, f_.data());
        for (std::size_t c = 0; predictions && c < C; ++c)
            predictions[i * C + c] = f_[c] + intercept()[c];
        offset_.learn(y + i * C, weight);
        for (std::size_t c = 0; c < C; ++c) f_[c] = y[i * C + c] - intercept()[c] - f_[c];
        if (weight > 0.0) step(f_.data(), weight);
        ++seen_;
        if (offset_.changes(false)) offset_.settle();
    }
}

void Filter::hold_targets(const double* y, const double* weights, std::size_t n) {
    if (!offset_.active()) return;
    for (std::size_t i = 0; i < n; ++i)
        offset_.learn(y + i * n_outputs_, weights ? weights[i] : 1.0);
    offset_.settle();
    offset_.hold(true);
}

void Filter::predict(const double* x, std::size_t n, double* out) const {
    evaluate(x, n, out);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t c = 0; c < n_outputs_; ++c) out[i * n_outputs_ + c] += intercept()[c];
}

void Filter::visit(StateVisitor visitor) {
    visitor.version(0);
    visit_features(visitor);
    offset_.visit(visitor.part("offset"));
    visitor.count("seen", seen_);
}

void Filter::require_sound() {
    require_sound_features();
    offset_.require_sound();
}

std::size_t Filter::nbytes() const {
    return nbytes_of_features() + offset_.nbytes() + f_.capacity() * sizeof(double);
}

}  // namespace parsimon
