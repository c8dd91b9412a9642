#include "core/spawn.h"

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace hostler {

namespace {

std::vector<char*> pointers_to(std::span<const std::string> words) {
    std::vector<char*> pointers;
    pointers.reserve(words.size() + 1);
    // The calls do not write there, whatever their types say.
    for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

int exit_code(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

// What is to be done between fork and exec.
class Preparation {
public:
    explicit Preparation(const Spawn& how) {
        ::posix_spawn_file_actions_init(&actions_);
        ::posix_spawnattr_init(&attributes_);
        for (const auto& [ours, theirs] : how.streams)
            ::posix_spawn_file_actions_adddup2(&actions_, ours, theirs);
        sigset_t none, all;
        ::sigemptyset(&none);
        ::sigfillset(&all);
        ::posix_spawnattr_setsigmask(&attributes_, &none);
        ::posix_spawnattr_setsigdefault(&attributes_, &all);
        ::posix_spawnattr_setpgroup(&attributes_, 0);
        const int group = how.own_group ? POSIX_SPAWN_SETPGROUP : 0;
        ::posix_spawnattr_setflags(
            &attributes_, static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group));
    }
    ~Preparation() {
        ::posix_spawnattr_destroy(&attributes_);
        ::posix_spawn_file_actions_destroy(&actions_);
    }
    Preparation(const Preparation&) = delete;
    Preparation& operator=(const Preparation&) = delete;
    const posix_spawn_file_actions_t* actions() const { return &actions_; }
    const posix_spawnattr_t* attributes() const { return &attributes_; }

private:
    posix_spawn_file_actions_t actions_;
    posix_spawnattr_t attributes_;
};

}  // namespace

Result<pid_t> spawn(std::span<const std::string> arguments, const Spawn& how) {
    HOSTLER_ASSERT(!arguments.empty());
    const Preparation preparation{how};
    std::vector<char*> environment;
    if (how.environment) environment = pointers_to(*how.environment);
    pid_t pid = 0;
    const int error =
        ::posix_spawnp(&pid, arguments[0].c_str(), preparation.actions(), preparation.attributes(),
                       pointers_to(arguments).data(), how.environment ? environment.data() : environ);
    if (error == ENOENT)
        return fail(Code::not_found, fmt::format("the program '{}' is not installed", arguments[0]));
    if (error != 0)
        return fail(Code::unavailable,
                    fmt::format("cannot run '{}': {}", arguments[0], std::strerror(error)));
    return pid;
}

std::optional<int> ended(pid_t child) {
    int status = 0;
    if (::waitpid(child, &status, WNOHANG) != child) return std::nullopt;
    return exit_code(status);
}

int wait_end(pid_t child) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return exit_code(status);
}

}  // namespace hostler
