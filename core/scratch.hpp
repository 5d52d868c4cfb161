// Temporary arrays, taken and returned in the order of a stack. Memory is kept for reuse, so that
// repeated work allocates nothing.
#pragma once

#include <cstddef>
#include <deque>

#include "buffer.hpp"

namespace parsimon {

// A stack of arrays. Each thread needs its own.
class Scratch {
public:
    // An array in use. The destructor returns it.
    class Lease {
    public:
        explicit Lease(Scratch& owner, std::size_t n) : owner_(owner) {
            if (owner.depth_ == owner.buffers_.size()) owner.buffers_.emplace_back();
            auto& buffer = owner.buffers_[owner.depth_];
            if (buffer.size() < n) buffer.resize(n);
            data_ = buffer.data();
            ++owner.depth_;  // last: a failed allocation above must not leave the depth raised
        }
        ~Lease() { --owner_.depth_; }
        Lease(const Lease&) = delete;
        Lease& operator=(const Lease&) = delete;
        double* data() const { return data_; }

    private:
        Scratch& owner_;
        double* data_;
    };

    // An array of n numbers, not initialised.
    Lease take(std::size_t n) { return Lease(*this, n); }

    // Allocates the first `count` arrays with n numbers each.
    void reserve(std::size_t count, std::size_t n) {
        if (buffers_.size() < count) buffers_.resize(count);
        for (std::size_t i = 0; i < count; ++i)
            if (buffers_[i].size() < n) {
                buffers_[i].reserve(n);  // not more, whatever the size was before
                buffers_[i].resize(n);
            }
    }

    std::size_t nbytes() const {
        std::size_t total = 0;
        for (const auto& buffer : buffers_) total += buffer.capacity() * sizeof(double);
        return total;
    }

private:
    // A deque, because leases must stay valid when further arrays are added.
    std::deque<Buffer<double>> buffers_;
    std::size_t depth_ = 0;
};

}  // namespace parsimon
