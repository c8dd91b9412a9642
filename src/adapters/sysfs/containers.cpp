#include "adapters/sysfs/containers.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "adapters/sysfs/tables.h"

namespace hostler {

namespace {

constexpr int depth_max = 6, folders_max = 20'000;
constexpr std::size_t table_max = 1 << 20;  // /proc/PID/net/dev with thousands of interfaces.

bool exists(const std::string& path) {
    std::error_code error;
    return std::filesystem::exists(path, error);
}

// The paths of control groups, by container, anywhere below `root`. An engine's monitor has a group with the
// id in its name, too.
void find_groups(const std::string& root, const std::string& path, int depth, int& folders_left,
                 std::map<std::string, std::string>& into) {
    for (const std::string& name : list_folder(root + path)) {
        if (folders_left <= 0) return;
        const std::string below = fmt::format("{}/{}", path, name);
        std::error_code error;
        if (!std::filesystem::is_directory(root + below, error)) continue;
        --folders_left;
        const std::string id = container_of(name);
        if (!id.empty() && name.find("conmon") == std::string::npos)
            into[id] = below;
        else if (depth > 1)
            find_groups(root, below, depth - 1, folders_left, into);
    }
}

// Processes in a group and in those below it, as an init or an engine may have made them.
void find_processes(const std::string& folder, int depth, std::size_t most, std::vector<std::int64_t>& into) {
    constexpr std::size_t names_max = 64;
    std::istringstream lines{read_text(folder + "/cgroup.procs", table_max).value_or("")};
    for (std::int64_t pid = 0; into.size() < most && lines >> pid;) into.push_back(pid);
    if (depth == 0 || into.size() >= most) return;
    for (const std::string& name : list_folder(folder, names_max)) {
        const std::string below = fmt::format("{}/{}", folder, name);
        std::error_code error;
        if (std::filesystem::is_directory(below, error)) find_processes(below, depth - 1, most, into);
    }
}

Metric positive(const std::optional<std::int64_t>& value) {
    return value && *value >= 0 ? Metric{*value} : Metric{};
}

// A line of a file of counters.
Metric line_of(const std::string& file, std::string_view key) {
    const auto text = read_text(file, 65536);
    const auto value = text ? value_of_line(*text, key) : std::nullopt;
    return value ? positive(parse_number(*value)) : Metric{};
}

// As engines show it: without what the kernel keeps of files and nobody has asked for lately.
Metric without(const Metric& used, const Metric& idle) {
    if (!used || !idle) return std::nullopt;
    return std::max<std::int64_t>(*used - *idle, 0);
}

}  // namespace

std::string container_of(const std::string& cgroup) {
    constexpr std::size_t id_size = 64;
    constexpr std::string_view digits = "0123456789abcdef";
    std::string found;
    for (std::size_t at = 0; at < cgroup.size();) {
        const auto begin = cgroup.find_first_of(digits, at);
        if (begin == std::string::npos) break;
        const auto end = std::min(cgroup.find_first_not_of(digits, begin), cgroup.size());
        if (end - begin == id_size) found = cgroup.substr(begin, id_size);
        at = end;
    }
    return found;
}

std::map<std::string, ProcessUse> Containers::processes(const std::vector<std::string>& ids) {
    find(ids);
    std::map<std::string, ProcessUse> uses;
    for (const std::string& id : ids) {
        const auto group = groups_.find(id);
        if (group == groups_.end() || group->second.path.empty()) continue;
        // Some runtimes put the limit on a group below the container's.
        for (const char* below : {"", "/container"}) {
            const std::string at = folder(group->second, "pids") + below;
            const auto now = read_number(at + "/pids.current");
            const auto max = read_number(at + "/pids.max");  // "max": no number.
            if (!now || !max || *max <= 0) continue;
            uses[id] = {*now, *max};
            break;
        }
    }
    return uses;
}

std::map<std::string, InstanceSample> Containers::samples(const std::vector<std::string>& ids) {
    find(ids);
    std::map<std::string, InstanceSample> all;
    for (const std::string& id : ids) {
        const auto group = groups_.find(id);
        if (group == groups_.end() || group->second.path.empty()) continue;
        const InstanceSample sample = sample_of(id, group->second);
        if (sample != InstanceSample{}) all[id] = sample;
    }
    return all;
}

// Looks through the tree once, when there is one that it may find.
void Containers::find(const std::vector<std::string>& ids) {
    const std::set<std::string_view> asked{ids.begin(), ids.end()};
    std::erase_if(groups_, [&](const auto& one) { return !asked.contains(one.first); });
    bool look = false;
    for (const std::string& id : ids) {
        Group& group = groups_[id];
        if (!group.path.empty() && !present(group)) group = {};  // It has ended, or was started again.
        look = look || (group.path.empty() && group.looks < looks_max);
    }
    if (!look) return;
    first_ = exists(cgroups_ + "/pids");
    std::map<std::string, std::string> found;
    int folders_left = folders_max;
    find_groups(first_ ? cgroups_ + "/pids" : cgroups_, "", depth_max, folders_left, found);
    for (const std::string& id : ids) {
        Group& group = groups_[id];
        if (!group.path.empty()) continue;
        if (const auto at = found.find(id); at != found.end())
            group = {.path = at->second};
        else
            ++group.looks;
    }
}

bool Containers::present(const Group& group) const { return exists(folder(group, "pids")); }

std::string Containers::folder(const Group& group, const std::string& controller) const {
    return first_ ? fmt::format("{}/{}{}", cgroups_, controller, group.path) : cgroups_ + group.path;
}

InstanceSample Containers::sample_of(const std::string& id, Group& group) {
    InstanceSample sample;
    add_group_figures(group, sample);
    add_traffic(id, group, sample);
    return sample;
}

void Containers::add_group_figures(const Group& group, InstanceSample& sample) const {
    const DiskName name = [this](const std::string& number) { return disk_name(number); };
    if (first_) {
        if (const auto ns = positive(read_number(folder(group, "cpuacct") + "/cpuacct.usage")))
            sample.cpu_ms = *ns / 1'000'000;
        const std::string memory = folder(group, "memory");
        sample.memory_bytes = without(positive(read_number(memory + "/memory.usage_in_bytes")),
                                      line_of(memory + "/memory.stat", "total_inactive_file"));
        if (const auto io =
                read_text(folder(group, "blkio") + "/blkio.throttle.io_service_bytes_recursive", table_max))
            sample.disk_read_bytes = group_disk_reads(*io, name);
        return;
    }
    const std::string at = folder(group, "");
    if (const auto us = line_of(at + "/cpu.stat", "usage_usec")) sample.cpu_ms = *us / 1000;
    sample.memory_bytes =
        without(positive(read_number(at + "/memory.current")), line_of(at + "/memory.stat", "inactive_file"));
    if (const auto io = read_text(at + "/io.stat", table_max)) {
        const DiskTraffic disks = group_disks(*io, name);
        sample.disk_read_bytes = disks.read_bytes;
        sample.disk_written_bytes = disks.written_bytes;
    }
}

void Containers::add_traffic(const std::string& id, Group& group, InstanceSample& sample) const {
    if (group.main == 0) {
        if (group.main_looks >= looks_max) return;
        group.main = main_process(group);
        if (group.main == 0) {
            ++group.main_looks;
            return;
        }
    }
    const std::string process = fmt::format("{}/{}", roots_.proc, group.main);
    const auto table = read_text(process + "/net/dev", table_max);
    const std::string network = link_name(process + "/ns/net");
    // Asked afterwards: its number may be another process's by now, with another's traffic.
    if (!table || container_of(read_text(process + "/cgroup", 65536).value_or("")) != id) {
        group.main = 0;
        group.main_looks = 0;
        return;
    }
    // The host's own network: what goes through it is not the container's alone.
    if (!network.empty() && network == link_name(roots_.proc + "/self/ns/net")) return;
    const NetworkTraffic traffic = network_traffic(*table);
    sample.network_sent_bytes = traffic.sent_bytes;
    sample.network_received_bytes = traffic.received_bytes;
}

// The first of its process namespace: it lasts as long as the container, and its network is the container's.
std::int64_t Containers::main_process(const Group& group) const {
    constexpr int below_max = 3;
    constexpr std::size_t processes_max = 256;
    std::vector<std::int64_t> pids;
    find_processes(folder(group, "pids"), below_max, processes_max, pids);
    std::pair<std::size_t, std::int64_t> outermost{};  // A container in it has such a process, too.
    for (const std::int64_t pid : pids) {
        const auto status = read_text(fmt::format("{}/{}/status", roots_.proc, pid), 65536);
        const auto numbers = status ? value_of_line(*status, "NSpid") : std::nullopt;
        if (!numbers) continue;
        // "4711 1": on the host, then in each namespace below. One number: it is in the host's.
        std::istringstream words{*numbers};
        std::size_t count = 0;
        std::string last;
        while (words >> last) ++count;
        if (count > 1 && last == "1" && (outermost.first == 0 || count < outermost.first))
            outermost = {count, pid};
    }
    return outermost.second;
}

std::string Containers::disk_name(const std::string& number) const {
    return link_name(fmt::format("{}/dev/block/{}", roots_.sys, number));
}

}  // namespace hostler
