#include "adapters/program/control_groups.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>

#include "adapters/program/device_filter.h"
#include "core/kernel_files.h"

namespace hostler::program {

namespace {

constexpr std::int64_t period_us = 100'000, quota_us_min = 1000;
constexpr std::string_view needed[] = {"cpu", "memory", "pids"};

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
    TRY(make_group_folder(group.parent));
    if (!group.enabled.empty()) {
        const auto root = group.parent.substr(0, group.parent.rfind('/'));
        for (const auto& folder : {root, group.parent})
            TRY(write_group_value(folder + "/cgroup.subtree_control", group.enabled));
    }
    TRY(make_group_folder(group.folder));
    for (const auto& [file, value, optional] : group.values) {
        auto written = write_group_value(fmt::format("{}/{}", group.folder, file), value);
        if (!written && !(optional && written.error().code == Code::not_found))
            return fail(Code::unavailable, written.error().message);
    }
    if (group.filter_devices)
        if (auto filtered = filter_devices(group.folder, devices); !filtered)
            unfiltered = filtered.error().message;
    return {};
}

}  // namespace

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

std::uint64_t memory_kills(std::span<const std::string> folders) {
    for (const auto& folder : folders)
        for (const char* file : {"/memory.events", "/memory.oom_control"})
            if (const auto text = read_text(folder + file))
                if (const auto count = parse_number(value_of_line(*text, "oom_kill").value_or("")))
                    return static_cast<std::uint64_t>(*count);
    return 0;
}

}  // namespace hostler::program
