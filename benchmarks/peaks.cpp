// What this machine can do at best: moving numbers to and from memory of a given size, and
// exponentials.
#include <cmath>
#include <cstddef>

// Eight numbers a turn from one array, `turns` times over: what a read costs, in place of the sum
// that it returns.
extern "C" double read_array(const double* a, std::size_t n, std::size_t turns) {
    double sums[32] = {};
    for (std::size_t t = 0; t < turns; ++t)
        for (std::size_t i = 0; i + 32 <= n; i += 32)
            for (std::size_t k = 0; k < 32; ++k) sums[k] += a[i + k];
    double total = 0.0;
    for (const double s : sums) total += s;
    return total;
}

// The triad a = b + s c: two reads and a write.
extern "C" void triad(double* __restrict a, const double* __restrict b, const double* __restrict c,
                      double s, std::size_t n, std::size_t turns) {
    for (std::size_t t = 0; t < turns; ++t) {
        for (std::size_t i = 0; i < n; ++i) a[i] = b[i] + s * c[i];
        asm volatile("" : : "r"(a) : "memory");  // every turn counts
    }
}

extern "C" void exponentials(const double* __restrict x, double* __restrict y, std::size_t n,
                             std::size_t turns) {
    for (std::size_t t = 0; t < turns; ++t) {
        for (std::size_t i = 0; i < n; ++i) y[i] = std::exp(x[i]);
        asm volatile("" : : "r"(y) : "memory");
    }
}
