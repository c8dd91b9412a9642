#include "process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "core/spawn.h"

namespace hostler::kube {

namespace {

std::optional<std::vector<std::string>> joined(const Environment& extra) {
    if (extra.empty()) return std::nullopt;
    std::vector<std::string> all;
    for (char** one = environ; *one != nullptr; ++one) {
        const std::string line = *one;
        if (!extra.contains(line.substr(0, line.find('=')))) all.push_back(line);
    }
    for (const auto& [name, value] : extra) all.push_back(name + "=" + value);
    return all;
}

// The kernel ends it when the thread that started it has gone.
Words bound(Words words) {
    words.insert(words.begin(), {"setpriv", "--pdeathsig", "KILL"});
    return words;
}

// A file without a name.
class Scratch {
public:
    explicit Scratch(const std::string& text = {})
        : fd_(::open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)) {
        HOSTLER_ASSERT(fd_ >= 0);
        HOSTLER_ASSERT(::write(fd_, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
        ::lseek(fd_, 0, SEEK_SET);
    }
    ~Scratch() { ::close(fd_); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    int fd() const { return fd_; }
    std::string text() const { return read_file(fmt::format("/proc/self/fd/{}", fd_)); }

private:
    int fd_;
};

// Returns when it ends: benches take the time of that.
void wait_for_end(pid_t child, Seconds within) {
    const int handle = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
    HOSTLER_ASSERT(handle >= 0);
    pollfd waited{handle, POLLIN, 0};
    const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(within);
    ::poll(&waited, 1, static_cast<int>(time.count()));
    ::close(handle);
}

}  // namespace

Ran run(Words words, Seconds within, const std::string& input, const Environment& environment) {
    const Scratch in{input}, out, err;
    const auto child =
        spawn(bound(std::move(words)), {.streams = {{in.fd(), 0}, {out.fd(), 1}, {err.fd(), 2}},
                                        .own_group = true,
                                        .environment = joined(environment)});
    if (!child) return {127, "", child.error().message};
    wait_for_end(*child, within);
    std::optional<int> code = ended(*child);
    if (!code) {
        ::kill(-*child, SIGKILL);
        wait_end(*child);
        code = 124;
    }
    return {*code, out.text(), err.text()};
}

Result<Child> Child::start(Words words, std::string log, const Environment& environment) {
    const int to = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (to < 0) return fail(Code::unavailable, fmt::format("cannot write {}", log));
    const int from = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    const auto pid = spawn(
        bound(std::move(words)),
        {.streams = {{from, 0}, {to, 1}, {to, 2}}, .own_group = true, .environment = joined(environment)});
    ::close(to);
    ::close(from);
    Child child;
    child.pid_ = TRY(pid);
    child.log_ = std::move(log);
    return child;
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)), enters_(other.enters_), log_(std::move(other.log_)) {}

Child& Child::operator=(Child&& other) noexcept {
    if (this == &other) return *this;
    kill();
    pid_ = std::exchange(other.pid_, 0);
    enters_ = other.enters_;
    log_ = std::move(other.log_);
    return *this;
}

bool Child::runs() {
    if (pid_ != 0 && ended(pid_)) pid_ = 0;
    return pid_ != 0;
}

void Child::stop(int signal, Seconds within) {
    if (!runs()) return;
    const pid_t inner = enters_ ? child_of(pid_) : 0;
    ::kill(inner != 0 ? inner : pid_, signal);
    if (!eventually(within, [this] { return !runs(); })) kill();
}

void Child::kill() {
    if (!runs()) return;
    ::kill(-pid_, SIGKILL);
    wait_end(std::exchange(pid_, 0));
}

std::string Child::tail() const {
    constexpr std::size_t tail_max = 3000;
    std::string text = read_file(log_);
    return text.size() > tail_max ? text.substr(text.size() - tail_max) : text;
}

std::string read_file(const std::string& path) {
    std::ostringstream text;
    if (const std::ifstream file{path, std::ios::binary}; file) text << file.rdbuf();
    return std::move(text).str();
}

void write_file(const std::string& path, const std::string& text) {
    std::ofstream{path, std::ios::binary | std::ios::trunc} << text;
}

pid_t child_of(pid_t process) {
    std::istringstream children{read_file(fmt::format("/proc/{0}/task/{0}/children", process))};
    pid_t first = 0;
    children >> first;
    return first;
}

void pause_briefly() { std::this_thread::sleep_for(std::chrono::milliseconds{50}); }

}  // namespace hostler::kube
