#include "adapters/program/control_groups.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <sstream>
#include <thread>

#include "adapters/program/device_filter.h"
#include "core/kernel_files.h"

namespace hostler::program {

namespace {

constexpr std::int64_t period_us = 100'000, quota_us_min = 1000;
constexpr std::string_view needed[] = {"cpu", "memory", "pids"};
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

Result<> write_value(const std::string& path, std::string_view value) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    const bool written =
        fd >= 0 && ::write(fd, value.data(), value.size()) == static_cast<ssize_t>(value.size());
    const int error = errno;
    if (fd >= 0) ::close(fd);
    if (written) return {};
    return fail(error == ENOENT ? Code::not_found : Code::unavailable,
                fmt::format("cannot write '{}' to {}: {}", value, path, std::strerror(error)));
}

Result<> make_folder(const std::string& folder) {
    if (::mkdir(folder.c_str(), 0755) == 0 || errno == EEXIST) return {};
    return fail(Code::unavailable,
                fmt::format("cannot make control group {}: {}", folder, std::strerror(errno)));
}

std::int64_t quota_us(std::int64_t cpu_milli) { return std::max(cpu_milli * period_us / 1000, quota_us_min); }

void add_values_1(const Hierarchy& in, const GroupLimits& limits, std::span<const GroupDevice> devices,
                  std::vector<GroupValue>& values) {
    if (in.controllers.contains("cpuset")) values.push_back({"cgroup.clone_children", "1"});
    if (in.controllers.contains("cpu") && limits.cpu_milli > 0) {
        values.push_back({"cpu.cfs_period_us", fmt::format("{}", period_us)});
        values.push_back({"cpu.cfs_quota_us", fmt::format("{}", quota_us(limits.cpu_milli))});
    }
    if (in.controllers.contains("memory") && limits.memory_bytes > 0) {
        values.push_back({"memory.limit_in_bytes", fmt::format("{}", limits.memory_bytes)});
        values.push_back({"memory.memsw.limit_in_bytes", fmt::format("{}", limits.memory_bytes), true});
    }
    if (in.controllers.contains("pids") && limits.pids_max > 0)
        values.push_back({"pids.max", fmt::format("{}", limits.pids_max)});
    if (!in.controllers.contains("devices")) return;
    values.push_back({"devices.deny", "a"});
    for (const auto& device : devices)
        values.push_back(
            {"devices.allow", fmt::format("{} {}:{} rwm", device.block ? 'b' : 'c', device.major,
                                          device.minor < 0 ? "*" : fmt::format("{}", device.minor))});
}

void add_values_2(const Hierarchy& in, const GroupLimits& limits, std::vector<GroupValue>& values) {
    if (in.controllers.contains("cpu") && limits.cpu_milli > 0)
        values.push_back({"cpu.max", fmt::format("{} {}", quota_us(limits.cpu_milli), period_us)});
    if (in.controllers.contains("memory") && limits.memory_bytes > 0) {
        values.push_back({"memory.max", fmt::format("{}", limits.memory_bytes)});
        values.push_back({"memory.swap.max", "0", true});
    }
    if (in.controllers.contains("pids") && limits.pids_max > 0)
        values.push_back({"pids.max", fmt::format("{}", limits.pids_max)});
}

Result<> make_group(const GroupPlan& group, std::span<const GroupDevice> devices, std::string& unfiltered) {
    TRY(make_folder(group.parent));
    if (!group.enabled.empty()) {
        const auto root = group.parent.substr(0, group.parent.rfind('/'));
        for (const auto& folder : {root, group.parent})
            TRY(write_value(folder + "/cgroup.subtree_control", group.enabled));
    }
    TRY(make_folder(group.folder));
    for (const auto& [file, value, optional] : group.values) {
        auto written = write_value(fmt::format("{}/{}", group.folder, file), value);
        if (!written && !(optional && written.error().code == Code::not_found))
            return fail(Code::unavailable, written.error().message);
    }
    if (group.filter_devices)
        if (auto filtered = filter_devices(group.folder, devices); !filtered)
            unfiltered = filtered.error().message;
    return {};
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
        if (!write_value(folder + "/freezer.state", "FROZEN")) continue;
        for (int i = 0; i < looks_max && read_text(folder + "/freezer.state") != "FROZEN"; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds{2});
    }
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

int version_of(std::span<const Hierarchy> hierarchies) {
    return std::ranges::any_of(
               hierarchies,
               [](const Hierarchy& one) { return one.unified && one.controllers.contains("memory"); })
               ? 2
               : 1;
}

Result<std::vector<GroupPlan>> plan_groups(std::span<const Hierarchy> hierarchies, const std::string& parent,
                                           const std::string& id, const GroupLimits& limits,
                                           std::span<const GroupDevice> devices) {
    const auto has = [&](std::string_view controller) {
        return std::ranges::any_of(hierarchies, [&](const Hierarchy& one) {
            return one.controllers.contains(std::string{controller});
        });
    };
    for (const auto controller : needed)
        if (!has(controller))
            return fail(Code::unavailable,
                        fmt::format("programs need the controller '{}' of control groups, and no hierarchy "
                                    "of this host has it",
                                    controller));
    std::vector<GroupPlan> groups;
    for (const auto& in : hierarchies) {
        GroupPlan group{.parent = fmt::format("{}/{}", in.path, parent)};
        group.folder = fmt::format("{}/{}", group.parent, id);
        if (in.unified) {
            std::vector<std::string> enabled;
            for (const auto controller : needed)
                if (in.controllers.contains(std::string{controller}))
                    enabled.push_back(fmt::format("+{}", controller));
            group.enabled = fmt::format("{}", fmt::join(enabled, " "));
            add_values_2(in, limits, group.values);
            group.filter_devices = !has("devices");
        } else {
            constexpr std::string_view used[] = {"cpu", "cpuacct", "memory", "pids", "devices", "freezer"};
            if (!in.of_systemd && std::ranges::none_of(used, [&](std::string_view controller) {
                    return in.controllers.contains(std::string{controller});
                }))
                continue;
            add_values_1(in, limits, devices, group.values);
        }
        groups.push_back(std::move(group));
    }
    return groups;
}

std::vector<GroupPlan> plan_holder_groups(std::span<const Hierarchy> hierarchies, const std::string& parent) {
    std::vector<GroupPlan> groups;
    for (const auto& in : hierarchies)
        if (in.unified || in.of_systemd)
            groups.push_back({.parent = fmt::format("{}/{}", in.path, parent),
                              .folder = fmt::format("{}/{}/holders", in.path, parent)});
    return groups;
}

Result<> make_groups(std::span<const GroupPlan> groups, std::span<const GroupDevice> devices,
                     std::string& unfiltered) {
    for (const auto& group : groups)
        if (auto made = make_group(group, devices, unfiltered); !made) {
            for (const auto& other : groups) ::rmdir(other.folder.c_str());
            return made;
        }
    return {};
}

Result<> enter_groups(std::span<const std::string> folders, pid_t process) {
    for (const auto& folder : folders)
        if (auto entered = write_value(folder + "/cgroup.procs", fmt::format("{}", process)); !entered)
            return fail(Code::unavailable, entered.error().message);
    return {};
}

bool kill_groups(std::span<const std::string> folders, int rounds_max) {
    for (int round = 0;; ++round) {
        freeze(folders);
        bool left = false;
        for (const auto& folder : folders) {
            if (exists(folder + "/cgroup.kill")) (void)write_value(folder + "/cgroup.kill", "1");
            for (const pid_t process : processes_of(folder)) {
                left = true;
                ::kill(process, SIGKILL);
            }
        }
        for (const auto& folder : folders) (void)write_value(folder + "/freezer.state", "THAWED");
        if (!left || round >= rounds_max) return !left;
        std::this_thread::sleep_for(std::chrono::milliseconds{round < 10 ? 2 : 50});
    }
}

std::uint64_t memory_kills(std::span<const std::string> folders) {
    for (const auto& folder : folders)
        for (const char* file : {"/memory.events", "/memory.oom_control"})
            if (const auto text = read_text(folder + file))
                if (const auto count = parse_number(value_of_line(*text, "oom_kill").value_or("")))
                    return static_cast<std::uint64_t>(*count);
    return 0;
}

void remove_groups(std::span<const std::string> folders) {
    constexpr int tries_max = 50;  // A group is busy for a moment after its last process.
    for (const auto& folder : folders)
        for (int i = 0; i < tries_max && ::rmdir(folder.c_str()) != 0 && errno == EBUSY; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds{2});
}

}  // namespace hostler::program
