#include "adapters/docker/long_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/spawn.h"

namespace hostler::docker {

namespace {

constexpr Duration look_interval = std::chrono::milliseconds{50};

// Ends with this, and what it started with it.
class Child {
public:
    explicit Child(pid_t pid) : pid_(pid) {}
    ~Child() {
        if (pid_ <= 0) return;
        ::kill(-pid_, SIGKILL);
        (void)wait_end(pid_);
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    std::optional<int> ended() {
        const auto status = hostler::ended(pid_);
        if (status) pid_ = 0;
        return status;
    }

private:
    pid_t pid_;
};

Result<pid_t> start(const std::vector<std::string>& arguments, const std::filesystem::path& output) {
    const int in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int out = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    auto pid = in < 0 || out < 0
                   ? fail(Code::unavailable,
                          fmt::format("cannot open '{}': {}", output.string(), std::strerror(errno)))
                   : spawn(arguments, {.streams = {{in, 0}, {out, 1}, {out, 2}}, .own_group = true});
    for (const int one : {in, out})
        if (one >= 0) ::close(one);
    return pid;
}

}  // namespace

Task<int> run_long(Timers& timers, std::vector<std::string> arguments, std::filesystem::path output,
                   Duration deadline) {
    Child child{CO_TRY(start(arguments, output))};
    for (const Instant end = timers.now() + deadline; timers.now() < end;) {
        if (const auto status = child.ended()) co_return *status;
        CO_TRY(co_await sleep(timers, look_interval));
    }
    co_return fail(Code::timeout, fmt::format("'{}' did not end in time", arguments[0]));
}

}  // namespace hostler::docker
