#include "cli/series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "api/codec.h"

namespace hostler::cli {

namespace {

constexpr std::size_t picture_max = 48;
constexpr std::size_t picture_min = 8;  // Also where a terminal is too narrow for it.

struct Range {
    double low = INFINITY;
    double high = -INFINITY;
    double sum = 0;
    double last = NAN;
    std::size_t count = 0;

    void add(double value) {
        low = std::min(low, value);
        high = std::max(high, value);
        sum += value;
        last = value;
        ++count;
    }
};

Range range_of(const api::SeriesLine& line) {
    Range range;
    for (const auto& value : line.values)
        if (value) range.add(*value);
    return range;
}

// Metrics are told in small units, which people do not read.
struct Reading {
    std::string_view unit;   // As the API tells it,
    std::string_view shown;  // and for people; empty: each cell says it.
    double factor;
};
constexpr auto readings = std::to_array<Reading>({
    {"mW", "W", 1e-3},
    {"mJ", "J", 1e-3},
    {"B", "", 1},
    {"KiB", "", 1024},
    {"kB/s", "MB/s", 1e-3},
});

std::string number(const Range& range, double value, const std::string& unit) {
    if (range.count == 0) return "-";
    const auto reading = std::ranges::find(readings, unit, &Reading::unit);
    if (reading != readings.end()) value *= reading->factor;
    const double size = std::abs(value);
    constexpr double exact_max = 1e15;
    if (reading != readings.end() && reading->shown.empty() && size < exact_max * 1000)
        return bytes_text(std::llround(value));
    if (size >= exact_max) return fmt::format("{:.4g}", value);
    return size >= 999.95 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

// Of a device's labels those that people know it by come first.
constexpr auto labels_in_order =
    std::to_array<std::string_view>({"tenant", "workload", "cluster", "namespace", "pod", "host_name", "gpu",
                                     "slice", "use", "zone", "class", "model"});

// As few labels as tell all lines apart. Each line is a device's.
std::vector<std::string> fewest_labels(const api::SeriesAnswer& answer,
                                       const std::vector<std::string>& telling) {
    std::vector<std::string> ordered{labels_in_order.begin(), labels_in_order.end()};
    for (const std::string& label : telling)
        if (std::ranges::find(ordered, label) == ordered.end()) ordered.push_back(label);
    std::vector<std::string> labels;
    std::vector<std::string> keys(answer.lines.size());
    std::size_t apart = 1;
    for (const std::string& label : ordered) {
        if (std::ranges::find(telling, label) == telling.end() || apart == keys.size()) continue;
        std::vector<std::string> finer = keys;
        for (std::size_t i = 0; i < finer.size(); ++i) {
            const auto value = answer.lines[i].labels.find(label);
            finer[i] += "\n" + (value == answer.lines[i].labels.end() ? "" : value->second);
        }
        const std::size_t now = std::set<std::string>{finer.begin(), finer.end()}.size();
        if (now == apart) continue;
        labels.push_back(label);
        keys = std::move(finer);
        apart = now;
    }
    return labels;
}

// What names a line: of labels that say the same in all of them, none but the first.
std::vector<std::string> telling_labels(const api::SeriesAnswer& answer) {
    std::map<std::string, std::set<std::string>> all;
    for (const api::SeriesLine& line : answer.lines)
        for (const auto& [label, value] : line.labels) all[label].insert(value);
    std::vector<std::string> labels;
    for (const auto& [label, values] : all) {
        const bool everywhere = std::ranges::all_of(
            answer.lines, [&](const api::SeriesLine& line) { return line.labels.contains(label); });
        if (label != "device" && (values.size() > 1 || !everywhere || answer.lines.size() == 1))
            labels.push_back(label);
    }
    if (answer.across != "none") return labels;  // They were asked for.
    if (answer.lines.size() > 1) return fewest_labels(answer, labels);
    std::erase_if(labels, [](const std::string& label) {
        return std::ranges::find(labels_in_order, label) == labels_in_order.end();
    });
    return labels;
}

}  // namespace

// Of all columns but the last, which only the first row has so far.
static std::size_t width_of(const std::vector<std::vector<std::string>>& rows) {
    std::size_t width = 0;
    for (std::size_t i = 0; i + 1 < rows[0].size(); ++i) {
        std::size_t widest = 0;
        for (const auto& row : rows) widest = std::max(widest, row[i].size());
        width += widest + 2;
    }
    return width;
}

std::string sparkline(const std::vector<std::optional<double>>& values, std::size_t width, double low,
                      double high) {
    static constexpr const char* heights[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    const std::size_t letters = std::min(width, values.size());
    std::string out;
    for (std::size_t i = 0; i < letters; ++i) {
        Range part;
        for (std::size_t at = i * values.size() / letters; at < (i + 1) * values.size() / letters; ++at)
            if (values[at]) part.add(*values[at]);
        if (part.count == 0) {
            out += ' ';
            continue;
        }
        const double height =
            high > low ? (part.sum / static_cast<double>(part.count) - low) / (high - low) : 0;
        out += heights[std::clamp(static_cast<int>(height * 8), 0, 7)];
    }
    return out;
}

std::string series_table(const api::SeriesAnswer& answer, int columns) {
    const auto labels = telling_labels(answer);
    double low = 0, high = 0;
    for (const api::SeriesLine& line : answer.lines) {
        const Range range = range_of(line);
        if (range.count == 0) continue;
        low = std::min(low, range.low);
        high = std::max(high, range.high);
    }
    const auto reading = std::ranges::find(readings, answer.unit, &Reading::unit);
    const std::string unit{reading == readings.end() ? std::string_view{answer.unit} : reading->shown};
    std::vector<std::vector<std::string>> rows{{}};
    for (const std::string& label : labels) {
        std::string head = label;
        std::ranges::transform(head, head.begin(), [](char c) { return std::toupper(c); });
        rows[0].push_back(std::move(head));
    }
    for (const char* head : {"LAST", "MIN", "AVG", "MAX"}) rows[0].emplace_back(head);
    rows[0].push_back(fmt::format("{}{} {}, {} s a step", answer.metric, unit.empty() ? "" : " in " + unit,
                                  answer.over, answer.step));
    for (const api::SeriesLine& line : answer.lines) {
        const Range range = range_of(line);
        auto& row = rows.emplace_back();
        for (const std::string& label : labels) {
            const auto value = line.labels.find(label);
            row.push_back(value == line.labels.end() || value->second.empty() ? "-" : value->second);
        }
        const double mean = range.sum / static_cast<double>(std::max<std::size_t>(range.count, 1));
        for (const double value : {range.last, range.low, mean, range.high})
            row.push_back(number(range, value, answer.unit));
    }
    const std::size_t before = width_of(rows);
    const std::size_t room = columns <= 0                                 ? picture_max
                             : static_cast<std::size_t>(columns) > before ? columns - before
                                                                          : 0;
    for (std::size_t i = 0; i < answer.lines.size(); ++i)
        rows[i + 1].push_back(
            sparkline(answer.lines[i].values, std::clamp(room, picture_min, picture_max), low, high));
    return lined_up(rows, labels.size());
}

Result<std::string> render_series(const json::value& answer, const Style& style) {
    const auto read = api::decode_stored<api::SeriesAnswer>(json::serialize(answer));
    if (!read) return fail(Code::internal, "the API's answer is no series", "not_our_api");
    return style.format == Format::csv ? api::csv_of(*read) : series_table(*read, style.columns);
}

}  // namespace hostler::cli
