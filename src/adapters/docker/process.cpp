#include "adapters/docker/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/spawn.h"

namespace hostler::docker {

namespace {

constexpr std::size_t output_bytes_max = 64 * 1024;

class Descriptor {
public:
    ~Descriptor() { close(); }
    Descriptor() = default;
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    void close() {
        if (fd >= 0) ::close(fd);
        fd = -1;
    }
    int fd = -1;
};

}  // namespace

Result<Outcome> run_process(std::vector<std::string> arguments, std::string input,
                            std::chrono::milliseconds deadline) {
    HOSTLER_ASSERT(!arguments.empty());
    const auto end = std::chrono::steady_clock::now() + deadline;
    int pair[2];
    // A socket, since it can be half-closed: the program sees the end of its input and still writes.
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return fail(Code::unavailable,
                    fmt::format("cannot run '{}': {}", arguments[0], std::strerror(errno)));
    Descriptor ours, theirs;
    ours.fd = pair[0];
    theirs.fd = pair[1];
    const pid_t pid = TRY(spawn(arguments, {.streams = {{theirs.fd, 0}, {theirs.fd, 1}, {theirs.fd, 2}}}));
    theirs.close();
    Outcome outcome;
    std::string_view left = input;
    bool expired = false;
    bool shut = false;
    while (true) {
        if (left.empty() && !std::exchange(shut, true)) ::shutdown(ours.fd, SHUT_WR);
        const auto wait =
            std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
        pollfd ready{ours.fd, static_cast<short>(POLLIN | (left.empty() ? 0 : POLLOUT)), 0};
        const int count = wait.count() > 0 ? ::poll(&ready, 1, static_cast<int>(wait.count())) : 0;
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) {
            expired = true;
            break;
        }
        if (ready.revents & POLLOUT) {
            const auto size = ::send(ours.fd, left.data(), left.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            if (size > 0)
                left.remove_prefix(static_cast<std::size_t>(size));
            else if (errno != EAGAIN)
                left = {};
        }
        if (!(ready.revents & (POLLIN | POLLHUP))) continue;
        char piece[4096];
        const auto size = ::recv(ours.fd, piece, sizeof piece, MSG_DONTWAIT);
        if (size < 0 && errno == EAGAIN) continue;
        if (size <= 0) break;
        outcome.output.append(
            piece, std::min(static_cast<std::size_t>(size), output_bytes_max - outcome.output.size()));
    }
    if (expired) ::kill(pid, SIGKILL);
    outcome.exit_code = wait_end(pid);
    if (expired)
        return fail(Code::timeout,
                    fmt::format("'{}' did not end within {} ms", arguments[0], deadline.count()));
    return outcome;
}

}  // namespace hostler::docker
