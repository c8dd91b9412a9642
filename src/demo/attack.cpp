// What a program in a container must not be able to do: tests try it out from inside.
#include <fcntl.h>
#include <linux/vm_sockets.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "demo/pages.h"

namespace demo {

namespace {

// 0: it went through.
int errno_of(long result) { return result < 0 ? errno : 0; }

int in_a_child(int (*what)()) {
    int report[2];
    if (::pipe2(report, O_CLOEXEC) != 0) return errno;
    const pid_t child = ::fork();
    if (child == 0) {
        const int error = what();
        (void)!::write(report[1], &error, sizeof error);
        ::_exit(0);
    }
    ::close(report[1]);
    int error = child < 0 ? errno : EINTR;  // Killed, when it says nothing.
    (void)!::read(report[0], &error, sizeof error);
    ::close(report[0]);
    return error;
}

int new_user() {
    return in_a_child([] { return errno_of(::unshare(CLONE_NEWUSER)); });
}
int new_network() {
    return in_a_child([] { return errno_of(::unshare(CLONE_NEWNET)); });
}
int cloned_user() {
    const long child = ::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
    if (child == 0) ::_exit(0);
    return errno_of(child);
}
int key() { return errno_of(::syscall(SYS_add_key, "user", "hostler", "x", 1UL, -2)); }
int session_keys() { return errno_of(::syscall(SYS_keyctl, 0, -3, 1)); }
int vsock() { return errno_of(::socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0)); }
int raw_socket() { return errno_of(::socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, 1)); }
int mount_it() { return errno_of(::mount("none", "/tmp", "tmpfs", 0, nullptr)); }
int unmount_it() { return errno_of(::umount2("/dev/shm", MNT_DETACH)); }
int make_device() {
    ::unlink("/tmp/kmsg");
    return errno_of(::mknod("/tmp/kmsg", S_IFCHR | 0600, makedev(1, 11)));
}
int write_sysctl() {
    const int fd = ::open("/proc/sys/kernel/core_pattern", O_WRONLY | O_CLOEXEC);
    if (fd < 0) return errno;
    const int error = errno_of(::write(fd, "|/tmp/x", 7));
    ::close(fd);
    return error;
}
int write_control_group() {
    const int error = errno_of(::mkdir("/sys/fs/cgroup/memory/hostler-attack", 0755));
    return error == ENOENT ? errno_of(::mkdir("/sys/fs/cgroup/hostler-attack", 0755)) : error;
}
int ring() { return errno_of(::syscall(SYS_io_uring_setup, 8U, nullptr)); }
int program_in_kernel() { return errno_of(::syscall(SYS_bpf, 0, nullptr, 0U)); }
int fault_handler() { return errno_of(::syscall(SYS_userfaultfd, 0)); }
int kernel_log() { return errno_of(::syscall(SYS_syslog, 3, nullptr, 0)); }
int open_gpu() {
    const int fd = ::open("/dev/nvidia0", O_RDWR | O_CLOEXEC);
    const int error = errno_of(fd);
    if (fd >= 0) ::close(fd);
    return error;
}
int open_gpus() {
    int error = ENOENT;  // It has none.
    for (const auto& entry : std::filesystem::directory_iterator{"/dev"}) {
        if (!entry.path().filename().string().starts_with("nvidia")) continue;
        const int fd = ::open(entry.path().c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
        error = errno_of(fd);
        if (fd < 0) break;
        ::close(fd);
    }
    return error;
}
// What must go on working: a server that is nobody in particular, a debugger for one's own.
int low_port() {
    return in_a_child([] {
        constexpr uid_t somebody = 1234;
        if (::setresuid(somebody, somebody, somebody) != 0) return errno;
        const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(443);
        const int error = errno_of(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address));
        ::close(fd);
        return error;
    });
}
int trace_own() {
    return in_a_child([] { return errno_of(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr)); });
}

