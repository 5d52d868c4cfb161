// Points stored in panels of eight, the layout in which kernel rows are evaluated (simd/loops.hpp).
//
// Invariants: points 0..size-1 are in insertion order; lanes past the last point are zero; room for `capacity` points is held.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "simd/loops.hpp"

namespace parsimon {

class Points {
public:
    explicit Points(std::size_t depth) : depth_(depth) {}

    std::size_t size() const { return size_; }
    std::size_t depth() const { return depth_; }
    std::size_t nbytes() const { return data_.capacity() * sizeof(double); }

    void reserve(std::size_t n) { data_.resize(simd::padded(n) * depth_, 0.0); }

    void append(const double* point) {  // (depth,)
        if (simd::padded(size_ + 1) * depth_ > data_.size()) reserve(2 * size_ + simd::panel_width);
        for (std::size_t f = 0; f < depth_; ++f) at(size_, f) = point[f];
        ++size_;
    }

    void remove(std::size_t j) {
        constexpr std::size_t width = simd::panel_width;
        const std::size_t last_panel = (size_ - 1) / width;
        for (std::size_t p = j / width; p <= last_panel; ++p) {
            const std::size_t lane = p == j / width ? j % width : 0;
            for (std::size_t f = 0; f < depth_; ++f) {
                double* row = data_.data() + (p * depth_ + f) * width;
                for (std::size_t l = lane; l + 1 < width; ++l) row[l] = row[l + 1];
                row[width - 1] = p < last_panel ? row[depth_ * width] : 0.0;
            }
        }
        --size_;
    }

    // Several, rising, in one pass.
    void remove(const std::size_t* js, std::size_t count) {
        if (count == 0) return;
        if (count == 1) return remove(js[0]);
        constexpr std::size_t width = simd::panel_width;
        const std::size_t left = size_ - count;
        std::size_t gone = 0, source = js[0] / width * width;
        for (std::size_t panel = js[0] / width; panel <= (size_ - 1) / width; ++panel) {
            const double* from[width];  // where the panel's points are now, null past the last
            for (std::size_t l = 0; l < width; ++l) {
                while (gone < count && source == js[gone]) ++gone, ++source;
                from[l] = panel * width + l < left ? &at(source++, 0) : nullptr;
            }
            for (std::size_t f = 0; f < depth_; ++f) {
                double row[width];
                for (std::size_t l = 0; l < width; ++l) row[l] = from[l] ? from[l][f * width] : 0.0;
                std::copy_n(row, width, data_.data() + (panel * depth_ + f) * width);
            }
        }
        size_ = left;
    }

    void copy(std::size_t j, double* point, std::size_t n) const {  // the first n of the depth
        for (std::size_t f = 0; f < n; ++f) point[f] = at(j, f);
    }

    bool equals(std::size_t j, const double* point, std::size_t n_features) const {
        for (std::size_t f = 0; f < n_features; ++f)
            if (at(j, f) != point[f]) return false;
        return true;
    }

    // The panels that hold points first..size-1.
    simd::Panels panels(std::size_t first = 0) const {
        const std::size_t skipped = first / simd::panel_width;
        return {data_.data() + skipped * depth_ * simd::panel_width, simd::padded(size_) / simd::panel_width - skipped, depth_,
                size_ - skipped * simd::panel_width};
    }

private:
    double& at(std::size_t j, std::size_t f) {
        return data_[(j / simd::panel_width * depth_ + f) * simd::panel_width + j % simd::panel_width];
    }
    double at(std::size_t j, std::size_t f) const {
        return data_[(j / simd::panel_width * depth_ + f) * simd::panel_width + j % simd::panel_width];
    }

    std::size_t depth_;
    std::size_t size_ = 0;
    std::vector<double> data_;
};

}  // namespace parsimon
