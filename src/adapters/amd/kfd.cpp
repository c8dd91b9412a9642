#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "adapters/amd/files.h"

namespace hostler::amd {

namespace {

constexpr std::size_t processes_max = 1024;
constexpr std::int64_t link_xgmi = 11;  // CRAT io-link type.
constexpr std::int64_t lanes_per_simd = 16;

std::int64_t property(const std::string& text, std::string_view key) {
    return parse_number(value_of_line(text, key).value_or("")).value_or(0);
}

// 90402: gfx942; 90010: gfx90a, the last part in hexadecimal.
std::string gfx_name(std::int64_t version) {
    if (version <= 0) return {};
    return fmt::format("gfx{}{}{:x}", version / 10000, version / 100 % 100, version % 100);
}

}  // namespace

std::vector<KfdNode> read_kfd(const KernelRoots& roots) {
    std::vector<KfdNode> nodes;
    const std::string topology = roots.sys + "/class/kfd/kfd/topology/nodes/";
    for (const auto& name : list_folder(topology, 1024)) {
        const auto properties = read_text(topology + name + "/properties", 65536).value_or("");
        const auto simds = property(properties, "simd_count");
        if (simds == 0) continue;  // A CPU.
        KfdNode node;
        node.node = static_cast<int>(parse_number(name).value_or(0));
        node.gpu_id = static_cast<int>(read_number(topology + name + "/gpu_id").value_or(0));
        // Bus, device, function as PCI packs them.
        const auto location = property(properties, "location_id");
        node.pci_address = fmt::format("{:04x}:{:02x}:{:02x}.{}", property(properties, "domain"),
                                       location >> 8 & 0xff, location >> 3 & 0x1f, location & 7);
        node.architecture = gfx_name(property(properties, "gfx_target_version"));
        node.cores = static_cast<int>(simds * lanes_per_simd);
        for (const auto& link : list_folder(topology + name + "/io_links", 256)) {
            const auto text =
                read_text(fmt::format("{}{}/io_links/{}/properties", topology, name, link), 65536)
                    .value_or("");
            if (property(text, "type") == link_xgmi)
                node.xgmi_to.push_back(static_cast<int>(property(text, "node_to")));
        }
        nodes.push_back(std::move(node));
    }
    return nodes;
}

std::optional<std::vector<GpuProcess>> read_kfd_processes(const KernelRoots& roots, int gpu_id) {
    const std::string processes = roots.sys + "/class/kfd/kfd/proc/";
    if (gpu_id == 0 || real_path(processes).empty()) return std::nullopt;
    std::vector<GpuProcess> seen;
    for (const auto& pid : list_folder(processes, processes_max)) {
        const auto bytes = read_number(fmt::format("{}{}/vram_{}", processes, pid, gpu_id));
        const auto number = parse_number(pid);
        if (bytes && number && *bytes > 0) seen.push_back({.pid = *number, .memory_bytes = bytes});
    }
    std::ranges::sort(seen, {}, &GpuProcess::pid);
    return seen;
}

void add_processes(GpuSample& sample, const std::vector<DrmUse>& uses, const std::string& pci_address) {
    std::map<std::int64_t, GpuProcess> all;
    std::set<std::int64_t> computing;
    for (const GpuProcess& process : sample.processes.value_or(std::vector<GpuProcess>{})) {
        all[process.pid] = process;
        computing.insert(process.pid);
    }
    for (const DrmUse& use : uses) {
        if (use.pci_address != pci_address) continue;
        GpuProcess& process = all[use.pid];
        process.pid = use.pid;
        process.memory_bytes = std::max(process.memory_bytes, use.memory_bytes);  // Both tell of the same.
        if (!computing.contains(use.pid) || use.utilisation_percent.value_or(0) > 0)
            process.utilisation_percent = use.utilisation_percent;
    }
    if (all.empty()) return;
    sample.processes.emplace();
    for (const auto& [pid, process] : all) sample.processes->push_back(process);
}

}  // namespace hostler::amd
