#include "check.hpp"

int main() {
    int passed = 0, failed = 0;
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
