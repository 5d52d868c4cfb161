// The work that no KNLMS can avoid, written as plainly as C++ allows and compiled for this very
// machine with every liberty: a kernel row, a dot product, an axpy.
#include <cmath>
#include <cstddef>

extern "C" double bare_loop(const double* centres /* (d, m) */, double* w, double* h,
                            const double* x, const double* y, std::size_t n, std::size_t m,
                            std::size_t d, double gamma, double step) {
    double total = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < m; ++j) h[j] = 0.0;
        for (std::size_t f = 0; f < d; ++f) {
            const double v = x[i * d + f];
            const double* c = centres + f * m;
            for (std::size_t j = 0; j < m; ++j) h[j] += (c[j] - v) * (c[j] - v);
        }
        for (std::size_t j = 0; j < m; ++j) h[j] = std::exp(-gamma * h[j]);
        double f = 0.0;
        for (std::size_t j = 0; j < m; ++j) f += h[j] * w[j];
        const double scale = step * (y[i] - f);
        for (std::size_t j = 0; j < m; ++j) w[j] += scale * h[j];
        total += f;
    }
    return total;
}
