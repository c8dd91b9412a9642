#include "domain/series/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include "domain/series/ranges.h"

namespace hostler::series {

namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

// Where each of `points` lies: calls `each` with a step and the points in it.
template <class Each>
void by_step(const Query& query, std::span<const Point> points, const Each& each) {
    auto at = std::ranges::lower_bound(points, query.from, {}, &Point::time);
    while (at != points.end() && at->time < query.to) {
        const auto step = (at->time - query.from) / query.step;
        const Millis end = std::min(query.to, query.from + (step + 1) * query.step);
        auto last = at;
        while (last != points.end() && last->time < end) ++last;
        each(static_cast<std::size_t>(step), std::span(at, last));
        at = last;
    }
}

double quantile_of(std::span<const Point> points, double q) {
    std::vector<double> values;
    for (const auto& point : points)
        values.insert(values.end(), point.count, point.sum / static_cast<double>(point.count));
    return values.empty() ? nothing : quantile(values, q);
}

}  // namespace

Evaluation::Evaluation(Query query, std::size_t most) : query_(std::move(query)), most_(most) {
    steps_ = static_cast<std::size_t>((query_.to - query_.from - 1) / query_.step + 1);
    device_.resize(steps_);
}

void Evaluation::fold(std::span<const Point> points) {
    std::ranges::fill(device_, nothing);
    by_step(query_, points, [this](std::size_t step, std::span<const Point> in) {
        if (query_.over == Over::quantile) {
            device_[step] = quantile_of(in, query_.over_quantile);
            return;
        }
        Point whole;
        for (const auto& point : in) merge(whole, point);
        device_[step] = value_of(query_.over, whole);
    });
}

void Evaluation::gather(Group& group) {
    for (std::size_t step = 0; step < steps_; ++step) {
        const double value = device_[step];
        if (std::isnan(value)) continue;
        if (query_.across == Across::quantile) {
            group.values[step].push_back(value);
            continue;
        }
        auto& sum = group.steps[step];
        const bool first = sum.count == 0;
        switch (query_.across) {
            case Across::min: sum.value = first ? value : std::min(sum.value, value); break;
            case Across::max: sum.value = first ? value : std::max(sum.value, value); break;
            case Across::sum:
            case Across::avg:
            case Across::count: sum.value += value; break;
            case Across::none:
            case Across::quantile: break;
        }
        ++sum.count;
    }
}

Labels Evaluation::name_of(const std::string& device, const Labels& labels) const {
    Labels name;
    if (query_.across == Across::none) {
        name = labels;
        name["device"] = device;
    } else {
        for (const auto& label : query_.by)
            if (const auto found = labels.find(label); found != labels.end()) name.insert(*found);
    }
    return name;
}

Result<> Evaluation::add(const std::string& device, std::span<const Era> eras,
                         std::span<const Point> points) {
    if (eras.size() == 1)
        return matches(query_, eras[0].labels) ? add(name_of(device, eras[0].labels), points) : Result<>{};
    // A device counts once in each group, however often it came and went.
    std::map<Labels, std::vector<Point>> parts;
    for (std::size_t i = 0; i < eras.size(); ++i) {
        auto first = points.begin();
        auto end = points.end();
        if (i > 0) first = std::ranges::lower_bound(points, eras[i].from, {}, &Point::time);
        if (i + 1 < eras.size()) end = std::ranges::lower_bound(points, eras[i + 1].from, {}, &Point::time);
        if (first < end && matches(query_, eras[i].labels))
            extend(parts[name_of(device, eras[i].labels)], std::span(first, end));
    }
    for (const auto& [name, part] : parts) TRY(add(name, part));
    return {};
}

Result<> Evaluation::add(Labels name, std::span<const Point> points) {
    fold(points);
    const auto values =
        static_cast<std::size_t>(std::ranges::count_if(device_, [](double v) { return !std::isnan(v); }));
    if (values == 0) return {};
    if (query_.across == Across::none) {
        TRY(hold(steps_));
        lines_.push_back({.labels = std::move(name), .values = device_});
        return {};
    }
    const auto [at, fresh] = groups_.try_emplace(std::move(name));
    auto& group = at->second;
    if (fresh && query_.across == Across::quantile) group.values.resize(steps_);
    if (fresh && query_.across != Across::quantile) group.steps.resize(steps_);
    TRY(hold((fresh ? steps_ : 0) + (query_.across == Across::quantile ? values : 0)));
    gather(group);
    return {};
}

Result<> Evaluation::hold(std::size_t more_cells) {
    cells_ += more_cells;
    if (cells_ > most_)
        return fail(Code::exhausted,
                    fmt::format("the answer would have more than {} values: ask for fewer devices, "
                                "longer steps or a sum by label",
                                most_));
    return {};
}

double Evaluation::result(Group& group, std::size_t step) const {
    if (query_.across == Across::quantile)
        return group.values[step].empty() ? nothing : quantile(group.values[step], query_.across_quantile);
    const auto& sum = group.steps[step];
    if (sum.count == 0) return nothing;
    switch (query_.across) {
        case Across::avg: return sum.value / sum.count;
        case Across::count: return sum.count;
        case Across::none:
        case Across::sum:
        case Across::min:
        case Across::max:
        case Across::quantile: break;
    }
    return sum.value;
}

std::vector<Line> Evaluation::finish() && {
    auto lines = std::move(lines_);
    for (auto& [labels, group] : groups_) {
        Line line{.labels = labels, .values = std::vector<double>(steps_)};
        for (std::size_t step = 0; step < steps_; ++step) line.values[step] = result(group, step);
        lines.push_back(std::move(line));
    }
    order(lines, query_.top);
    return lines;
}

}  // namespace hostler::series
