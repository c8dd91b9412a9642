#include "adapters/program/holder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "adapters/program/bell.h"
#include "adapters/program/control_groups.h"
#include "adapters/program/inside.h"
#include "adapters/program/log_file.h"
#include "adapters/program/records.h"
#include "adapters/program/root.h"
#include "core/kernel_files.h"

namespace hostler::program {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t plan_bytes_max = 64 << 20, piece_max = 64 << 10, report_bytes_max = 64 << 10;
constexpr milliseconds shutdown_grace{10'000};
constexpr int kill_rounds_max = 200;

volatile sig_atomic_t asked_to_end = 0;
void note_end(int) { asked_to_end = 1; }

struct Pipe {
    int out = -1, in = -1;
};
Result<Pipe> make_pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return fail(Code::unavailable, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
    return Pipe{ends[0], ends[1]};
}

class Holder {
public:
    explicit Holder(Plan plan) : plan_(std::move(plan)), log_(plan_.folder, plan_.log_bytes_max) {}

    Result<> start();
    void hold();    // Until the program has ended.
    void finish();  // Keeps how it ended.
    void abandon();

private:
    Result<> open_control();
    Result<> make_inside();
    Result<> await_start();
    void take_requests();
    void stop_within(milliseconds grace);
    void kill_all();
    std::size_t pump();
    int wait_ms() const;

    Plan plan_;
    LogWriter log_;
    int control_ = -1, process_ = -1, owners_ = -1;
    Pipe go_, report_, output_;
    pid_t init_ = 0;
    std::string requests_;
    std::optional<Clock::time_point> kill_at_;
    bool stop_killed_ = false;
    // Of the log, in the second that ends at `second_end_`.
    std::int64_t second_bytes_ = 0;
    Clock::time_point second_end_{};
};

Result<> Holder::open_control() {
    const auto path = plan_.folder + "/control";
    if (::mkfifo(path.c_str(), 0600) != 0 && errno != EEXIST)
        return fail(Code::unavailable, fmt::format("cannot make {}: {}", path, std::strerror(errno)));
    control_ = ::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (control_ < 0)
        return fail(Code::unavailable, fmt::format("cannot open {}: {}", path, std::strerror(errno)));
    return {};
}

Result<> Holder::make_inside() {
    unsigned long flags = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | SIGCHLD;
    if (!plan_.share_network) flags |= CLONE_NEWNET;
    init_ = static_cast<pid_t>(::syscall(SYS_clone, flags, nullptr, nullptr, nullptr, 0));
    if (init_ == 0) {
        for (const int fd : {plan_end, reply_end, alive_end, control_, go_.in, report_.out, output_.out})
            ::close(fd);
        be_first_process(plan_,
                         {.go = go_.out, .report = report_.in, .output = output_.in, .owners = owners_});
    }
    if (init_ < 0) {
        init_ = 0;
        return fail(Code::unavailable, fmt::format("cannot make namespaces for program {}: {}", plan_.name,
                                                   std::strerror(errno)));
    }
    ::close(go_.out), ::close(report_.in), ::close(output_.in);
    if (owners_ >= 0) ::close(owners_);
    process_ = static_cast<int>(::syscall(SYS_pidfd_open, init_, 0));
    if (process_ < 0)
        return fail(Code::unavailable, fmt::format("cannot watch a process: {}", std::strerror(errno)));
    return {};
}

Result<> Holder::start() {
    (void)enter_groups(plan_.holder_groups, ::getpid());  // Else the agent's service ends it some day.
    TRY(open_control());
    go_ = TRY(make_pipe());
    report_ = TRY(make_pipe());
    output_ = TRY(make_pipe());
    // For programs that open /dev/stdout.
    if (::fchown(output_.in, plan_.user, plan_.user) != 0 || ::fcntl(output_.out, F_SETFL, O_NONBLOCK) != 0)
        return fail(Code::unavailable, fmt::format("cannot set up a pipe: {}", std::strerror(errno)));
    if (plan_.mount_owner != 0 && !plan_.mounts.empty())
        owners_ = TRY(owner_namespace(plan_.mount_owner, plan_.user));
    TRY(make_inside());
    TRY(enter_groups(plan_.groups, init_));
    if (::write(go_.in, "!", 1) != 1)
        return fail(Code::unavailable,
                    fmt::format("cannot start program {}: {}", plan_.name, std::strerror(errno)));
    TRY(await_start());
    for (auto& secret : plan_.secrets) std::ranges::fill(secret.text, '\0');  // It outlives their use.
    plan_.secrets.clear();
    return write_record(plan_.folder, "running",
                        to_text(Running{.holder = mark_of(::getpid()), .init = mark_of(init_)}));
}

// `go` stays open: its end tells the first process that the holder died.
Result<> Holder::await_start() {
    const auto until = Clock::now() + milliseconds{plan_.start_ms};
    std::string report;
    while (report.size() < report_bytes_max) {
        const auto left = std::chrono::duration_cast<milliseconds>(until - Clock::now()).count();
        pollfd end{.fd = report_.out, .events = POLLIN};
        if (left <= 0 || ::poll(&end, 1, static_cast<int>(left)) == 0)
            return fail(Code::timeout, fmt::format("program {} did not start within {} s", plan_.name,
                                                   plan_.start_ms / 1000));
        char piece[4096];
        const auto size = ::read(report_.out, piece, sizeof piece);
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) break;
        report.append(piece, static_cast<std::size_t>(size));
    }
    ::close(report_.out);
    if (!report.empty()) return std::unexpected(parse_report(report));
    return {};
}

// Writes what has come to the log, as fast as is allowed. How much.
std::size_t Holder::pump() {
    static char piece[piece_max];
    const auto now = Clock::now();
    if (now >= second_end_) second_end_ = now + std::chrono::seconds{1}, second_bytes_ = 0;
    if (second_bytes_ >= plan_.log_bytes_per_s) return 0;
    const auto size = ::read(output_.out, piece, sizeof piece);
    if (size <= 0) return 0;
    second_bytes_ += size;
    log_.write({piece, static_cast<std::size_t>(size)},
               std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now()));
    return static_cast<std::size_t>(size);
}

