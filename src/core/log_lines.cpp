#include "core/log_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace hostler {

namespace {

std::optional<std::int64_t> take_number(std::string_view& text) {
    std::int64_t value = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
    if (end.ec != std::errc{} || value < 0) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end.ptr - text.data()));
    return value;
}

bool ends_line(const LogPiece& piece) { return piece.text.ends_with('\n'); }

// As append_piece() writes it: the time, two blanks, the letter, a line break.
constexpr std::size_t overhead = 20;
std::size_t size_of(const LogPiece& piece) { return piece.text.size() + overhead; }

// The last of the pieces that have this time, with those before it that have it, too.
struct Group {
    std::size_t begin = 0, end = 0;
};
std::optional<Group> last_group(std::span<const LogPiece> log, WallTime time) {
    std::size_t end = log.size();
    while (end > 0 && log[end - 1].time != time) --end;
    if (end == 0) return std::nullopt;
    std::size_t begin = end - 1;
    while (begin > 0 && log[begin - 1].time == time) --begin;
    return Group{begin, end};
}

// Behind the last one that is not later.
std::size_t begin_by_time(std::span<const LogPiece> log, WallTime time) {
    std::size_t begin = log.size();
    while (begin > 0 && log[begin - 1].time > time) --begin;
    return begin;
}

LogPlace place_behind(std::span<const LogPiece> log, std::size_t end) {
    LogPlace place{.time = log[end - 1].time, .count = 1};
    for (std::size_t at = end - 1; at > 0 && log[at - 1].time == place.time; --at) ++place.count;
    return place;
}

LogPart first_part(std::span<const LogPiece> log, bool whole, const LogsWanted& wanted) {
    LogPart part{.next = *wanted.after};
    const auto group = last_group(log, part.next.time);
    const std::size_t begin = group ? group->begin + std::min(part.next.count, group->end - group->begin)
                                    : begin_by_time(log, part.next.time);
    // Where it stood is not there any more, and neither is what came right behind it.
    part.truncated = !group && begin == 0 && !log.empty() && (part.next.count > 0 || !whole);
    part.inside = begin > 0 && !ends_line(log[begin - 1]);
    std::size_t lines = 0, end = begin;
    for (; end < log.size(); ++end) {
        LogPiece piece = log[end];
        if (end == begin || ends_line(log[end - 1])) ++lines;
        const bool fits = part.pieces.size() + size_of(piece) <= wanted.bytes_max;
        if (lines > wanted.lines_max || (!fits && end > begin)) break;
        if (!fits) {  // It could never be passed otherwise.
            const auto room = wanted.bytes_max - std::min(wanted.bytes_max, overhead);
            piece.text.remove_prefix(piece.text.size() - std::min(piece.text.size(), room));
            part.truncated = part.inside = true;
        }
        append_piece(part.pieces, piece);
    }
    if (end > begin) part.next = place_behind(log, end);
    return part;
}

struct Tail {
    std::size_t begin = 0;
    bool by_time = false;  // It begins there since all before is too old.
};

Tail last_of(std::span<const LogPiece> log, const LogsWanted& wanted) {
    std::size_t lines = 0, bytes = 0, at = log.size();
    for (; at > 0; --at) {
        const LogPiece& piece = log[at - 1];
        if (piece.time < wanted.since) return {at, true};
        if (at == log.size() || ends_line(piece)) ++lines;
        bytes += size_of(piece);
        if (lines > wanted.lines_max || bytes > wanted.bytes_max) break;
    }
    return {at, false};
}

}  // namespace

std::string to_text(LogPlace place) {
    return fmt::format("{}.{}", place.time.time_since_epoch().count(), place.count);
}

Result<LogPlace> parse_log_place(std::string_view text) {
    const auto micros = take_number(text);
    const bool dot = micros && text.starts_with('.');
    if (dot) text.remove_prefix(1);
    const auto count = dot ? take_number(text) : std::nullopt;
    if (!count || !text.empty()) return fail(Code::invalid, "is no place in a log");
    return LogPlace{WallTime{std::chrono::microseconds{*micros}}, static_cast<std::size_t>(*count)};
}

