#include "adapters/docker/held_logs.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "adapters/docker/file_lock.h"
#include "adapters/docker/log_file.h"
#include "core/log.h"

namespace hostler::docker {

namespace {

bool same_file(const std::string& one, const std::string& other) {
    struct stat a{}, b{};
    return ::lstat(one.c_str(), &a) == 0 && ::lstat(other.c_str(), &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

// Two agents may do it at one time, while one takes over from the other: each would push the file of the
// other out.
constexpr std::chrono::seconds lock_time{5};

void hold_now(const std::string& path) {
    const std::string held = held_path(path);
    const auto folder = std::filesystem::path{path}.parent_path();
    const int lock = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock < 0) return;
    if (!lock_within(lock, lock_time)) {
        log_warn("the log {} is not kept when podman begins another: {} is locked: {}", path, folder.string(),
                 std::strerror(errno));
        ::close(lock);
        return;
    }
    if (::access(path.c_str(), F_OK) == 0 && !same_file(path, held)) {
        ::rename(held.c_str(), before_path(path).c_str());
        if (::link(path.c_str(), held.c_str()) != 0 && errno != ENOENT)
            log_warn("the log {} is not kept when podman begins another: {}", path, std::strerror(errno));
    }
    ::close(lock);
}

}  // namespace

HeldLogs::~HeldLogs() {
    if (thread_.joinable()) {
        ::eventfd_write(end_, 1);
        thread_.join();
    }
    for (const int descriptor : {events_, end_})
        if (descriptor >= 0) ::close(descriptor);
}

void HeldLogs::hold(const std::string& path) {
    const std::lock_guard lock{mutex_};
    if (!start()) return;
    const auto folder = std::filesystem::path{path}.parent_path();
    const int watch = ::inotify_add_watch(events_, folder.c_str(), IN_MOVED_TO | IN_ONLYDIR);
    if (watch < 0) {
        if (errno != ENOENT)
            log_warn("the log {} is not kept when podman begins another: {}", path, std::strerror(errno));
        return;
    }
    paths_[watch] = path;
    hold_now(path);
}

bool HeldLogs::start() {
    if (thread_.joinable()) return true;
    if (events_ < 0) events_ = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (end_ < 0) end_ = ::eventfd(0, EFD_CLOEXEC);
    if (events_ < 0 || end_ < 0) {
        log_warn("logs are not kept when podman begins another file: {}", std::strerror(errno));
        return false;
    }
    thread_ = std::thread{[this] { watch(); }};
    return true;
}

void HeldLogs::watch() {
    // A busy host must not delay it until the next file is full. On Linux this is the thread's own.
    constexpr int soon = -10;
    (void)::setpriority(PRIO_PROCESS, 0, soon);
    while (true) {
        pollfd waited[] = {{events_, POLLIN, 0}, {end_, POLLIN, 0}};
        if (::poll(waited, 2, -1) < 0 && errno != EINTR) return;
        if (waited[1].revents != 0) return;
        if (waited[0].revents != 0) read_events();
    }
}

void HeldLogs::read_events() {
    alignas(inotify_event) char buffer[16 << 10];
    const auto size = ::read(events_, buffer, sizeof buffer);
    const std::lock_guard lock{mutex_};
    for (ssize_t at = 0; at < size;) {
        inotify_event event{};
        std::memcpy(&event, buffer + at, sizeof event);
        at += static_cast<ssize_t>(sizeof event + event.len);
        if ((event.mask & IN_Q_OVERFLOW) != 0)
            for (const auto& [watch, path] : paths_) hold_now(path);
        const auto found = paths_.find(event.wd);
        if (found == paths_.end()) continue;
        if ((event.mask & IN_IGNORED) != 0)
            paths_.erase(found);
        else
            hold_now(found->second);
    }
}

}  // namespace hostler::docker
