#include "adapters/cuda/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "core/spawn.h"

namespace hostler::cuda {

namespace {

// Whether it has ended, after a short wait. What hangs in a driver does not end, whatever signal it gets.
bool reap(int pid, int& status) {
    constexpr std::chrono::milliseconds wait_max{2000}, look_interval{10};
    for (auto left = wait_max;; left -= look_interval) {
        const int ended = ::waitpid(pid, &status, WNOHANG);
        if (ended == pid || (ended < 0 && errno == ECHILD)) return true;
        if (left <= left.zero()) return false;
        std::this_thread::sleep_for(look_interval);
    }
}

}  // namespace

Child::~Child() {
    if (output_ >= 0) ::close(output_);
    if (input_ >= 0) ::close(input_);
    if (pid_ <= 0) return;
    ::kill(-pid_, SIGKILL);
    int status = 0;
    (void)reap(pid_, status);
}

Result<> Child::start(std::vector<std::string> arguments) {
    HOSTLER_ASSERT(!arguments.empty() && pid_ == 0);
    // A socket for its input: writing to one that nobody reads raises no signal.
    int out[2] = {-1, -1};
    int in[2] = {-1, -1};
    if (::pipe2(out, O_CLOEXEC) != 0 || ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) != 0) {
        const int error = errno;
        for (const int end : out)
            if (end >= 0) ::close(end);
        return fail(Code::unavailable, fmt::format("cannot make a pipe: {}", std::strerror(error)));
    }
    const auto pid = spawn(arguments, {.streams = {{in[0], 0}, {out[1], 1}}, .own_group = true});
    ::close(in[0]);
    ::close(out[1]);
    input_ = in[1];
    output_ = out[0];
    ::fcntl(output_, F_SETFL, O_NONBLOCK);
    pid_ = TRY(pid);
    return {};
}

void Child::say(std::string_view line) {
    if (input_ < 0) return;
    const std::string whole = std::string{line} + "\n";
    (void)!::send(input_, whole.data(), whole.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    ::close(input_);
    input_ = -1;
}

void Child::fill() {
    char bytes[4096];
    while (!finished_ && buffer_.size() <= line_max) {
        const auto count = ::read(output_, bytes, sizeof bytes);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        if (count <= 0)
            finished_ = true;
        else
            buffer_.append(bytes, static_cast<std::size_t>(count));
    }
}

std::optional<std::string> Child::line() {
    if (!buffer_.contains('\n')) fill();
    auto at = buffer_.find('\n');
    if (at == std::string::npos && buffer_.size() <= line_max && !(finished_ && !buffer_.empty()))
        return std::nullopt;
    const std::size_t size = std::min({at, buffer_.size(), line_max});
    std::string whole = buffer_.substr(0, size);
    buffer_.erase(0, at == size ? size + 1 : size);
    return whole;
}

std::string Child::end() {
    if (pid_ <= 0) return {};
    int status = 0;
    if (!reap(pid_, status)) return "it does not end";
    pid_ = 0;
    if (WIFSIGNALED(status))
        return fmt::format("signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
    return WEXITSTATUS(status) == 0 ? std::string{} : fmt::format("exit status {}", WEXITSTATUS(status));
}

}  // namespace hostler::cuda
