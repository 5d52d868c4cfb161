#include "atoms.hpp"

#include <nanobind/stl/shared_ptr.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "dictionary_arrays.hpp"
#include "locked.hpp"

namespace parsimon::bindings {
namespace {

// An AtomLearner with a lock: many threads may code while one thread learns.
class SharedAtoms : public Locked<AtomLearner> {
public:
    SharedAtoms(std::shared_ptr<Kernel> kernel, std::size_t n_features, const AtomRules& rules,
                const Matrix& first, bool at_once)
        : Locked(std::make_unique<AtomLearner>(
              kernel, n_features, rules,
              std::vector<double>(first.data(), first.data() + first.size()), at_once)) {}

    void learn(const Matrix& X) { learn_block(X, nullptr); }
    Array learn_with_costs(const Matrix& X) {
        Result costs({X.shape(0)});
        learn_block(X, costs.data());
        return costs.release();
    }
    void check(const Matrix& X) const {
        require_columns(X.shape(1), model_->dictionary().n_features(), "X");
        nb::gil_scoped_release release;
        Scratch scratch;
        model_->check(X.data(), X.shape(0), scratch);
    }
    Array codes(const Matrix& X) const {
        Result result({X.shape(0), model_->n_atoms()});
        code(X, result.data(), nullptr);
        return result.release();
    }
    Array errors(const Matrix& X) const {
        Result result({X.shape(0)});
        code(X, nullptr, result.data());
        return result.release();
    }

private:
    void learn_block(const Matrix& X, double* costs) {
        const std::size_t n = X.shape(0), d = X.shape(1);
        require_columns(d, model_->dictionary().n_features(), "X");
        nb::gil_scoped_release release;
        ModelLock::Learning guard(lock_, as_it_is);
        Scratch scratch;
        model_->check(X.data(), n, scratch);
        in_chunks(
            n, [](std::size_t first) { return first + 64; }, guard,
            [&](std::size_t first, std::size_t last) {
                model_->learn(X.data() + first * d, last - first, costs ? costs + first : nullptr);
            });
    }
    void code(const Matrix& X, double* codes, double* errors) const {
        require_columns(X.shape(1), model_->dictionary().n_features(), "X");
        nb::gil_scoped_release release;
        ModelLock::Reading guard(lock_, as_it_is);
        Scratch scratch;
        model_->check(X.data(), X.shape(0), scratch);
        model_->code(X.data(), X.shape(0), codes, errors);
    }
};

// A method that reads the atoms under their lock.
constexpr auto of_atoms = [](auto what) { return reading<SharedAtoms>(what); };

Array gram(const AtomLearner& atoms) {  // (n_atoms, n_atoms)
    const std::size_t K = atoms.n_atoms();
    Result result({K, K});
    for (std::size_t k = 0; k < K; ++k)
        std::copy_n(atoms.gram() + k * atoms.stride(), K, result.data() + k * K);
    return result.release();
}

// The lasso alone: codes (n, K) for G (K, K), b (n, K), energies (n,) and starting points (n, K).
Array sparse_codes(const Matrix& G, const Matrix& b, const Vector& energy, double lambda,
                   double precision, const Matrix& start) {
    const std::size_t n = b.shape(0), K = b.shape(1);
    if (G.shape(0) != K || G.shape(1) != K || energy.shape(0) != n || start.shape(0) != n ||
        start.shape(1) != K)
        throw nb::value_error("shapes do not match");
    Result result({n, K});
    std::copy_n(start.data(), n * K, result.data());
    SparseCoder coder(precision);
    for (std::size_t i = 0; i < n; ++i)
        coder.code(G.data(), K, K, b.data() + i * K, energy.data()[i], lambda,
                   result.data() + i * K);
    return result.release();
}

}  // namespace

void bind_atoms(nb::module_& m) {
    m.def("sparse_codes", &sparse_codes, nb::arg("G"), nb::arg("b"), nb::arg("energy"),
          nb::arg("lambda_"), nb::arg("precision"), nb::arg("start"));
    bind_locked<SharedAtoms>(m, "Atoms")
        .def(
            "__init__",
            [](SharedAtoms* self, std::shared_ptr<Kernel> kernel, std::size_t n_features,
               const Matrix& first, double lambda, double penalty, bool in_parameters,
               double step_size, double power, double delay, std::uint64_t hold, double coherence,
               double tolerance, bool stores, std::size_t budget, double precision, bool at_once) {
                const AtomRules rules{.n_atoms = first.shape(1),
                                      .lambda = lambda,
                                      .penalty = penalty,
                                      .in_parameters = in_parameters,
                                      .step_size = step_size,
                                      .power = power,
                                      .delay = delay,
                                      .hold = hold,
                                      .coherence = coherence,
                                      .tolerance = tolerance,
                                      .stores = stores,
                                      .budget = budget,
                                      .precision = precision};
                new (self) SharedAtoms(kernel, n_features, rules, first, at_once);
            },
            nb::arg("kernel"), nb::arg("n_features"), nb::arg("first"), nb::arg("lambda_"),
            nb::arg("penalty"), nb::arg("in_parameters"), nb::arg("step_size"), nb::arg("power"),
            nb::arg("delay"), nb::arg("hold"), nb::arg("coherence"), nb::arg("tolerance"),
            nb::arg("stores"), nb::arg("budget"), nb::arg("precision"), nb::arg("at_once") = true)
        .def("learn", &SharedAtoms::learn, nb::arg("X"))
        .def("learn_with_costs", &SharedAtoms::learn_with_costs, nb::arg("X"))
        .def("check", &SharedAtoms::check, nb::arg("X"))
        .def("codes", &SharedAtoms::codes, nb::arg("X"))
        .def("errors", &SharedAtoms::errors, nb::arg("X"))
        .def("centers", of_atoms([](const AtomLearner& a) { return centers(a.dictionary()); }))
        .def("coefficients",
             of_atoms([](const AtomLearner& a) { return weights(a.dictionary(), 0, a.n_atoms()); }))
        .def("gram", of_atoms([](const AtomLearner& a) { return gram(a); }))
        .def_prop_ro("n_centers",
                     of_atoms([](const AtomLearner& a) { return a.dictionary().size(); }))
        .def_prop_ro("n_samples_learned",
                     of_atoms([](const AtomLearner& a) { return a.learned(); }));
}

}  // namespace parsimon::bindings
