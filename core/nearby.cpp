#include "nearby.hpp"

#include <algorithm>
#include <numeric>

#include "sizes.hpp"

namespace parsimon {

void Nearby::make_ready(const Dictionary& dictionary) {
    const std::size_t d = dictionary.n_features(), C = dictionary.n_outputs(),
                      most = std::min(count_, dictionary.capacity());
    if (!local_)
        local_.emplace(dictionary.shared_kernel(), d, 1, Needs{.factor = true, .ridge = ridge});
    if (local_->reserve(most)) local_->reserve_scratch(1);
    if (!looks_ || looks_->size() < most) looks_.emplace(most, *local_);
    if (!merge_) merge_.emplace(3, *local_);
    looks_->fit(*local_);
    merge_->fit(*local_);
    row_.resize(std::max(row_.size(), simd::padded(dictionary.capacity())));
    order_.resize(dictionary.capacity());
    rows_.resize(numbers(most, d));
    xyz_.resize(numbers(3, d));
    held_.reserve(most);
    u_.resize(C);
    v_.resize(C);
}

std::size_t Nearby::nbytes() const {
    return (local_ ? local_->nbytes() : 0) + (looks_ ? looks_->nbytes() : 0) +
           (merge_ ? merge_->nbytes() : 0) +
           (row_.capacity() + rows_.capacity() + xyz_.capacity() + u_.capacity() + v_.capacity()) *
               sizeof(double) +
           (order_.capacity() + held_.capacity()) * sizeof(std::size_t);
}

void Nearby::note(const Dictionary& dictionary, std::size_t first, std::size_t other) {
    dictionary.centre(first, xyz_.data());
    dictionary.centre(other, xyz_.data() + dictionary.n_features());
    for (std::size_t c = 0; c < u_.size(); ++c) {
        u_[c] = dictionary.weights(c)[first];
        v_[c] = dictionary.weights(c)[other];
    }
}

void Nearby::gather(Dictionary& dictionary, std::size_t merged) {
    const std::size_t m = dictionary.size(), d = dictionary.n_features(), n = std::min(count_, m);
    dictionary.gram_row(merged, row_.data());
    std::iota(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(m), std::size_t{0});
    // By decreasing kernel value. Of equal ones the older centre is first.
    std::partial_sort(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(n),
                      order_.begin() + static_cast<std::ptrdiff_t>(m),
                      [this](std::size_t i, std::size_t j) {
                          return row_[i] > row_[j] || (row_[i] == row_[j] && i < j);
                      });
    for (std::size_t i = 0; i < n; ++i) dictionary.centre(order_[i], rows_.data() + i * d);
    while (local_->size() > 0) local_->drop(local_->size() - 1);
    held_.clear();
    local_->look(*looks_, rows_.data(), n);
    for (std::size_t i = 0; i < n; ++i) {
        Look& look = (*looks_)[i];
        local_->extend(look);
        if (!local_->accepts(look)) continue;  // a copy, which would add nothing
        local_->append(look, nullptr);
        held_.push_back(order_[i]);
    }
}

double Nearby::project(Dictionary& dictionary, std::size_t merged) {
    gather(dictionary, merged);
    const std::size_t d = dictionary.n_features();
    dictionary.centre(merged, xyz_.data() + 2 * d);
    local_->look(*merge_, xyz_.data(), 3);
    for (std::size_t i = 0; i < 3; ++i) local_->project((*merge_)[i]);
    const Look &x = (*merge_)[0], &y = (*merge_)[1], &z = (*merge_)[2];
    double gained = 0.0;
    for (std::size_t c = 0; c < u_.size(); ++c) {
        double* weights = dictionary.weights(c);
        const double u = u_[c], v = v_[c], w = weights[merged];
        for (std::size_t i = 0; i < held_.size(); ++i) {
            const double r = u * x.h[i] + v * y.h[i] - w * z.h[i],
                         a = u * x.a[i] + v * y.a[i] - w * z.a[i];
            weights[held_[i]] += a;
            gained += a * (r + ridge * a);
        }
    }
    return gained;
}

}  // namespace parsimon
