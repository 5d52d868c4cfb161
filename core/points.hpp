// Points stored in panels of eight, the layout in which kernel rows are evaluated (simd/loops.hpp).
//
// Invariants: points 0..size-1 are in insertion order. The places after the last point are zero.
// There is memory for `capacity` points. Point 0 is at place `gap`. The places before it hold
// points that `drop_first` removed, until `close_gap`.
//
// After `reuse_places`, a removal moves nothing: the next point takes the free place. Then there is
// no gap, and point j is at place places_[j]. Free places hold points that were removed. places_ is
// a permutation of all places in use, with the free ones last. At most size + 64 places are free.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "buffer.hpp"
#include "simd/loops.hpp"
#include "sizes.hpp"

namespace parsimon {

// Stores `depth` numbers per point as type T. The owner of the array knows the number of points.
template <class T>
class PanelArray {
public:
    explicit PanelArray(std::size_t depth) : depth_(depth) {}

    std::size_t nbytes() const { return data_.capacity() * sizeof(T); }
    // Makes room for n points.
    void reserve(std::size_t n) { data_.resize(numbers(simd::padded(n), depth_), T{}); }
    // Panel p, (depth, 8), or null without memory.
    const T* panel(std::size_t p) const {
        return data_.empty() ? nullptr : data_.data() + p * depth_ * width;
    }

    void put(std::size_t j, const double* point) {  // (depth,)
        for (std::size_t f = 0; f < depth_; ++f)
            data_[simd::place(j, f, depth_)] = static_cast<T>(point[f]);
    }

    // Removes point j of `size` points and closes the gap.
    void remove(std::size_t j, std::size_t size) {
        const std::size_t last_panel = (size - 1) / width;
        for (std::size_t p = j / width; p <= last_panel; ++p) {
            const std::size_t lane = p == j / width ? j % width : 0;
            for (std::size_t f = 0; f < depth_; ++f) {
                T* row = data_.data() + (p * depth_ + f) * width;
                for (std::size_t l = lane; l + 1 < width; ++l) row[l] = row[l + 1];
                row[width - 1] = p < last_panel ? row[depth_ * width] : T{};
            }
        }
    }

    // Removes the points js, in increasing order, in one pass.
    void remove(const std::size_t* js, std::size_t count, std::size_t size) {
        const std::size_t left = size - count;
        std::size_t gone = 0, source = js[0] / width * width;
        for (std::size_t panel = js[0] / width; panel <= (size - 1) / width; ++panel) {
            std::size_t from[width];  // where the new points of the panel are now
            const std::size_t points = std::min(width, left - std::min(left, panel * width));
            for (std::size_t l = 0; l < points; ++l) {
                while (gone < count && source == js[gone]) ++gone, ++source;
                from[l] = simd::place(source++, 0, depth_);
            }
            for (std::size_t f = 0; f < depth_; ++f) {
                T row[width] = {};
                for (std::size_t l = 0; l < points; ++l) row[l] = data_[from[l] + f * width];
                std::copy_n(row, width, data_.data() + (panel * depth_ + f) * width);
            }
        }
    }

    // Moves `count` panels to the front. The `from` panels after them become zero.
    void move_panels(std::size_t from, std::size_t count) {
        const auto at = [this](std::size_t p) {
            return data_.begin() + static_cast<std::ptrdiff_t>(p * depth_ * width);
        };
        std::fill(std::copy(at(from), at(from + count), at(0)), at(from + count), T{});
    }

    // Copies the point at place `from` to place `to`.
    void copy_place(std::size_t from, std::size_t to) {
        for (std::size_t f = 0; f < depth_; ++f)
            data_[simd::place(to, f, depth_)] = data_[simd::place(from, f, depth_)];
    }
    void clear(std::size_t place) {
        for (std::size_t f = 0; f < depth_; ++f) data_[simd::place(place, f, depth_)] = T{};
    }

    // Copies point j to `point` (depth,).
    void copy(std::size_t j, double* point) const {
        for (std::size_t f = 0; f < depth_; ++f) point[f] = data_[simd::place(j, f, depth_)];
    }

