#include "domain/series/query.h"

#include <fmt/format.h>

#include <algorithm>
#include "domain/series/ranges.h"

namespace hostler::series {

Result<> check(const Query& query) {
    if (query.metric.empty()) return fail(Code::invalid, "a query names a metric");
    if (query.step <= 0) return fail(Code::invalid, "a query's step is longer than nothing");
    if (query.to <= query.from) return fail(Code::invalid, "a query ends after it begins");
    if (query.from < -far || query.to > far || query.step > far)
        return fail(Code::invalid, "a query's time is out of range");
    if ((query.to - query.from - 1) / query.step >= static_cast<Millis>(steps_max))
        return fail(Code::invalid, fmt::format("a query has at most {} steps: take longer ones", steps_max));
    for (const double q : {query.over_quantile, query.across_quantile})
        if (!(q >= 0 && q <= 1)) return fail(Code::invalid, "a quantile lies between 0 and 1");
    return {};
}

bool matches(const Query& query, const Labels& labels) {
    return std::ranges::all_of(query.where, [&labels](const Match& match) {
        const auto found = labels.find(match.label);
        const std::string_view value = found == labels.end() ? "" : std::string_view(found->second);
        return contains(match.values, value) != match.differs;
    });
}

double quantile(std::vector<double>& values, double q) {
    std::ranges::sort(values);
    const double at = q * static_cast<double>(values.size() - 1);
    const auto low = static_cast<std::size_t>(at);
    const auto high = std::min(low + 1, values.size() - 1);
    const double part = at - static_cast<double>(low);
    return part == 0 ? values[low] : values[low] + part * (values[high] - values[low]);
}

double value_of(Over over, const Point& point) {
    constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
    if (point.count == 0) return nothing;
    switch (over) {
        case Over::last: return point.last;
        case Over::avg: return point.sum / static_cast<double>(point.count);
        case Over::min: return point.min;
        case Over::max: return point.max;
        case Over::sum: return point.sum;
        case Over::count: return static_cast<double>(point.count);
        case Over::increase: return point.span > 0 ? point.increase : nothing;
        case Over::rate:
            return point.span > 0 ? point.increase * 1000 / static_cast<double>(point.span) : nothing;
        case Over::quantile: break;
    }
    return nothing;
}

void order(std::vector<Line>& lines, std::size_t top) {
    std::ranges::sort(lines, {}, &Line::labels);
    if (top == 0) return;
    const auto mean = [](const Line& line) {
        double sum = 0;
        double count = 0;
        for (const double value : line.values) {
            if (std::isnan(value)) continue;
            sum += value;
            ++count;
        }
        return count > 0 ? sum / count : -std::numeric_limits<double>::infinity();
    };
    std::vector<std::pair<double, std::size_t>> ranks;
    for (std::size_t i = 0; i < lines.size(); ++i) ranks.emplace_back(-mean(lines[i]), i);
    std::ranges::sort(ranks);
    if (ranks.size() > top) ranks.resize(top);
    std::vector<Line> kept;
    for (const auto& [rank, i] : ranks) kept.push_back(std::move(lines[i]));
    lines = std::move(kept);
}

}  // namespace hostler::series
