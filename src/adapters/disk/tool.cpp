#include "adapters/disk/tool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "adapters/disk/file.h"
#include "core/spawn.h"

namespace hostler::disk {

namespace {

using Clock = std::chrono::steady_clock;

int left_ms(Clock::time_point until) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    return static_cast<int>(std::max<std::int64_t>(left, 0));
}

// Until its streams end, which they do with it.
bool read_output(int from, std::string& output, Clock::time_point until) {
    constexpr std::size_t output_max = 16 * 1024;
    while (true) {
        pollfd ready{from, POLLIN, 0};
        const int count = ::poll(&ready, 1, left_ms(until));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        char piece[4096];
        const auto size = ::read(from, piece, sizeof piece);
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) return true;
        output.append(piece, std::min(static_cast<std::size_t>(size),
                                      output_max - std::min(output.size(), output_max)));
    }
}

}  // namespace

std::string find_tool(const std::string& name) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody changes the environment.
    const char* path = std::getenv("PATH");
    std::string folders = fmt::format("{}:/usr/sbin:/sbin:/usr/bin:/bin", path ? path : "");
    for (std::size_t at = 0; at < folders.size();) {
        const auto end = std::min(folders.find(':', at), folders.size());
        const auto full = fmt::format("{}/{}", folders.substr(at, end - at), name);
        if (end > at && ::access(full.c_str(), X_OK) == 0) return full;
        at = end + 1;
    }
    return {};
}

Result<ToolEnd> run_tool(std::vector<std::string> arguments, std::chrono::milliseconds deadline, int keep) {
    const std::string program = find_tool(arguments.at(0));
    if (program.empty())
        return fail(Code::not_found, fmt::format("the program {} is not installed", arguments[0]),
                    "tool_missing");
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return disk_error("run", program);
    Descriptor from{ends[0]}, to{ends[1]};
    Descriptor in{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    if (*in < 0) return disk_error("run", program);
    arguments[0] = program;
    Spawn how{.streams = {{*in, 0}, {*to, 1}, {*to, 2}},
              .environment = {{"LC_ALL=C", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"}}};
    constexpr int kept_as = 3;
    if (keep >= 0) how.streams.emplace_back(keep, kept_as);
    const pid_t pid = TRY(spawn(arguments, how));
    to = Descriptor{};
    ToolEnd end;
    const bool ended = read_output(*from, end.output, Clock::now() + deadline);
    if (!ended) ::kill(pid, SIGKILL);
    end.exit_code = wait_end(pid);
    if (!ended)
        return fail(Code::timeout,
                    fmt::format("{} did not end within {} s", program, deadline.count() / 1000));
    return end;
}

}  // namespace hostler::disk
