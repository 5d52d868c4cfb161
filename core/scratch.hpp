// Temporary arrays that are taken and given back like a stack, so that steady work allocates
// nothing.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

namespace parsimon {

class Scratch {
public:
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

    Lease take(std::size_t n) { return Lease(*this, n); }

    // The first `count` arrays hold n numbers from now on.
    void reserve(std::size_t count, std::size_t n) {
        if (buffers_.size() < count) buffers_.resize(count);
        for (std::size_t i = 0; i < count; ++i)
            if (buffers_[i].size() < n) buffers_[i].resize(n);
    }

    std::size_t nbytes() const {
        std::size_t total = 0;
        for (const auto& buffer : buffers_) total += buffer.capacity() * sizeof(double);
        return total;
    }

private:
    std::deque<std::vector<double>>
        buffers_;  // a deque: a lease stays valid while others are taken
    std::size_t depth_ = 0;
};

}  // namespace parsimon
