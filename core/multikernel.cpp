#include "multikernel.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "input.hpp"
#include "sizes.hpp"
#include "updates.hpp"

namespace parsimon {

MultiKernelFilter::MultiKernelFilter(std::vector<KernelPtr> kernels, std::size_t n_features,
                                     std::size_t n_outputs, bool intercept, double step_size,
                                     double coherence, double ridge, std::size_t budget)
    : Filter(n_features, n_outputs, intercept),
      values_(n_outputs),
      step_size_(step_size),
      coherence_(coherence),
      ridge_(ridge),
      budget_(budget) {
    if (kernels.empty()) refuse("there must be at least one kernel");
    for (KernelPtr& kernel : kernels) {
        dictionaries_.push_back(
            std::make_unique<Dictionary>(std::move(kernel), n_features, n_outputs, Needs{}));
        looks_.emplace_back(0, *dictionaries_.back());  // memory for a point comes with the first
    }
}

void MultiKernelFilter::check_inputs(const double* x, std::size_t n) const {
    Scratch scratch;
    for (const auto& dictionary : dictionaries_) {
        const Kernel& kernel = dictionary->kernel();
        require_finite(x, n, n_features_, "X", kernel.single());
        if (kernel.unit_diagonal()) continue;
        auto point = scratch.take(dictionary->depth());
        for (std::size_t i = 0; i < n; ++i) {
            std::copy_n(x + i * n_features_, n_features_, point.data());
            usable_kernel_value(kernel, point.data(), i, n_features_, dictionary->depth(), scratch);
        }
    }
}

void MultiKernelFilter::look(const double* x, double* f) {
    std::fill_n(f, n_outputs_, 0.0);
    for (std::size_t i = 0; i < n_kernels(); ++i) {
        Dictionary& dictionary = *dictionaries_[i];
        try {
            const bool grew = dictionary.size() == 0 && budget_ > 0
                                  ? dictionary.reserve(budget_ + 1)
                                  : dictionary.make_room(1);
            if (grew) dictionary.reserve_scratch(1);
        } catch (const std::bad_alloc&) {
            throw NoMemory("there is no memory for a budget of " + std::to_string(budget_) +
                           " centres with " + std::to_string(n_kernels()) + " kernels, of " +
                           std::to_string(n_features_) + " features");
        }
        if (looks_[i].size() == 0) looks_[i] = Looks(1, dictionary);
        looks_[i].fit(dictionary);
        dictionary.look(looks_[i], x, 1);
        dictionary.evaluate(looks_[i][0], values_.data());
        for (std::size_t c = 0; c < n_outputs_; ++c) f[c] += values_[c];
    }
}

void MultiKernelFilter::step(const double* error, double weight) {
    const auto& loops = simd::loops();
    double coherence = 0.0;
    for (std::size_t i = 0; i < n_kernels(); ++i)
        coherence = std::max(coherence, dictionaries_[i]->coherence(looks_[i][0]));
    if (coherence <= coherence_ && coherence < 1.0)
        for (std::size_t i = 0; i < n_kernels(); ++i)
            dictionaries_[i]->append(looks_[i][0], nullptr);
    double square = 0.0;
    for (std::size_t i = 0; i < n_kernels(); ++i)
        square += loops.dot(looks_[i][0].h, looks_[i][0].h, n_points());
    const double energy = ridge_ + square;
    if (energy >= NLMSUpdate::least_energy) {
        // One step removes this share of the error.
        const double share = step_size_ * (square / energy),
                     times =
                         weight == 1.0 || !(share > 0.0) ? weight : repeated(share, weight) / share;
        for (std::size_t i = 0; i < n_kernels(); ++i)
            for (std::size_t c = 0; c < n_outputs_; ++c)
                loops.axpy(times * step_size_ * error[c] / energy, looks_[i][0].h,
                           dictionaries_[i]->weights(c), n_points());
    }
    drop_smallest();
}

void MultiKernelFilter::drop_smallest() {
    while (budget_ > 0 && n_points() > budget_) {
        std::size_t smallest = 0;
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t j = 0; j + 1 < n_points(); ++j) {
            double square = 0.0;
            for (const auto& dictionary : dictionaries_)
                square += dictionary->squared_weight(j) * dictionary->diagonal()[j];
            if (square < least) {
                least = square;
                smallest = j;
            }
        }
        for (auto& dictionary : dictionaries_) dictionary->drop(smallest);
    }
}

void MultiKernelFilter::set_budget(std::size_t budget) {
    budget_ = budget;
    drop_smallest();
}

void MultiKernelFilter::evaluate(const double* x, std::size_t n, double* out) const {
    std::vector<double> values(n * n_outputs_);
    std::fill_n(out, n * n_outputs_, 0.0);
    for (const auto& dictionary : dictionaries_) {
        dictionary->predict(x, n, values.data());
        for (std::size_t k = 0; k < values.size(); ++k) out[k] += values[k];
    }
}

void MultiKernelFilter::gradient(const double* x, std::size_t n, double* out) const {
    std::vector<double> values(n * n_outputs_ * n_features_);
    std::fill_n(out, values.size(), 0.0);
    for (const auto& dictionary : dictionaries_) {
        dictionary->gradient(x, n, 0, n_outputs_, values.data());
        for (std::size_t k = 0; k < values.size(); ++k) out[k] += values[k];
    }
}

void MultiKernelFilter::resize_outputs(std::size_t n_outputs) {
    values_.resize(n_outputs);
    for (auto& dictionary : dictionaries_) dictionary->reserve_outputs(n_outputs);
    for (auto& dictionary : dictionaries_)
        dictionary->add_outputs(n_outputs_, n_outputs - n_outputs_);
}

void MultiKernelFilter::copy_weights(double* out) const {
    for (std::size_t j = 0; j < n_points(); ++j)
        for (const auto& dictionary : dictionaries_)
            for (std::size_t c = 0; c < n_outputs_; ++c) *out++ = dictionary->weights(c)[j];
}

void MultiKernelFilter::copy_points(double* out) const {
    for (std::size_t j = 0; j < n_points(); ++j) dictionaries_[0]->centre(j, out + j * n_features_);
}

void MultiKernelFilter::visit_features(StateVisitor visitor) {
    for (std::size_t i = 0; i < n_kernels(); ++i) {
        dictionaries_[i]->visit(visitor.part("dictionary" + std::to_string(i)));
        if (dictionaries_[i]->size() != n_points())
            refuse("the state has ", n_points(), " and ", dictionaries_[i]->size(), " centres");
        if (visitor.reading()) dictionaries_[i]->reserve_scratch(1);
    }
}

void MultiKernelFilter::require_sound_features() {
    if (budget_ > 0 && n_points() > budget_)
        refuse("the state has ", n_points(), " centres, and the budget is ", budget_);
    std::vector<double> centre(n_features_), other(n_features_);
    for (const auto& dictionary : dictionaries_) {
        dictionary->require_sound();
        for (std::size_t j = 0; j < n_points(); ++j) {
            dictionaries_[0]->centre(j, centre.data());
            dictionary->centre(j, other.data());
            if (centre != other) refuse("the state's kernels have different centres");
        }
    }
}

std::size_t MultiKernelFilter::nbytes_of_features() const {
    std::size_t total = sizeof *this + values_.capacity() * sizeof(double);
    for (const auto& dictionary : dictionaries_) total += dictionary->nbytes();
    for (const Looks& looks : looks_) total += looks.nbytes();
    return total;
}

}  // namespace parsimon
