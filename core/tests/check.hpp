// A test framework of a dozen lines: TEST registers, CHECK counts.
#pragma once

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace check {

struct Case {
    const char* name;
    void (*run)();
};

inline std::vector<Case>& cases() {
    static std::vector<Case> all;
    return all;
}

inline int& failures() {
    static int count = 0;
    return count;
}

struct Register {
    Register(const char* name, void (*run)()) { cases().push_back({name, run}); }
};

}  // namespace check

#define TEST(name)                                             \
    static void name();                                        \
    static const check::Register register_##name(#name, name); \
    static void name()

#define CHECK(condition)                                                              \
    do {                                                                              \
        if (!(condition)) {                                                           \
            std::printf("%s:%d: CHECK(%s) failed\n", __FILE__, __LINE__, #condition); \
            ++check::failures();                                                      \
        }                                                                             \
    } while (false)

#define CHECK_NEAR(a, b, tolerance)                                                             \
    do {                                                                                        \
        const double check_a = (a), check_b = (b);                                              \
        if (!(check_a - check_b <= (tolerance) && check_b - check_a <= (tolerance))) {          \
            std::printf("%s:%d: %s = %.17g, %s = %.17g\n", __FILE__, __LINE__, #a, check_a, #b, \
                        check_b);                                                               \
            ++check::failures();                                                                \
        }                                                                                       \
    } while (false)
