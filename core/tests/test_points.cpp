// Points in panels: appended and removed in any order they are what a list of rows would be, in
// double and in single precision.
#include <algorithm>
#include <random>
#include <vector>

#include "check.hpp"
#include "points.hpp"

namespace {

using namespace parsimon;

using Rows = std::vector<std::vector<double>>;

bool same(const Points& points, const Rows& rows, std::size_t d, bool single) {
    if (points.size() != rows.size()) return false;
    const simd::Panels panels = points.panels();
    if (panels.points != rows.size() ||
        panels.count != simd::padded(rows.size()) / simd::panel_width)
        return false;
    if (!rows.empty() &&
        (single ? panels.doubles || !panels.singles : panels.singles || !panels.doubles))
        return false;
    for (std::size_t first = 0; first < rows.size();
         first += 5) {  // the panels from that of a point on
        const simd::Panels later = points.panels(first);
        const std::size_t skipped = first / simd::panel_width;
        if (later.points != rows.size() - skipped * simd::panel_width ||
            later.count != panels.count - skipped)
            return false;
        if (later.feature(0, d - 1) != rows[skipped * simd::panel_width][d - 1]) return false;
    }
    std::vector<double> point(points.depth()), features(d);
    for (std::size_t j = 0; j < panels.count * simd::panel_width; ++j) {
        const bool there = j < rows.size();
        for (std::size_t f = 0; f < d; ++f)
            if (panels.feature(j, f) != (there ? rows[j][f] : 0.0)) return false;
        for (std::size_t e = 0; e < panels.n_extras; ++e)
            if (panels.extras[simd::place(j, e, panels.n_extras)] != (there ? rows[j][d + e] : 0.0))
                return false;
        if (!there) continue;
        points.copy(j, point.data());
        points.features(j, features.data());
        if (point != rows[j] || !std::equal(features.begin(), features.end(), rows[j].begin()))
            return false;
        if (!points.equals(j, rows[j].data())) return false;
        point[d - 1] += 1.0;
        if (points.equals(j, point.data())) return false;
    }
    return true;
}

TEST(points_are_a_list_of_rows) {
    std::mt19937 rng(3);
    std::normal_distribution<double> normal;
    for (const bool single : {false, true})
        for (const std::size_t extras : {0u, 1u, 3u}) {
            const std::size_t d = 5;
            Points points(d, extras, single);
            Rows rows;
            for (int step = 0; step < 400; ++step) {
                if (rows.empty() || rng() % 3) {
                    std::vector<double> row(d + extras);
                    for (double& v : row)
                        v = normal(rng);  // what is beside the features is no float
                    for (std::size_t f = 0; single && f < d; ++f)
                        row[f] = static_cast<float>(row[f]);
                    points.append(row.data());
                    rows.push_back(row);
                } else {
                    std::vector<std::size_t> js;
                    for (std::size_t j = 0; j < rows.size(); ++j)
                        if (rng() % 8 == 0) js.push_back(j);
                    if (js.empty() || rng() % 2) js = {rng() % rows.size()};
                    points.remove(js.data(), js.size());
                    for (std::size_t k = js.size(); k-- > 0;)
                        rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(js[k]));
                }
                CHECK(same(points, rows, d, single));
            }
        }
}

TEST(a_gap_before_the_points_can_be_closed) {
    std::mt19937 rng(4);
    std::normal_distribution<double> normal;
    for (const std::size_t extras : {0u, 2u}) {
        const std::size_t d = 3;
        Points points(d, extras);
        Rows rows;
        std::vector<double> point(d + extras);
        for (int step = 0; step < 400; ++step) {
            if (rows.size() < 5 || rng() % 2) {
                for (double& v : point) v = normal(rng);
                points.append(point.data());
                rows.push_back(point);
            } else {
                points.drop_first();
                rows.erase(rows.begin());
            }
            if (rng() % 5 == 0) {  // removes points beside a gap
                const std::size_t j = rng() % rows.size();
                points.remove(&j, 1);
                rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(j));
            }
            const std::size_t gap = points.gap(), left = rng() % 7 ? gap : gap % simd::panel_width;
            if (left < gap) CHECK(points.close_gap(false) == gap - left);
            CHECK(points.gap() == left);
            CHECK(points.size() == rows.size());
            const simd::Panels panels = points.panels();
            CHECK(panels.before == left % simd::panel_width && panels.before == points.lane(0));
            CHECK(panels.points == rows.size());
            for (std::size_t j = 0; j < rows.size(); ++j) {
                points.copy(j, point.data());
                CHECK(point == rows[j] && points.equals(j, point.data()));
                CHECK(panels.feature(panels.before + j, 1) == rows[j][1]);
            }
            for (std::size_t j = panels.before + rows.size(); j < panels.count * simd::panel_width;
                 ++j)
                CHECK(panels.feature(j, 1) == 0.0);
            Points closed = points;
            CHECK(closed.close_gap(true) == left && closed.gap() == 0);
            CHECK(same(closed, rows, d, false));
        }
    }
}

