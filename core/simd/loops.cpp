// Compiled once for each instruction set, with PARSIMON_ISA naming the namespace and the table.
#include "simd/loops.hpp"

#include <string_view>
#include <utility>

#include "simd/pack.hpp"
#include "simd/shapes.hpp"

namespace parsimon::simd::PARSIMON_ISA {
namespace {

// How many parameters the value of a kernel takes, and the value with so many.
template <class... Parameters>
constexpr std::size_t count_parameters(Pack (*)(const Pack&, Parameters...)) {
    return sizeof...(Parameters);
}
template <class Kernel>
constexpr std::size_t n_parameters = count_parameters(&Kernel::value);

template <class Kernel, std::size_t... I>
PARSIMON_INLINE Pack value_of(const Pack& sum, const Shape& shape, std::index_sequence<I...>) {
    return Kernel::value(sum, shape.parameters[I]...);
}
template <class Kernel>
PARSIMON_INLINE Pack value_of(const Pack& sum, const Shape& shape) {
    return value_of<Kernel>(sum, shape, std::make_index_sequence<n_parameters<Kernel>>{});
}

// Features first..last-1 of a sum over n; what came before is in the block, and so is what comes
// after the last.
struct Span {
    std::size_t first, last, n;
};

// The features of the centres as they are stored.
template <class T>
struct Stored {
    const T* data;  // (count, depth, 8)
    std::size_t count, depth;
};

// R rows against Q panels, all sums in registers. A value depends on its own row and centre alone,
// whatever R, Q and the spans are.
template <class Kernel, std::size_t R, std::size_t Q, class T>
PARSIMON_INLINE void tile(const Rows& x, std::size_t row, const Stored<T>& centres,
                          std::size_t panel, const Span& span, const Shape& shape,
                          const Block& out) {
    const double* point[R];
    const T* centre[Q];
    const auto place = [&](std::size_t r, std::size_t q) {
        return out.data + (row + r) * out.stride + (panel + q) * lanes;
    };
    for (std::size_t r = 0; r < R; ++r) point[r] = x.data + (row + r) * x.stride;
    for (std::size_t q = 0; q < Q; ++q)
        centre[q] = centres.data + (panel + q) * centres.depth * lanes;
    Pack acc[R][Q];
    for (std::size_t r = 0; r < R; ++r)
        for (std::size_t q = 0; q < Q; ++q)
            acc[r][q] = span.first == 0 ? broadcast(0.0) : load(place(r, q));
    for (std::size_t f = span.first; f < span.last; ++f) {
        Pack c[Q];
        for (std::size_t q = 0; q < Q; ++q) c[q] = load(centre[q] + f * lanes);
        for (std::size_t r = 0; r < R; ++r) {
            const Pack v = broadcast(point[r][f]);
            for (std::size_t q = 0; q < Q; ++q) acc[r][q] = Kernel::add(acc[r][q], c[q], v);
        }
    }
    for (std::size_t r = 0; r < R; ++r)
        for (std::size_t q = 0; q < Q; ++q)
            store(place(r, q),
                  span.last == span.n ? value_of<Kernel>(acc[r][q], shape) : acc[r][q]);
}

// Rows in blocks that stay in the second-level cache, for them all features in spans, and for these
// a few panels that stay in the first.
template <class Kernel, class T>
void sweep(const Rows& x, const Stored<T>& centres, std::size_t n_features, const Shape& shape,
           const Block& out) {
    constexpr std::size_t row_tile = 4, panel_tile = 4, span_length = 1024, near_values = 2048;
    const std::size_t whole = x.count / row_tile * row_tile;
    for (std::size_t block = 0; block < whole; block += row_block) {
        const std::size_t end = block + row_block < whole ? block + row_block : whole;
        for (std::size_t f = 0; f == 0 || f < n_features; f += span_length) {
            const Span span = {f, f + span_length < n_features ? f + span_length : n_features,
                               n_features};
            const std::size_t near = near_values / lanes / (span.last - f + 1) + 1;
            for (std::size_t p = 0; p < centres.count; p += near) {
                const std::size_t last = p + near < centres.count ? p + near : centres.count;
                for (std::size_t row = block; row < end; row += row_tile)
                    for (std::size_t q = p; q < last; ++q)
                        tile<Kernel, row_tile, 1>(x, row, centres, q, span, shape, out);
            }
        }
    }
    const Span all = {0, n_features, n_features};
    for (std::size_t row = whole; row < x.count; ++row) {
        std::size_t p = 0;
        for (; p + panel_tile <= centres.count; p += panel_tile)
            tile<Kernel, 1, panel_tile>(x, row, centres, p, all, shape, out);
        for (; p < centres.count; ++p) tile<Kernel, 1, 1>(x, row, centres, p, all, shape, out);
    }
}

template <class Kernel>
void evaluate(const Rows& x, const Panels& centres, std::size_t n_features, const Shape& shape,
              const Block& out) {
    if (centres.singles)
        sweep<Kernel>(x, Stored<float>{centres.singles, centres.count, centres.n_features},
                      n_features, shape, out);
    else
        sweep<Kernel>(x, Stored<double>{centres.doubles, centres.count, centres.n_features},
                      n_features, shape, out);
}

PARSIMON_INLINE double inline_dot(const double* x, const double* y, std::size_t n) {
    Pack even = broadcast(0.0), odd = broadcast(0.0);
    std::size_t i = 0;
    for (; i + 2 * lanes <= n; i += 2 * lanes) {
        even = fma(load(x + i), load(y + i), even);
        odd = fma(load(x + i + lanes), load(y + i + lanes), odd);
    }
    if (i + lanes <= n) {
        even = fma(load(x + i), load(y + i), even);
        i += lanes;
    }
    double total = sum(even + odd);
    for (; i < n; ++i) total += x[i] * y[i];
    return total;
}

PARSIMON_INLINE void inline_axpy(double scale, const double* x, double* y, std::size_t n) {
    const Pack s = broadcast(scale);
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) store(y + i, fma(s, load(x + i), load(y + i)));
    for (; i < n; ++i) y[i] += scale * x[i];
}

double dot(const double* x, const double* y, std::size_t n) { return inline_dot(x, y, n); }

void axpy(double scale, const double* x, double* y, std::size_t n) { inline_axpy(scale, x, y, n); }

double max_abs(const double* x, std::size_t n) {
    Pack best = broadcast(0.0);
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) best = maximum(best, absolute(load(x + i)));
    if (i < n) best = maximum(best, absolute(load_some(x + i, n - i)));
    double v[lanes];
    store(v, best);
    double result = v[0];
    for (std::size_t k = 1; k < lanes; ++k) result = v[k] > result ? v[k] : result;
    return result;
}

