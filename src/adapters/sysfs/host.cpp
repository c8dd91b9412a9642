#include "adapters/sysfs/host.h"

#include <sys/statvfs.h>
#include <sys/utsname.h>

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "adapters/sysfs/addresses.h"
#include "adapters/sysfs/tables.h"

namespace hostler {

namespace {

constexpr std::size_t text_max = 4 << 20;  // /proc/cpuinfo of a machine with a thousand CPUs.

std::int64_t kib_line(std::string_view meminfo, std::string_view key) {
    return parse_number(value_of_line(meminfo, key).value_or("")).value_or(0) * 1024;
}

void read_cpus(const KernelRoots& roots, HostFacts& facts) {
    const auto text = read_text(roots.proc + "/cpuinfo", text_max).value_or("");
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);) facts.cpus += line.starts_with("processor") ? 1 : 0;
    // What it is called on x86, and on some ARM boards.
    for (const char* key : {"model name", "Model", "Hardware"}) {
        if (facts.cpu_model.empty()) facts.cpu_model = value_of_line(text, key).value_or("");
    }
    const auto flags = " " + value_of_line(text, "flags").value_or("") + " ";
    facts.virtual_machine = flags.find(" hypervisor ") != std::string::npos ||
                            read_text(roots.sys + "/hypervisor/type").has_value();
}

// What the maker wrote into the firmware; empty where it wrote nothing that tells one machine from another.
// Both files are readable for root alone.
std::string identity(const std::string& file) {
    constexpr std::size_t least = 4, most = 128;
    constexpr std::string_view nothing[] = {"default string",
                                            "not specified",
                                            "not applicable",
                                            "not available",
                                            "system serial number",
                                            "to be filled by o.e.m.",
                                            "to be filled by oem",
                                            "none",
                                            "unknown",
                                            "03000200-0400-0500-0006-000700080009"};
    std::string text = read_text(file).value_or("");
    text.erase(0, std::min(text.find_first_not_of(' '), text.size()));
    std::string lower = text;
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    const bool one_letter = lower.find_first_not_of("0-") == lower.npos ||
                            lower.find_first_not_of("f-") == lower.npos ||
                            lower.find_first_not_of("x.") == lower.npos;
    const bool tells = text.size() >= least && text.size() <= most && !one_letter &&
                       std::ranges::find(nothing, lower) == std::end(nothing);
    return tells ? text : std::string{};
}

void read_disk(const std::string& path, std::int64_t& total, std::int64_t& free) {
    struct statvfs disk{};
    if (statvfs(path.c_str(), &disk) != 0) return;
    total = static_cast<std::int64_t>(disk.f_blocks) * static_cast<std::int64_t>(disk.f_frsize);
    free = static_cast<std::int64_t>(disk.f_bavail) * static_cast<std::int64_t>(disk.f_frsize);
}

HostFacts read_facts(const LinuxHostSettings& settings) {
    const KernelRoots& roots = settings.roots;
    HostFacts facts;
    const std::string kernel = roots.proc + "/sys/kernel/";
    facts.hostname = read_text(kernel + "hostname").value_or("");
    facts.kernel = read_text(kernel + "osrelease").value_or("");
    facts.boot_id = read_text(kernel + "random/boot_id").value_or("");
    facts.os =
        value_of_line(read_text(roots.etc + "/os-release", 65536).value_or(""), "PRETTY_NAME").value_or("");
    utsname machine{};
    if (uname(&machine) == 0) facts.architecture = machine.machine;
    read_cpus(roots, facts);
    facts.memory_bytes = kib_line(read_text(roots.proc + "/meminfo", 65536).value_or(""), "MemTotal");
    facts.serial = identity(roots.sys + "/class/dmi/id/product_serial");
    facts.system_uuid = identity(roots.sys + "/class/dmi/id/product_uuid");
    facts.addresses = own_addresses(roots, interface_addresses());
    read_disk(settings.disk, facts.disk_bytes, facts.disk_free_bytes);
    if (facts.disk_bytes == 0)
        facts.problems.push_back("cannot tell the size of the disk at " + settings.disk);
    return facts;
}

void read_network(const std::string& text, HostSample& sample) {
    const NetworkTraffic traffic = network_traffic(text);
    sample.network_received_bytes = traffic.received_bytes;
    sample.network_sent_bytes = traffic.sent_bytes;
    sample.network_errors = traffic.errors;
}

// Columns of /proc/diskstats behind the name: reads, merged, sectors, ms, writes, merged, sectors, ms, under
// way, ms busy. A sector is 512 bytes there, whatever the disk's own are.
void read_disks(const std::string& text, HostSample& sample) {
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);) {
        std::istringstream columns{line};
        std::int64_t major = 0, minor = 0;
        std::string name;
        if (!(columns >> major >> minor >> name) || !is_disk(name)) continue;
        std::vector<std::int64_t> values;
        for (std::int64_t value = 0; values.size() < 10 && columns >> value;) values.push_back(value);
        if (values.size() < 10) continue;
        sample.disk_read_bytes = sample.disk_read_bytes.value_or(0) + values[2] * 512;
        sample.disk_written_bytes = sample.disk_written_bytes.value_or(0) + values[6] * 512;
        sample.disk_busy_ms = sample.disk_busy_ms.value_or(0) + values[9];
    }
}

