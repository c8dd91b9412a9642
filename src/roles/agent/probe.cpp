#include "roles/agent/probe.h"

#include <charconv>

#include <fmt/format.h>

namespace hostler::agent {

namespace {

constexpr std::size_t line_max = 512;

bool passes(int status) { return (status >= 200 && status < 400) || status == 401 || status == 403; }

// "HTTP/1.1 200 OK" → 200.
int status_of(std::string_view line) {
    if (!line.starts_with("HTTP/1.") || line.size() < 12 || line[8] != ' ') return 0;
    int status = 0;
    const auto [end, wrong] = std::from_chars(line.data() + 9, line.data() + 12, status);
    return wrong == std::errc{} && end == line.data() + 12 ? status : 0;
}

Task<> ask(Stream& stream, const Probe& what) {
    CO_TRY(
        co_await write_all(stream, fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: hostler-probe\r\n"
                                               "Accept: */*\r\nConnection: close\r\n\r\n",
                                               what.path, what.address)));
    // The status line is all that counts, so nothing after it is read.
    std::string line;
    while (line.find('\n') == std::string::npos) {
        char into[line_max];
        const std::size_t size = CO_TRY(co_await read_some(stream, into));
        line.append(into, size);
        if (size == 0 || line.size() > line_max) break;
    }
    const int status = status_of(line);
    if (status == 0)
        co_return fail(Code::unavailable, fmt::format("GET {} was not answered in HTTP", what.path));
    if (!passes(status))
        co_return fail(Code::unavailable, fmt::format("GET {} answered {}", what.path, status));
    co_return Result<>{};
}

}  // namespace

Task<> probe(Net& net, Timers& timers, Probe what, Duration time) {
    const Instant end = timers.now() + time;
    StreamPtr stream = CO_TRY(co_await net.dial(what.address, time));
    if (what.path.empty()) co_return Result<>{};
    const Deadline deadline{timers, end - timers.now(), [&] { stream->close(); }};
    auto answer = co_await ask(*stream, what);
    if (!answer && deadline.expired())
        co_return fail(Code::timeout, fmt::format("GET {} was not answered in time", what.path));
    co_return answer;
}

}  // namespace hostler::agent