    // Whether point j equals `point` (depth,).
    bool equals(std::size_t j, const double* point) const {
        for (std::size_t f = 0; f < depth_; ++f)
            if (data_[simd::place(j, f, depth_)] != point[f]) return false;
        return true;
    }

private:
    static constexpr std::size_t width = simd::panel_width;
    std::size_t depth_;
    Buffer<T> data_;
};

// Points with n_features features and n_extras further numbers each (kernels.hpp).
class Points {
public:
    // With `single`, features are stored as floats and must be exact in single precision. The extra
    // numbers are always doubles.
    explicit Points(std::size_t n_features, std::size_t n_extras = 0, bool single = false)
        : n_features_(n_features),
          n_extras_(n_extras),
          doubles_(single ? 0 : n_features),
          singles_(single ? n_features : 0),
          extras_(n_extras),
          norms_(n_features >= simd::least_for_products ? 1 : 0) {}

    std::size_t size() const { return size_; }
    std::size_t depth() const { return n_features_ + n_extras_; }
    std::size_t nbytes() const {
        return doubles_.nbytes() + singles_.nbytes() + extras_.nbytes() + norms_.nbytes() +
               places_.capacity() * sizeof(std::size_t);
    }
    // For an owner that often removes points. Requires that there is no point yet.
    void reuse_places() { reuses_ = true; }
    bool reuses_places() const { return reuses_; }
    // Whether point j is at place gap + j, and no place is free.
    bool in_order() const { return in_order_; }

    void reserve(std::size_t n) {
        doubles_.reserve(n);
        singles_.reserve(n);
        extras_.reserve(n);
        norms_.reserve(n);
        if (reuses_) places_.reserve(simd::padded(n));
        capacity_ = simd::padded(n);  // last: after a failed allocation the next call tries again
    }

    void append(const double* point) {  // (depth,)
        const bool all_taken = !reuses_ || size_ == places_.size();
        if (all_taken && end() == capacity_) reserve(2 * end() + simd::panel_width);
        if (all_taken && reuses_) places_.push_back(size_);
        const std::size_t place = place_of(size_);
        doubles_.put(place, point);
        singles_.put(place, point);
        extras_.put(place, point + n_features_);
        if (n_features_ >= simd::least_for_products) {
            const double norm = simd::loops().dot(point, point, n_features_);
            norms_.put(place, &norm);
        }
        ++size_;
    }

    // Removes all points. For points in order.
    void clear() {
        for (std::size_t j = 0; j < size_; ++j) for_arrays([&](auto& array) { array.clear(j); });
        size_ = 0;
    }
    void remove(const std::size_t* js, std::size_t count) {  // in increasing order
        if (count == 0) return;
        if (reuses_) {
            for (std::size_t k = count; k-- > 0; --size_) {
                const auto place = places_.begin() + static_cast<std::ptrdiff_t>(js[k]);
                std::rotate(place, place + 1, places_.begin() + static_cast<std::ptrdiff_t>(size_));
            }
            in_order_ = false;
            // On average, a removal moves at most one point.
            if (places_.size() > 2 * size_ + most_free) pack();
            return;
        }
        if (count > 1) close_gap(true);
        for_arrays([&](auto& array) {
            count == 1 ? array.remove(gap_ + js[0], gap_ + size_) : array.remove(js, count, size_);
        });
        size_ -= count;
    }

    // Leaves no place free: points of the last places move to free ones.
    void pack() {
        if (!reuses_ || places_.size() == size_) return;
        const auto last = places_.begin() + static_cast<std::ptrdiff_t>(size_);
        auto free = last;
        for (auto place = places_.begin(); place != last; ++place) {
            if (*place < size_) continue;
            while (*free >= size_) ++free;
            for_arrays([&](auto& array) { array.copy_place(*place, *free); });
            *place = *free++;
        }
        for (std::size_t place = size_; place < places_.size(); ++place)
            for_arrays([&](auto& array) { array.clear(place); });
        places_.resize(size_);
        in_order_ = std::is_sorted(places_.begin(), places_.end());
    }

