// Threads that share the work of one call of learning.
//
// CONVENTION
// - The pieces of a region are fixed by the sizes of the work, never by the number of threads. So
//   the number of threads changes no bit.
// - The threads start with the first region that is worth it. They wait for further regions until
//   `rest`. A call that learns ends with `rest`, so that no thread outlives it.
// - One thread at a time may use a team. Regions cannot be nested.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "scratch.hpp"

namespace parsimon {

class Team {
public:
    // A region starts the threads if it has this many multiply-adds or more. They take 50 us at the
    // least. Starting a thread takes about 20 us, once per call of learning. Threads that run are
    // told of a region in about a microsecond, so that a quarter of the work is enough for them.
    static constexpr double usual_least = 1 << 20, running = 0.25;

    explicit Team(std::size_t threads = 1, double least = usual_least)
        : threads_(threads), least_(least) {}
    ~Team() { rest(); }
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    // The number of threads, with the caller. 0 counts as 1.
    void resize(std::size_t threads, double least = usual_least) {
        rest();
        threads_ = threads;
        least_ = least;
    }
    // Whether a region is shared, given the number of its multiply-adds as a product of sizes.
    template <class... Sizes>
    bool shares(Sizes... sizes) const {
        return threads_ > 1 &&
               (static_cast<double>(sizes) * ...) >= (others_.empty() ? 1.0 : running) * least_;
    }

    // Whether some region of this size may be shared, now or once the threads run.
    template <class... Sizes>
    bool may_share(Sizes... sizes) const {
        return threads_ > 1 && (static_cast<double>(sizes) * ...) >= running * least_;
    }
    // Working memory of operations that are shared, for the thread that begins them.
    Scratch& scratch() { return scratch_; }
    const Scratch& scratch() const { return scratch_; }

    // Calls work(first, last) for consecutive pieces of 0..n-1 with `length` elements each. The
    // pieces must not depend on each other. They are begun in order. The calling thread works too.
    // If a piece throws, pieces not yet begun are skipped, and the first exception is thrown again.
    template <class Work>
    void in_pieces(std::size_t n, std::size_t length, Work&& work) {
        const auto call = [&work](std::size_t first, std::size_t last) { work(first, last); };
        using Call = decltype(call);
        run({n, length, &call, [](const void* made, std::size_t first, std::size_t last) {
                 (*static_cast<Call*>(made))(first, last);
             }});
    }
    // The same for pieces with a second half that must be done in order: work(first, last, wait)
    // calls wait() once, which returns when all pieces before are done. `work` must not throw.
    template <class Work>
    void in_turn(std::size_t n, std::size_t length, Work&& work) {
        std::atomic<std::size_t> done = 0;
        in_pieces(n, length, [&](std::size_t first, std::size_t last) {
            work(first, last, [&] {
                wait_until([&] { return done.load(std::memory_order_acquire) == first; });
            });
            done.store(last, std::memory_order_release);
        });
    }

    // Ends the threads. Later regions start them again.
    void rest();
    // Lets a team rest when it goes out of scope.
    class Shift {
    public:
        explicit Shift(Team& team) : team_(team) {}
        ~Shift() { team_.rest(); }
        Shift(const Shift&) = delete;
        Shift& operator=(const Shift&) = delete;

    private:
        Team& team_;
    };

private:
    struct Region {
        std::size_t n = 0, length = 1;
        const void* work = nullptr;
        void (*call)(const void* work, std::size_t first, std::size_t last) = nullptr;
    };
    void run(const Region& region);
    // Waits for another thread, which is about to finish.
    template <class Condition>
    static void wait_until(Condition&& condition) {
        for (int i = 0; !condition(); ++i) i < looks ? pause() : std::this_thread::yield();
    }
    // How often a thread looks for something before it lets other programs run: for some 50 us.
    static constexpr int looks = 1000;
    // How long a thread looks for the next region before it sleeps. Steps of learning have regions
    // again and again, with less time in between, and waking a thread takes as long as many
    // regions.
    static constexpr std::chrono::microseconds patience{500};
    static void pause();  // a moment
    void start();
    void help();                      // what a thread does until `rest`
    void take(const Region& region);  // does pieces until none is left

    std::size_t threads_;
    double least_;
    Scratch scratch_;
    std::vector<std::thread> others_;
    std::mutex mutex_;
    std::condition_variable woken_;
    // Under the lock. A thread joins a region while it is open. `inside_` counts those that did.
    Region region_;
    bool open_ = false, ending_ = false;
    std::size_t asleep_ = 0;
    std::exception_ptr error_;
    std::atomic<std::uint64_t> round_ = 0;  // regions so far
    std::atomic<std::size_t> next_ = 0, inside_ = 0;
};

}  // namespace parsimon
