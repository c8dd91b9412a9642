#include "cli/series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "api/codec.h"

namespace hostler::cli {

namespace {

constexpr std::size_t picture_max = 48;

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

std::string number(const Range& range, double value) {
    return range.count == 0 ? "-" : fmt::format("{:.4g}", value);
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
    return labels;
}

}  // namespace

std::string lined_up(const std::vector<std::vector<std::string>>& rows, std::size_t texts) {
    std::vector<std::size_t> widths;
    for (const auto& row : rows)
        for (std::size_t i = 0; i + 1 < row.size(); ++i) {
            widths.resize(std::max(widths.size(), i + 1));
            widths[i] = std::max(widths[i], row[i].size());
        }
    std::string out;
    for (const auto& row : rows) {
        for (std::size_t i = 0; i + 1 < row.size(); ++i)
            out += i < texts ? fmt::format("{:<{}}  ", row[i], widths[i])
                             : fmt::format("{:>{}}  ", row[i], widths[i]);
        out += row.back();
        out.resize(out.find_last_not_of(' ') + 1);
        out += '\n';
    }
    return out;
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

std::string series_table(const api::SeriesAnswer& answer) {
    const auto labels = telling_labels(answer);
    double low = 0, high = 0;
    for (const api::SeriesLine& line : answer.lines) {
        const Range range = range_of(line);
        if (range.count == 0) continue;
        low = std::min(low, range.low);
        high = std::max(high, range.high);
    }
    std::vector<std::vector<std::string>> rows{{}};
    for (const std::string& label : labels) {
        std::string head = label;
        std::ranges::transform(head, head.begin(), [](char c) { return std::toupper(c); });
        rows[0].push_back(std::move(head));
    }
    for (const char* head : {"LAST", "MIN", "AVG", "MAX"}) rows[0].emplace_back(head);
    rows[0].push_back(fmt::format("{}{} {}, {} s a step", answer.metric,
                                  answer.unit.empty() ? "" : " in " + answer.unit, answer.over, answer.step));
    for (const api::SeriesLine& line : answer.lines) {
        const Range range = range_of(line);
        auto& row = rows.emplace_back();
        for (const std::string& label : labels) {
            const auto value = line.labels.find(label);
            row.push_back(value == line.labels.end() ? "-" : value->second);
        }
        row.push_back(number(range, range.last));
        row.push_back(number(range, range.low));
        row.push_back(number(range, range.sum / static_cast<double>(std::max<std::size_t>(range.count, 1))));
        row.push_back(number(range, range.high));
        row.push_back(sparkline(line.values, picture_max, low, high));
    }
    return lined_up(rows, labels.size());
}

Result<std::string> render_series(const json::value& answer, const Style& style) {
    const auto read = api::decode_stored<api::SeriesAnswer>(json::serialize(answer));
    if (!read) return fail(Code::internal, "the API's answer is no series", "not_our_api");
    return style.format == Format::csv ? api::csv_of(*read) : series_table(*read);
}

}  // namespace hostler::cli
