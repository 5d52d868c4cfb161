// Views and weighted sums of a committee.
#include <cmath>
#include <vector>

#include "check.hpp"
#include "committee.hpp"

using namespace parsimon;

TEST(a_view_puts_its_own_numbers_first_and_scales_all) {
    const std::vector<double> features{2.0, 3.0};
    std::vector<double> out(3);
    View{{1.0}, {}}.see(features.data(), 2, out.data());
    CHECK(out == (std::vector<double>{1.0, 2.0, 3.0}));
    View{{1.0}, {10.0, 0.5, 0.0}}.see(features.data(), 2, out.data());
    CHECK(out == (std::vector<double>{10.0, 1.0, 0.0}));
    CHECK((View{{1.0}, {}}.n_inputs(2) == 3));
}

TEST(a_weighted_sum_clips_each_number_and_the_result) {
    // Numbers are two apart in memory. 9 becomes 4, and -9 becomes -4.
    const std::vector<double> p{9.0, 0.0, 1.0, 0.0, -9.0, 0.0};
    WeightedSum sum{{0.5, 1.0, 0.25}, -4.0, 4.0, 10.0, 2.0, -100.0, 100.0};
    CHECK(sum.combine(p.data(), 2) == 10.0 + 2.0 * (2.0 + 1.0 - 1.0));
    sum.high = 13.0;
    CHECK(sum.combine(p.data(), 2) == 13.0);
    sum.low = 20.0;
    sum.high = 30.0;
    CHECK(sum.combine(p.data(), 2) == 20.0);
}