TEST(places_of_removed_points_are_reused) {
    std::mt19937 rng(5);
    std::normal_distribution<double> normal;
    for (const bool single : {false, true}) {
        const std::size_t d = 3, extras = 2;
        Points points(d, extras, single);
        points.reuse_places();
        Rows rows;
        std::size_t most = 0;
        std::vector<double> point(d + extras);
        for (int step = 0; step < 400; ++step) {
            if (rows.size() < 5 || (rows.size() < 30 && rng() % 2)) {
                for (double& v : point) v = single ? static_cast<float>(normal(rng)) : normal(rng);
                points.append(point.data());
                rows.push_back(point);
            } else {
                std::vector<std::size_t> js = {rng() % rows.size()};
                if (rng() % 4 == 0 && js[0] > 0) js.insert(js.begin(), js[0] - 1);
                points.remove(js.data(), js.size());
                for (std::size_t k = js.size(); k-- > 0;)
                    rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(js[k]));
            }
            most = std::max(most, rows.size());
            CHECK(points.size() == rows.size() && points.gap() == 0);
            const simd::Panels panels = points.panels();
            CHECK(panels.points == most && panels.before == 0);
            std::vector<double> places(panels.count * simd::panel_width), values(rows.size());
            for (std::size_t j = 0; j < places.size(); ++j) places[j] = panels.feature(j, 1);
            points.gather(places.data(), values.data());
            for (std::size_t j = 0; j < rows.size(); ++j) {
                points.copy(j, point.data());
                CHECK(point == rows[j] && points.equals(j, point.data()));
                CHECK(values[j] == rows[j][1]);
            }
            CHECK(same(points.arranged(), rows, d, single));
        }
        CHECK(!points.in_order());
    }
}

TEST(places_are_packed_after_many_removals) {
    std::mt19937 rng(6);
    for (const bool single : {false, true}) {
        const std::size_t d = 40, extras = 1;  // with norms
        Points points(d, extras, single);
        points.reuse_places();
        Rows rows;
        std::vector<double> point(d + extras);
        for (int round = 0; round < 3; ++round) {
            for (std::size_t n = rows.size(); n < 500; ++n) {
                for (double& v : point) v = static_cast<float>(rng() % 1000) / 8.0f;
                points.append(point.data());
                rows.push_back(point);
            }
            while (rows.size() > 5) {
                const std::size_t j = rng() % rows.size();
                points.remove(&j, 1);
                rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(j));
                CHECK(points.panels().points <= 2 * rows.size() + 64);
                if (rng() % 16 == 0) CHECK(same(points.arranged(), rows, d, single));
            }
            points.pack();
            CHECK(points.panels().points == rows.size() && points.panels().count == 1);
            CHECK(same(points.arranged(), rows, d, single));
            double norm = 0.0;
            for (std::size_t f = 0; f < d; ++f) norm += rows[2][f] * rows[2][f];
            CHECK(points.panels().norms[points.place(2, 0)] == norm);
        }
        points.pack();
        CHECK(points.size() == 5 && same(points.arranged(), rows, d, single));
    }
}

TEST(single_precision_takes_half) {
    Points doubles(100), singles(100, 0, true), with_extras(100, 2, true);
    for (Points* points : {&doubles, &singles, &with_extras}) points->reserve(80);
    // Each point has its squared norm as well.
    CHECK(doubles.nbytes() == 80 * 101 * sizeof(double));
    CHECK(singles.nbytes() == 80 * (100 * sizeof(float) + sizeof(double)));
    CHECK(with_extras.nbytes() == 80 * (100 * sizeof(float) + 3 * sizeof(double)));
}

}  // namespace