// Rows of the same padded length are taken up to eight at a time. That changes no result: each dot
// product has its own sum, and the vector that all rows add to takes them in order.
constexpr std::size_t group = panel_width;

template <std::size_t N>
PARSIMON_INLINE void dots(const double* rows, std::size_t length, const double* h, double (&t)[N]) {
    constexpr std::size_t width =
        N < 4 ? N : 4;  // as many sums as there are registers for, in as few streams as that takes
    for (std::size_t first = 0; first < N; first += width) {
        const double* row = rows + first * length;
        Pack acc[width];
        for (std::size_t r = 0; r < width; ++r) acc[r] = broadcast(0.0);
        for (std::size_t j = 0; j < length; j += lanes) {
            const Pack v = load(h + j);
            for (std::size_t r = 0; r < width; ++r)
                if (first + r < N) acc[r] = fma(load(row + r * length + j), v, acc[r]);
        }
        for (std::size_t r = 0; r < width && first + r < N; ++r) t[first + r] = sum(acc[r]);
    }
}

template <std::size_t N>
PARSIMON_INLINE void combine_rows(const double* rows, std::size_t length, const double* t,
                                  double* a) {
    Part scale[N];
    for (std::size_t r = 0; r < N; ++r) scale[r] = one::broadcast(t[r]);
    for (std::size_t j = 0; j < length; j += lanes) {
        Pack v = load(a + j);
        for (std::size_t r = 0; r < N; ++r) v = fma(scale[r], load(rows + r * length + j), v);
        store(a + j, v);
    }
}

template <std::size_t N>
double project_rows(const double* S, std::size_t i, const double* h, double* t, double* a) {
    const std::size_t length = padded(i + 1);
    const double* rows = S + row_start(i);
    double f[N];
    dots<N>(rows, length, h, f);
    double squares = 0.0;
    for (std::size_t r = 0; r < N; ++r) {
        t[i + r] = f[r];
        squares += f[r] * f[r];
    }
    combine_rows<N>(rows, length, f, a);
    return squares;
}