// /sys/class/infiniband/DEVICE/ports/N: the port's data counters are in words of four bytes.
void read_rdma(const std::string& sys, HostSample& sample) {
    constexpr std::size_t devices_max = 64, ports_max = 16;
    const auto add = [](Metric& into, const std::string& file, std::int64_t times) {
        if (const auto value = read_number(file)) into = into.value_or(0) + *value * times;
    };
    const std::string root = sys + "/class/infiniband/";
    for (const auto& device : list_folder(root, devices_max))
        for (const auto& port : list_folder(root + device + "/ports", ports_max)) {
            const std::string folder = root + device + "/ports/" + port + "/counters/";
            add(sample.rdma_sent_bytes, folder + "port_xmit_data", 4);
            add(sample.rdma_received_bytes, folder + "port_rcv_data", 4);
            for (const char* name : {"symbol_error", "link_downed", "port_rcv_errors", "port_xmit_discards",
                                     "local_link_integrity_errors"})
                add(sample.rdma_errors, folder + name, 1);
        }
}

void read_memory(const std::string& meminfo, HostSample& sample) {
    if (meminfo.empty()) return;
    sample.memory_total_bytes = kib_line(meminfo, "MemTotal");
    sample.memory_available_bytes = kib_line(meminfo, "MemAvailable");
    sample.swap_used_bytes = kib_line(meminfo, "SwapTotal") - kib_line(meminfo, "SwapFree");
}

// "cpu user nice system idle iowait irq softirq steal …" of /proc/stat: idle and iowait are not busy.
bool read_ticks(const std::string& stat, std::int64_t& busy, std::int64_t& total) {
    std::istringstream columns{value_of_line(stat, "cpu").value_or("")};
    std::vector<std::int64_t> values;
    for (std::int64_t value = 0; values.size() < 8 && columns >> value;) values.push_back(value);
    if (values.size() < 5) return false;
    total = 0;
    for (const auto value : values) total += value;
    busy = total - values[3] - values[4];
    return true;
}

}  // namespace

LinuxHost::LinuxHost(Loop& loop, Timers& timers, LinuxHostSettings settings)
    : timers_(timers),
      settings_(std::move(settings)),
      lane_(loop, "host"),
      containers_(std::make_shared<Containers>(settings_.machine, settings_.cgroups)) {}

Task<HostFacts> LinuxHost::facts() {
    co_return co_await ask<HostFacts>(timers_, settings_.timeout, lane_,
                                      [settings = settings_] { return read_facts(settings); });
}

Task<HostSample> LinuxHost::sample() {
    co_return co_await ask<HostSample>(
        timers_, settings_.timeout, lane_, [settings = settings_, before = before_] {
            const std::string& proc = settings.roots.proc;
            HostSample sample;
            Ticks now;
            if (read_ticks(read_text(proc + "/stat", text_max).value_or(""), now.busy, now.total)) {
                const auto passed = now.total - before->total;
                if (before->total > 0 && passed > 0) {
                    sample.cpu_busy_percent =
                        std::clamp<std::int64_t>((now.busy - before->busy) * 100 / passed, 0, 100);
                }
                *before = now;
            }
            if (const auto load = read_text(proc + "/loadavg")) {
                sample.load_milli = static_cast<std::int64_t>(std::strtod(load->c_str(), nullptr) * 1000);
            }
            read_memory(read_text(proc + "/meminfo", 65536).value_or(""), sample);
            read_network(read_text(proc + "/net/dev", 1 << 20).value_or(""), sample);
            read_disks(read_text(proc + "/diskstats", 1 << 20).value_or(""), sample);
            read_rdma(settings.roots.sys, sample);
            sample.uptime_seconds = read_number(proc + "/uptime");
            std::int64_t total = 0;
            std::int64_t free = 0;
            read_disk(settings.disk, total, free);
            if (total > 0) {
                sample.disk_total_bytes = total;
                sample.disk_free_bytes = free;
            }
            return Result<HostSample>{sample};
        });
}

Task<std::map<std::int64_t, std::string>> LinuxHost::containers_of(std::vector<std::int64_t> pids) {
    using Containers = std::map<std::int64_t, std::string>;
    co_return co_await ask<Containers>(
        timers_, settings_.timeout, lane_, [proc = settings_.roots.proc, pids = std::move(pids)] {
            Containers found;
            for (const std::int64_t pid : pids)
                if (std::string id =
                        container_of(read_text(fmt::format("{}/{}/cgroup", proc, pid), 65536).value_or(""));
                    !id.empty())
                    found[pid] = std::move(id);
            return Result<Containers>{std::move(found)};
        });
}

Task<std::map<std::string, ProcessUse>> LinuxHost::processes_of(std::vector<std::string> containers) {
    using Uses = std::map<std::string, ProcessUse>;
    co_return co_await ask<Uses>(timers_, settings_.timeout, lane_,
                                 [all = containers_, containers = std::move(containers)] {
                                     return Result<Uses>{all->processes(containers)};
                                 });
}

Task<std::map<std::string, InstanceSample>> LinuxHost::samples_of(std::vector<std::string> containers) {
    using Samples = std::map<std::string, InstanceSample>;
    co_return co_await ask<Samples>(timers_, settings_.timeout, lane_,
                                    [all = containers_, containers = std::move(containers)] {
                                        return Result<Samples>{all->samples(containers)};
                                    });
}

}  // namespace hostler
