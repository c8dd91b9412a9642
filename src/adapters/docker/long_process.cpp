#include "adapters/docker/long_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace hostler::docker {

namespace {

constexpr Duration look_interval = std::chrono::milliseconds{50};

// A child in a group of its own, which ends with this.
class Child {
public:
    Child() = default;
    ~Child() {
        if (pid_ <= 0) return;
        ::kill(-pid_, SIGKILL);
        while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    Result<> start(std::vector<std::string>& arguments, const std::filesystem::path& output) {
        std::vector<char*> pointers;
        for (auto& argument : arguments) pointers.push_back(argument.data());
        pointers.push_back(nullptr);
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        ::posix_spawn_file_actions_init(&actions);
        ::posix_spawnattr_init(&attributes);
        ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        ::posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        ::posix_spawn_file_actions_adddup2(&actions, 1, 2);
        sigset_t none, all;
        ::sigemptyset(&none);
        ::sigfillset(&all);
        ::posix_spawnattr_setsigmask(&attributes, &none);
        ::posix_spawnattr_setsigdefault(&attributes, &all);
        ::posix_spawnattr_setpgroup(&attributes, 0);
        ::posix_spawnattr_setflags(&attributes,
                                   POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
        const int error = ::posix_spawnp(&pid_, pointers[0], &actions, &attributes, pointers.data(), environ);
        ::posix_spawnattr_destroy(&attributes);
        ::posix_spawn_file_actions_destroy(&actions);
        if (error == 0) return {};
        pid_ = 0;
        if (error == ENOENT)
            return fail(Code::not_found, fmt::format("the program '{}' is not there", arguments[0]));
        return fail(Code::unavailable,
                    fmt::format("cannot run '{}': {}", arguments[0], std::strerror(error)));
    }

    std::optional<int> ended() {
        int status = 0;
        if (::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
        pid_ = 0;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }

private:
    pid_t pid_ = 0;
};

}  // namespace

Task<int> run_long(Timers& timers, std::vector<std::string> arguments, std::filesystem::path output,
                   Duration deadline) {
    HOSTLER_ASSERT(!arguments.empty());
    Child child;
    CO_TRY(child.start(arguments, output));
    for (const Instant end = timers.now() + deadline; timers.now() < end;) {
        if (const auto status = child.ended()) co_return *status;
        CO_TRY(co_await sleep(timers, look_interval));
    }
    co_return fail(Code::timeout, fmt::format("'{}' did not end in time", arguments[0]));
}

}  // namespace hostler::docker
