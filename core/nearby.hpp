// Centres near a merged centre take over part of what the merge changes.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "dictionary.hpp"

namespace parsimon {

// The change of f by a merge of x and y into z is, with their weights u, v and w,
//
//     r = u k(x, .) + v k(y, .) - w k(z, .).
//
// The centres nearest to z, which include z itself, get the coefficients of the projection of r
// onto their span: a = (K + ridge I)^-1 r, where K is their Gram matrix and r has the values at
// these centres. The squared RKHS norm of the change decreases by a'r + ridge a'a >= 0.
class Nearby {
public:
    // Bounds the coefficients if centres nearly coincide.
    static constexpr double ridge = 0.01;

    explicit Nearby(std::size_t count) : count_(count) {}
    // Whether no centre takes over anything. Then nothing else may be called but nbytes.
    bool empty() const { return count_ == 0; }
    // Allocates the memory for this capacity of the dictionary.
    void make_ready(const Dictionary& dictionary);
    // Notes two centres and their weights before they are merged.
    void note(const Dictionary& dictionary, std::size_t first, std::size_t other);
    // Projects the change after they were merged into the centre `merged`. Returns by how much the
    // squared norm of the change decreases, summed over outputs.
    double project(Dictionary& dictionary, std::size_t merged);
    std::size_t nbytes() const;

private:
    // Makes the centres nearest to the centre `merged` the centres of `local_`.
    void gather(Dictionary& dictionary, std::size_t merged);

    std::size_t count_;
    // The nearest centres, with a factor of (K + ridge I)^-1. It has no weights of its own.
    std::optional<Dictionary> local_;
    std::optional<Looks> looks_, merge_;     // of the nearest centres; of x, y and z
    std::vector<double> row_, rows_, xyz_;   // k(z, d_j); the nearest centres; x, y and z
    std::vector<double> u_, v_;              // (n_outputs,)
    std::vector<std::size_t> order_, held_;  // all centres; those in `local_`, in its order
};

}  // namespace parsimon
