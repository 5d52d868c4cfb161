#include <cstring>

#include "check.hpp"
#include "simd/loops.hpp"

// With an argument: the inner loops that dispatch must choose on this processor.
int main(int argc, char** argv) {
    int passed = 0, failed = 0;
    const char* loops = parsimon::simd::loops().name;
    std::printf("inner loops: %s\n", loops);
    if (argc > 1 && std::strcmp(argv[1], loops) != 0) {
        std::printf("expected: %s\n", argv[1]);
        return 1;
    }
    for (const auto& test : check::cases()) {
        const int before = check::failures();
        test.run();
        const bool ok = check::failures() == before;
        std::printf("%s %s\n", ok ? "ok  " : "FAIL", test.name);
        ++(ok ? passed : failed);
    }
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed == 0 && passed > 0 ? 0 : 1;
}
