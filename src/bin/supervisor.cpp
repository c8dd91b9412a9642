#include "bin/supervisor.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <csignal>
#include <fstream>

#include "core/log.h"
#include "core/suspend.h"

namespace hostler::bin {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

std::uintmax_t size_of(const fs::path& file) {
    std::error_code missing;
    const std::uintmax_t size = fs::file_size(file, missing);
    return missing ? 0 : size;
}

// The last line of the log from `begin` on, without time and name; "" when there is none.
std::string last_words(const fs::path& log, std::uintmax_t begin) {
    constexpr std::uintmax_t most = 4096;
    const std::uintmax_t end = size_of(log);
    std::ifstream text{log};
    text.seekg(static_cast<std::streamoff>(std::max(begin, end > most ? end - most : 0)));
    std::string last;
    for (std::string line; std::getline(text, line);)
        if (!line.empty()) last = std::move(line);
    const auto level = last.find(" error "), name_end = last.find("  ", level);
    return level < 40 && name_end != last.npos ? last.substr(name_end + 2) : last;
}

std::string how_it_ended(int status, const fs::path& log, std::uintmax_t log_begin) {
    if (WIFSIGNALED(status)) return fmt::format("signal {}", WTERMSIG(status));
    const std::string words = WEXITSTATUS(status) == 0 ? "" : last_words(log, log_begin);
    return fmt::format("code {}{}{}", WEXITSTATUS(status), words.empty() ? "" : ": ", words);
}

}  // namespace

Supervisor::Supervisor(Process& process, std::filesystem::path log_folder)
    : process_(process), log_folder_(std::move(log_folder)), tasks_(process.loop) {
    if (const auto made = make_own_folder(log_folder_); !made) log_error("{}", made.error().message);
}

fs::path Supervisor::log_of(const Child& child) const { return log_folder_ / (child.spec.name + ".log"); }

void Supervisor::keep(ChildSpec spec) {
    auto child = std::make_shared<Child>();
    child->spec = std::move(spec);
    children_.push_back(child);
    tasks_.start(child->spec.name, run(child));
}

Task<> Supervisor::run(std::shared_ptr<Child> child) {
    Duration pause = milliseconds{100};
    const fs::path log = log_of(*child);
    while (!stopping_) {
        const Instant begun = process_.timers->now();
        const std::uintmax_t log_begin = size_of(log);
        child->pid = CO_TRY(start(*child));
        const int status = CO_TRY(co_await wait(child));
        child->pid = 0;
        child->ended.notify_all();
        if (stopping_) break;
        log_warn("{} has ended ({}) and is started again; see {}", child->spec.name,
                 how_it_ended(status, log, log_begin), log.string());
        pause = process_.timers->now() - begun > seconds{10} ? Duration{milliseconds{100}}
                                                             : std::min<Duration>(pause * 2, seconds{10});
        CO_TRY(co_await sleep(*process_.timers, pause));
    }
    co_return Result<>{};
}

Result<int> Supervisor::start(const Child& child) {
    if (child.spec.before_start) child.spec.before_start();
    std::vector<std::string> words = child.spec.command;
    if (child.spec.more_arguments)
        for (std::string& word : child.spec.more_arguments()) words.push_back(std::move(word));
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    std::vector<std::string> settings;
    // Where a name is there twice, the first counts.
    for (char** variable = environ; *variable; ++variable) {
        const std::string_view setting = *variable;
        const std::string name{setting.substr(0, setting.find('='))};
        if (!child.spec.environment.contains(name)) settings.emplace_back(setting);
    }
    for (const auto& [name, value] : child.spec.environment) settings.push_back(name + "=" + value);
    std::vector<char*> environment;
    for (std::string& setting : settings) environment.push_back(setting.data());
    environment.push_back(nullptr);
    const std::string folder = log_folder_;
    const std::string log = log_of(child);
    const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const int in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid == 0) {
        // A session of its own: Ctrl-C reaches us, and we end the children in order.
        ::setsid();
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (::getppid() != parent) ::_exit(1);
        // Some leave files where they stand (conmon, when memory runs out).
        if (::chdir(folder.c_str()) != 0) ::_exit(1);
        ::dup2(in, 0), ::dup2(out, 1), ::dup2(out, 2);
        sigset_t none;
        sigemptyset(&none);
        ::sigprocmask(SIG_SETMASK, &none, nullptr);
        ::execvpe(arguments[0], arguments.data(), environment.data());
        ::_exit(127);
    }
    ::close(out), ::close(in);
    if (pid < 0)
        return fail(Code::unavailable,
                    fmt::format("cannot start {}: {}", child.spec.name, std::strerror(errno)));
    return pid;
}

Task<int> Supervisor::wait(std::shared_ptr<Child> child) {
    const int fd = static_cast<int>(::syscall(SYS_pidfd_open, child->pid, 0));
    if (fd < 0)
        co_return fail(Code::internal,
                       fmt::format("cannot watch {}: {}", child->spec.name, std::strerror(errno)));
    auto ended = std::make_shared<asio::posix::stream_descriptor>(process_.loop, fd);
    CO_TRY(co_await suspend<void>(
        [ended](WakerPtr<void> waker) {
            ended->async_wait(asio::posix::stream_descriptor::wait_read,
                              [waker, ended](const boost::system::error_code&) { waker->wake({}); });
        },
        Cancellable::no));
    int status = 0;
    ::waitpid(child->pid, &status, 0);
    co_return status;
}

Task<> Supervisor::stop(Duration grace) {
    stopping_ = true;
    for (auto child = children_.rbegin(); child != children_.rend(); ++child) {
        const int pid = (*child)->pid;
        if (pid == 0) continue;
        ::kill(pid, SIGTERM);
        const Deadline late{*process_.timers, grace, [pid, name = (*child)->spec.name] {
                                log_warn("{} does not end and is killed", name);
                                ::kill(pid, SIGKILL);
                            }};
        while ((*child)->pid == pid) co_await (*child)->ended.wait_even_if_cancelled();
    }
    co_return co_await tasks_.close();
}

}  // namespace hostler::bin
