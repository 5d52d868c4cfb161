// Work shared between several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace parsimon {

// Calls work(first, last) for consecutive pieces of 0..n-1 with `length` elements each. The pieces
// must not depend on each other. The calling thread works too. If a piece throws, pieces not yet
// begun are skipped, and the first exception is thrown again after all threads have ended.
template <class Work>
void in_pieces(std::size_t n, std::size_t length, std::size_t threads, Work&& work) {
    std::atomic<std::size_t> next = 0;
    std::exception_ptr error;
    std::mutex telling;
    const auto take = [&] {
        try {
            for (std::size_t first; (first = next.fetch_add(length)) < n;)
                work(first, std::min(first + length, n));
        } catch (...) {
            const std::lock_guard lock(telling);
            if (!error) error = std::current_exception();
            next = n;
        }
    };
    std::vector<std::thread> others;
    const std::size_t wanted = std::min(threads, (n + length - 1) / length);
    try {
        while (others.size() + 1 < wanted) others.emplace_back(take);
    } catch (...) {  // no further thread could be started: continue with fewer
    }
    take();
    for (auto& other : others) other.join();
    if (error) std::rethrow_exception(error);
}

}  // namespace parsimon
