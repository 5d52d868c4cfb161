// Compression rules: each decides which centres are removed after a step, and how.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "buffer.hpp"
#include "nearby.hpp"
#include "updates.hpp"

namespace parsimon {

// The interface of a compression rule.
class Compression {
public:
    virtual ~Compression() = default;
    // What the rule needs the dictionary to keep.
    virtual Needs needs() const { return {}; }
    // Removes centres at the end of a step. Adds the squared RKHS error of the removals, where it
    // is known, to step.spent.
    virtual void compress(Dictionary& dictionary, Update& update, Step& step) = 0;
    // Whether it removes centres of any age.
    virtual bool removes_any() const { return true; }
    // How many centres more than the budget the dictionary should have memory for.
    virtual std::size_t spare() const { return 0; }
    // Allocates the working memory for this capacity of the dictionary. nbytes() returns its size.
    virtual void make_ready(const Dictionary&) {}
    virtual std::size_t nbytes() const { return 0; }
};

// Removes nothing.
class NoCompression final : public Compression {
public:
    static constexpr const char* name = "none";
    void compress(Dictionary&, Update&, Step&) override {}
    bool removes_any() const override { return false; }
};

// While there are more centres than the budget, the centre with the least removal cost is projected
// out. Below the budget, centres are projected out while the cost is at most tolerance^2, in units
// of the targets. The cost is the squared RKHS norm of the change of f.
class LeastCostCompression final : public Compression {
public:
    static constexpr const char* name = "least_cost";
    LeastCostCompression(std::size_t budget, double tolerance)
        : budget_(budget), tolerance_(tolerance) {}
    Needs needs() const override { return {.factor = true, .neighbours = false}; }
    void compress(Dictionary& dictionary, Update&, Step& step) override {
        const double tolerance = tolerance_ * step.unit;
        while (dictionary.size() > 0) {
            const std::size_t j = dictionary.cheapest();
            if (dictionary.size() <= budget_ &&
                !(tolerance > 0.0 && dictionary.removal_cost(j) <= tolerance * tolerance))
                return;
            step.spent += dictionary.project_out(j);
        }
    }

private:
    std::size_t budget_;
    double tolerance_;
};

// Destructive kernel orthogonal matching pursuit with pre-fitting (Koppel et al. 2019). The
// cheapest centres are projected out while the total change of f in this step, as an RKHS norm, is
// at most eps = parsimony rate^power, in units of the targets. Further centres are projected out
// while there are more than the budget.
class MatchingPursuitCompression final : public Compression {
public:
    static constexpr const char* name = "matching_pursuit";
    MatchingPursuitCompression(double parsimony, double power, std::size_t budget)
        : parsimony_(parsimony), power_(power), budget_(budget) {}
    Needs needs() const override { return {.factor = true, .neighbours = false}; }
    void compress(Dictionary& dictionary, Update&, Step& step) override {
        const double eps = step.unit * parsimony_ * std::pow(step.rate, power_);
        step.spent += dictionary.project_out_cheapest(eps * eps - step.spent, budget_);
    }

private:
    double parsimony_, power_;
    std::size_t budget_;
};

// While there are more centres than the budget, the centre with the least ||w_j||^2 k(d_j, d_j) is
// dropped. This is the removal rule of Wang, Crammer & Vucetic 2012.
class SmallestCompression final : public Compression {
public:
    static constexpr const char* name = "smallest";
    explicit SmallestCompression(std::size_t budget) : budget_(budget) {}
    void compress(Dictionary& dictionary, Update&, Step& step) override;

private:
    std::size_t budget_;
};

// The centre with the least norm is merged with another: one new centre between the two replaces
// both. Requires a Gaussian kernel. From Wang, Crammer & Vucetic 2012, with the norm of the weights
// taken over all outputs. The change of f by the merge is projected onto the `neighbours` centres
// nearest to the new one (nearby.hpp), if that number is not 0.
class Merging : public Compression {
public:
    explicit Merging(std::size_t neighbours = 0) : nearby_(neighbours) {}
    void make_ready(const Dictionary& dictionary) override;
    std::size_t nbytes() const override;

protected:
    // The best merge of the centre `first` of least norm: with the centre `other`, at
    // h d_first + (1 - h) d_other. `lost` is the squared RKHS norm of the change of f. A single
    // centre can only be dropped, and `other` is the centre itself.
    struct Plan {
        std::size_t first, other;
        double h, lost;
    };
    Plan plan(Dictionary& dictionary);
    // Carries out a plan that was just made. Returns the squared RKHS norm of the change of f.
    double merge(Dictionary& dictionary, const Plan& plan);

private:
    Nearby nearby_;
    std::optional<Looks> looks_;
    // For each centre: k(d_j, d), the best h and what it keeps, u'v and ||v||^2 (simd/loops.hpp)
    Buffer<double> row_, places_, kept_, crosses_, squares_;
    Buffer<double> x_, z_, w_;
};

// While there are more centres than the budget, centres are merged.
class MergeCompression final : public Merging {
public:
    static constexpr const char* name = "merge";
    explicit MergeCompression(std::size_t budget) : budget_(budget) {}
    void compress(Dictionary& dictionary, Update&, Step& step) override;

private:
    std::size_t budget_;
};

// Centres are merged while the total change of f in this step, as an RKHS norm, is at most eps =
// parsimony rate^power, in units of the targets. The norms of the merges are added: by the triangle
// inequality, their sum bounds the norm of the total change. Further centres are merged while there
// are more than the budget. For POLK, whose convergence requires only this bound.
class MergingPursuitCompression final : public Merging {
public:
    static constexpr const char* name = "merging_pursuit";
    MergingPursuitCompression(double parsimony, double power, std::size_t budget,
                              std::size_t neighbours = 0)
        : Merging(neighbours), parsimony_(parsimony), power_(power), budget_(budget) {}
    void compress(Dictionary& dictionary, Update&, Step& step) override;

private:
    double parsimony_, power_;
    std::size_t budget_;
};

// While there are more centres than the budget, the update chooses the centre that it needs least
// and evicts it.
class LeastNeededCompression final : public Compression {
public:
    static constexpr const char* name = "least_needed";
    explicit LeastNeededCompression(std::size_t budget) : budget_(budget) {}
    void compress(Dictionary& dictionary, Update& update, Step& step) override {
        while (dictionary.size() > budget_)
            step.spent += update.evict(dictionary, update.least_needed(dictionary));
    }

private:
    std::size_t budget_;
};

// While there are more centres than the budget, the oldest centre is dropped.
class OldestCompression final : public Compression {
public:
    static constexpr const char* name = "oldest";
    explicit OldestCompression(std::size_t budget) : budget_(budget) {}
    void compress(Dictionary& dictionary, Update&, Step&) override {
        while (dictionary.size() > budget_) dictionary.drop(0);
    }
    bool removes_any() const override { return false; }
    // For the gap that dropped centres leave. It is closed after that many, by whole panels.
    std::size_t spare() const override {
        return std::min<std::size_t>(64, simd::padded(budget_) + simd::panel_width);
    }

private:
    std::size_t budget_;
};

// At the budget, one of the two most coherent centres is projected out: (15) and (20) of Pothin &
// Richard 2006. It is the older one, or with `cheaper` the one with the lower removal cost.
class MostCoherentCompression final : public Compression {
public:
    static constexpr const char* name = "most_coherent";
    MostCoherentCompression(std::size_t budget, bool cheaper)
        : budget_(budget), cheaper_(cheaper) {}
    Needs needs() const override { return {.factor = true, .neighbours = true}; }
    void compress(Dictionary& dictionary, Update&, Step& step) override {
        while (dictionary.size() > budget_) {
            const auto pair = dictionary.most_coherent();
            const bool younger =
                cheaper_ && dictionary.removal_cost(pair.j) < dictionary.removal_cost(pair.i);
            step.spent += dictionary.project_out(younger ? pair.j : pair.i);
        }
    }

private:
    std::size_t budget_;
    bool cheaper_;
};

}  // namespace parsimon
