#include "domain/series/sample.h"

#include <algorithm>
#include <numeric>

namespace hostler::series {

std::vector<Era> in_order(std::vector<Era> eras) {
    std::vector<std::size_t> order(eras.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&eras](std::size_t i) { return std::pair{eras[i].from, i}; });
    std::vector<Era> kept;
    for (const auto i : order) {
        auto& era = eras[i];
        if (!kept.empty() && kept.back().from == era.from) kept.pop_back();
        if (kept.empty() || kept.back().labels != era.labels) kept.push_back(std::move(era));
    }
    return kept;
}

void merge(Point& into, const Point& next) {
    if (next.count == 0) return;
    if (into.count == 0) {
        into = next;
        return;
    }
    into.time = next.time;
    into.count += next.count;
    into.min = std::min(into.min, next.min);
    into.max = std::max(into.max, next.max);
    into.sum += next.sum;
    into.last = next.last;
    into.increase += next.increase;
    into.span += next.span;
}

void follow(const Point& before, Point& next) {
    if (before.count == 0 || next.time - before.time > gap_max) return;
    next.increase = next.last >= before.last ? next.last - before.last : next.last;
    next.span = next.time - before.time;
}

std::vector<Point> points_of(std::span<const Millis> times, std::span<const Cell> cells,
                             const Column& column) {
    std::vector<Point> points;
    points.reserve(times.size());
    Point before;
    for (std::size_t i = 0; i < times.size(); ++i) {
        if (cells[i] == absent) continue;
        const double value = column.form == Form::real ? real_of(cells[i]) : static_cast<double>(cells[i]);
        Point point{.time = times[i], .count = 1, .min = value, .max = value, .sum = value, .last = value};
        if (column.kind == Kind::counter) follow(before, point);
        points.push_back(point);
        before = point;
    }
    return points;
}

}  // namespace hostler::series
