// A dockerd of a test's own: its containers, its networks, its users. Nothing of it is seen by another engine
// of the machine, and nothing of it stays.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "core/result.h"

namespace hostler::docker::testing {

// It lives in `folder`, whose parents everyone may pass through, with a network namespace of its own, since
// it sets the firewall of the whole machine as it likes, and sees /etc with a range of users that is not the
// machine's. Everything that reaches its containers has to be within that network: see Within.
class Dockerd {
public:
    static constexpr std::uint32_t first_id = 0x70f00000;

    // What is mounted below `shared` while it runs, as volumes are, is seen by the daemon too; `folder` lies
    // in it.
    Dockerd(std::string folder, const std::string& shared) : folder_(std::move(folder)) {
        std::filesystem::create_directories(folder_);
        // Its mapped root is nobody out here.
        for (const auto& path : {shared, folder_}) HOSTLER_ASSERT(::chmod(path.c_str(), 0711) == 0);
        std::ofstream{folder_ + "/ids"} << "nobody:" << first_id << ":65536\n";
        HOSTLER_ASSERT(::mount(shared.c_str(), shared.c_str(), nullptr, MS_BIND, nullptr) == 0);
        HOSTLER_ASSERT(::mount(nullptr, shared.c_str(), nullptr, MS_SHARED, nullptr) == 0);
        shared_ = shared;
        const int outside = ::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
        HOSTLER_ASSERT(outside >= 0 && ::unshare(CLONE_NEWNET) == 0);
        network_ = ::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
        HOSTLER_ASSERT(std::system("ip link set lo up") == 0);  // NOLINT(concurrency-mt-unsafe)
        HOSTLER_ASSERT(::setns(outside, CLONE_NEWNET) == 0);
        ::close(outside);
        start_containerd();
        start();
    }
    ~Dockerd() {
        clean(folder_, shared_);
        ::waitpid(pid_, nullptr, 0);
        ::waitpid(containerd_, nullptr, 0);
        ::close(network_);
        ::close(mounts_);
    }
    Dockerd(const Dockerd&) = delete;

    std::string socket() const { return folder_ + "/docker.sock"; }
    std::string log() const { return folder_ + "/dockerd.log"; }
    pid_t pid() const { return pid_; }
    int network() const { return network_; }

    // As a machine's service manager would, after a crash. Whether it answers already is the caller's to find
    // out.
    void crash() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        start();
    }

