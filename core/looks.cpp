// The looks of a batch: their memory, and the centres that the batch itself brings.
#include <algorithm>

#include "dictionary.hpp"
#include "sizes.hpp"

namespace parsimon {

Looks::Looks(std::size_t count, const Dictionary& dictionary)
    : looks_(count), kxx_(count), mates_(dictionary.no_points()) {
    // Centres in order are evaluated together anyway. The values of large batches would need much
    // memory.
    constexpr std::size_t most = 64;
    if (count > 1 && count <= most && dictionary.reuses_places()) {
        mates_.reserve(count);
        between_.resize(numbers(count, simd::padded(count)));
        entered_.reserve(count);
    }
    fit(dictionary);
}

void Looks::fit(const Dictionary& dictionary) {
    // One more panel than for the centres, because the first one can be at any place of its panel.
    const std::size_t stride = simd::padded(dictionary.capacity()) + simd::panel_width,
                      depth = dictionary.depth(), n = looks_.size();
    if (stride == stride_ && points_.size() == n * depth) return;
    points_.resize(numbers(n, depth));
    h_.resize(numbers(n, stride));
    if (dictionary.has_factor()) {
        t_.resize(h_.size());
        a_.resize(h_.size());
    }
    for (std::size_t i = 0; i < n; ++i) {
        looks_[i].h = h_.data() + i * stride;
        looks_[i].t = t_.empty() ? nullptr : t_.data() + i * stride;
        looks_[i].a = a_.empty() ? nullptr : a_.data() + i * stride;
    }
    stride_ = stride;  // last, so that the next call tries again after a failed allocation
}

std::size_t Looks::nbytes() const {
    return (points_.capacity() + h_.capacity() + t_.capacity() + a_.capacity() + kxx_.capacity() +
            between_.capacity()) *
               sizeof(double) +
           looks_.capacity() * sizeof(Look) + entered_.capacity() * sizeof(std::size_t) +
           mates_.nbytes();
}

void Dictionary::extend(Look& look) {
    if (look.n_known == size_) return;
    const simd::Rows row{look.x, 1, depth()};
    if (points_.in_order())
        kernel_->rows(row, points_.panels(look.n_known), n_features_, 0,
                      {look.h + look.n_known - points_.lane(look.n_known), 0}, scratch_);
    else
        for (std::size_t j = look.n_known; j < size_; ++j) {
            double values[simd::panel_width];
            std::size_t lane = 0;
            kernel_->rows(row, points_.panel_of(j, lane), n_features_, 0, {values, 0}, scratch_);
            look.h[j] = values[lane];
        }
    look.n_known = size_;
}

void Dictionary::find_mates(Looks& looks, std::size_t i) {
    const std::size_t before = looks.entered_.size(), stride = simd::padded(looks.size());
    for (std::size_t& k = looks.searched_; k < i; ++k) {
        if (looks[k].centre == Look::none) continue;
        looks.mates_.append(looks[k].x);
        looks.entered_.push_back(looks[k].centre);
    }
    if (looks.entered_.size() == before) return;
    // Of several points at once, because these take hardly more time than one.
    const std::size_t place = before / simd::panel_width * simd::panel_width;
    kernel_->rows({looks.points_.data() + i * depth(), looks.count_ - i, depth()},
                  looks.mates_.panels(before), n_features_, 0,
                  {looks.between_.data() + i * stride + place, stride}, scratch_);
}

void Dictionary::extend(Looks& looks, std::size_t i) {
    Look& look = looks[i];
    if (look.n_known == size_ || looks.between_.empty()) return extend(look);
    find_mates(looks, i);
    const double* values = looks.between_.data() + i * simd::padded(looks.size());
    for (std::size_t k = 0; k < looks.entered_.size(); ++k)
        if (looks.entered_[k] == look.n_known) look.h[look.n_known++] = values[k];
    extend(look);
}

}  // namespace parsimon
