#include "adapters/node_steps/keeper.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "adapters/node_steps/command.h"
#include "adapters/node_steps/programs.h"
#include "core/spawn.h"

namespace hostler::node_steps {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds pause_min{1'000}, pause_max{30'000};
constexpr seconds healthy_after{60};  // A program that ran this long is restarted with the shortest pause.
constexpr milliseconds grace{10'000};
constexpr std::size_t program_bytes_max = 8 << 20;

volatile sig_atomic_t asked_to_end = 0;
void note_end(int) { asked_to_end = 1; }

class Log {
public:
    explicit Log(std::string folder) : path_(std::move(folder) + "/log") { open(); }
    ~Log() {
        if (file_ >= 0) ::close(file_);
    }
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;
    // Output that the disk does not take is lost, so that the program runs on.
    void write(std::string_view bytes) {
        if (size_ + bytes.size() > log_bytes_max) {
            ::close(file_);
            (void)::rename(path_.c_str(), (path_ + ".old").c_str());
            open();
        }
        const auto size = ::write(file_, bytes.data(), bytes.size());
        if (size > 0) size_ += static_cast<std::size_t>(size);
    }

private:
    void open() {
        file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
        size_ = static_cast<std::size_t>(std::max<off_t>(::lseek(file_, 0, SEEK_END), 0));
    }
    std::string path_;
    int file_ = -1;
    std::size_t size_ = 0;
};

class Keeper {
public:
    Keeper(const std::string& folder, const std::string& path) : log_(folder) {
        StepSettings settings;
        if (!path.empty()) settings.path = path;
        environment_ = environment_of(settings);
    }
    // Until it is asked to end.
    void keep(std::vector<std::string> arguments) {
        milliseconds pause = pause_min;
        while (!asked_to_end) {
            const auto begun = Clock::now();
            run(arguments);
            if (asked_to_end) return;
            if (Clock::now() - begun >= healthy_after) pause = pause_min;
            log_.write(fmt::format("hostler: it is started again in {} ms\n", pause.count()));
            wait(pause);
            pause = std::min(pause * 2, pause_max);
        }
    }

private:
    void run(const std::vector<std::string>& arguments) {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) return;
        const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
        const auto started = start_process({.arguments = arguments,
                                            .environment = environment_,
                                            .groups = {},
                                            .streams = {{nothing, 0}, {ends[1], 1}, {ends[1], 2}},
                                            .ends_with_us = true});
        ::close(ends[1]), ::close(nothing);
        if (started)
            follow(*started, ends[0]);
        else
            log_.write(started.error().message + "\n");
        ::close(ends[0]);
    }
    void follow(pid_t program, int output) {
        const int process = static_cast<int>(::syscall(SYS_pidfd_open, program, 0));
        std::optional<int> code;
        auto kill_at = Clock::time_point::max();
        bool open = true;
        while (!(code = ended(program))) {
            if (asked_to_end && kill_at == Clock::time_point::max()) {
                kill_at = Clock::now() + grace;
                ::kill(-program, SIGTERM);
            }
            if (Clock::now() >= kill_at) ::kill(-program, SIGKILL);
            pollfd ends[] = {{.fd = process, .events = POLLIN}, {.fd = open ? output : -1, .events = POLLIN}};
            constexpr int look_ms = 200;  // For signals that come between two waits.
            (void)::poll(ends, std::size(ends), look_ms);
            if (ends[1].revents != 0) open = pump(output);
        }
        ::kill(-program, SIGKILL);  // Processes that it leaves behind.
        ::close(process);
        // Its last words. Something outside its group may still hold the pipe, so nothing is waited for.
        constexpr int reads_max = 64;
        pollfd rest{.fd = output, .events = POLLIN, .revents = 0};
        for (int i = 0; open && i < reads_max && ::poll(&rest, 1, 0) > 0; ++i) open = pump(output);
        log_.write(fmt::format("hostler: it has ended with {}\n", *code));
    }
    bool pump(int output) {
        char bytes[16 << 10];
        const auto size = ::read(output, bytes, sizeof bytes);
        if (size > 0) log_.write({bytes, static_cast<std::size_t>(size)});
        return size > 0 || (size < 0 && errno == EINTR);
    }
    static void wait(milliseconds time) {
        for (const auto until = Clock::now() + time; !asked_to_end && Clock::now() < until;)
            ::poll(nullptr, 0, 100);
    }

    Log log_;
    std::vector<std::string> environment_;
};

int lock_alive(const std::string& folder) {
    const int fd = ::open((folder + "/alive").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0 && ::flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
    if (fd >= 0) ::close(fd);
    return -1;
}

}  // namespace

bool is_kept(const std::string& folder) {
    if (::access((folder + "/alive").c_str(), F_OK) != 0) return false;
    const int fd = lock_alive(folder);
    if (fd >= 0) ::close(fd);
    return fd < 0;
}

int keep_main(const std::string& folder, const std::string& path) {
    // The one that the agent waits for ends; the other is no one's child.
    if (const pid_t child = ::fork(); child != 0) return child > 0 ? 0 : 1;
    struct sigaction action{};
    action.sa_handler = note_end;
    for (const int number : {SIGTERM, SIGINT}) ::sigaction(number, &action, nullptr);
    for (const int number : {SIGPIPE, SIGHUP}) ::signal(number, SIG_IGN);
    ::umask(022);
    (void)!::chdir("/");
    if (lock_alive(folder) < 0) return 1;
    const auto text = read_bytes(folder + "/program", program_bytes_max);
    if (!text) return 1;
    const std::string number = fmt::format("{}", ::getpid());
    const int file = ::open((folder + "/keeper").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || ::write(file, number.data(), number.size()) < 0) return 1;
    ::close(file);
    (void)!::write(ready_end, "ok", 2);
    ::close(ready_end);
    Keeper{folder, path}.keep(parse_program(*text));
    return 0;
}

}  // namespace hostler::node_steps
