#include "adapters/program/inside.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <linux/securebits.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "adapters/program/root.h"
#include "adapters/program/system_calls.h"

namespace hostler::program {

namespace {

constexpr int exit_unstarted = 127;
// The kernel ends the program for want of memory, and not what is to tell of it.
constexpr std::string_view oom_score = "500";

std::unexpected<Error> failed(std::string_view what) {
    return fail(Code::unavailable, fmt::format("cannot {}: {}", what, std::strerror(errno)));
}

[[noreturn]] void give_up(int report, const Error& error) {
    const auto text = report_text(error);
    (void)!::write(report, text.data(), text.size());
    ::_exit(exit_unstarted);
}

// No capability comes back later: neither by a privileged program, nor by being root. Changing the user keeps
// those that are held.
Result<> lock_capabilities() {
    constexpr unsigned long bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                                   SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
                                   SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
    if (::prctl(PR_SET_SECUREBITS, bits, 0, 0, 0) != 0) return failed("lock capabilities");
    for (int capability = 0; ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; ++capability)
        if (::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) return failed("drop capabilities");
    if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0) return failed("drop capabilities");
    return {};
}

Result<> keep_capabilities(std::uint64_t kept) {
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    __user_cap_data_struct sets[2]{};
    sets[0].effective = sets[0].permitted = static_cast<std::uint32_t>(kept);
    if (::syscall(SYS_capset, &header, sets) != 0) return failed("drop capabilities");
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return failed("refuse new privileges");
    return {};
}

Result<> become(std::uint32_t user) {
    if (::setgroups(0, nullptr) != 0 || ::setresgid(user, user, user) != 0 ||
        ::setresuid(user, user, user) != 0)
        return failed(fmt::format("become user {}", user));
    return {};
}

Result<> limit(__rlimit_resource what, std::int64_t most, const char* name) {
    rlimit values{};
    if (::getrlimit(what, &values) != 0) return failed(fmt::format("read the limit of {}", name));
    values.rlim_max = std::min(values.rlim_max, static_cast<rlim_t>(most));
    values.rlim_cur = values.rlim_max;
    if (::setrlimit(what, &values) != 0) return failed(fmt::format("limit {}", name));
    return {};
}

// A device that is claimed opens, or the program does not start.
Result<> try_devices(const Plan& plan) {
    for (const auto& node : plan.nodes) {
        const int fd = ::open(node.path.c_str(), O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (fd < 0)
            return fail(Code::unavailable,
                        fmt::format("device {} does not open in program {}: {}", node.path, plan.name,
                                    std::strerror(errno)),
                        std::string{Engine::gpu_unreachable});
        ::close(fd);
    }
    return {};
}

void raise_oom_score() {
    const int fd = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    (void)!::write(fd, oom_score.data(), oom_score.size());
    ::close(fd);
}

void reset_signals() {
    for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
    std::vector<char*> pointers;
    for (const auto& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

// Returns only when it cannot be done.
Error execute(const Plan& plan) {
    const auto arguments = pointers_to(plan.command), environment = pointers_to(plan.environment);
    const auto& program = plan.command.front();
    std::vector<std::string> candidates{program};
    if (program.find('/') == program.npos) {
        candidates.clear();
        for (const auto& variable : plan.environment) {
            if (!variable.starts_with("PATH=")) continue;
            for (std::string_view rest = std::string_view{variable}.substr(5); !rest.empty();) {
                const auto folder = rest.substr(0, rest.find(':'));
                if (!folder.empty()) candidates.push_back(fmt::format("{}/{}", folder, program));
                rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
            }
        }
    }
    int error = ENOENT;
    for (const auto& candidate : candidates) {
        ::execve(candidate.c_str(), arguments.data(), environment.data());
        if (errno != ENOENT && errno != ENOTDIR) error = errno;
        if (error != ENOENT && error != EACCES) break;
    }
    return Error{Code::invalid,
                 fmt::format("cannot run '{}' as program {}: {}", program, plan.name, std::strerror(error)),
                 {},
                 {},
                 {}};
}

// All but what only the program's own process can do.
Result<> prepare_program(const Plan& plan, int output) {
    const int input = ::open("/dev/null", O_RDONLY);
    if (input < 0 || ::dup2(input, 0) < 0 || ::dup2(output, 1) < 0 || ::dup2(output, 2) < 0)
        return failed("set up input and output");
    if (::setsid() < 0) return failed("begin a session");
    ::umask(022);
    if (::chdir("/tmp") != 0) return failed("enter /tmp");
    raise_oom_score();
    // Keys of the agent's session are not the program's.
    (void)::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr);
    TRY(limit(RLIMIT_CORE, 0, "core files"));
    TRY(limit(RLIMIT_NOFILE, plan.open_files_max, "open files"));
    TRY(limit(RLIMIT_NPROC, plan.processes_max, "processes"));
    TRY(lock_capabilities());
    TRY(become(plan.user));
    TRY(keep_capabilities(0));
    TRY(try_devices(plan));
    reset_signals();
    // `report` is open until the program runs.
    if (::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) != 0) return failed("close what is the agent's");
    return filter_system_calls();
}

[[noreturn]] void be_program(const Plan& plan, const InsideEnds& ends) {
    if (auto ready = prepare_program(plan, ends.output); !ready) give_up(ends.report, ready.error());
    give_up(ends.report, execute(plan));
}

bool holder_lives(int go) {
    pollfd end{.fd = go, .events = 0};
    return ::poll(&end, 1, 0) >= 0 && (end.revents & (POLLHUP | POLLERR)) == 0;
}

// It dies with its holder, and all of the program with it: so the kernel ends the first process's namespace.
bool die_with_holder(int go) { return ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && holder_lives(go); }

// A new network has its own address of the machine itself, and that is down.
Result<> raise_loopback() {
    const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ifreq request{};
    std::strncpy(request.ifr_name, "lo", sizeof request.ifr_name - 1);
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    const bool up = socket >= 0 && ::ioctl(socket, SIOCSIFFLAGS, &request) == 0;
    auto error = failed("make the address 127.0.0.1");
    if (socket >= 0) ::close(socket);
    if (up) return {};
    return error;
}

Result<> set_up(const Plan& plan, int owners) {
    if (::setsid() < 0) return failed("begin a session");
    if (::unshare(CLONE_NEWCGROUP) != 0) return failed("have a view of control groups");
    if (::sethostname(plan.hostname.c_str(), plan.hostname.size()) != 0) return failed("set the host name");
    if (!plan.share_network) TRY(raise_loopback());
    Root root{plan, owners};
    TRY(root.enter());
    TRY(root.furnish());
    return root.close();
}

int exit_code(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

[[noreturn]] void wait_for(pid_t program, const sigset_t& signals) {
    while (true) {
        siginfo_t seen{};
        const int number = ::sigwaitinfo(&signals, &seen);
        if (number == SIGTERM && ::kill(-program, SIGTERM) != 0) ::kill(program, SIGTERM);
        if (number != SIGCHLD) continue;
        int status = 0;
        for (pid_t ended = 0; (ended = ::waitpid(-1, &status, WNOHANG)) > 0;)
            if (ended == program) ::_exit(exit_code(status));
    }
}

}  // namespace

std::string report_text(const Error& error) {
    return fmt::format("{}\n{}\n{}", static_cast<int>(error.code), error.reason, error.message);
}

Error parse_report(std::string_view text) {
    Error error{Code::internal, "the program's first process ended before it began", {}, {}, {}};
    const auto first = text.find('\n');
    const auto second = first == text.npos ? first : text.find('\n', first + 1);
    if (second == text.npos) return error;
    for (const Code code :
         {Code::invalid, Code::not_found, Code::conflict, Code::exhausted, Code::unavailable, Code::timeout})
        if (text.substr(0, first) == fmt::format("{}", static_cast<int>(code))) error.code = code;
    error.reason = std::string{text.substr(first + 1, second - first - 1)};
    error.message = std::string{text.substr(second + 1)};
    return error;
}

void be_first_process(const Plan& plan, InsideEnds ends) {
    char byte = 0;
    if (::read(ends.go, &byte, 1) != 1 || !die_with_holder(ends.go)) ::_exit(exit_unstarted);
    if (auto ready = set_up(plan, ends.owners); !ready) give_up(ends.report, ready.error());
    sigset_t signals;
    ::sigemptyset(&signals);
    ::sigaddset(&signals, SIGTERM);
    ::sigaddset(&signals, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &signals, nullptr);
    const pid_t program = ::fork();
    if (program == 0) be_program(plan, ends);
    if (program < 0) give_up(ends.report, failed("start a process").error());
    constexpr std::uint64_t may_kill = std::uint64_t{1} << CAP_KILL;
    auto dropped = lock_capabilities();
    if (dropped) dropped = keep_capabilities(may_kill);
    if (!dropped) give_up(ends.report, dropped.error());
    // The program is another user, and does not look into this process.
    ::prctl(PR_SET_DUMPABLE, 0);
    ::prctl(PR_SET_NAME, "hostler-init");
    if (!die_with_holder(ends.go)) ::_exit(exit_unstarted);
    ::close_range(0, ~0U, 0);
    wait_for(program, signals);
}

}  // namespace hostler::program