// What its own disk takes, until it takes no more.
int fill_disk() {
    constexpr std::size_t piece_bytes = 1 << 20;
    static char piece[piece_bytes];
    const int fd = ::open("/fill", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) return errno;
    int error = 0;
    for (int pieces = 0; error == 0 && pieces < 4096; ++pieces)
        error = errno_of(::write(fd, piece, sizeof piece));
    ::close(fd);
    return error;
}
int fill_inodes() {
    constexpr int folders_max = 1000, files_max = 1000;
    for (int folder = 0; folder < folders_max; ++folder) {
        const auto path = "/many-" + std::to_string(folder);
        if (::mkdir(path.c_str(), 0700) != 0) return errno;
        for (int file = 0; file < files_max; ++file)
            if (::mknod((path + "/" + std::to_string(file)).c_str(), S_IFREG | 0600, 0) != 0) return errno;
    }
    return 0;
}
// Files that an engine mounts from the host's disk. 0: one of them can be written.
int write_hosts_files() {
    int error = 0;
    for (const char* path : {"/etc/hosts", "/etc/hostname", "/etc/resolv.conf", "/run/.containerenv"}) {
        const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
        if (fd < 0 && errno == ENOENT) continue;
        if (fd < 0) {
            error = errno;
            continue;
        }
        ::close(fd);
        return 0;
    }
    return error;
}

// As programs do that log to /dev/stdout by its name.
int open_output() {
    for (const char* path : {"/dev/stdout", "/dev/stderr"}) {
        const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
        if (fd < 0) return errno;
        ::close(fd);
    }
    return 0;
}
int ping_socket() {
    const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_ICMP);
    if (fd < 0) return errno;
    ::close(fd);
    return 0;
}

struct Attack {
    const char* name;
    int (*go)();
};
constexpr Attack attacks[] = {{"open-output", open_output},
                              {"ping-socket", ping_socket},
                              {"new-user", new_user},
                              {"new-network", new_network},
                              {"cloned-user", cloned_user},
                              {"key", key},
                              {"session-keys", session_keys},
                              {"vsock", vsock},
                              {"raw-socket", raw_socket},
                              {"mount", mount_it},
                              {"unmount", unmount_it},
                              {"device", make_device},
                              {"sysctl", write_sysctl},
                              {"control-group", write_control_group},
                              {"ring", ring},
                              {"program-in-kernel", program_in_kernel},
                              {"fault-handler", fault_handler},
                              {"kernel-log", kernel_log},
                              {"open-gpu", open_gpu},
                              {"open-gpus", open_gpus},
                              {"low-port", low_port},
                              {"trace-own", trace_own},
                              {"fill-disk", fill_disk},
                              {"fill-inodes", fill_inodes},
                              {"hosts-files", write_hosts_files}};

std::string text_of(const char* path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

// A copy of this program that belongs to root and has the setuid bit, run by somebody else; what it says.
std::string setuid_identity() {
    constexpr const char* copy = "/tmp/setuid-demo";
    constexpr uid_t somebody = 1234;
    ::unlink(copy);
    std::ofstream{copy, std::ios::binary} << text_of("/proc/self/exe");
    if (::chown(copy, 0, 0) != 0 || ::chmod(copy, 04755) != 0) return "not made\n";
    int report[2];
    if (::pipe(report) != 0) return "no pipe\n";
    const pid_t child = ::fork();
    if (child == 0) {
        ::dup2(report[1], 1);
        if (::setresgid(somebody, somebody, somebody) == 0 && ::setresuid(somebody, somebody, somebody) == 0)
            ::execl(copy, copy, "whoami", nullptr);
        ::_exit(1);
    }
    ::close(report[1]);
    std::string said;
    char piece[64];
    for (ssize_t size = 0; (size = ::read(report[0], piece, sizeof piece)) > 0;)
        said.append(piece, static_cast<std::size_t>(size));
    ::close(report[0]);
    return said;
}

}  // namespace

// "done", or the kernel's word against it: "EPERM".
bool attack(Connection& connection, const Request& request) {
    const auto name = request.parameter("what");
    if (name == "setuid") return connection.respond(200, "text/plain", setuid_identity());
    if (name == "groups-seen")
        return connection.respond(200, "text/plain",
                                  text_of("/proc/self/cgroup") + text_of("/proc/self/mountinfo"));
    if (name == "hosts-seen")
        return connection.respond(200, "text/plain", text_of("/etc/hosts") + text_of("/etc/resolv.conf"));
    for (const auto& one : attacks) {
        if (name != one.name) continue;
        const int error = one.go();
        const char* word = error == 0 ? "done" : ::strerrorname_np(error);
        return connection.respond(200, "text/plain", std::string(word ? word : "?") + "\n");
    }
    return connection.respond(404, "text/plain", "no such attack\n");
}

}  // namespace demo
