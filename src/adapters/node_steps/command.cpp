#include "adapters/node_steps/command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ranges>

#include "adapters/node_steps/groups.h"
#include "core/spawn.h"

namespace hostler::node_steps {

namespace {

constexpr std::chrono::milliseconds look_interval{20};
constexpr int failed_end = 125;  // Of the child, should its exec fail.

struct Descriptor {
    int fd = -1;
    explicit Descriptor(int of = -1) : fd(of) {}
    ~Descriptor() { close(); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    void close() {
        if (fd >= 0) ::close(fd);
        fd = -1;
    }
};

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
    std::vector<char*> pointers;
    // The call does not write there, whatever its type says.
    for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

struct Pipe {
    Descriptor out, in;
    Result<> open() {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0)
            return fail(Code::unavailable, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
        out.fd = ends[0], in.fd = ends[1];
        return {};
    }
};

// What comes from one end of a pipe. false: nothing more will.
template <class Take>
bool drain(Descriptor& from, Take take) {
    char bytes[16 << 10];
    while (from.fd >= 0) {
        const auto size = ::read(from.fd, bytes, sizeof bytes);
        if (size > 0) {
            take(std::string_view{bytes, static_cast<std::size_t>(size)});
        } else if (size == 0 || (errno != EINTR && errno != EAGAIN)) {
            from.close();
        } else if (errno == EAGAIN) {
            break;
        }
    }
    return from.fd >= 0;
}

void keep_end(std::string& text, std::string_view more) {
    text += more;
    if (text.size() > 2 * last_bytes_max) text.erase(0, text.size() - last_bytes_max);
}

// After fork: no memory is asked for, since another thread may have been asking.
[[noreturn]] void become(const Start& start, char* const* arguments, char* const* environment,
                         const std::vector<int>& group_files, int report) {
    ::setsid();
    if (start.ends_with_us) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    bool entered = true;
    for (const int file : group_files) entered = entered && ::write(file, "0", 1) == 1;
    for (const auto& [ours, theirs] : start.streams)
        if (ours == theirs)
            ::fcntl(theirs, F_SETFD, 0);
        else
            ::dup2(ours, theirs);
    sigset_t none;
    ::sigemptyset(&none);
    for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    if (entered) ::execve(arguments[0], arguments, environment);
    const int error = errno;
    (void)!::write(report, &error, sizeof error);
    ::_exit(failed_end);
}

}  // namespace

std::vector<std::string> environment_of(const StepSettings& settings) {
    return {"PATH=" + settings.path, "HOME=/root", "LANG=C.UTF-8"};
}

bool has_systemd() { return ::access("/run/systemd/system", F_OK) == 0; }

Result<std::string> find_program(const StepSettings& settings, const std::string& name) {
    const auto runs = [](const std::string& path) { return ::access(path.c_str(), X_OK) == 0; };
    if (name.contains('/')) {
        if (runs(name)) return name;
    } else {
        for (const auto part : std::views::split(settings.path, ':')) {
            const std::string path = fmt::format("{}/{}", std::string_view{part}, name);
            if (runs(path)) return path;
        }
    }
    return fail(Code::not_found,
                fmt::format("the program '{}' is not on this host; install it in {}", name, settings.path),
                "program_missing");
}

Result<pid_t> start_process(const Start& start) {
    Pipe report;
    TRY(report.open());
    const auto arguments = pointers_to(start.arguments), environment = pointers_to(start.environment);
    std::vector<int> group_files;
    for (const std::string& folder : start.groups)
        if (const int fd = ::open((folder + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC); fd >= 0)
            group_files.push_back(fd);
    const pid_t pid = ::fork();
    if (pid == 0) become(start, arguments.data(), environment.data(), group_files, report.in.fd);
    const int fork_error = errno;
    for (const int file : group_files) ::close(file);
    report.in.close();
    if (pid < 0)
        return fail(Code::unavailable, fmt::format("cannot make a process for '{}': {}", start.arguments[0],
                                                   std::strerror(fork_error)));
    int error = 0;
    ssize_t size = 0;
    while ((size = ::read(report.out.fd, &error, sizeof error)) < 0 && errno == EINTR) {
    }
    if (size <= 0) return pid;
    (void)wait_end(pid);
    const bool missing = error == ENOENT || error == EACCES || error == ENOEXEC;
    return fail(missing ? Code::not_found : Code::unavailable,
                fmt::format("cannot run '{}': {}", start.arguments[0], std::strerror(error)),
                missing ? "program_missing" : "");
}

Result<CommandEnd> run_command(const StepSettings& settings, const std::string& name,
                               const std::vector<std::string>& arguments, const Stop& stop,
                               const std::function<void(std::string_view)>& sink) {
    Start start{.arguments = arguments, .environment = environment_of(settings)};
    start.arguments[0] = TRY(find_program(settings, arguments[0]));
    const auto folders = group_folders(settings, name);
    (void)end_groups(folders);
    start.groups = make_groups(folders);
    Pipe out, err;
    TRY(out.open());
    TRY(err.open());
    for (const int fd : {out.out.fd, err.out.fd}) ::fcntl(fd, F_SETFL, O_NONBLOCK);
    const Descriptor nothing{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    start.streams = {{nothing.fd, 0}, {out.in.fd, 1}, {err.in.fd, 2}};
    const auto pid = start_process(start);
    out.in.close(), err.in.close();
    if (!pid) {
        (void)end_groups(folders);
        return std::unexpected(pid.error());
    }
    CommandEnd end;
    const auto look = [&] {
        (void)drain(out.out, [&](std::string_view bytes) {
            end.output += bytes.substr(0, output_bytes_max - end.output.size());
            keep_end(end.last, bytes);
            if (sink) sink(bytes);
        });
        (void)drain(err.out, [&](std::string_view bytes) { keep_end(end.last, bytes); });
    };
    std::optional<int> code;
    while (!(code = ended(*pid)) && !stop.now()) {
        pollfd ends[] = {{.fd = out.out.fd, .events = POLLIN}, {.fd = err.out.fd, .events = POLLIN}};
        (void)::poll(ends, std::size(ends), static_cast<int>(look_interval.count()));
        // A process that has closed its outputs is looked at from time to time.
        if (out.out.fd < 0 && err.out.fd < 0) ::poll(nullptr, 0, static_cast<int>(look_interval.count()));
        look();
    }
    ::kill(-*pid, SIGKILL);
    const bool all_ended = end_groups(folders);
    if (!code && all_ended) (void)wait_end(*pid);
    if (code) look();
    end.last.erase(0, end.last.size() - std::min(end.last.size(), last_bytes_max));
    if (!all_ended)
        return fail(Code::unavailable, fmt::format("processes that '{}' began cannot be ended", arguments[0]),
                    "step_hangs");
    if (!code && stop.cancelled()) return fail(Code::cancelled, "cancelled");
    if (!code)
        return fail(Code::timeout, fmt::format("'{}' did not end in time and was killed", arguments[0]),
                    "step_late");
    end.exit_code = *code;
    return end;
}

std::map<std::string, std::string> outputs_in(std::string_view output,
                                              const std::vector<std::string>& names) {
    std::map<std::string, std::string> found;
    for (const auto part : std::views::split(output, '\n')) {
        std::string_view line{part};
        if (line.ends_with('\r')) line.remove_suffix(1);
        const auto equals = line.find('=');
        if (equals == line.npos) continue;
        const std::string name{line.substr(0, equals)};
        if (std::ranges::count(names, name) > 0) found[name] = line.substr(equals + 1);
    }
    return found;
}

std::string last_lines(std::string_view text, const std::vector<std::string>& names,
                       const std::map<std::string, std::string>& secrets) {
    // What says why comes last, and a master keeps the first 512 bytes of the whole sentence.
    constexpr std::size_t lines_max = 12, bytes_max = 400;
    std::vector<std::string> lines;
    for (const auto part : std::views::split(text, '\n')) {
        std::string line{std::string_view{part}};
        const std::string name = line.substr(0, line.find('='));
        if (line.empty() || (line.contains('=') && std::ranges::count(names, name) > 0)) continue;
        for (const auto& [secret, value] : secrets)
            for (auto at = line.find(value); value.size() >= 4 && at != line.npos; at = line.find(value))
                line.replace(at, value.size(), "***");
        lines.push_back(std::move(line));
    }
    if (lines.size() > lines_max) lines.erase(lines.begin(), lines.end() - lines_max);
    std::string made = fmt::format("{}", fmt::join(lines, "\n"));
    if (made.size() > bytes_max) made.erase(0, made.size() - bytes_max);
    return made;
}

}  // namespace hostler::node_steps
