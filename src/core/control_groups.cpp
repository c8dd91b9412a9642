#include "core/control_groups.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <sstream>
#include <thread>

#include "core/kernel_files.h"

namespace hostler {

namespace {

constexpr std::size_t procs_bytes_max = 4 << 20;

std::vector<std::string> words_of(std::string_view text, char separator) {
    std::vector<std::string> words;
    while (!text.empty()) {
        const auto end = std::min(text.find(separator), text.size());
        if (end > 0) words.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return words;
}

std::vector<pid_t> processes_of(const std::string& folder) {
    std::istringstream lines{read_text(folder + "/cgroup.procs", procs_bytes_max).value_or("")};
    std::vector<pid_t> processes;
    for (pid_t process = 0; lines >> process;)
        if (process > 1) processes.push_back(process);  // 0: of another namespace of processes.
    return processes;
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

void freeze(std::span<const std::string> folders) {
    constexpr int looks_max = 50;
    for (const auto& folder : folders) {
        if (!write_group_value(folder + "/freezer.state", "FROZEN")) continue;
        for (int i = 0; i < looks_max && read_text(folder + "/freezer.state") != "FROZEN"; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds{2});
    }
}

void list_below(const std::string& folder, std::size_t names_max, std::vector<std::string>& into) {
    for (const auto& name : list_folder(folder, names_max)) {
        const std::string path = folder + "/" + name;
        struct stat facts{};
        if (::lstat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode)) list_below(path, names_max, into);
    }
    if (into.size() < names_max) into.push_back(folder);
}

}  // namespace

std::vector<Hierarchy> parse_hierarchies(std::string_view mountinfo) {
    std::vector<Hierarchy> found;
    for (const auto& line : words_of(mountinfo, '\n')) {
        const auto dash = line.find(" - ");
        if (dash == line.npos) continue;
        const auto mount = words_of(line.substr(0, dash), ' ');
        const auto kind = words_of(line.substr(dash + 3), ' ');
        if (mount.size() < 5 || kind.size() < 3) continue;
        Hierarchy hierarchy{.path = mount[4]};
        if (kind[0] == "cgroup2") {
            hierarchy.unified = true;
        } else if (kind[0] == "cgroup") {
            for (auto& option : words_of(kind[2], ',')) {
                if (option == "name=systemd") hierarchy.of_systemd = true;
                if (option != "rw" && option != "ro" && option.find('=') == option.npos)
                    hierarchy.controllers.insert(std::move(option));
            }
        } else {
            continue;
        }
        // Mounted twice, it is one.
        if (std::ranges::none_of(found, [&](const Hierarchy& other) {
                return other.unified == hierarchy.unified && other.of_systemd == hierarchy.of_systemd &&
                       other.controllers == hierarchy.controllers;
            }))
            found.push_back(std::move(hierarchy));
    }
    return found;
}

std::vector<Hierarchy> find_hierarchies() {
    constexpr std::size_t mounts_bytes_max = 4 << 20;
    auto found = parse_hierarchies(read_text("/proc/self/mountinfo", mounts_bytes_max).value_or(""));
    for (auto& hierarchy : found)
        if (hierarchy.unified)
            for (auto& name : words_of(read_text(hierarchy.path + "/cgroup.controllers").value_or(""), ' '))
                hierarchy.controllers.insert(std::move(name));
    return found;
}

Result<> write_group_value(const std::string& path, std::string_view value) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    const bool written =
        fd >= 0 && ::write(fd, value.data(), value.size()) == static_cast<ssize_t>(value.size());
    const int error = errno;
    if (fd >= 0) ::close(fd);
    if (written) return {};
    return fail(error == ENOENT ? Code::not_found : Code::unavailable,
                fmt::format("cannot write '{}' to {}: {}", value, path, std::strerror(error)));
}

Result<> make_group_folder(const std::string& folder) {
    if (::mkdir(folder.c_str(), 0755) == 0 || errno == EEXIST) return {};
    return fail(Code::unavailable,
                fmt::format("cannot make control group {}: {}", folder, std::strerror(errno)));
}

std::vector<std::string> groups_below(const std::string& folder, std::size_t names_max) {
    std::vector<std::string> found;
    if (exists(folder)) list_below(folder, names_max, found);
    return found;
}

Result<> enter_groups(std::span<const std::string> folders, pid_t process) {
    for (const auto& folder : folders)
        if (auto entered = write_group_value(folder + "/cgroup.procs", fmt::format("{}", process)); !entered)
            return fail(Code::unavailable, entered.error().message);
    return {};
}

bool kill_groups(std::span<const std::string> folders, int rounds_max) {
    for (int round = 0;; ++round) {
        freeze(folders);
        bool left = false;
        for (const auto& folder : folders) {
            if (exists(folder + "/cgroup.kill")) (void)write_group_value(folder + "/cgroup.kill", "1");
            for (const pid_t process : processes_of(folder)) {
                left = true;
                ::kill(process, SIGKILL);
            }
        }
        for (const auto& folder : folders) (void)write_group_value(folder + "/freezer.state", "THAWED");
        if (!left || round >= rounds_max) return !left;
        std::this_thread::sleep_for(std::chrono::milliseconds{round < 10 ? 2 : 50});
    }
}

void remove_groups(std::span<const std::string> folders) {
    constexpr int tries_max = 50;  // A group is busy for a moment after its last process.
    for (const auto& folder : folders)
        for (int i = 0; i < tries_max && ::rmdir(folder.c_str()) != 0 && errno == EBUSY; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds{2});
}

}  // namespace hostler
