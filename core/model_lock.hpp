// A lock for a model: many threads may read it at once, or one thread may learn.
//
// A kernel can be a Python function. Such a function can call the model that evaluates it, on the
// thread that already holds the lock. Waiting for the lock would then never end. So a model
// remembers which thread learns, and each thread remembers which models it reads. A call that would
// wait for its own thread throws. A nested read needs no second lock and is allowed.
#pragma once

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <thread>

namespace parsimon {

// The lock of one model. `Reading` and `Learning` hold it as long as they exist.
class ModelLock {
public:
    class Reading;
    class Learning;

private:
    // A model that this thread reads, and a link to the models it was already reading.
    struct Read {
        const ModelLock* lock;
        const Read* before;
    };
    static const Read*& reads() {
        static thread_local const Read* innermost = nullptr;
        return innermost;
    }
    bool is_read_here() const {
        for (const Read* read = reads(); read; read = read->before)
            if (read->lock == this) return true;
        return false;
    }
    void require_not_learning() const {
        if (learning_.load() == std::this_thread::get_id())
            throw std::runtime_error(
                "a kernel function must not use the model that is learning with it");
    }

    mutable std::shared_mutex mutex_;
    mutable std::atomic<std::thread::id> learning_{};
};

// Holds a model for reading. If the lock is not free, calls waits(wait). `waits` must call wait(),
// which blocks. It can first release what other threads need meanwhile, such as the GIL.
class ModelLock::Reading {
public:
    template <class Waits>
    Reading(const ModelLock& lock, Waits&& waits)
        : read_{&lock, reads()}, held_(lock.mutex_, std::defer_lock) {
        lock.require_not_learning();
        if (!lock.is_read_here() && !held_.try_lock()) waits([this] { held_.lock(); });
        reads() = &read_;
    }
    // For a helper thread of a thread that holds the lock for reading and waits for the helper.
    struct Helping {};
    Reading(const ModelLock& lock, Helping) : read_{&lock, reads()} { reads() = &read_; }
    ~Reading() { reads() = read_.before; }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

private:
    Read read_;
    std::shared_lock<std::shared_mutex> held_;
};

// Holds a model exclusively, for learning or for reading state that must not change meanwhile.
// `waits` is as in Reading.
class ModelLock::Learning {
public:
    template <class Waits>
    Learning(const ModelLock& lock, Waits&& waits)
        : lock_(lock), held_(lock.mutex_, std::defer_lock) {
        lock.require_not_learning();
        if (lock.is_read_here())
            throw std::runtime_error(
                "a kernel function must not change or store the model that is predicting with it");
        if (!held_.try_lock()) waits([this] { held_.lock(); });
        mark();
    }
    ~Learning() {
        if (held_.owns_lock()) release();
    }
    Learning(const Learning&) = delete;
    Learning& operator=(const Learning&) = delete;
    // Gives the lock back for a while; `take` waits for it again.
    void release() {
        lock_.learning_ = std::thread::id();
        held_.unlock();
    }
    void take() {
        held_.lock();
        mark();
    }

private:
    void mark() { lock_.learning_ = std::this_thread::get_id(); }
    const ModelLock& lock_;
    std::unique_lock<std::shared_mutex> held_;
};

}  // namespace parsimon
