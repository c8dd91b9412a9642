#include "core/log_lines.h"

#include <optional>

namespace hostler {

std::vector<LogLine> log_lines(std::string_view timed) {
    std::vector<LogLine> lines;
    while (!timed.empty()) {
        const auto end = timed.find('\n');
        std::string_view line = timed.substr(0, end == timed.npos ? end : end + 1);
        timed.remove_prefix(line.size());
        const auto blank = line.find(' ');
        const auto time = blank == line.npos ? std::optional<WallTime>{} : [&]() -> std::optional<WallTime> {
            const auto parsed = parse_rfc3339(line.substr(0, blank));
            return parsed ? std::optional{*parsed} : std::nullopt;
        }();
        if (time)
            lines.push_back({*time, line.substr(blank + 1)});
        else if (!lines.empty())
            lines.push_back({lines.back().time, line});
    }
    return lines;
}

std::string without_times(std::string_view timed) {
    std::string text;
    for (const LogLine& line : log_lines(timed)) text += line.text;
    return text;
}

std::string with_time(WallTime time, std::string_view line) { return rfc3339(time).append(" ").append(line); }

}  // namespace hostler
