// Small fixed workloads on the core, for comparing two revisions of it: `driver` lists them,
// `driver NAME` runs one and prints the nanoseconds a sample took and how many centres there are,
// and a sum of what it predicts. Only `measured` is counted, so that counts of instructions are
// those of the work alone. It must compile against older revisions: nothing but the learner's
// interface is used.
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "dual_ascent.hpp"
#include "learner.hpp"
#include "rls.hpp"

using namespace parsimon;

namespace {

struct Block {
    std::vector<double> x, y;
    std::size_t n;
};

struct Workload {
    const char* name;
    std::size_t m, d, C, n, batch;
    bool novel, predicts;
    Recipe (*recipe)(std::size_t m, double gamma);
    bool signs() const { return std::strcmp(name, "bsgd") == 0; }  // as targets
};

template <class T, class... Arguments>
std::shared_ptr<T> part(Arguments... arguments) {
    return std::make_shared<T>(arguments...);
}

Recipe parts(double gamma, std::shared_ptr<Admission> admission, std::shared_ptr<Update> update,
             std::shared_ptr<Compression> compression, std::size_t batch = 1,
             std::shared_ptr<const Loss> loss = std::make_shared<SquaredLoss>()) {
    Recipe recipe;
    recipe.kernel = gaussian(gamma);
    recipe.loss = std::move(loss);
    recipe.admission = std::move(admission);
    recipe.update = std::move(update);
    recipe.compression = std::move(compression);
    recipe.batch_size = batch;
    return recipe;
}

Recipe knlms(std::size_t, double gamma) {
    return parts(gamma, part<CoherenceAdmission>(0.5), part<NLMSUpdate>(0.1, 0.0),
                 part<NoCompression>());
}
Recipe norma(std::size_t m, double gamma) {
    return parts(gamma, part<AlwaysAdmission>(), part<PlainGradientUpdate>(0.1, 0.01, 0.0, 1.0),
                 part<OldestCompression>(m));
}
Recipe krls(std::size_t m, double gamma) {
    return parts(gamma,
                 part<DependenceAdmission>(0.5, 0.0, std::numeric_limits<std::size_t>::max()),
                 part<SpanRLSUpdate>(0.0, 1.0), part<LeastNeededCompression>(m));
}
Recipe krls_by_coherence(std::size_t, double gamma) {
    return parts(gamma, part<CoherenceAdmission>(0.5), part<RowRLSUpdate>(0.01, 1.0),
                 part<NoCompression>());
}
Recipe spl(std::size_t m, double gamma) {
    return parts(gamma, part<ResidualAdmission>(1e-6),
                 part<ProjectedGradientUpdate>(0.5, 0.0, 0.0, 1.0),
                 part<LeastCostCompression>(m, 1e-6));
}
template <std::size_t batch>
Recipe polk(std::size_t m, double gamma) {
    return parts(gamma, part<ProposedAdmission>(),
                 part<ProjectedGradientUpdate>(0.5, 1e-6, 0.0, 1.0),
                 part<MatchingPursuitCompression>(0.0, 1.5, m), batch);
}
Recipe bsgd(std::size_t m, double gamma) {
    return parts(gamma, part<ProposedAdmission>(), part<PlainGradientUpdate>(0.5, 1e-6, 0.0, 1.0),
                 part<MergeCompression>(m), 1, part<HingeLoss>());
}
Recipe sog(std::size_t, double gamma) {
    return parts(gamma,
                 part<DependenceAdmission>(0.5, 0.0, std::numeric_limits<std::size_t>::max()),
                 part<DualAscentUpdate>(0.01, std::numeric_limits<double>::infinity(), false),
                 part<NoCompression>());
}

// name, m, d, C, n, batch, novel, predicts
const Workload workloads[] = {
    {"knlms", 200, 10, 1, 400, 1, false, false, knlms},
    {"knlms-wide", 200, 784, 1, 40, 1, false, false, knlms},
    {"norma", 200, 10, 1, 400, 1, true, false, norma},
    {"krls-nothing-new", 200, 10, 1, 100, 1, false, false, krls},
    {"krls-all-new", 200, 10, 1, 100, 1, true, false, krls},
    {"krls-by-coherence", 200, 10, 1, 100, 1, false, false, krls_by_coherence},
    {"spl", 200, 10, 1, 100, 1, true, false, spl},
    {"polk", 200, 10, 1, 100, 1, true, false, polk<1>},
    {"polk-in-batches", 200, 10, 10, 128, 32, true, false, polk<32>},
    {"bsgd", 200, 10, 1, 40, 1, true, false, bsgd},
    {"sog", 200, 10, 1, 100, 1, false, false, sog},
    {"predict", 200, 10, 10, 400, 1, false, true, knlms},
    {"predict-wide", 200, 784, 10, 64, 1, false, true, knlms},
    {"predict-large", 1000, 784, 10, 32, 1, false, true, knlms},
};

class Stream {
public:
    Stream(const Workload& workload) : w_(workload) {}

