#include "adapters/docker/opens.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

namespace hostler::docker {

namespace {

using Clock = std::chrono::steady_clock;

struct Descriptor {
    explicit Descriptor(int number = -1) : fd(number) {}
    ~Descriptor() {
        if (fd >= 0) ::close(fd);
    }
    Descriptor(Descriptor&& other) noexcept : fd(std::exchange(other.fd, -1)) {}
    Descriptor& operator=(Descriptor&&) = delete;
    int fd;
};

std::string text_of(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

std::vector<std::string_view> split(std::string_view text, char by) {
    std::vector<std::string_view> parts;
    while (true) {
        const auto end = std::min(text.find(by), text.size());
        parts.push_back(text.substr(0, end));
        if (end == text.size()) return parts;
        text.remove_prefix(end + 1);
    }
}

bool names(std::string_view list, std::string_view one) {
    const auto parts = split(list, ',');
    return std::ranges::find(parts, one) != parts.end();
}

// Its path in the hierarchy of devices, and whether that is of version 1.
struct Group {
    std::string_view path;
    bool first_version = false;
};
std::optional<Group> group_of(std::string_view groups) {
    std::optional<Group> second;
    for (const auto line : split(groups, '\n')) {  // "4:devices:/path", "0::/path"
        const auto controllers = line.find(':');
        const auto path = controllers == line.npos ? line.npos : line.find(':', controllers + 1);
        if (path == line.npos) continue;
        const auto named = line.substr(controllers + 1, path - controllers - 1);
        if (names(named, "devices")) return Group{line.substr(path + 1), true};
        if (named.empty()) second = Group{line.substr(path + 1), false};
    }
    return second;
}

// ── In the child. It is forked of a process with threads: system calls, and nothing that may take a lock.

struct Errand {
    int root;
    int group;   // The file by which a process joins its control group.
    int folder;  // Of its control group, where one can be born in it (version 2); -1: it cannot.
    int users;   // Its user namespace; -1: ours.
    int report;
    std::span<const std::pair<const char*, std::uint64_t>> nodes;  // With flags of open(2).
};
enum class Step : int { begun, joined, entered, opened };
struct Word {
    Step step;
    int value;  // A process id in `begun`, else errno.
};

void tell(int fd, Step step, int value) {
    const Word word{step, value};
    (void)!::write(fd, &word, sizeof word);
}

// A driver may keep it for ever. Nothing of ours may hang on it then: locks of files, connections.
void let_go_of_all_but(std::array<int, 4> kept) {
    std::ranges::sort(kept);
    unsigned from = 0;
    for (const int fd : kept) {
        if (fd < 0) continue;
        if (static_cast<unsigned>(fd) > from)
            ::syscall(SYS_close_range, from, static_cast<unsigned>(fd) - 1, 0U);
        from = static_cast<unsigned>(fd) + 1;
    }
    ::syscall(SYS_close_range, from, UINT_MAX, 0U);
}

int enter(const Errand& errand) {
    // Groups of root's own would open what the container's root may not.
    if (::syscall(SYS_setgroups, 0UL, nullptr) != 0) return errno;
    if (errand.users < 0) return 0;
    if (::syscall(SYS_setns, errand.users, CLONE_NEWUSER) != 0) return errno;
    if (::syscall(SYS_setresgid, 0, 0, 0) != 0 || ::syscall(SYS_setresuid, 0, 0, 0) != 0) return errno;
    return 0;
}

[[noreturn]] void run(const Errand& errand, bool born_in_it) {
    let_go_of_all_but({errand.root, errand.group, errand.users, errand.report});
    tell(errand.report, Step::begun, static_cast<int>(::syscall(SYS_getpid)));
    const bool joined = born_in_it || ::write(errand.group, "0", 1) == 1;
    tell(errand.report, Step::joined, joined ? 0 : errno);
    if (!joined) ::_exit(0);
    const int error = enter(errand);
    tell(errand.report, Step::entered, error);
    if (error != 0) ::_exit(0);
    for (const auto& [path, flags] : errand.nodes) {
        open_how how{};
        how.flags = flags;
        how.resolve = RESOLVE_IN_ROOT;
        const long fd = ::syscall(SYS_openat2, errand.root, path, &how, sizeof how);
        tell(errand.report, Step::opened, fd < 0 ? errno : 0);
        if (fd >= 0) ::close(static_cast<int>(fd));
    }
    ::_exit(0);
}

// ── Outside

std::uint64_t flags_of(std::string_view permissions) {
    const bool read = permissions.contains('r'), write = permissions.contains('w');
    // Without waiting: what a driver does for the first who opens it may take seconds.
    const int way = read && write ? O_RDWR : write ? O_WRONLY : O_RDONLY;
    return static_cast<std::uint64_t>(way | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

// nullopt: nothing came until then. An empty one: the child has ended.
std::optional<std::optional<Word>> next_word(int fd, Clock::time_point end) {
    while (true) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
        pollfd wait{fd, POLLIN, 0};
        const int ready = ::poll(&wait, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, INT_MAX)));
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) return std::nullopt;
        Word word{};
        const auto size = ::read(fd, &word, sizeof word);
        if (size < 0 && errno == EINTR) continue;
        return size == sizeof word ? std::optional{word} : std::optional<Word>{};
    }
}

std::string reason_of(int error) {
    return fmt::format("{} ({})", std::strerror(error), ::strerrorname_np(error));
}

// A process that moves from one control group to another waits about 10 ms for the kernel; one that is born
// in it does not. Kernels before 5.7 know no such birth.
long birth_in(int folder) {
    if (folder < 0) return -1;
    clone_args how{};
    how.flags = CLONE_INTO_CGROUP;
    how.exit_signal = SIGCHLD;
    how.cgroup = static_cast<std::uint64_t>(folder);
    return ::syscall(SYS_clone3, &how, sizeof how);
}

// It begins as a child of a child, so that one that a driver keeps is nobody's to wait for.
bool begin(const Errand& errand) {
    const pid_t child = ::fork();
    if (child == 0) {
        long grandchild = birth_in(errand.folder);
        const bool born_in_it = grandchild >= 0;
        if (!born_in_it) grandchild = ::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr);
        if (grandchild == 0) run(errand, born_in_it);
        ::_exit(grandchild < 0 ? 1 : 0);
    }
    if (child < 0) return false;
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool same_file(const std::string& one, const std::string& other) {
    struct stat a{}, b{};
    return ::stat(one.c_str(), &a) == 0 && ::stat(other.c_str(), &b) == 0 && a.st_ino == b.st_ino &&
           a.st_dev == b.st_dev;
}

Result<> listen(int fd, std::span<const CdiNode* const> nodes, std::chrono::milliseconds within) {
    const auto end = Clock::now() + within;
    std::size_t opened = 0;
    pid_t child = 0;
    while (opened < nodes.size()) {
        const auto came = next_word(fd, end);
        if (!came) {
            if (child > 0) ::kill(child, SIGKILL);
            return fail(
                Code::timeout,
                fmt::format("device {} does not open within {} s: its driver does not answer",
                            nodes[opened]->path, std::chrono::ceil<std::chrono::seconds>(within).count()));
        }
        if (!*came)
            return fail(
                Code::unavailable,
                fmt::format("cannot tell whether device {} opens: the process that tried it was killed",
                            nodes[opened]->path));
        const auto [step, value] = **came;
        switch (step) {
            case Step::begun: child = value; break;
            case Step::joined:
            case Step::entered:
                if (value != 0)
                    return fail(Code::unavailable,
                                fmt::format("whether devices open was not found out: cannot enter its {}: {}",
                                            step == Step::joined ? "control group" : "user namespace",
                                            reason_of(value)));
                break;
            case Step::opened:
                if (value != 0)
                    return fail(Code::unavailable, fmt::format("device {} does not open: {}",
                                                               nodes[opened]->path, reason_of(value)));
                ++opened;
                break;
        }
    }
    return {};
}

}  // namespace

