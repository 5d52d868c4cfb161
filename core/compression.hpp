// Compression: the only place where centres leave.
#pragma once

#include <cmath>
#include <optional>
#include <vector>

#include "updates.hpp"

namespace parsimon {

class Compression {
public:
    virtual ~Compression() = default;
    virtual Needs needs() const { return {}; }
    virtual void compress(Dictionary& dictionary, Update& update, Step& step) = 0;
    // Takes at once what it works with, and says how much that is.
    virtual void make_ready(const Dictionary&) {}
    virtual std::size_t nbytes() const { return 0; }
};

class NoCompression final : public Compression {
public:
    static constexpr const char* name = "none";
    void compress(Dictionary&, Update&, Step&) override {}
};

// At the budget, the centre whose removal changes the function least is projected onto the others.
// Below it too, while that costs no more than tolerance^2.
class LeastCostCompression final : public Compression {
public:
    static constexpr const char* name = "least_cost";
    LeastCostCompression(std::size_t budget, double tolerance)
        : budget_(budget), tolerance_(tolerance) {}
    Needs needs() const override { return {.factor = true, .neighbours = false}; }
    void compress(Dictionary& dictionary, Update&, Step& step) override {
        while (dictionary.size() > 0) {
            const std::size_t j = dictionary.cheapest();
            if (dictionary.size() <= budget_ &&
                !(tolerance_ > 0.0 && dictionary.removal_cost(j) <= tolerance_ * tolerance_))
                return;
            step.spent += dictionary.project_out(j);
        }
    }

private:
    std::size_t budget_;
    double tolerance_;
};

// Destructive kernel orthogonal matching pursuit with pre-fitting, Koppel et al. 2019: the cheapest
// centres are projected onto the others while the function has moved by at most eps = parsimony
// rate^power since the step began; at the budget, more.
class MatchingPursuitCompression final : public Compression {
public:
    static constexpr const char* name = "matching_pursuit";
    MatchingPursuitCompression(double parsimony, double power, std::size_t budget)
        : parsimony_(parsimony), power_(power), budget_(budget) {}
    Needs needs() const override { return {.factor = true, .neighbours = false}; }
    void compress(Dictionary& dictionary, Update&, Step& step) override {
        const double eps = parsimony_ * std::pow(step.rate, power_);
        step.spent += dictionary.project_out_cheapest(eps * eps - step.spent, budget_);
    }

private:
    double parsimony_, power_;
    std::size_t budget_;
};

// At the budget, the centre of least norm ||w_j||^2 k(d_j, d_j) goes with its weights: removal of
// Wang, Crammer & Vucetic 2012.
class SmallestCompression final : public Compression {
public:
    static constexpr const char* name = "smallest";
    explicit SmallestCompression(std::size_t budget) : budget_(budget) {}
    void compress(Dictionary& dictionary, Update&, Step& step) override;

private:
    std::size_t budget_;
};

// At the budget, the centre of least norm is merged with another: both go, and one between them
// comes that stands for both. For the Gaussian kernel; Wang, Crammer & Vucetic 2012, with the
// weights' norm over all outputs.
class MergeCompression final : public Compression {
public:
    static constexpr const char* name = "merge";
    explicit MergeCompression(std::size_t budget) : budget_(budget) {}
    void compress(Dictionary& dictionary, Update&, Step& step) override;
    void make_ready(const Dictionary& dictionary) override;
    std::size_t nbytes() const override;

private:
    double merge(Dictionary& dictionary);

    std::size_t budget_;
    std::optional<Looks> looks_;
    std::vector<double> row_, x_, z_, w_;
};

// At the budget, the centre that the update can do best without leaves in the update's own way.
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

// At the budget, the oldest centre goes with its weights.
class OldestCompression final : public Compression {
public:
    static constexpr const char* name = "oldest";
    explicit OldestCompression(std::size_t budget) : budget_(budget) {}
    void compress(Dictionary& dictionary, Update&, Step&) override {
        while (dictionary.size() > budget_) dictionary.drop(0);
    }

private:
    std::size_t budget_;
};

// At the budget, one of the two most coherent centres is projected onto the others: (15) and (20)
// of Pothin & Richard 2006. The older of the two, or the one that costs less.
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
