#include "cli/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace hostler::cli {

Result<Format> parse_format(std::string_view text) {
    constexpr auto names = std::to_array<std::pair<std::string_view, Format>>({{"table", Format::table},
                                                                               {"json", Format::json},
                                                                               {"yaml", Format::yaml},
                                                                               {"csv", Format::csv},
                                                                               {"name", Format::name},
                                                                               {"html", Format::html}});
    for (const auto& [name, format] : names)
        if (name == text) return format;
    return fail(Code::invalid,
                fmt::format("--output: '{}' is none of table, json, yaml, csv, name, html", text));
}

std::size_t shown(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string cut(std::string text, std::size_t width) {
    if (shown(text) <= width || width < 2) return text;
    std::size_t at = 0, seen = 0;
    while (at < text.size() && (seen < width - 1 || (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80)) {
        seen += (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80 ? 1 : 0;
        if (seen > width - 1) break;
        ++at;
    }
    return text.substr(0, at) + "…";
}

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

std::string age(WallTime then, WallTime now) {
    using namespace std::chrono;
    const bool future = then > now + clock_skew;
    const auto passed =
        duration_cast<seconds>(future ? then - now : std::max(now - then, WallTime::duration{})).count();
    std::string text;
    if (passed < 120)
        text = fmt::format("{}s", passed);
    else if (passed < 2 * 3600)
        text = fmt::format("{}m", passed / 60);
    else if (passed < 48 * 3600)
        text = fmt::format("{}h", passed / 3600);
    else
        text = fmt::format("{}d", passed / 86400);
    return future ? "in " + text : text;
}

std::string bytes_text(std::int64_t bytes) {
    constexpr std::array<std::string_view, 7> units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (std::abs(value) >= 1024 && unit + 1 < units.size()) {
        value /= 1024;
        ++unit;
    }
    const bool whole = std::abs(value - std::round(value)) < 0.05 || std::abs(value) >= 100;
    return whole ? fmt::format("{:.0f} {}", value, units[unit])
                 : fmt::format("{:.1f} {}", value, units[unit]);
}

}  // namespace hostler::cli