void Holder::stop_within(milliseconds grace) {
    const auto at = Clock::now() + grace;
    if (!kill_at_ || at < *kill_at_) kill_at_ = at;
    if (grace > milliseconds{0}) ::kill(init_, SIGTERM);
}

void Holder::take_requests() {
    if (std::exchange(asked_to_end, 0)) stop_within(shutdown_grace);
    char piece[512];
    for (ssize_t size = 0; (size = ::read(control_, piece, sizeof piece)) > 0;)
        requests_.append(piece, static_cast<std::size_t>(size));
    for (auto end = requests_.find('\n'); end != requests_.npos; end = requests_.find('\n')) {
        std::string_view line{requests_.data(), end};
        constexpr std::string_view stop = "stop ";
        if (line.starts_with(stop))
            if (const auto grace = parse_number(line.substr(stop.size())))
                stop_within(milliseconds{std::max<std::int64_t>(*grace, 0)});
        requests_.erase(0, end + 1);
    }
}

void Holder::kill_all() {
    stop_killed_ = true;
    ::kill(init_, SIGKILL);  // The kernel ends all that is in its namespace.
    (void)kill_groups(plan_.groups, kill_rounds_max);
}

int Holder::wait_ms() const {
    auto until = Clock::time_point::max();
    if (kill_at_ && !stop_killed_) until = *kill_at_;
    if (second_bytes_ >= plan_.log_bytes_per_s) until = std::min(until, second_end_);
    if (until == Clock::time_point::max()) return -1;
    return static_cast<int>(
        std::clamp<std::int64_t>(std::chrono::ceil<milliseconds>(until - Clock::now()).count(), 0, 60'000));
}

void Holder::hold() {
    sigset_t none;
    ::sigemptyset(&none);
    while (true) {
        const bool may_write = second_bytes_ < plan_.log_bytes_per_s || Clock::now() >= second_end_;
        pollfd ends[] = {{.fd = process_, .events = POLLIN},
                         {.fd = control_, .events = POLLIN},
                         {.fd = may_write ? output_.out : -1, .events = POLLIN}};
        const int wait = wait_ms();
        const timespec time{wait / 1000, wait % 1000 * 1'000'000};
        (void)::ppoll(ends, std::size(ends), wait < 0 ? nullptr : &time, &none);
        take_requests();
        if (ends[2].revents != 0 && pump() == 0 && (ends[2].revents & POLLHUP) != 0) {
            ::close(output_.out);  // All writers have closed it.
            output_.out = -1;
        }
        if (ends[0].revents != 0) return;
        if (kill_at_ && !stop_killed_ && Clock::now() >= *kill_at_) kill_all();
    }
}

void Holder::finish() {
    int status = 0;
    while (::waitpid(init_, &status, 0) < 0 && errno == EINTR) {
    }
    // What is still in the pipe; whoever else may hold its other end is not waited for.
    second_bytes_ = 0, plan_.log_bytes_per_s = INT64_MAX;
    for (std::size_t left = 1 << 20; output_.out >= 0 && left > 0;) {
        const auto size = pump();
        if (size == 0) break;
        left -= std::min(left, size);
    }
    Ending ending{.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                  .stop_killed = stop_killed_};
    ending.oom_killed = !stop_killed_ && ending.exit_code != 0 && memory_kills(plan_.groups) > 0;
    if (auto kept = write_ending(plan_.folder, ending); !kept)
        (void)fmt::print(stderr, "{}\n", kept.error().message);
    ring(std::filesystem::path{plan_.folder}.parent_path().parent_path());
    (void)kill_groups(plan_.groups, kill_rounds_max);
    remove_groups(plan_.groups);
    ::rmdir((plan_.folder + "/root").c_str());
}

// It did not start: nothing of it stays but its folder, which is its maker's.
void Holder::abandon() {
    if (init_ > 0) {
        ::kill(init_, SIGKILL);
        while (::waitpid(init_, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
    (void)kill_groups(plan_.groups, kill_rounds_max);
    remove_groups(plan_.groups);
}

Result<Plan> read_plan() {
    std::string text;
    char piece[65536];
    for (ssize_t size = 0; (size = ::read(plan_end, piece, sizeof piece)) > 0;) {
        text.append(piece, static_cast<std::size_t>(size));
        if (text.size() > plan_bytes_max) return fail(Code::invalid, "a plan is too large");
    }
    return parse_plan(text);
}

void reply(std::string_view text) { (void)!::write(reply_end, text.data(), text.size()); }

void set_up_signals() {
    sigset_t ours;
    ::sigemptyset(&ours);
    struct sigaction action{};
    action.sa_handler = note_end;
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
        ::sigaddset(&ours, number);
        ::sigaction(number, &action, nullptr);
    }
    ::sigprocmask(SIG_BLOCK, &ours, nullptr);  // But while it waits.
    ::signal(SIGPIPE, SIG_IGN);
}

}  // namespace

std::string stop_request(std::int64_t grace_ms) { return fmt::format("stop {}\n", grace_ms); }

int hold_main() {
    // The one that the agent waits for ends; the other is no one's child.
    const pid_t child = ::fork();
    if (child != 0) ::_exit(child > 0 ? 0 : 1);
    ::setsid();
    ::umask(022);
    (void)!::chdir("/");
    ::prctl(PR_SET_DUMPABLE, 0);  // The secrets are in its memory.
    set_up_signals();
    ::close_range(alive_end + 1, ~0U, 0);
    for (const int fd : {plan_end, reply_end, alive_end}) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    auto plan = read_plan();
    if (!plan) {
        reply(report_text(plan.error()));
        return 1;
    }
    ::close(plan_end);
    Holder holder{std::move(*plan)};
    if (auto started = holder.start(); !started) {
        holder.abandon();
        reply(report_text(started.error()));
        return 1;
    }
    reply("ok");
    ::close(reply_end);
    holder.hold();
    holder.finish();
    return 0;
}

}  // namespace hostler::program
