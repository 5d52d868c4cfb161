#include "team.hpp"

#include <utility>

namespace parsimon {
void Team::pause() {
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
    __builtin_ia32_pause();
#elif defined(__GNUC__) && defined(__aarch64__)
    asm volatile("yield");
#endif
}

void Team::start() {
    try {
        while (others_.size() + 1 < threads_) others_.emplace_back([this] { help(); });
    } catch (...) {  // no further thread could be started: continue with fewer
    }
}

void Team::run(const Region& region) {
    const std::size_t pieces = (region.n + region.length - 1) / region.length;
    if (threads_ < 2 || pieces < 2) {
        for (std::size_t first = 0; first < region.n; first += region.length)
            region.call(region.work, first, std::min(first + region.length, region.n));
        return;
    }
    start();
    bool asleep = false;
    {
        const std::lock_guard lock(mutex_);
        region_ = region;
        next_ = 0;
        open_ = true;
        ++round_;
        asleep = asleep_ > 0;
    }
    if (asleep) woken_.notify_all();
    take(region);
    {
        const std::lock_guard lock(mutex_);
        open_ = false;
    }
    wait_until([this] { return inside_.load(std::memory_order_acquire) == 0; });
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void Team::take(const Region& region) {
    try {
        for (std::size_t first; (first = next_.fetch_add(region.length)) < region.n;)
            region.call(region.work, first, std::min(first + region.length, region.n));
    } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!error_) error_ = std::current_exception();
        next_ = region.n;
    }
}

void Team::help() {
    std::uint64_t seen = 0;
    for (;;) {
        const auto end = std::chrono::steady_clock::now() + patience;
        for (int i = 0; round_ == seen && (i < looks || std::chrono::steady_clock::now() < end);
             ++i)
            i < looks ? pause() : std::this_thread::yield();
        std::unique_lock lock(mutex_);
        ++asleep_;
        woken_.wait(lock, [&] { return round_ != seen; });
        --asleep_;
        seen = round_;
        if (ending_) return;
        if (!open_) continue;
        ++inside_;
        const Region region = region_;
        lock.unlock();
        take(region);
        inside_.fetch_sub(1, std::memory_order_release);
    }
}

void Team::rest() {
    if (others_.empty()) return;
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
        ++round_;
    }
    woken_.notify_all();
    for (auto& other : others_) other.join();
    others_.clear();
    ending_ = false;
    round_ = 0;  // as a new thread has seen none
}

}  // namespace parsimon
