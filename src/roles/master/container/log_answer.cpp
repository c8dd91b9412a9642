#include "roles/master/container/log_answer.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/types_log.h"
#include "core/base64.h"
#include "core/log_lines.h"
#include "core/utf8.h"
#include "proto/uplink.pb.h"

namespace hostler::master {

namespace {

// Of agents that do not know pieces.
constexpr std::size_t line_bytes = 256, answer_bytes_max = 1 << 20;

Result<LogPlace> place_of(std::string_view after) {
    if (auto place = parse_log_place(after)) return place;
    Error error{.code = Code::invalid, .message = "after: is no `next` of an answer"};
    error.fields.push_back({"after", "is no `next` of an answer"});
    return std::unexpected(std::move(error));
}

bool wants_times(const api::GetLogs& request) {
    return request.since || request.timestamps || request.follow || !request.after.empty();
}

// From when on lines are wanted, and how many of just then are known already.
Result<LogPlace> begin_of(const api::GetLogs& request, WallTime now) {
    if (!request.after.empty()) return place_of(request.after);
    return LogPlace{.time = request.since ? now - std::chrono::seconds{*request.since} : WallTime{}};
}

std::string as_utf8(std::string_view bytes) {
    constexpr std::string_view unknown = "\xef\xbf\xbd";
    std::string text;
    while (!bytes.empty()) {
        const std::size_t size = utf8_length(bytes);
        text += size > 0 ? bytes.substr(0, size) : unknown;
        bytes.remove_prefix(std::max<std::size_t>(size, 1));
    }
    return text;
}

bool is_wanted(const LogPiece& piece, api::LogStream stream) {
    switch (stream) {
        case api::LogStream::both: return true;
        case api::LogStream::out: return !piece.error;
        case api::LogStream::err: return piece.error;
    }
    return true;
}

// A time stands in front of what begins a line.
std::string text_of_pieces(std::span<const LogPiece> pieces, bool inside, const api::GetLogs& request) {
    std::string text;
    bool begins = !inside;
    for (const LogPiece& piece : pieces) {
        if (!is_wanted(piece, request.stream)) continue;
        text += request.timestamps && begins ? with_time(piece.time, piece.text) : std::string{piece.text};
        begins = piece.text.ends_with('\n');
    }
    return text;
}

api::Logs told(const LogPart& part, const api::GetLogs& request) {
    std::string bytes = text_of_pieces(log_pieces(part.pieces), part.inside, request);
    api::Logs answer{.truncated = part.truncated};
    if (is_utf8(bytes)) {
        answer.text = std::move(bytes);
    } else {
        answer.text = as_utf8(bytes);
        answer.base64 = base64(bytes);
    }
    if (request.follow || !request.after.empty()) answer.next = to_text(part.next);
    return answer;
}

// Of an agent that does not know pieces: the last lines, the first of which may be cut off.
Result<LogPart> part_of_lines(const uplink::LogAnswer& sent, const api::GetLogs& request, WallTime now) {
    std::vector<LogPiece> lines;
    if (sent.timed()) {
        lines = log_lines(sent.text());
    } else if (wants_times(request) && !sent.text().empty()) {
        return fail(
            Code::conflict,
            fmt::format("the lines of {} have no times, since its host's agent is of an older release or "
                        "was when it ended; ask without since, timestamps and follow",
                        request.instance),
            "logs_without_times");
    } else {
        for (std::string_view rest = sent.text(); !rest.empty();) {
            const auto line = rest.substr(0, rest.find('\n') + 1);
            lines.push_back({WallTime{}, line.empty() ? rest : line});
            rest.remove_prefix(lines.back().text.size());
        }
    }
    const LogPlace begin = TRY(begin_of(request, now));
    LogsWanted wanted{.bytes_max = SIZE_MAX, .lines_max = static_cast<std::size_t>(request.tail)};
    if (!request.after.empty())
        wanted.after = begin;
    else
        wanted.since = begin.time;
    return log_part(lines, !sent.truncated(), wanted);
}

}  // namespace

Result<> ask_for_logs(uplink::LogRequest& ask, const api::GetLogs& request, WallTime now) {
    const LogPlace begin = TRY(begin_of(request, now));
    ask.set_pieces(true);
    ask.set_streams(true);
    ask.set_lines(static_cast<std::uint32_t>(request.tail));
    ask.set_since_us(
        static_cast<std::uint64_t>(std::max<std::int64_t>(begin.time.time_since_epoch().count(), 0)));
    ask.set_after(request.after);
    ask.set_tail_bytes(begin.time > WallTime{}
                           ? answer_bytes_max
                           : std::min(static_cast<std::size_t>(request.tail) * line_bytes, answer_bytes_max));
    ask.set_timed(wants_times(request));
    const auto second = std::chrono::floor<std::chrono::seconds>(begin.time).time_since_epoch().count();
    ask.set_since_s(static_cast<std::uint64_t>(std::max<std::int64_t>(second, 0)));
    return {};
}

Result<api::Logs> log_answer(uplink::LogAnswer&& sent, const api::GetLogs& request, WallTime now) {
    if (sent.next().empty()) return told(TRY(part_of_lines(sent, request, now)), request);
    LogPart part{
        .pieces = std::move(*sent.mutable_pieces()), .truncated = sent.truncated(), .inside = sent.inside()};
    part.next = TRY(place_of(sent.next()));
    return told(part, request);
}

}  // namespace hostler::master