// f<N>(...) with N known at run time.
template <std::size_t N, class Function>
PARSIMON_INLINE auto with_count(std::size_t n, Function&& function) {
    if constexpr (N > 1)
        if (n < N) return with_count<N - 1>(n, function);
    return function.template operator()<N>();
}

// f<N>(i) for the rows from `first` to `last` in groups of N that do not cross a panel.
template <class Function>
PARSIMON_INLINE void in_groups(std::size_t first, std::size_t last, Function&& function) {
    for (std::size_t i = first; i < last;) {
        const std::size_t end = i / group * group + group, count = (end < last ? end : last) - i;
        with_count<group>(count, [&]<std::size_t N>() { function.template operator()<N>(i); });
        i += count;
    }
}

double project(const double* S, std::size_t first, std::size_t last, const double* h, double* t,
               double* a) {
    double squares = 0.0;
    in_groups(first, last,
              [&]<std::size_t N>(std::size_t i) { squares += project_rows<N>(S, i, h, t, a); });
    return squares;
}

void combine(const double* S, std::size_t first, std::size_t last, const double* t, double* a) {
    in_groups(first, last, [&]<std::size_t N>(std::size_t i) {
        combine_rows<N>(S + row_start(i), padded(i + 1), t + i, a);
    });
}

template <std::size_t N>
double absorb_rows(double* R, std::size_t i, const double* a, double alpha, double scale,
                   double* k) {
    const std::size_t length = padded(i + 1);
    double* rows = R + row_start(i);
    double f[N];
    dots<N>(rows, length, a, f);
    Part keep[N], gone[N], gain[N];
    double root = std::sqrt(alpha);
    for (std::size_t r = 0; r < N; ++r) {
        // row <- sqrt(alpha / next) row - f / sqrt(alpha next) k, and k += f row as it was. Without
        // noise the first row that sees a is used up.
        const double seen = scale * f[r];
        alpha += seen * seen;
        const double next = std::sqrt(alpha), product = root * next;
        keep[r] = one::broadcast(scale * (next > 0.0 ? root / next : 1.0));
        gone[r] = one::broadcast(product > 0.0 ? -seen / product : 0.0);
        gain[r] = one::broadcast(scale * seen);
        root = next;
    }
    for (std::size_t j = 0; j < length; j += lanes) {
        Pack v = load(k + j);
        for (std::size_t r = 0; r < N; ++r) {
            const Pack old = load(rows + r * length + j);
            store(rows + r * length + j, fma(gone[r], v, times(keep[r], old)));
            v = fma(gain[r], old, v);
        }
        store(k + j, v);
    }
    return alpha;
}

double absorb(double* R, std::size_t m, const double* a, double noise, double scale, double* k) {
    double alpha = noise;
    std::size_t i = 0;
    for (; i + 4 <= m; i += 4)
        alpha =
            absorb_rows<4>(R, i, a, alpha, scale, k);  // three factors a row: registers for four
    for (; i < m; ++i) alpha = absorb_rows<1>(R, i, a, alpha, scale, k);
    return alpha;
}

template <std::size_t N>
PARSIMON_INLINE void turn_rows(const Turn* turns, double* v, std::size_t n) {
    constexpr std::size_t width = lanes / parts;
    Part c[N], s[N], minus_s[N];
    const double* in[N];  // in locals: for all the compiler knows, a store might change what
                          // `turns` points to
    double* out[N];
    for (std::size_t r = 0; r < N; ++r) {
        in[r] = turns[r].in;
        out[r] = turns[r].out;
        c[r] = one::broadcast(turns[r].c);
        s[r] = one::broadcast(turns[r].s);
        minus_s[r] = one::broadcast(-turns[r].s);
    }
    std::size_t i = 0;
    for (; i + width <= n; i += width) {
        Part carried = one::load(v + i);
        for (std::size_t r = 0; r < N; ++r) {
            const Part x = one::load(in[r] + i);
            const Part turned = one::fma(minus_s[r], carried, c[r] * x);
            carried = one::fma(c[r], carried, s[r] * x);
            one::store(out[r] + i, turned);
        }
        one::store(v + i, carried);
    }
    for (; i < n; ++i)
        for (std::size_t r = 0; r < N; ++r) {
            const double x = in[r][i], y = v[i];
            out[r][i] = turns[r].c * x - turns[r].s * y;
            v[i] = turns[r].s * x + turns[r].c * y;
        }
}

