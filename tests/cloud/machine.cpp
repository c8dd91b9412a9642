#include "machine.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "adapters/docker/network.h"
#include "adapters/docker/podman.h"
#include "adapters/docker/process.h"
#include "adapters/docker/testing/dockerd.h"

namespace hostler::cloud {

namespace fs = std::filesystem;

std::string read_file(const std::string& path) {
    std::ostringstream text;  // A file of /proc may go while it is read; what came until then is the answer.
    if (const std::ifstream file{path, std::ios::binary}; file) text << file.rdbuf();
    return std::move(text).str();
}

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> all;
    std::istringstream in{text};
    for (std::string line; std::getline(in, line);)
        if (!line.empty()) all.push_back(line);
    return all;
}

bool alive(pid_t pid) {
    const std::string status = read_file(fmt::format("/proc/{}/stat", pid));
    return !status.empty() && status.substr(status.rfind(')'), 4).find('Z') == std::string::npos;
}

std::vector<pid_t> processes_of(const std::string& folder) {
    std::vector<pid_t> found;
    for (const auto& entry : fs::directory_iterator("/proc")) {
        const std::string name = entry.path().filename();
        if (name.find_first_not_of("0123456789") != std::string::npos) continue;
        const pid_t pid = std::stoi(name);
        if (pid != ::getpid() && alive(pid) &&
            read_file(entry.path() / "cmdline").find(folder) != std::string::npos)
            found.push_back(pid);
    }
    return found;
}

std::vector<std::string> mounts_of(const std::string& folder) {
    std::vector<std::string> found;
    for (const std::string& line : lines(read_file("/proc/self/mounts"))) {
        std::istringstream words{line};
        std::string source, target;
        words >> source >> target;
        if (target.starts_with(folder)) found.push_back(target);
    }
    return found;
}

std::string program_of(pid_t process) {
    std::error_code gone;
    return fs::read_symlink(fmt::format("/proc/{}/exe", process), gone);
}

// From the kernel's table of sockets and the process's descriptors.
std::vector<int> listening(pid_t process) {
    std::map<std::string, int> waiting;
    for (const char* const table : {"/proc/net/tcp", "/proc/net/tcp6"})
        for (const std::string& line : lines(read_file(table))) {
            std::istringstream words{line};
            std::string slot, local, remote, state, queues, timer, retries, user, probes, inode;
            words >> slot >> local >> remote >> state >> queues >> timer >> retries >> user >> probes >>
                inode;
            if (state == "0A") waiting[inode] = std::stoi(local.substr(local.rfind(':') + 1), nullptr, 16);
        }
    std::vector<int> ports;
    std::error_code gone;
    for (const auto& entry : fs::directory_iterator{fmt::format("/proc/{}/fd", process), gone}) {
        const std::string target = fs::read_symlink(entry.path(), gone);
        constexpr std::string_view prefix = "socket:[";
        if (!target.starts_with(prefix)) continue;
        const auto found = waiting.find(target.substr(prefix.size(), target.size() - prefix.size() - 1));
        if (found != waiting.end()) ports.push_back(found->second);
    }
    return ports;
}

Ran run_program(std::vector<std::string> words, std::map<std::string, std::string> environment,
                std::chrono::milliseconds within) {
    std::string script = "exec \"$@\" 2>\"$HOSTLER_TEST_ERR\"";
    char err[] = "/tmp/hostler-cloud-err-XXXXXX";
    ::close(::mkstemp(err));
    std::vector<std::string> all{"env", fmt::format("HOSTLER_TEST_ERR={}", err)};
    for (const auto& [name, value] : environment) all.push_back(name + "=" + value);
    all.insert(all.end(), {"sh", "-c", script, "sh"});
    all.insert(all.end(), words.begin(), words.end());
    const auto outcome = docker::run_process(std::move(all), {}, within);
    Ran ran{.code = outcome ? outcome->exit_code : -1,
            .out = outcome ? outcome->output : "",
            .err = read_file(err)};
    if (!outcome) ran.err += outcome.error().message;
    ::unlink(err);
    return ran;
}

std::string shell(const std::string& command) { return run_program({"sh", "-c", command}).out; }

namespace {

std::string podman(const std::string& data, const std::string& arguments) {
    return shell(
        fmt::format("CONTAINERS_CONF={0}/engine/containers.conf "
                    "CONTAINERS_STORAGE_CONF={0}/engine/storage.conf podman {1} 2>/dev/null",
                    data, arguments));
}

}  // namespace

void clean(const std::string& folder) {
    const std::string data = folder + "/d";
    for (const pid_t pid : processes_of(folder + "/"))
        if (fs::path{program_of(pid)}.filename().string().starts_with("hostler")) ::kill(pid, SIGKILL);
    docker::testing::Dockerd::clean(folder + "/dockerd", folder);
    for (const pid_t pid : processes_of(folder + "/"))
        if (read_file(fmt::format("/proc/{}/comm", pid)) != "conmon\n") ::kill(pid, SIGKILL);
    if (fs::exists(data + "/engine/storage.conf")) {
        podman(data, "rm --all --force --time 0");
        for (const std::string& name : lines(podman(data, "network ls --format '{{.Name}}'"))) {
            if (name == "podman") continue;
            podman(data, "network rm --force " + name);
            (void)docker::Wall{{}}.take_down(docker::bridge_name(name));
        }
        docker::release_podman(data + "/engine");
    }
    auto mounts = mounts_of(folder + "/");
    std::ranges::reverse(mounts);  // The inner ones first.
    for (const std::string& mount : mounts) ::umount2(mount.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
    std::error_code ignored;
    fs::remove_all(folder, ignored);
}

void clean_leftovers() {
    for (const auto& entry : fs::directory_iterator("/tmp")) {
        if (!entry.path().filename().string().starts_with(folder_prefix)) continue;
        const int owner = ::open((entry.path() / "owner").c_str(), O_RDWR | O_CLOEXEC);
        if (owner < 0) continue;
        if (::flock(owner, LOCK_EX | LOCK_NB) == 0) clean(entry.path());
        ::close(owner);
    }
}

}  // namespace hostler::cloud