    bool can_drop_first() const { return !reuses_; }
    // Removes point 0 and moves nothing. Not after `reuse_places`.
    void drop_first() {
        ++gap_;
        --size_;
    }
    std::size_t gap() const { return gap_; }
    // The place of point j in its panel, for points in order. For others, lane(0) is 0.
    std::size_t lane(std::size_t j) const { return (gap_ + j) % simd::panel_width; }
    // Moves all points to the front by whole panels, or with `all` by the whole gap. Returns by how
    // many places.
    std::size_t close_gap(bool all) {
        constexpr std::size_t width = simd::panel_width;
        const std::size_t places = all ? gap_ : gap_ / width * width, end = gap_ + size_;
        if (const std::size_t panels = places / width; panels > 0)
            for_arrays([&](auto& array) {
                array.move_panels(panels, simd::padded(end) / width - panels);
            });
        if (const std::size_t rest = places % width; rest > 0) {
            std::size_t js[width];
            for (std::size_t l = 0; l < rest; ++l) js[l] = l;
            for_arrays([&](auto& array) { array.remove(js, rest, rest + size_); });
        }
        gap_ -= places;
        return places;
    }

    void features(std::size_t j, double* out) const {  // (n_features,)
        doubles_.copy(place_of(j), out);
        singles_.copy(place_of(j), out);
    }
    void copy(std::size_t j, double* point) const {  // (depth,)
        features(j, point);
        extras_.copy(place_of(j), point + n_features_);
    }

    bool equals(std::size_t j, const double* point) const {  // compares the features only
        return doubles_.equals(place_of(j), point) && singles_.equals(place_of(j), point);
    }

    // The same points in order, without a gap.
    Points arranged() const {
        Points result(n_features_, n_extras_, singles_.panel(0) != nullptr);
        result.reserve(size_);
        std::vector<double> point(depth());
        for (std::size_t j = 0; j < size_; ++j) {
            copy(j, point.data());
            result.append(point.data());
        }
        return result;
    }
    // The place of point j in panels(first).
    std::size_t place(std::size_t j, std::size_t first) const {
        return place_of(j) - (gap_ + first) / simd::panel_width * simd::panel_width;
    }
    // Copies the values of all points from their places in panels() to `out`, in order.
    template <class T>
    void gather(const T* values, T* out) const {
        for (std::size_t j = 0; j < size_; ++j) out[j] = values[place(j, 0)];
    }

    // The panel with point j, which is at place `lane` there.
    simd::Panels panel_of(std::size_t j, std::size_t& lane) const {
        const std::size_t panel = place_of(j) / simd::panel_width,
                          start = panel * simd::panel_width;
        lane = place_of(j) - start;
        return {.doubles = doubles_.panel(panel),
                .singles = singles_.panel(panel),
                .extras = extras_.panel(panel),
                .norms = norms_.panel(panel),
                .count = 1,
                .n_features = n_features_,
                .n_extras = n_extras_,
                .points = std::min(start + simd::panel_width, end()) - start};
    }
    // The panels with points first..size-1, beginning with the panel of point `first`. If the
    // points are not in order, only panels(0) has a meaning. It includes free places.
    simd::Panels panels(std::size_t first = 0) const {
        const std::size_t skipped = (gap_ + first) / simd::panel_width,
                          start = skipped * simd::panel_width, end = this->end();
        return {.doubles = doubles_.panel(skipped),
                .singles = singles_.panel(skipped),
                .extras = extras_.panel(skipped),
                .norms = norms_.panel(skipped),
                .count = simd::padded(end) / simd::panel_width - skipped,
                .n_features = n_features_,
                .n_extras = n_extras_,
                .points = end - std::max(start, gap_),
                .before = std::max(start, gap_) - start};
    }

private:
    static constexpr std::size_t most_free = 64;

    template <class Function>
    void for_arrays(Function&& function) {
        function(doubles_);
        function(singles_);
        function(extras_);
        function(norms_);
    }

    std::size_t place_of(std::size_t j) const { return reuses_ ? places_[j] : gap_ + j; }
    std::size_t end() const { return reuses_ ? places_.size() : gap_ + size_; }  // places in use

    std::size_t n_features_, n_extras_, size_ = 0, capacity_ = 0, gap_ = 0;
    bool reuses_ = false, in_order_ = true;
    std::vector<std::size_t> places_;
    PanelArray<double> doubles_;  // features are in doubles_ or in singles_; the other is empty
    PanelArray<float> singles_;
    PanelArray<double> extras_;
    PanelArray<double> norms_;  // squared norms of the features, or empty
};

}  // namespace parsimon
