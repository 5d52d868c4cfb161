// Chooses the loops for the instruction set of this processor at run time.
#include "simd/loops.hpp"

namespace parsimon::simd {

namespace baseline {
extern const Loops table;
}
#ifdef PARSIMON_X86_LEVELS
namespace x86_64_v3 {
extern const Loops table;
}
namespace x86_64_v4 {
extern const Loops table;
}
#endif

const Loops* const* all_loops(std::size_t& n) {
    struct Choice {
        const Loops* tables[3] = {&baseline::table, nullptr, nullptr};
        std::size_t n = 1;
        Choice() {
#ifdef PARSIMON_X86_LEVELS
            __builtin_cpu_init();
            if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                __builtin_cpu_supports("bmi2")) {
                tables[n++] = &x86_64_v3::table;
                if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl"))
                    tables[n++] = &x86_64_v4::table;
            }
#endif
        }
    };
    static const Choice choice;
    n = choice.n;
    return choice.tables;
}

const Loops& loops() {
    static const Loops& best = []() -> const Loops& {
        std::size_t n;
        const Loops* const* tables = all_loops(n);
        return *tables[n - 1];
    }();
    return best;
}

}  // namespace parsimon::simd
