#include "learner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <utility>

#include "sizes.hpp"
#include "sound.hpp"

namespace parsimon {

Learner::Learner(Recipe recipe, std::size_t n_features, std::size_t n_outputs, std::size_t reserve,
                 bool at_once)
    : recipe_(std::move(recipe)),
      n_outputs_(n_outputs),
      reserve_(reserve),
      dictionary_(
          recipe_.kernel, n_features, numbers(recipe_.averages() ? 2 : 1, n_outputs),
          recipe_.admission->needs() | recipe_.update->needs() | recipe_.compression->needs()),
      looks_(0, dictionary_),
      offset_(recipe_.offset, *recipe_.loss, n_outputs) {
    if (recipe_.batch_size == 0) refuse("batch_size must be at least 1");
    const double bound = recipe_.update->kernel_bound(*recipe_.loss);
    if (recipe_.kernel->unit_diagonal() && !(1.0 + offset_.constant() < bound)) {
        const double largest = 2.0 / recipe_.loss->curvature();
        refuse("learning with this loss is stable only for step_size < ", largest,
               " / k(x, x), which is ", largest / (1.0 + offset_.constant()), " here; got ",
               largest / bound);
    }
    recipe_.update->attach(dictionary_, *recipe_.loss);
    // Kernels that call Python see no points that were removed.
    if (recipe_.compression->removes_any() && recipe_.kernel->shareable())
        dictionary_.reuse_places();
    if (at_once) make_ready();
}

void Learner::make_ready() {
    if (ready_) return;
    const std::size_t batch = recipe_.batch_size;
    try {
        dictionary_.reserve(reserve_ > 0 ? reserve_ + recipe_.compression->spare() : 0);
        looks_ = Looks(batch, dictionary_);
        step_.samples.resize(batch);
        dictionary_.reserve_scratch(batch);
        scratch_.reserve(
            recipe_.kernel->levels() + 1,
            numbers(dictionary_.n_features() + 2, simd::panel_width) + dictionary_.depth());
        recipe_.update->make_ready(batch);
        recipe_.compression->make_ready(dictionary_);
        place_outputs();
    } catch (const std::bad_alloc&) {
        std::ostringstream message;
        message << "there is no memory for ";
        if (reserve_ > 0)
            message << "a budget of " << reserve_ - std::min(batch, reserve_) << " centres and ";
        message << "steps of " << batch << " samples, of " << dictionary_.n_features()
                << " features and " << n_outputs_ << " outputs";
        throw NoMemory(message.str());
    }
    ready_ = true;
}

void Learner::place_outputs() {
    const std::size_t C = dictionary_.n_outputs();
    // Coefficients of the means stay 0, because nothing is proposed for them.
    outputs_.assign(numbers(4 * recipe_.batch_size, C), 0.0);
    targets_.resize(offset_.active() ? numbers(recipe_.batch_size, n_targets(n_outputs_)) : 0);
    double* place = outputs_.data();
    for (std::size_t i = 0; i < recipe_.batch_size; ++i) {
        step_.samples[i].look = &looks_[i];
        place += C;  // for `at`, which place_targets sets
        for (double** array :
             {&step_.samples[i].f, &step_.samples[i].gradient, &step_.samples[i].coefficient}) {
            *array = place;
            place += C;
        }
    }
}

void Learner::set_outputs(std::size_t n_outputs) {
    if (n_outputs <= n_outputs_) return;
    make_ready();
    const std::size_t more = n_outputs - n_outputs_, times = recipe_.averages() ? 2 : 1;
    // First everything that can fail, so that an exception changes nothing.
    outputs_.reserve(numbers(4 * recipe_.batch_size, numbers(times, n_outputs)));
    targets_.reserve(numbers(recipe_.batch_size, n_targets(n_outputs)));
    offset_.reserve_outputs(n_outputs);
    place_outputs();
    dictionary_.reserve_outputs(times * n_outputs);
    recipe_.update->set_outputs(times * n_outputs);
    if (recipe_.averages()) dictionary_.add_outputs(2 * n_outputs_, more);
    dictionary_.add_outputs(n_outputs_, more);
    offset_.set_outputs(n_outputs);
    n_outputs_ = n_outputs;
    place_outputs();
}

std::size_t Learner::nbytes() const {
    return sizeof *this - sizeof dictionary_ + dictionary_.nbytes() + looks_.nbytes() +
           (outputs_.capacity() + targets_.capacity()) * sizeof(double) + offset_.nbytes() +
           scratch_.nbytes() + step_.samples.capacity() * sizeof(Sample) +
           recipe_.update->nbytes() + recipe_.compression->nbytes();
}

void Learner::check_kernel_values(const double* x, const double* weights, std::size_t n,
                                  double bound, Scratch& scratch) const {
    if (recipe_.kernel->unit_diagonal() && (!weights || std::isinf(bound))) return;
    const std::size_t d = dictionary_.n_features(), depth = dictionary_.depth();
    auto point = scratch.take(depth);
    for (std::size_t i = 0; i < n; ++i) {
        std::copy_n(x + i * d, d, point.data());
        const double kxx = usable_kernel_value(*recipe_.kernel, point.data(), i, d, depth, scratch);
        if (!(kxx + offset_.constant() < bound))
            refuse("the kernel value k(x, x) of row ", i, " of X is ", kxx,
                   ": learning is stable only for k(x, x) < ", 2.0 / recipe_.loss->curvature(),
                   " / step_size = ", bound, "; use a smaller step_size or a Normalized kernel");
        if (weights && !(weights[i] * (kxx + offset_.constant()) < bound))
            refuse("sample_weight is ", weights[i], " at row ", i,
                   ": learning is stable only for sample_weight k(x, x) < ",
                   2.0 / recipe_.loss->curvature(), " / step_size = ", bound);
    }
}

void Learner::check_inputs(const double* x, std::size_t n, Scratch& scratch) const {
    require_finite(x, n, dictionary_.n_features(), "X", recipe_.kernel->single());
    check_kernel_values(x, nullptr, n, std::numeric_limits<double>::infinity(), scratch);
}

void Learner::check_samples(const double* x, const double* y, const double* weights, std::size_t n,
                            std::size_t n_outputs) {
    const std::size_t T = n_targets(n_outputs);
    require_finite(x, n, dictionary_.n_features(), "X", recipe_.kernel->single());
    require_usable_targets(y, n, T);
    for (std::size_t i = 0; i < n; ++i)
        if (const char* objection = recipe_.loss->objection(y + i * T, n_outputs))
            refuse("y at row ", i, " ", objection);
    require_usable_weights(weights, n);
    check_kernel_values(x, weights, n, recipe_.update->kernel_bound(*recipe_.loss), scratch_);
}

void Learner::visit(StateVisitor visitor) {
    visitor.version(0);
    const std::size_t m =
        visitor.part("dictionary").size("centres", dictionary_.size(), sound::most_centres);
    if (visitor.reading() && m == 0 && n_outputs_ > sound::most_outputs)
        refuse("the state has ", n_outputs_, " outputs and no centres: at most ",
               sound::most_outputs, " are possible");
    if (m > 0) recipe_.update->expect(visitor.part("update"), m);
    dictionary_.visit(visitor.part("dictionary"));
    recipe_.update->visit(visitor.part("update"), dictionary_);
    visitor.count("seen", seen_);
    visitor.count("averaged", averaged_);
    visitor.count("alive", alive_, n_outputs_);
    visitor.number("spent", spent_);
    offset_.visit(visitor.part("offset"));
    std::uint64_t pending = pending_;
    visitor.rare_count("pending", pending, 1);
    pending_ = pending != 0;
    if (!visitor.reading()) return;
    if (averaged_ > 0 && !recipe_.averages())
        refuse("the state is one of means, which this model does not keep");
    if (!ready_) return;
    looks_.fit(dictionary_);
    dictionary_.reserve_scratch(recipe_.batch_size);
}

Intercepts Learner::intercepts() const {
    const auto copied = [this](const double* values) {
        return std::vector<double>(values, values + n_outputs_);
    };
    return {copied(offset_.values()), copied(intercept()), copied(offset_.means()), offset_.total(),
            offset_.squares(),        offset_.count(),     offset_.settled()};
}

void Learner::adopt(Dictionary& merged, const Sums& sums, const Ledger& ledger,
                    const Intercepts& intercepts) {
    if (intercepts.values.size() != n_outputs_ || intercepts.averages.size() != n_outputs_ ||
        intercepts.means.size() != n_outputs_)
        refuse("there must be one intercept per output");
    offset_.adopt(intercepts.values.data(), intercepts.averages.data(), intercepts.means.data(),
                  intercepts.total, intercepts.squares, intercepts.count, intercepts.settled);
    offset_.require_sound();
    if (!std::isfinite(ledger.spent)) refuse("the numbers of the models are too large to be added");
    State state;
    merged.visit(StateVisitor::writer(state));
    dictionary_.visit(StateVisitor::reader(state));
    recipe_.update->set_sums(dictionary_, sums);
    seen_ = ledger.seen;
    averaged_ = ledger.averaged;
    alive_ = ledger.alive;
    spent_ = ledger.spent;
    if (!ready_) return;
    looks_.fit(dictionary_);
    dictionary_.reserve_scratch(recipe_.batch_size);
}

void Learner::require_sound() {
    if (averaged_ > seen_)
        refuse("the state's means are over ", averaged_, " steps after ", seen_, " samples");
    if (!(spent_ >= 0.0)) refuse("the state's spent is ", spent_);
    dictionary_.require_sound();
    offset_.require_sound();
    recipe_.update->require_sound(dictionary_);
}

void Learner::compress_by(std::shared_ptr<Compression> compression, std::size_t reserve,
                          std::size_t budget) {
    if (!dictionary_.meets(compression->needs()))
        refuse(
            "this model cannot be given a budget now: it was begun without one, and keeps no "
            "record of what a removal costs");
    const Team::Shift shift(dictionary_.team());
    if (ready_) compression->make_ready(dictionary_);
    recipe_.compression.swap(compression);
    const std::size_t before = recipe_.update->budget();
    recipe_.update->set_budget(budget);
    step_.size = 0;
    step_.rate = 0.0;
    try {
        compress();
    } catch (...) {  // a kernel threw: keep the old rule
        recipe_.compression.swap(compression);
        recipe_.update->set_budget(before);
        throw;
    }
    reserve_ = reserve;
    dictionary_.pack();
    dictionary_.maintain();
}

void Learner::compress() {
    pending_ = true;
    step_.unit = recipe_.loss->has_means() ? offset_.unit() : 1.0;
    recipe_.compression->compress(dictionary_, *recipe_.update, step_);
    pending_ = false;
    const double spent = spent_ + std::exchange(step_.spent, 0.0);
    spent_ =
        spent <= std::numeric_limits<double>::max() ? spent : std::numeric_limits<double>::max();
}

std::uint64_t Learner::outputs_alive() const {
    std::uint64_t alive = 0;
    for (std::size_t c = 0; c < n_outputs_; ++c) {
        const double* w = dictionary_.weights(c);
        alive += std::any_of(w, w + dictionary_.size(), [](double v) { return v != 0.0; });
    }
    return alive;
}

void Learner::average() {
    // When an output gets its first nonzero weight, all means start again. Otherwise its mean would
    // stay too small for many steps.
    const std::uint64_t alive = outputs_alive();
    if (alive > alive_) averaged_ = 0;
    alive_ = std::max(alive, alive_);
    const double power = recipe_.average_power,
                 share = (1.0 + power) / (static_cast<double>(++averaged_) + power);
    for (std::size_t c = 0; c < n_outputs_; ++c) {
        const double* w = dictionary_.weights(c);
        double* mean = dictionary_.weights(n_outputs_ + c);
        for (std::size_t j = 0; j < dictionary_.size(); ++j) mean[j] += share * (w[j] - mean[j]);
    }
    offset_.average(share);
}

void Learner::write_variances(Look& look, double* out) const {
    const double relative = recipe_.update->variance(dictionary_, look);
    for (std::size_t c = 0; c < n_outputs_; ++c)
        out[c] = recipe_.update->noise()->value(c) * relative;
}

void Learner::variances(const double* x, std::size_t n, double* out) const {
    constexpr std::size_t tile = 8;
    Scratch scratch;
    Looks looks(std::min(tile, n), dictionary_);
    for (std::size_t first = 0; first < n; first += tile) {
        const std::size_t count = std::min(tile, n - first);
        dictionary_.look(looks, x + first * dictionary_.n_features(), count, scratch);
        for (std::size_t i = 0; i < count; ++i)
            write_variances(looks[i], out + (first + i) * n_outputs_);
    }
}

void Learner::learn(const double* x, const double* y, const double* weights, std::size_t n,
                    double* predictions, double* variances) {
    const std::size_t d = dictionary_.n_features(), C = n_outputs_, T = n_targets(C);
    const Team::Shift shift(dictionary_.team());
    for (std::size_t first = 0; first < n; first += recipe_.batch_size) {
        const std::size_t count = std::min(recipe_.batch_size, n - first);
        learn_step(x + first * d, y + first * T, weights ? weights + first : nullptr, count,
                   predictions ? predictions + first * C : nullptr,
                   variances ? variances + first * C : nullptr);
    }
}

void Learner::hold_targets(const double* y, const double* weights, std::size_t n) {
    const std::size_t T = n_targets(n_outputs_);
    if (!offset_.active()) return;
    for (std::size_t i = 0; i < n; ++i) offset_.learn(y + i * T, weights ? weights[i] : 1.0);
    offset_.settle();
    offset_.hold(true);
}

void Learner::place_targets() {
    const std::size_t C = n_outputs_, T = n_targets(C);
    const bool means = recipe_.loss->has_means();
    for (Sample& sample : step_) offset_.learn(sample.y, sample.weight);
    step_.unit = means ? offset_.unit() : 1.0;
    step_.constant = offset_.constant();
    double *target = targets_.data(), *at = outputs_.data();
    for (Sample& sample : step_) {
        for (std::size_t t = 0; t < T; ++t)
            target[t] = !means ? sample.y[t]
                        : offset_.intercept()
                            ? recipe_.loss->relative(sample.y[t], offset_.values()[t]) / step_.unit
                            : sample.y[t] / step_.unit;
        for (std::size_t c = 0; c < C; ++c)
            at[c] = means ? sample.f[c] / step_.unit : sample.f[c] + offset_.values()[c];
        sample.y = target;
        sample.at = at;
        target += T;
        at += 4 * dictionary_.n_outputs();
    }
}

void Learner::evaluate() {
    constexpr std::size_t piece = 4;  // samples
    const auto work = [this](std::size_t first, std::size_t last) {
        for (Sample* sample = step_.begin() + first; sample < step_.begin() + last; ++sample)
            dictionary_.evaluate(*sample->look, sample->f);
    };
    Team& team = dictionary_.team();
    if (team.shares(step_.size, dictionary_.n_outputs(), dictionary_.size()))
        return team.in_pieces(step_.size, piece, work);
    work(0, step_.size);
}

void Learner::learn_step(const double* x, const double* y, const double* weights, std::size_t n,
                         double* predictions, double* variances) {
    const std::size_t C = n_outputs_, T = n_targets(C);
    make_ready();
    if (pending_) compress();
    step_.size = n;
    step_.learned = C;
    step_.whole = recipe_.batch_size;
    step_.number = 1 + (seen_ + recipe_.batch_size - 1) / recipe_.batch_size;
    if (dictionary_.make_room(n)) dictionary_.reserve_scratch(recipe_.batch_size);
    looks_.fit(dictionary_);
    dictionary_.look(looks_, x, n);
    // In a batch, the variance of a sample would depend on those before it.
    const bool sets = variances && n == 1 && recipe_.update->sets_variances();
    step_.variances = sets;
    for (std::size_t c = 0; sets && c < C; ++c) variances[c] = recipe_.update->noise()->value(c);
    evaluate();
    const std::size_t from = shown();
    std::size_t i = 0;
    for (Sample& sample : step_) {
        sample.y = y + T * i;
        sample.weight = weights ? weights[i] : 1.0;
        sample.at = sample.f;
        for (std::size_t c = 0; predictions && c < C; ++c)
            predictions[i * C + c] =
                offset_.intercept() ? sample.f[from + c] + intercept()[c] : sample.f[from + c];
        if (variances && !sets) write_variances(*sample.look, variances + i * C);
        ++i;
    }
    if (offset_.active()) place_targets();
    for (Sample& sample : step_) {
        recipe_.loss->gradient(sample.at, sample.y, sample.gradient, C);
        for (std::size_t c = 0; step_.unit != 1.0 && c < C; ++c) sample.gradient[c] *= step_.unit;
    }
    pending_ = true;
    recipe_.update->open(dictionary_, step_);
    if (offset_.constant() > 0.0) {
        offset_.shrink(step_.kept);
        for (Sample& sample : step_) offset_.step(sample.coefficient);
    }
    for (i = 0; i < n; ++i) {
        Sample& sample = step_.samples[i];
        dictionary_.extend(looks_, i);
        sample.admitted = sample.weight > 0.0 &&
                          recipe_.admission->admits(dictionary_, sample, step_) &&
                          dictionary_.accepts(*sample.look);
        recipe_.update->step(dictionary_, sample, step_);
    }
    for (std::size_t c = 0; sets && c < C; ++c) variances[c] *= step_.samples[0].variance;
    compress();
    seen_ += n;
    if (offset_.changes(dictionary_.has_factor())) {
        for (std::size_t c = 0; c < C; ++c)
            recipe_.update->shift(dictionary_, c, offset_.next(c) - offset_.values()[c]);
        offset_.settle();
    }
    if (seen_ > recipe_.average_after) average();
    dictionary_.maintain();  // last, so that the step is complete if a kernel throws here
}

}  // namespace parsimon
