// Recursive filters that grow by every sample: the kernel recursive least-squares tracker and
// extended kernel recursive least squares.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "buffer.hpp"
#include "sizes.hpp"
#include "sound.hpp"
#include "updates.hpp"

namespace parsimon {

// A Gaussian process with covariance k, given noisy samples. Its mean is f(x) = h'w with h_j =
// k(x, d_j), and its variance is k(x, x) - h'E h. With the noise variance c of a new sample, its
// error e, z = E h, r = c + k(x, x) - h'z and t = (-z, 1):
//
//     w <- (w, 0) + t e / r,    E <- [[E, 0], [0, 0]] + t t' / r.
//
// Subclasses define the noise, what is forgotten, and how centres are removed.
//
// CONVENTION
// - E = scale^2 R'R with a triangular factor R. Forgetting only changes the scale, until it is
//   small. Then it is applied to R.
// - What is forgotten completely would make R singular. So its diagonal stays at least `least`.
class GrowingUpdate : public Update, protected Aligned {
public:
    static constexpr double least = 1e-100, smallest_scale = 1e-20;

    void attach(Dictionary& dictionary, const Loss&) override { dictionary.attach(*this); }
    void open(Dictionary& dictionary, Step& step) override;
    void expect(StateVisitor visitor, std::size_t m) const override {
        visitor.part("factor").expect("rows", expected_triangle(m));
    }
    void visit(StateVisitor visitor, Dictionary& dictionary) override {
        visitor.version(0);
        visitor.number("scale", scale_);
        factor_.visit(visitor.part("factor"), dictionary.size());
    }
    void require_sound(Dictionary& dictionary) const override;
    void set_sums(Dictionary&, const Sums&) override;
    std::size_t nbytes() const override {
        return factor_.nbytes() +
               (z_.capacity() + t_.capacity() + row_.capacity()) * sizeof(double);
    }

protected:
    // Sets z = E h of the look. Returns h'E h.
    double observe(const Look& look);
    // E <- share E
    void forget(double share);
    // Makes the sample a centre. `error` (n_outputs,) is its error e, and is overwritten.
    void grow(Dictionary& dictionary, Look& look, double* error, double r);

    TriangularFactor factor_;
    double scale_ = 1.0;
    Buffer<double> z_, t_, row_;

private:
    void reserve(std::size_t capacity) override;
    void appended(const Dictionary&, const Look&) override {}
};

// The kernel recursive least-squares tracker (van Vaerenbergh, Lazaro-Gredilla & Santamaria 2012).
// The noise is `noise` / weight, in units of the signal power, and `jitter` is added to k(x, x) of
// every sample. The dictionary has a factor of Q = (K + jitter I)^-1.
//
// - The paper keeps the mean mu and the covariance Sigma of f at the centres. Here w = Q mu and E =
//   Q - Q Sigma Q.
// - Forgetting goes back to the prior: E <- forgetting E, w <- sqrt(forgetting) w.
// - If the factor refuses a sample, or its Schur complement is below the jitter, it is learned
//   without becoming a centre.
// - The centre with the least |w_j| / Q_jj is projected out. That drops its entries of mu and
//   Sigma.
// - The signal power of each output is the mean of e^2 / r. In the paper all samples count equally,
//   here the mean forgets like f. The noise is `noise` times the signal power.
class TrackerUpdate final : public GrowingUpdate {
public:
    static constexpr const char* name = "tracker";
    TrackerUpdate(double forgetting, double noise, double jitter)
        : forgetting_(forgetting), ratio_(noise), jitter_(jitter), noise_(forgetting, 0.0) {}

    Needs needs() const override {
        return {.factor = true, .neighbours = false, .ridge = jitter_, .pairs = true};
    }
    void attach(Dictionary& dictionary, const Loss& loss) override {
        GrowingUpdate::attach(dictionary, loss);
        noise_.set_outputs(dictionary.n_outputs());
    }
    void set_outputs(std::size_t n_outputs) override { noise_.set_outputs(n_outputs); }
    const Noise* noise() const override { return &noise_; }
    double variance(const Dictionary&, Look& look) const override {
        return 1.0 +
               value_variance(look.kxx, scale_ * scale_ * factor_.squared_norm(look.h)) / ratio_;
    }
    void step(Dictionary& dictionary, Sample& sample, Step& step) override;
    std::size_t least_needed(Dictionary& dictionary) override;
    bool forgets() const override { return forgetting_ < 1.0; }
    void visit(StateVisitor visitor, Dictionary& dictionary) override {
        GrowingUpdate::visit(visitor, dictionary);
        noise_.visit(visitor.part("noise"));
    }
    void require_sound(Dictionary& dictionary) const override;
    std::size_t nbytes() const override { return GrowingUpdate::nbytes() + noise_.nbytes(); }

private:
    void removing(Dictionary& dictionary, std::size_t j, const double* n) override;

    // The variance of f(x), given `known` = h'E h. Rounding must not make it less than the jitter,
    // nor than rounding errors of k(x, x) themselves.
    double value_variance(double kxx, double known) const {
        return std::max({kxx + jitter_ - known, jitter_, 1e-12 * kxx});
    }

    double forgetting_, ratio_, jitter_;
    Noise noise_;
};

// Extended kernel recursive least squares for a random walk (Liu, Park, Wang & Principe 2009): the
// function changes by f <- transition f + drift between samples. `forgetting` b, `ridge` l and
// `state_noise` q are those of the paper. With the noise c of this sample, a = transition and u =
// a^2 + q c, after the growth
//
//     w <- a w,    E <- a^2 / u E,    c <- b c / u.
//
// c is b^i rho of the paper, which keeps b^i and rho apart. It can become so small that r is
// rounding error, so at least `floor` k(x, x) is used. When the oldest centre is dropped, w and E
// become those of a filter that has never seen its sample.
class ExtendedUpdate final : public GrowingUpdate {
public:
    static constexpr const char* name = "extended_rls";
    static constexpr double floor = 1e-6, most_noise = 1e50;
    ExtendedUpdate(double transition, double forgetting, double ridge, double state_noise)
        : transition_(transition),
          forgetting_(forgetting),
          ridge_(ridge),
          state_noise_(state_noise),
          noise_(ridge * forgetting) {}

    void step(Dictionary& dictionary, Sample& sample, Step& step) override;
    std::size_t least_needed(Dictionary&) override { return 0; }
    double evict(Dictionary& dictionary, std::size_t j) override {
        dictionary.drop(j);  // `removing` updates the other weights
        return 0.0;
    }
    bool forgets() const override { return true; }
    void visit(StateVisitor visitor, Dictionary& dictionary) override {
        GrowingUpdate::visit(visitor, dictionary);
        visitor.number("noise", noise_);
        visitor.count("begun", begun_, 1);
    }
    void require_sound(Dictionary& dictionary) const override;

private:
    void removing(Dictionary& dictionary, std::size_t j, const double* n) override;

    double transition_, forgetting_, ridge_, state_noise_;
    double noise_;             // of the next sample
    std::uint64_t begun_ = 0;  // whether a sample was learned
};

}  // namespace parsimon