void append_piece(std::string& log, const LogPiece& piece) {
    const bool ends = ends_line(piece);
    fmt::format_to(std::back_inserter(log), "{} {} ", piece.time.time_since_epoch().count(),
                   piece.error ? (ends ? 'E' : 'e') : (ends ? 'F' : 'P'));
    log.append(piece.text);
    if (!ends) log += '\n';
}

std::vector<LogPiece> log_pieces(std::string_view log) {
    std::vector<LogPiece> pieces;
    while (!log.empty()) {
        const auto end = log.find('\n');
        if (end == log.npos) break;
        std::string_view line = log.substr(0, end + 1);
        log.remove_prefix(line.size());
        const auto micros = take_number(line);
        if (!micros || line.size() < 4 || line[0] != ' ' || line[2] != ' ') continue;
        const char sign = line[1];
        if (sign != 'F' && sign != 'P' && sign != 'E' && sign != 'e') continue;
        if (sign == 'P' || sign == 'e') line.remove_suffix(1);
        pieces.push_back(
            {WallTime{std::chrono::microseconds{*micros}}, line.substr(3), sign == 'E' || sign == 'e'});
    }
    return pieces;
}

std::string without_streams(std::string log) {
    for (std::size_t at = 0; at < log.size();) {
        std::size_t sign = at;
        while (sign < log.size() && log[sign] >= '0' && log[sign] <= '9') ++sign;
        if (++sign < log.size() && log[sign - 1] == ' ') {
            if (log[sign] == 'E') log[sign] = 'F';
            if (log[sign] == 'e') log[sign] = 'P';
        }
        const auto end = log.find('\n', at);
        if (end == log.npos) break;
        at = end + 1;
    }
    return log;
}

std::string text_of(std::span<const LogPiece> pieces) {
    std::string text;
    for (const LogPiece& piece : pieces) text += piece.text;
    return text;
}

LogPart log_part(std::span<const LogPiece> log, bool whole, const LogsWanted& wanted) {
    if (wanted.after) return first_part(log, whole, wanted);
    const Tail tail = last_of(log, wanted);
    LogPart part{.truncated = !tail.by_time && (tail.begin > 0 || !whole),
                 .inside = tail.begin > 0 && !ends_line(log[tail.begin - 1]),
                 .next = {.time = wanted.since}};
    for (const LogPiece& piece : log.subspan(tail.begin)) append_piece(part.pieces, piece);
    if (!log.empty()) part.next = place_behind(log, log.size());
    if (!part.pieces.empty() || log.empty() || tail.by_time || wanted.lines_max == 0) return part;
    // The end of a piece that is longer than the answer may be.
    LogPiece last = log.back();
    const auto room = wanted.bytes_max - std::min(wanted.bytes_max, overhead);
    last.text.remove_prefix(last.text.size() - std::min(last.text.size(), room));
    if (!last.text.empty()) append_piece(part.pieces, last);
    part.inside = true;
    return part;
}

bool log_suffices(std::span<const LogPiece> log, const LogsWanted& wanted) {
    if (log.empty() || (!wanted.after && last_of(log, wanted).begin == 0)) return false;
    // To count within it, all of a group must be there.
    const auto group = last_group(log, wanted.after ? wanted.after->time : log.back().time);
    return group && group->begin > 0;
}

std::vector<LogPiece> log_lines(std::string_view timed) {
    std::vector<LogPiece> lines;
    while (!timed.empty()) {
        const auto end = timed.find('\n');
        std::string_view line = timed.substr(0, end == timed.npos ? end : end + 1);
        timed.remove_prefix(line.size());
        const auto blank = line.find(' ');
        const auto time = blank == line.npos ? fail(Code::invalid, {}) : parse_rfc3339(line.substr(0, blank));
        if (time)
            lines.push_back({*time, line.substr(blank + 1)});
        else if (!lines.empty())
            lines.push_back({lines.back().time, line});
    }
    return lines;
}

std::string with_time(WallTime time, std::string_view line) { return rfc3339(time).append(" ").append(line); }

}  // namespace hostler
