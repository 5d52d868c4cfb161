// dlib's KRLS behind a C interface.
#include <dlib/svm.h>
#if __has_include(<dlib/revision.h>)
#include <dlib/revision.h>
#endif

using Sample = dlib::matrix<double, 8, 1>;
using Kernel = dlib::radial_basis_kernel<Sample>;
using Filter = dlib::krls<Kernel>;

// 1924 is 19.24; 0 where its headers do not say.
extern "C" int krls_version() {
#ifdef DLIB_MAJOR_VERSION
    return 100 * DLIB_MAJOR_VERSION + DLIB_MINOR_VERSION;
#else
    return 0;
#endif
}

extern "C" void* krls_new(double gamma, double tolerance, unsigned long cap) {
    return new Filter(Kernel(gamma), tolerance, cap);
}

extern "C" void krls_delete(void* filter) { delete static_cast<Filter*>(filter); }

extern "C" unsigned long krls_size(void* filter) {
    return static_cast<Filter*>(filter)->dictionary_size();
}

// Returns the sum of squared errors before each sample was learned; predicts only where asked, for
// that costs too.
extern "C" double krls_train(void* filter, const double* x, const double* y, unsigned long n,
                             int score) {
    auto& f = *static_cast<Filter*>(filter);
    Sample sample;
    double total = 0.0;
    for (unsigned long i = 0; i < n; ++i) {
        for (int j = 0; j < 8; ++j) sample(j) = x[i * 8 + j];
        if (score) {
            const double error = y[i] - f(sample);
            total += error * error;
        }
        f.train(sample, y[i]);
    }
    return total;
}
