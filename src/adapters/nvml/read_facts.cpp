#include <fmt/format.h>

#include "adapters/nvml/read.h"
#include "domain/inventory/merge.h"
#include "domain/inventory/model.h"

namespace hostler::nvml {

namespace {

template <unsigned Size>
std::string text(Reader& reader, Status (*function)(Device, char*, unsigned)) {
    char buffer[Size + 1] = {};
    if (!reader.ask(function, static_cast<char*>(buffer), Size)) return {};
    return buffer;
}

// nvmlDeviceArchitecture_t.
std::string architecture_name(Metric number) {
    static constexpr std::string_view names[] = {"",          "",       "kepler", "maxwell", "pascal",
                                                 "volta",     "turing", "ampere", "ada",     "hopper",
                                                 "blackwell", "",       "",       "rubin"};
    return number && *number >= 0 && *number < std::ssize(names) ? std::string{names[*number]}
                                                                 : std::string{};
}

std::string address_of(const PciInfo& pci) {
    const std::string_view id{pci.bus_id, strnlen(pci.bus_id, sizeof pci.bus_id)};
    return normal_pci_address(id);
}

void read_pci(Reader& reader, GpuFacts& facts) {
    PciInfo pci{};
    if (reader.ask(reader.call.pci, &pci)) {
        facts.pci_address = address_of(pci);
        facts.pci_id = fmt::format("{:04x}:{:04x}", pci.pci_device_id & 0xffff, pci.pci_device_id >> 16);
    }
    const auto& call = reader.call;
    facts.pcie_generation = static_cast<int>(reader.number(call.pcie_generation).value_or(0));
    facts.pcie_generation_max = static_cast<int>(reader.number(call.pcie_generation_max).value_or(0));
    facts.pcie_width = static_cast<int>(reader.number(call.pcie_width).value_or(0));
    facts.pcie_width_max = static_cast<int>(reader.number(call.pcie_width_max).value_or(0));
}

void read_nvlinks(Reader& reader, GpuFacts& facts) {
    for (unsigned link = 0; link < links_max; ++link) {
        const Metric active = reader.number(reader.call.nvlink_state, link);
        if (!active) break;  // Past the last one.
        NvLink seen{.link = static_cast<int>(link), .active = *active != 0};
        PciInfo remote{};
        if (seen.active && reader.ask(reader.call.nvlink_remote_pci, link, &remote)) {
            seen.remote_pci = address_of(remote);
        }
        if (seen.active) {
            seen.remote_switch = reader.number(reader.call.nvlink_remote_type, link) == Metric{link_switch};
        }
        facts.nvlinks.push_back(std::move(seen));
    }
}

void read_limits(Reader& reader, GpuFacts& facts) {
    facts.power_limit_mw = reader.number(reader.call.power_limit).value_or(0);
    unsigned low = 0;
    unsigned high = 0;
    if (reader.ask(reader.call.power_limits, &low, &high)) {
        facts.power_limit_min_mw = low;
        facts.power_limit_max_mw = high;
    }
    facts.clock_graphics_max_mhz =
        static_cast<int>(reader.number(reader.call.clock_max, clock_graphics).value_or(0));
    facts.clock_memory_max_mhz =
        static_cast<int>(reader.number(reader.call.clock_max, clock_memory).value_or(0));
}

void read_identity(Reader& reader, GpuFacts& facts) {
    const auto& call = reader.call;
    facts.vendor = GpuVendor::nvidia;
    facts.uuid = text<uuid_size>(reader, call.uuid);
    facts.product = text<name_size>(reader, call.name);
    facts.serial = text<serial_size>(reader, call.serial);
    facts.vbios = text<vbios_size>(reader, call.vbios);
    facts.minor = static_cast<int>(reader.number(call.minor_number).value_or(-1));
    facts.core_count = static_cast<int>(reader.number(call.cores).value_or(0));
    facts.numa_node = static_cast<int>(reader.number(call.numa_node).value_or(-1));
    facts.architecture = architecture_name(reader.number(call.architecture));
    int major = 0;
    int minor = 0;
    if (reader.ask(call.compute_capability, &major, &minor)) {
        facts.compute_capability = fmt::format("{}.{}", major, minor);
    }
    Memory memory{};
    MemoryV2 memory_v2{.version = version_word<MemoryV2>(2)};
    if (reader.ask(call.memory_v2, &memory_v2)) {
        facts.memory_bytes = static_cast<std::int64_t>(memory_v2.total);
    } else if (reader.ask(call.memory, &memory)) {
        facts.memory_bytes = static_cast<std::int64_t>(memory.total);
    }
    unsigned mode = 0;
    unsigned pending = 0;
    if (reader.ask(call.mig_mode, &mode, &pending))
        facts.mig = mode == 1 ? MigMode::enabled : MigMode::disabled;
}

// NVLinks from one GPU to another. Over switches every GPU reaches every other with all its links.
int nvlinks_between(const Peer& from, const GpuFacts& facts, const Peer& to) {
    int direct = 0;
    for (const NvLink& link : facts.nvlinks) {
        direct += link.active && !link.remote_switch && link.remote_pci == to.pci_address;
    }
    return direct > 0 ? direct : std::min(from.switch_links, to.switch_links);
}

std::optional<GpuLinkKind> kind_of(TopologyLevel level) {
    switch (level) {
        case topology_internal:
        case topology_single: return GpuLinkKind::pix;
        case topology_multiple: return GpuLinkKind::pxb;
        case topology_hostbridge: return GpuLinkKind::phb;
        case topology_node: return GpuLinkKind::node;
        case topology_system: return GpuLinkKind::sys;
    }
    return std::nullopt;
}

}  // namespace

Result<Found> read_facts(const Session& session, unsigned index) {
    const auto& call = session.call;
    if (!call.handle_by_index) return fail(Code::unavailable, "this NVML cannot enumerate GPUs");
    Found found;
    if (const Status status = call.handle_by_index(index, &found.device); status != success) {
        const Code code =
            status == invalid_argument || status == not_found ? Code::not_found : Code::unavailable;
        return fail(code, session.library->words(status), status == gpu_is_lost ? "lost" : "");
    }
    Reader reader{session, found.device};
    GpuFacts& facts = found.facts;
    facts.index = static_cast<int>(index);
    read_identity(reader, facts);
    read_pci(reader, facts);
    if (reader.lost()) return fail(Code::unavailable, session.library->words(gpu_is_lost), "lost");
    if (facts.uuid.empty() && facts.pci_address.empty()) {
        return fail(Code::unavailable, "it reports neither its UUID nor its PCI address");
    }
    read_limits(reader, facts);
    read_nvlinks(reader, facts);
    read_slices(reader, session, found);
    found.constants.temperature_shutdown_celsius =
        reader.number(call.temperature_threshold, threshold_shutdown);
    found.constants.temperature_slowdown_celsius =
        reader.number(call.temperature_threshold, threshold_slowdown);
    if (facts.uuid.empty()) facts.uuid = uuid_of_pci(facts.pci_address);
    facts.model = gpu_model_name(facts.product, facts.pci_id, facts.memory_bytes);
    facts.driver = "nvidia";
    // Programs see the slices of one that is cut, or nothing: it is not the GPU that would be lent.
    if (facts.mig != MigMode::enabled) facts.cdi_name = "nvidia.com/gpu=" + facts.uuid;
    if (facts.minor >= 0) facts.device_nodes = {fmt::format("/dev/nvidia{}", facts.minor)};
    return found;
}

std::vector<GpuLink> read_links(const Session& session, const Peer& from, const GpuFacts& facts,
                                const std::vector<Peer>& to) {
    std::vector<GpuLink> links;
    Reader reader{session, from.device};
    for (const Peer& peer : to) {
        GpuLink link{.a = std::min(from.uuid, peer.uuid), .b = std::max(from.uuid, peer.uuid)};
        TopologyLevel level{};
        std::optional<GpuLinkKind> kind;
        if (reader.ask(session.call.common_ancestor, peer.device, &level)) kind = kind_of(level);
        const int width = nvlinks_between(from, facts, peer);
        // A link that is up does not carry peer traffic before the fabric is ready: the driver says so here.
        const Metric peer_to_peer = reader.number(session.call.p2p_status, peer.device, p2p_nvlink);
        if (width > 0 && peer_to_peer.value_or(0) == 0) {
            kind = GpuLinkKind::nvlink;
            link.width = width;
        }
        if (!kind) continue;
        link.kind = *kind;
        links.push_back(std::move(link));
    }
    return links;
}

}  // namespace hostler::nvml
