// Many threads may read a model while one learns: learning excludes, reading shares.
//
// A kernel that is a Python function can come back to the model that it works for, on the thread
// that holds the lock. Waiting would be for ever then. So a model remembers which thread learns,
// and a thread which models it reads: such a call is refused, or where it only reads what is being
// read already, let through without another lock.
#pragma once

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <thread>

namespace parsimon {

class ModelLock {
public:
    class Reading;
    class Learning;

private:
    // A model that this thread reads, and those that it was reading before.
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

// Holds a model for reading. `waits(wait)` calls wait(), which may block: there the caller can let
// go of what others need meanwhile.
class ModelLock::Reading {
public:
    template <class Waits>
    Reading(const ModelLock& lock, Waits&& waits)
        : read_{&lock, reads()}, held_(lock.mutex_, std::defer_lock) {
        lock.require_not_learning();
        if (!lock.is_read_here() && !held_.try_lock()) waits([this] { held_.lock(); });
        reads() = &read_;
    }
    // For a thread that helps one which is reading, and waits for it.
    struct Helping {};
    Reading(const ModelLock& lock, Helping) : read_{&lock, reads()} { reads() = &read_; }
    ~Reading() { reads() = read_.before; }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

private:
    Read read_;
    std::shared_lock<std::shared_mutex> held_;
};

// Holds a model alone, for learning or for looking at what must not change meanwhile.
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