std::optional<DeviceGroup> device_group(std::string_view groups, std::string_view mounts) {
    const auto group = group_of(groups);
    if (!group) return std::nullopt;
    for (const auto line : split(mounts, '\n')) {
        // "ID PARENT DEVICE ROOT PLACE OPTIONS [MORE...] - TYPE SOURCE OPTIONS"
        const auto dash = line.find(" - ");
        if (dash == line.npos) continue;
        const auto front = split(line.substr(0, dash), ' '), back = split(line.substr(dash + 3), ' ');
        if (front.size() < 5 || back.size() < 3) continue;
        if (group->first_version ? back[0] != "cgroup" || !names(back[2], "devices") : back[0] != "cgroup2")
            continue;
        std::string_view path = group->path, root = front[3];
        if (root == "/") root = "";
        if (!path.starts_with(root) || path.contains("/../")) continue;
        path.remove_prefix(root.size());
        if (path == "/") path = "";
        return DeviceGroup{.folder = fmt::format("{}{}", front[4], path),
                           .first_version = group->first_version};
    }
    return std::nullopt;
}

Result<> check_opens(std::int64_t pid, std::span<const CdiNode> nodes, std::chrono::milliseconds within) {
    std::vector<const CdiNode*> wanted;
    std::vector<std::pair<const char*, std::uint64_t>> opens;
    for (const auto& node : nodes)
        if (node.permissions.find_first_of("rw") != std::string::npos) {
            wanted.push_back(&node);
            opens.emplace_back(node.path.c_str(), flags_of(node.permissions));
        }
    if (opens.empty()) return {};
    const auto process = fmt::format("/proc/{}", pid);
    const auto ended = [&](std::string_view what) {
        if (::access((process + "/root/").c_str(), F_OK) != 0 && errno != EACCES)
            return fail(Code::not_found, "the container's process has ended");
        return fail(Code::unavailable, std::string{what});
    };
    const Descriptor root{::open((process + "/root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
    if (root.fd < 0) return ended("its root cannot be entered to see whether devices open");
    const auto group = device_group(text_of(process + "/cgroup"), text_of("/proc/self/mountinfo"));
    if (!group) return ended("its control group, which decides on devices, is not mounted here");
    const Descriptor join{::open(group->file().c_str(), O_WRONLY | O_CLOEXEC)};
    if (join.fd < 0) return ended(fmt::format("{}: {}", group->file(), std::strerror(errno)));
    const Descriptor folder{
        group->first_version ? -1 : ::open(group->folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
    const bool own_users = !same_file(process + "/ns/user", "/proc/self/ns/user");
    const Descriptor users{own_users ? ::open((process + "/ns/user").c_str(), O_RDONLY | O_CLOEXEC) : -1};
    if (own_users && users.fd < 0) return ended("its user namespace cannot be entered");
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return fail(Code::unavailable, std::strerror(errno));
    const Descriptor hear{ends[0]};
    {
        const Descriptor report{ends[1]};
        if (!begin({root.fd, join.fd, folder.fd, users.fd, report.fd, opens}))
            return fail(Code::unavailable, "no process can be made to see whether devices open");
    }
    auto heard = listen(hear.fd, wanted, within);
    if (!heard && heard.error().code == Code::unavailable) return ended(heard.error().message);
    return heard;
}

}  // namespace hostler::docker
