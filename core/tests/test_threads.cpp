// Pieces: each is done once, by whatever thread, and an error of one of them is thrown.
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "threads.hpp"

namespace {

using namespace parsimon;

TEST(every_place_is_worked_on_once) {
    for (const std::size_t n : {0u, 1u, 9u, 1000u})
        for (const std::size_t threads : {1u, 2u, 7u, 100u}) {
            std::vector<int> times(n, 0);
            std::atomic<bool> whole = true;
            in_pieces(n, 8, threads, [&](std::size_t first, std::size_t last) {
                if (first % 8 || last - first > 8 || last > n) whole = false;
                for (std::size_t i = first; i < last; ++i) ++times[i];
            });
            CHECK(whole);
            for (const int t : times) CHECK(t == 1);
        }
}

TEST(an_error_of_one_thread_is_thrown) {
    for (const std::size_t threads : {1u, 4u}) {
        std::atomic<int> done = 0;
        bool thrown = false;
        try {
            in_pieces(100, 1, threads, [&](std::size_t first, std::size_t) {
                if (first == 50) throw std::runtime_error("fifty");
                ++done;
            });
        } catch (const std::runtime_error& error) {
            thrown = std::string(error.what()) == "fifty";
        }
        CHECK(thrown);
        CHECK(done >= 50 && done < 100);
    }
}

TEST(pieces_not_yet_begun_are_left_after_an_error) {
    std::atomic<bool> thrown = false;
    std::atomic<int> done = 0;
    try {
        in_pieces(2000, 1, 2, [&](std::size_t first, std::size_t) {
            if (first == 0) {
                thrown = true;
                throw std::runtime_error("the first");
            }
            while (!thrown) std::this_thread::yield();
            std::this_thread::sleep_for(
                std::chrono::milliseconds(1));  // time for the other to tell
            ++done;
        });
    } catch (const std::runtime_error&) {
    }
    CHECK(thrown && done < 1999);
}

TEST(the_calling_thread_is_one_of_them) {
    const auto caller = std::this_thread::get_id();
    std::atomic<int> elsewhere = 0;
    in_pieces(20, 1, 1, [&](std::size_t, std::size_t) {
        std::this_thread::sleep_for(
            std::chrono::milliseconds(1));  // time for another to take a piece
        elsewhere += std::this_thread::get_id() != caller;
    });
    CHECK(elsewhere == 0);
}

}  // namespace