    // Points far apart; beside the centres given, where there are any.
    Block block(std::size_t n, const std::vector<double>& centres) {
        Block block{std::vector<double>(n * w_.d), std::vector<double>(n * w_.C), n};
        const double noise = 0.3 / std::sqrt(static_cast<double>(w_.d));
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t j = centres.empty() ? 0 : rng_() % w_.m;
            for (std::size_t f = 0; f < w_.d; ++f)
                block.x[i * w_.d + f] = centres.empty()
                                            ? 3.0 * normal_(rng_)
                                            : centres[j * w_.d + f] + noise * normal_(rng_);
            const double scale =
                w_.novel ? std::exp(static_cast<double>(seen_++) / static_cast<double>(w_.m)) : 1.0;
            for (std::size_t c = 0; c < w_.C; ++c) {
                const double y = normal_(rng_);
                block.y[i * w_.C + c] = w_.signs() ? (y < 0.0 ? -1.0 : 1.0) : scale * y;
            }
        }
        return block;
    }

private:
    const Workload& w_;
    std::mt19937_64 rng_{1};
    std::normal_distribution<double> normal_;
    std::uint64_t seen_ = 0;
};

// Of this process alone: what others take of the core meanwhile is not in it.
double cpu_nanoseconds() {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

}  // namespace

extern "C" __attribute__((noinline)) void measured(Learner* learner, const double* x,
                                                   const double* y, std::size_t n, double* out) {
    if (out)
        learner->predict(x, n, out);
    else
        learner->learn(x, y, nullptr, n, nullptr);
}

int main(int argc, char** argv) {
    if (argc < 2) {
        for (const Workload& w : workloads) std::puts(w.name);
        return 0;
    }
    for (const Workload& w : workloads) {
        if (std::strcmp(argv[1], w.name) != 0) continue;
        const std::size_t rounds = argc > 2 ? std::stoul(argv[2]) : 1;
        Stream stream(w);
        Learner learner(w.recipe(w.m, 1.0 / static_cast<double>(w.d)), w.d, w.C, 2 * w.m);
        for (int k = 0; k < 50 && learner.dictionary().size() < w.m; ++k) {
            const Block block = stream.block(w.m - learner.dictionary().size(), {});
            learner.learn(block.x.data(), block.y.data(), nullptr, block.n, nullptr);
        }
        std::vector<double> centres(w.novel ? 0 : w.m * w.d), out(w.n * w.C);
        for (std::size_t j = 0; !w.novel && j < w.m; ++j)
            learner.dictionary().centre(j, centres.data() + j * w.d);
        double best = std::numeric_limits<double>::infinity();
        for (std::size_t r = 0; r < rounds; ++r) {
            const Block block = stream.block(w.n, centres);
            const double start = cpu_nanoseconds();
            measured(&learner, block.x.data(), block.y.data(), w.n,
                     w.predicts ? out.data() : nullptr);
            best = std::min(best, (cpu_nanoseconds() - start) / static_cast<double>(w.n));
        }
        const Block seen = stream.block(50, centres);
        std::vector<double> f(50 * w.C);
        learner.predict(seen.x.data(), 50, f.data());
        double total = 0.0;
        for (const double v : f) total += std::fabs(v);
        std::printf("%.1f %zu %.17g\n", best, learner.dictionary().size(), total);
        return 0;
    }
    std::fprintf(stderr, "no such workload: %s\n", argv[1]);
    return 1;
}
