// Compression: the only place where centres leave.
#pragma once

#include "step.hpp"

namespace parsimon {

class Compression {
public:
    virtual ~Compression() = default;
    virtual Needs needs() const { return {}; }
    virtual void compress(Dictionary& dictionary, Step& step) = 0;
};

class NoCompression final : public Compression {
public:
    void compress(Dictionary&, Step&) override {}
};

// At the budget, the centre whose removal changes the function least is projected onto the others.
class LeastCostCompression final : public Compression {
public:
    explicit LeastCostCompression(std::size_t budget) : budget_(budget) {}
    Needs needs() const override { return {.factor = true}; }
    void compress(Dictionary& dictionary, Step& step) override {
        while (dictionary.size() > budget_) step.spent += dictionary.project_out(dictionary.cheapest());
    }

private:
    std::size_t budget_;
};

// At the budget, the oldest centre goes with its weights.
class OldestCompression final : public Compression {
public:
    explicit OldestCompression(std::size_t budget) : budget_(budget) {}
    void compress(Dictionary& dictionary, Step&) override {
        while (dictionary.size() > budget_) dictionary.drop(0);
    }

private:
    std::size_t budget_;
};

}  // namespace parsimon