void turn(const Turn* turns, std::size_t count, double* v, std::size_t n) {
    if (count == 4)
        turn_rows<4>(turns, v, n);
    else
        for (std::size_t r = 0; r < count; ++r) turn_rows<1>(turns + r, v, n);
}

void symmetric(const double* T, std::size_t m, const double* x, std::size_t count,
               std::size_t stride, double* y) {
    in_groups(0, m, [&]<std::size_t N>(std::size_t i) {
        const double* rows = T + row_start(i);
        const std::size_t length = padded(i + 1);
        for (std::size_t c = 0; c < count; ++c) {  // while the rows are near
            const double* in = x + c * stride;
            double *out = y + c * stride, f[N];
            dots<N>(rows, length, in, f);
            combine_rows<N>(rows, length, in + i, out);
            for (std::size_t r = 0; r < N; ++r) out[i + r] += f[r];
        }
    });
}

template <std::size_t N>
PARSIMON_INLINE void add_outer_rows(double* T, std::size_t i, double scale, const double* a) {
    const std::size_t length = padded(i + 1);
    double* rows = T + row_start(i);
    Part factor[N];
    double diagonal[N];
    for (std::size_t r = 0; r < N; ++r) {
        const double own = scale * a[i + r];
        factor[r] = one::broadcast(own);
        diagonal[r] = rows[r * length + i + r] + 0.5 * own * a[i + r];
    }
    for (std::size_t j = 0; j < length; j += lanes) {
        const Pack v = load(a + j);
        for (std::size_t r = 0; r < N; ++r)
            store(rows + r * length + j, fma(factor[r], v, load(rows + r * length + j)));
    }
    for (std::size_t r = 0; r < N; ++r) {
        double* row = rows + r * length;
        row[i + r] = diagonal[r];
        for (std::size_t j = i + r + 1; j < length; ++j) row[j] = 0.0;
    }
}

void add_outer(double* T, std::size_t m, double scale, const double* a) {
    in_groups(0, m, [&]<std::size_t N>(std::size_t i) { add_outer_rows<N>(T, i, scale, a); });
}

void column_squares(const double* S, std::size_t m, double* sums) {
    for (std::size_t i = 0; i < m; ++i) {
        const double* row = S + row_start(i);
        for (std::size_t j = 0; j <= i; j += lanes) {
            const Pack v = load(row + j);
            store(sums + j, fma(v, v, load(sums + j)));
        }
    }
}

// What the rest of the library knows of a kernel comes from its struct: nothing is paired by
// position.
template <class Kernel>
constexpr Leaf leaf_of() {
    static_assert(n_parameters<Kernel> <= most_parameters, "give Shape room for more parameters");
    return {Kernel::name, n_parameters<Kernel>, Kernel::of_distance, evaluate<Kernel>};
}

template <class Kernels>
struct Leaves;
template <class... Kernels>
struct Leaves<List<Kernels...>> {
    static constexpr Leaf all[] = {leaf_of<Kernels>()...};
    static constexpr bool distinct() {
        for (std::size_t i = 0; i < sizeof...(Kernels); ++i)
            for (std::size_t j = 0; j < i; ++j)
                if (std::string_view(all[i].name) == all[j].name) return false;
        return true;
    }
};
static_assert(Leaves<Shapes>::distinct(), "two kernels have the same name");

#define PARSIMON_STRING(x) #x
#define PARSIMON_NAME(x) PARSIMON_STRING(x)

}  // namespace

extern const Loops table;
const Loops table = {
    .name = PARSIMON_NAME(PARSIMON_ISA),
    .leaves = Leaves<Shapes>::all,
    .squared_distance = evaluate<PlainDistance>,
    .dot = dot,
    .axpy = axpy,
    .max_abs = max_abs,
    .project = project,
    .combine = combine,
    .absorb = absorb,
    .turn = turn,
    .symmetric = symmetric,
    .add_outer = add_outer,
    .column_squares = column_squares,
};

}  // namespace parsimon::simd::PARSIMON_ISA
