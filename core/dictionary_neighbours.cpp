// For each centre, the centre that is most coherent with it (its neighbour).
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "dictionary.hpp"

namespace parsimon {

void Dictionary::append_neighbour(const Look& look) {
    neighbour_coherence_[size_] = 0.0;
    neighbour_[size_] = size_;
    for (std::size_t j = 0; j < size_; ++j) {
        const double coherence = std::fabs(look.h[j]) / geometric_mean(look.kxx, diagonal_[j]);
        if (coherence > neighbour_coherence_[size_]) {
            neighbour_coherence_[size_] = coherence;
            neighbour_[size_] = j;
        }
        if (coherence > neighbour_coherence_[j]) {
            neighbour_coherence_[j] = coherence;
            neighbour_[j] = size_;
        }
    }
}

// Centres whose neighbour is j need a new one. They are few, and each needs one kernel row. A
// kernel may throw, so the results are stored apart and nothing is changed yet.
void Dictionary::find_neighbours_without(std::size_t j) {
    if (!needs_.neighbours) return;
    auto work = scratch_.take(simd::padded(size_));
    double* row = work.data();
    for (std::size_t i = 0; i < size_; ++i) {
        next_coherence_[i] = neighbour_coherence_[i];
        next_neighbour_[i] = neighbour_[i];
        if (neighbour_[i] != j || i == j) continue;
        gram_row(i, row);
        next_coherence_[i] = 0.0;
        next_neighbour_[i] = i;
        for (std::size_t k = 0; k < size_; ++k) {
            const double coherence =
                k == i || k == j ? 0.0
                                 : std::fabs(row[k]) / geometric_mean(diagonal_[i], diagonal_[k]);
            if (coherence > next_coherence_[i]) {
                next_coherence_[i] = coherence;
                next_neighbour_[i] = k;
            }
        }
    }
}

// Called after centre j was removed. Uses the results of find_neighbours_without.
void Dictionary::remove_neighbour(std::size_t j) {
    const auto at = static_cast<std::ptrdiff_t>(j);
    neighbour_.swap(next_neighbour_);
    neighbour_coherence_.swap(next_coherence_);
    std::copy_n(neighbour_coherence_.begin() + at + 1, size_ - j,
                neighbour_coherence_.begin() + at);
    std::copy_n(neighbour_.begin() + at + 1, size_ - j, neighbour_.begin() + at);
    for (std::size_t i = 0; i < size_; ++i) neighbour_[i] -= neighbour_[i] > j;
}

Dictionary::Pair Dictionary::most_coherent() const {
    Pair pair;
    for (std::size_t i = 0; i < size_; ++i)
        if (neighbour_coherence_[i] > pair.coherence)
            pair = {std::min(i, neighbour_[i]), std::max(i, neighbour_[i]),
                    neighbour_coherence_[i]};
    return pair;
}

}  // namespace parsimon
