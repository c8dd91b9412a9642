#include "roles/master/log_answer.h"

#include <fmt/format.h>

#include <charconv>

#include "core/log_lines.h"
#include "proto/uplink.pb.h"

namespace hostler::master {

namespace {

constexpr std::size_t line_bytes = 256;
constexpr std::size_t answer_bytes_max = 1 << 20;

// The lines of a time, up to the `count`-th: where an answer ended. Engines tell times of a second or less.
struct LogPlace {
    WallTime time;
    std::size_t count = 0;
};

Result<LogPlace> log_place_of(std::string_view text) {
    std::int64_t micros = 0;
    LogPlace place;
    const char* end = text.data() + text.size();
    const auto time = std::from_chars(text.data(), end, micros);
    const bool dot = time.ec == std::errc{} && time.ptr != end && *time.ptr == '.';
    const auto count = dot ? std::from_chars(time.ptr + 1, end, place.count) : time;
    if (!dot || count.ec != std::errc{} || count.ptr != end || micros < 0) {
        Error error{.code = Code::invalid, .message = "after: is no `next` of an answer"};
        error.fields.push_back({"after", "is no `next` of an answer"});
        return std::unexpected(std::move(error));
    }
    place.time = WallTime{std::chrono::microseconds{micros}};
    return place;
}

bool wants_times(const api::GetLogs& request) {
    return request.since || request.timestamps || request.follow || !request.after.empty();
}

// The last lines of a text whose first line may be cut.
api::Logs last_lines(std::string text, bool truncated, int lines) {
    std::size_t at = text.size();
    if (at > 0 && text.back() == '\n') --at;
    for (int seen = 0; at != std::string::npos && seen < lines; ++seen)
        at = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
    if (at == std::string::npos) return {std::move(text), truncated};
    return {text.substr(at + 1), true};
}

// From when on lines are wanted, and how many of just then are known already.
Result<LogPlace> begin_of(const api::GetLogs& request, WallTime now) {
    if (!request.after.empty()) return log_place_of(request.after);
    return LogPlace{.time = request.since ? now - std::chrono::seconds{*request.since} : WallTime{}};
}

}  // namespace

Result<> ask_for_logs(uplink::LogRequest& ask, const api::GetLogs& request, WallTime now) {
    const LogPlace begin = TRY(begin_of(request, now));
    const bool timed = wants_times(request);
    ask.set_tail_bytes(begin.time > WallTime{}
                           ? answer_bytes_max
                           : std::min(static_cast<std::size_t>(request.tail) * line_bytes, answer_bytes_max));
    ask.set_timed(timed);
    const auto second = std::chrono::floor<std::chrono::seconds>(begin.time).time_since_epoch().count();
    ask.set_since_s(static_cast<std::uint64_t>(std::max<std::int64_t>(second, 0)));
    return {};
}

Result<api::Logs> log_answer(uplink::LogAnswer&& sent, const api::GetLogs& request, WallTime now) {
    if (!wants_times(request) || (!sent.timed() && !sent.text().empty())) {
        if (wants_times(request))
            return fail(
                Code::conflict,
                fmt::format("the lines of {} have no times, since its host's agent is of an older release or "
                            "was when it ended; ask without since, timestamps and follow",
                            request.instance),
                "logs_without_times");
        return last_lines(std::move(*sent.mutable_text()), sent.truncated(), request.tail);
    }
    const LogPlace begin = TRY(begin_of(request, now));
    std::vector<LogLine> lines = log_lines(sent.text());
    // What came before the oldest of these lines is not known.
    const bool gap = sent.truncated() && (lines.empty() || lines.front().time >= begin.time);
    api::Logs answer{.truncated = gap && begin.time > WallTime{}};
    LogPlace next = begin;
    if (!lines.empty()) {
        next.time = std::max(lines.back().time, begin.time);
        next.count = static_cast<std::size_t>(std::ranges::count(lines, next.time, &LogLine::time));
        if (next.time == begin.time && !gap) next.count = std::max(next.count, begin.count);
    }
    std::size_t known = gap ? 0 : begin.count;
    std::erase_if(lines, [&](const LogLine& line) {
        if (line.time != begin.time || known == 0) return line.time < begin.time;
        --known;
        return true;
    });
    const auto tail = static_cast<std::size_t>(request.tail);
    if (lines.size() > tail) {
        lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(tail));
        answer.truncated = true;
    }
    answer.truncated = answer.truncated || (sent.truncated() && begin.time == WallTime{});
    for (const LogLine& line : lines)
        request.timestamps ? answer.text.append(with_time(line.time, line.text))
                           : answer.text.append(line.text);
    if (request.follow || !request.after.empty())
        answer.next = fmt::format("{}.{}", next.time.time_since_epoch().count(), next.count);
    return answer;
}

}  // namespace hostler::master
