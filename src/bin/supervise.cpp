#include "bin/supervise.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>

#include "adapters/docker/engine.h"
#include "adapters/program/both_engines.h"
#include "core/log.h"
#include "core/worker.h"
#include "roles/agent/supervisor.h"

namespace hostler::bin {

namespace fs = std::filesystem;

namespace {

// A service manager ends all of a service's group when its first process dies: of such a group, and where the
// kernel lets us, we go into one of our own.
void leave_group() {
    const fs::path group = "/sys/fs/cgroup/hostler-leases";
    std::error_code ignored;
    if (read_file("/proc/self/cgroup").find(".service") == std::string::npos ||
        !fs::exists("/sys/fs/cgroup/cgroup.controllers", ignored))
        return;
    fs::create_directory(group, ignored);
    std::ofstream{group / "cgroup.procs"} << ::getpid() << std::flush;
}

}  // namespace

disk::StartSupervisor supervisor_starter(fs::path leases, std::string engine, fs::path programs) {
    return [leases = fs::absolute(leases), engine = std::move(engine),
            programs = fs::absolute(programs)](const std::string& boot) -> Result<> {
        constexpr const char* self = "/proc/self/exe";
        constexpr std::string_view unstarted = "cannot start this program as a supervisor of leases\n";
        std::vector<std::string> words{
            fs::read_symlink(self), supervise_command, "--leases", leases, "--engine", engine,
            "--programs",           programs,          "--boot",   boot};
        std::vector<char*> arguments;
        for (std::string& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        const std::string log = leases / "supervisor.log", folder = leases;
        int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (out < 0) out = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
        const int in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
        const pid_t first = ::fork();
        if (first == 0) {
            ::setsid();
            if (::fork() != 0) ::_exit(0);  // So that it is nobody's child.
            ::dup2(in, 0), ::dup2(out, 1), ::dup2(out, 2);
            sigset_t none;
            sigemptyset(&none);
            ::sigprocmask(SIG_SETMASK, &none, nullptr);
            if (::chdir(folder.c_str()) != 0) ::_exit(1);
            ::close_range(3, ~0U, 0);
            ::execv(arguments[0], arguments.data());
            ::execv(self, arguments.data());  // An upgrade has taken away its file.
            (void)!::write(2, unstarted.data(), unstarted.size());
            ::_exit(127);
        }
        ::close(out), ::close(in);
        if (first < 0)
            return fail(Code::unavailable,
                        fmt::format("cannot start a supervisor of leases: {}", std::strerror(errno)));
        while (::waitpid(first, nullptr, 0) < 0 && errno == EINTR) {
        }
        return {};
    };
}

Task<> supervise(Process& process, SuperviseOptions options) {
    constexpr std::string_view docker = "docker:";
    if (!options.engine.starts_with(docker))
        co_return fail(Code::invalid,
                       fmt::format("--engine '{}': a supervisor needs docker:SOCKET", options.engine));
    auto lock = disk::SupervisorLock::take(options.leases);
    if (!lock && lock.error().code == Code::conflict) co_return Result<>{};
    if (!lock) co_return std::unexpected(lock.error());
    leave_group();
    const auto lease_worker = make_worker(process.loop, "leases");
    const auto engine_worker = make_worker(process.loop, "engine");
    const auto book = CO_TRY(
        disk::open_leases(*lease_worker, options.leases, [](const std::string&) { return Result<>{}; }));
    docker::DockerEngine containers{
        *process.net, *process.timers, *engine_worker, {.socket = options.engine.substr(docker.size())}};
    const auto program_worker = make_worker(process.loop, "programs");
    program::ProgramEngine programs{
        process.loop, *process.timers, *program_worker, {.state_folder = options.programs}};
    program::BothEngines engine{
        process.loop, *process.timers, {.engine = containers, .events = containers}, programs, false};
    agent::Supervisor supervisor{process.loop, *process.timers, engine, *book, {.boot = options.boot}};
    log_info("watching over leases, boot {}", options.boot);
    co_return co_await supervisor.run();
}

}  // namespace hostler::bin
