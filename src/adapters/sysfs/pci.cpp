#include "adapters/sysfs/pci.h"

#include <fmt/format.h>

#include <algorithm>

#include "domain/inventory/merge.h"
#include "domain/inventory/model.h"

namespace hostler {

namespace {

// PCI classes: VGA, 3D and other display controllers, processing accelerators.
bool is_gpu_class(std::int64_t code) {
    const auto kind = code >> 8;
    return kind == 0x0300 || kind == 0x0302 || kind == 0x0380 || kind == 0x1200;
}

// Display chips that compute nothing: ASPEED, Matrox, Cirrus, Silicon Motion, XGI on servers; QEMU, VMware,
// VirtualBox, Hyper-V, virtio in virtual machines. Source: pci.ids.
bool is_screen_only(std::int64_t vendor) {
    static constexpr std::int64_t vendors[] = {0x1a03, 0x102b, 0x1013, 0x126f, 0x18ca, 0x1234,
                                               0x1b36, 0x15ad, 0x80ee, 0x1414, 0x1af4};
    return std::ranges::find(vendors, vendor) != std::end(vendors);
}

GpuVendor vendor_of(std::int64_t id) {
    switch (id) {
        case 0x10de: return GpuVendor::nvidia;
        case 0x1002: return GpuVendor::amd;
        case 0x8086:
        case 0x1da3: return GpuVendor::intel;  // 1da3: Habana.
        default: return GpuVendor::other;
    }
}

struct Device {
    GpuFacts facts;
    std::string place;  // In the device tree.
};

std::optional<Device> read_device(const std::string& folder, const std::string& address) {
    const auto code = read_number(folder + "/class");
    const auto vendor = read_number(folder + "/vendor");
    const auto product = read_number(folder + "/device");
    if (!code || !vendor || !product || !is_gpu_class(*code) || is_screen_only(*vendor)) return std::nullopt;
    if (!link_name(folder + "/physfn").empty()) return std::nullopt;
    Device device;
    GpuFacts& facts = device.facts;
    facts.pci_address = normal_pci_address(address);
    if (facts.pci_address.empty()) return std::nullopt;
    facts.uuid = uuid_of_pci(facts.pci_address);
    facts.vendor = vendor_of(*vendor);
    facts.pci_id = fmt::format("{:04x}:{:04x}", *vendor, *product);
    facts.model = gpu_model_name("", facts.pci_id, 0);
    facts.numa_node = static_cast<int>(read_number(folder + "/numa_node").value_or(-1));
    facts.pcie_generation = pcie_generation(read_text(folder + "/current_link_speed").value_or(""));
    facts.pcie_generation_max = pcie_generation(read_text(folder + "/max_link_speed").value_or(""));
    facts.pcie_width = static_cast<int>(read_number(folder + "/current_link_width").value_or(0));
    facts.pcie_width_max = static_cast<int>(read_number(folder + "/max_link_width").value_or(0));
    facts.driver = link_name(folder + "/driver");
    device.place = real_path(folder);
    return device;
}

GpuInventory scan(const PciSettings& settings) {
    GpuInventory seen;
    seen.source = "pci";
    const std::string bus = settings.roots.sys + "/bus/pci/devices/";
    std::vector<Device> devices;
    for (const auto& address : list_folder(bus, 65536)) {
        auto device = read_device(bus + address, address);
        if (!device) continue;
        if (std::ssize(devices) >= settings.gpus_max) {
            seen.problems.push_back(
                fmt::format("there are more GPUs than the limit of {}", settings.gpus_max));
            break;
        }
        devices.push_back(std::move(*device));
    }
    for (std::size_t j = 0; j < devices.size(); ++j) {
        for (std::size_t i = 0; i < j; ++i) {
            const auto& [a, place_a] = devices[i];
            const auto& [b, place_b] = devices[j];
            seen.topology.push_back({std::min(a.uuid, b.uuid), std::max(a.uuid, b.uuid),
                                     pcie_link(place_a, place_b, a.numa_node, b.numa_node), 0});
        }
    }
    for (auto& device : devices) seen.gpus.push_back(std::move(device.facts));
    return seen;
}

std::vector<GpuSample> sample_links(const PciSettings& settings, const std::vector<GpuFacts>& gpus) {
    std::vector<GpuSample> samples;
    for (const auto& gpu : gpus) {
        const std::string folder = settings.roots.sys + "/bus/pci/devices/" + gpu.pci_address;
        GpuSample& sample = samples.emplace_back();
        if (!read_text(folder + "/class")) {
            sample.condition = GpuCondition::gone;
            sample.reason = "it has left the PCI bus";
            continue;
        }
        if (const auto speed = read_text(folder + "/current_link_speed")) {
            if (const int generation = pcie_generation(*speed)) sample.pcie_generation = generation;
        }
        sample.pcie_width = read_number(folder + "/current_link_width");
    }
    return samples;
}

std::vector<std::string_view> parts_of(std::string_view place) {
    std::vector<std::string_view> parts;
    while (!place.empty()) {
        const auto end = std::min(place.find('/'), place.size());
        if (end > 0) parts.push_back(place.substr(0, end));
        place.remove_prefix(std::min(end + 1, place.size()));
    }
    return parts;
}

}  // namespace

GpuLinkKind pcie_link(std::string_view a, std::string_view b, int numa_a, int numa_b) {
    const auto parts_a = parts_of(a);
    const auto parts_b = parts_of(b);
    const auto split = std::ranges::mismatch(parts_a, parts_b);
    const auto common = split.in1 - parts_a.begin();
    const auto bridge =
        std::ranges::find_if(parts_a, [](std::string_view part) { return part.starts_with("pci"); });
    if (bridge == parts_a.end() || bridge - parts_a.begin() >= common) {
        return numa_a == numa_b ? GpuLinkKind::node : GpuLinkKind::sys;
    }
    if (bridge - parts_a.begin() + 1 == common) return GpuLinkKind::phb;
    // What remains below the last port in common: through one switch, its downstream port and the device.
    const bool one_switch = parts_a.end() - split.in1 <= 2 && parts_b.end() - split.in2 <= 2;
    return one_switch ? GpuLinkKind::pix : GpuLinkKind::pxb;
}

PciBus::PciBus(Loop& loop, Timers& timers, PciSettings settings)
    : timers_(timers), settings_(std::move(settings)), lane_(loop, "pci") {}

Task<GpuInventory> PciBus::discover() {
    GpuInventory seen = CO_TRY(co_await ask<GpuInventory>(timers_, settings_.timeout, lane_,
                                                          [settings = settings_] { return scan(settings); }));
    found_ = seen.gpus;
    co_return seen;
}

Task<std::vector<GpuSample>> PciBus::sample() {
    auto answer = co_await ask<std::vector<GpuSample>>(
        timers_, settings_.timeout, lane_,
        [settings = settings_, found = found_] { return sample_links(settings, found); });
    if (!answer && answer.error().code == Code::cancelled) co_return std::unexpected(answer.error());
    if (!answer)
        answer = std::vector<GpuSample>(found_.size(), {.condition = GpuCondition::unresponsive,
                                                        .reason = "the PCI bus does not answer"});
    for (std::size_t i = 0; i < found_.size(); ++i) (*answer)[i].uuid = found_[i].uuid;
    co_return std::move(*answer);
}

}  // namespace hostler
