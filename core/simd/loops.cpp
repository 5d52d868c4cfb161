// Compiled once per instruction set. PARSIMON_ISA is the namespace and the name of the table.
#include "simd/loops.hpp"

#include <string_view>
#include <utility>

#include "simd/kernel_products.hpp"
#include "simd/kernel_rows.hpp"
#include "simd/kernel_slopes.hpp"
#include "simd/merges.hpp"
#include "simd/pack.hpp"
#include "simd/shapes.hpp"
#include "simd/sweeps.hpp"
#include "simd/symmetric_products.hpp"
#include "simd/tiles.hpp"
#include "simd/triangles.hpp"
#include "simd/vectors.hpp"

namespace parsimon::simd::PARSIMON_ISA {
namespace {

// The entry of a kernel in the table, made from its struct alone.
template <class Kernel>
constexpr Leaf leaf_of() {
    static_assert(n_parameters<Kernel> <= most_parameters, "give Shape room for more parameters");
    return {.name = Kernel::name,
            .n_parameters = n_parameters<Kernel>,
            .of_distance = Kernel::of_distance,
            .term = Kernel::term,
            .evaluate = evaluate<Kernel>,
            .differentiate = differentiate_of<Kernel>()};
}

// The table entries of a list of kernels.
template <class Kernels>
struct Leaves;
template <class... Kernels>
struct Leaves<List<Kernels...>> {
    // With its size: without it, clang does not index the array in constant expressions.
    static constexpr Leaf all[sizeof...(Kernels)] = {leaf_of<Kernels>()...};
    static constexpr bool distinct() {
        for (std::size_t i = 0; i < sizeof...(Kernels); ++i)
            for (std::size_t j = 0; j < i; ++j)
                if (std::string_view(all[i].name) == all[j].name) return false;
        return true;
    }
};
static_assert(Leaves<Shapes>::distinct(), "two kernels have the same name");

template <class... All>
constexpr Loops with_sums(Loops loops, List<All...>) {
    static_assert(sizeof...(All) == n_sums);
    ((loops.accumulate[index(All::term)] = accumulate<All>), ...);
    return loops;
}

#define PARSIMON_STRING(x) #x
#define PARSIMON_NAME(x) PARSIMON_STRING(x)

}  // namespace

extern const Loops table;
constinit const Loops table = with_sums(
    {
        .name = PARSIMON_NAME(PARSIMON_ISA),
        .leaves = Leaves<Shapes>::all,
        .squared_distance = evaluate<Plain<SquaredDistance>>,
        .accumulate = {},
        .dot = dot,
        .dot_each = dot_each,
        .axpy = axpy,
        .scale = scale,
        .max_abs = max_abs,
        .project = project,
        .measure = measure,
        .combine = combine,
        .absorb = absorb,
        .turn = turn,
        .multiply_rows = multiply_rows,
        .lay_across = lay_across,
        .lay_along = lay_along,
        .add_rows = add_rows,
        .plan_turns = plan_turns,
        .turn_rows = turn_rows_together,
        .scale_to = scale_to,
        .scale_without = scale_without,
        .subtract_multiples = subtract_multiples,
        .keeps_share = keeps_share,
        .take_squares = take_squares,
        .eliminate = eliminate,
        .least_ratio = least_ratio,
        .symmetric = symmetric,
        .symmetric_products = symmetric_products,
        .products = products,
        .combine_two = combine_two,
        .step = step,
        .sum_squares = sum_squares,
        .scale_and_add = scale_and_add,
        .add_outer = add_outer,
        .column_squares = column_squares,
        .squared_norm = squared_norm,
        .merges = merges,
    },
    Sums{});

}  // namespace parsimon::simd::PARSIMON_ISA