    // Also after a run that was killed. By force: containers first lose those who watch them.
    static void clean(const std::string& folder, const std::string& shared) {
        if (!std::filesystem::exists(folder + "/ids")) return;
        for (int round = 0; round < 100; ++round) {
            const auto left = living(folder);
            if (left.empty()) break;
            for (const pid_t one : left) ::kill(one, SIGKILL);
            std::this_thread::sleep_for(std::chrono::milliseconds{20});
        }
        std::error_code ignored;
        for (const auto& controller : std::filesystem::directory_iterator{"/sys/fs/cgroup", ignored})
            remove_groups(controller.path() / group(folder));
        remove_groups("/sys/fs/cgroup/" + group(folder));
        ::umount2(shared.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
        std::filesystem::remove_all(folder, ignored);
    }

private:
    // All control groups of its containers hang below it.
    static std::string group(const std::string& folder) {
        return "hostler-test-" + std::to_string(std::hash<std::string>{}(folder));
    }

    static void remove_groups(const std::filesystem::path& at) {
        std::error_code ignored;
        for (const auto& entry : std::filesystem::directory_iterator{at, ignored})
            if (entry.is_directory(ignored)) remove_groups(entry.path());
        ::rmdir(at.c_str());
    }

    static std::string text_of(const std::filesystem::path& path) {
        std::ostringstream text;
        if (const std::ifstream file{path, std::ios::binary}; file) text << file.rdbuf();
        return std::move(text).str();
    }

    // The daemons name the folder, what runs in containers is in its group.
    static std::vector<pid_t> living(const std::string& folder) {
        std::vector<pid_t> found;
        std::error_code gone;
        for (const auto& entry : std::filesystem::directory_iterator{"/proc"}) {
            const std::string name = entry.path().filename();
            if (name.find_first_not_of("0123456789") != std::string::npos) continue;
            const pid_t pid = std::stoi(name);
            if (pid == ::getpid() || text_of(entry.path() / "stat").find(") Z ") != std::string::npos)
                continue;
            const std::string program = std::filesystem::read_symlink(entry.path() / "exe", gone).filename();
            const bool daemon =
                program == "dockerd" || program.starts_with("containerd") || program == "runc";
            if ((daemon && text_of(entry.path() / "cmdline").find(folder + "/") != std::string::npos) ||
                text_of(entry.path() / "cgroup").find("/" + group(folder)) != std::string::npos)
                found.push_back(pid);
        }
        return found;
    }

    // In a child of ours: becomes the program, unless `enter` fails.
    pid_t run(std::vector<std::string> words, const auto& enter) const {
        std::vector<char*> arguments;
        for (auto& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        const std::string log_file = log();
        const pid_t parent = ::getpid();
        const pid_t child = ::fork();
        if (child != 0) return child;
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        const int out = ::open(log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
        ::dup2(out, 1), ::dup2(out, 2);
        if (::getppid() == parent && ::setns(network_, CLONE_NEWNET) == 0 && enter())
            ::execvp(arguments[0], arguments.data());
        ::dprintf(2, "%s cannot be started: %s\n", arguments[0], std::strerror(errno));
        ::_exit(127);
    }

    // It begins the mounts that dockerd shares with it, and outlives dockerd's crashes as it does on a host.
    void start_containerd() {
        std::ofstream{folder_ + "/containerd.toml"} << fmt::format(
            "version = 2\nroot = \"{0}/containerd\"\nstate = \"{0}/state\"\n"
            "disabled_plugins = [\"io.containerd.grpc.v1.cri\"]\n[grpc]\naddress = \"{0}/containerd.sock\"\n",
            folder_);
        const std::string ids = folder_ + "/ids";
        containerd_ = run({"containerd", "--config", folder_ + "/containerd.toml"}, [&] {
            const auto over = [&](const char* path) {
                ::close(
                    ::open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));  // There must be one to stand over.
                return ::mount(ids.c_str(), path, nullptr, MS_BIND, nullptr) == 0;
            };
            return ::unshare(CLONE_NEWNS) == 0 &&
                   ::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0 && over("/etc/subuid") &&
                   over("/etc/subgid");
        });
        const auto begun = std::chrono::steady_clock::now();
        const auto program = fmt::format("/proc/{}/exe", containerd_);
        std::error_code gone;
        while (std::filesystem::read_symlink(program, gone).filename() != "containerd") {
            HOSTLER_ASSERT(std::chrono::steady_clock::now() - begun < std::chrono::seconds{20});
            std::this_thread::sleep_for(std::chrono::milliseconds{2});
        }
        mounts_ = ::open(fmt::format("/proc/{}/ns/mnt", containerd_).c_str(), O_RDONLY | O_CLOEXEC);
    }

    void start() {
        std::filesystem::remove(folder_ + "/dockerd.pid");  // Of one that was killed.
        pid_ = run(
            {"dockerd", "--data-root=" + folder_ + "/data", "--exec-root=" + folder_ + "/exec",
             "--pidfile=" + folder_ + "/dockerd.pid", "--host=unix://" + socket(),
             "--containerd=" + folder_ + "/containerd.sock", "--cgroup-parent=/" + group(folder_),
             "--userns-remap=nobody:nogroup", "--userland-proxy=false", "--bridge=none", "--live-restore"},
            [&] { return ::setns(mounts_, CLONE_NEWNS) == 0; });
    }

    std::string folder_;
    std::string shared_;
    int network_ = -1;
    int mounts_ = -1;
    pid_t containerd_ = 0;
    pid_t pid_ = 0;
};

// While it lives, this thread makes its sockets, processes and threads inside of the daemon's network.
class Within {
public:
    explicit Within(int network) : outside_(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)) {
        HOSTLER_ASSERT(outside_ >= 0 && ::setns(network, CLONE_NEWNET) == 0);
    }
    ~Within() {
        HOSTLER_ASSERT(::setns(outside_, CLONE_NEWNET) == 0);
        ::close(outside_);
    }
    Within(const Within&) = delete;

private:
    int outside_;
};

}  // namespace hostler::docker::testing
