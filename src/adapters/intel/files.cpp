#include "adapters/intel/files.h"

#include <fmt/format.h>

#include <algorithm>

#include "domain/inventory/merge.h"
#include "domain/inventory/model.h"

namespace hostler::intel {

namespace {

bool is_card(std::string_view name) {
    return name.starts_with("card") && name.size() > 4 &&
           name.find_first_not_of("0123456789", 4) == name.npos;
}

Metric divided(Metric value, std::int64_t by) { return value ? Metric{*value / by} : value; }

Metric first_of(const std::string& folder, std::initializer_list<const char*> names) {
    for (const char* name : names) {
        if (const auto value = read_number(folder + name)) return value;
    }
    return std::nullopt;
}

std::string hwmon_of(const std::string& folder) {
    const auto names = list_folder(folder + "/device/hwmon", 16);
    return names.empty() ? std::string{} : folder + "/device/hwmon/" + names.front();
}

GpuFacts read_facts(const std::string& card, int number) {
    const std::string folder = card + "/device";
    GpuFacts facts;
    facts.vendor = GpuVendor::intel;
    facts.minor = number;
    const std::string place = real_path(folder);
    facts.pci_address = normal_pci_address(place.substr(place.rfind('/') + 1));
    facts.uuid = uuid_of_pci(facts.pci_address);
    facts.pci_id = fmt::format("8086:{:04x}", read_number(folder + "/device").value_or(0));
    facts.model = gpu_model_name("", facts.pci_id, 0);
    facts.driver = link_name(folder + "/driver");
    facts.architecture = facts.driver;
    if (const auto* known = recognise_gpu("", facts.pci_id, 0)) {
        facts.memory_bytes = std::int64_t{known->memory_gib} << 30;
        facts.architecture = known->architecture;
    }
    facts.numa_node = static_cast<int>(read_number(folder + "/numa_node").value_or(-1));
    facts.pcie_generation = pcie_generation(read_text(folder + "/current_link_speed").value_or(""));
    facts.pcie_generation_max = pcie_generation(read_text(folder + "/max_link_speed").value_or(""));
    facts.pcie_width = static_cast<int>(read_number(folder + "/current_link_width").value_or(0));
    facts.pcie_width_max = static_cast<int>(read_number(folder + "/max_link_width").value_or(0));
    facts.clock_graphics_max_mhz = static_cast<int>(
        first_of(card, {"/device/tile0/gt0/freq0/max_freq", "/gt_max_freq_mhz"}).value_or(0));
    const auto hwmon = hwmon_of(card);
    facts.power_limit_mw = divided(first_of(hwmon, {"/power1_max", "/power2_max"}), 1000).value_or(0);
    facts.power_limit_max_mw =
        divided(first_of(hwmon, {"/power1_rated_max", "/power2_rated_max"}), 1000).value_or(0);
    facts.device_nodes = {fmt::format("/dev/dri/card{}", number)};
    for (const auto& name : list_folder(folder + "/drm", 64)) {
        if (name.starts_with("renderD")) facts.device_nodes.push_back("/dev/dri/" + name);
    }
    facts.cdi_name = fmt::format("intel.com/gpu=card{}", number);
    return facts;
}

// xe says "reason_thermal", i915 "throttle_reason_thermal".
void read_throttling(const std::string& card, GpuSample& sample) {
    struct Reason {
        const char* name;
        ThrottleReason bit;
    };
    static constexpr Reason reasons[] = {{"pl1", throttle_power_cap},
                                         {"pl2", throttle_power_cap},
                                         {"pl4", throttle_power_cap},
                                         {"thermal", throttle_thermal_software},
                                         {"prochot", throttle_thermal_hardware},
                                         {"ratl", throttle_thermal_hardware},
                                         {"vr_thermalert", throttle_thermal_hardware}};
    for (const auto& [name, bit] : reasons) {
        auto on = read_number(fmt::format("{}/device/tile0/gt0/freq0/throttle/reason_{}", card, name));
        if (!on) on = read_number(fmt::format("{}/gt/gt0/throttle_reason_{}", card, name));
        if (on) sample.throttle_reasons = sample.throttle_reasons.value_or(0) | (*on != 0 ? bit : 0);
    }
}

}  // namespace

std::vector<Card> find_cards(const KernelRoots& roots) {
    std::vector<Card> cards;
    const std::string drm = roots.sys + "/class/drm/";
    for (const auto& name : list_folder(drm)) {
        if (!is_card(name) || read_number(drm + name + "/device/vendor") != 0x8086) continue;
        const int number = static_cast<int>(parse_number(name.substr(4)).value_or(0));
        cards.push_back({drm + name, read_facts(drm + name, number)});
    }
    std::ranges::sort(cards, {}, [](const Card& card) { return card.facts.pci_address; });
    for (std::size_t i = 0; i < cards.size(); ++i) cards[i].facts.index = static_cast<int>(i);
    return cards;
}

GpuSample read_sample(const std::string& card) {
    GpuSample sample;
    const std::string folder = card + "/device";
    if (!read_text(folder + "/vendor")) {
        sample.condition = GpuCondition::gone;
        sample.reason = "its files have disappeared";
        return sample;
    }
    sample.clock_graphics_mhz =
        first_of(card, {"/device/tile0/gt0/freq0/act_freq", "/device/tile0/gt0/freq0/cur_freq",
                        "/gt_act_freq_mhz", "/gt_cur_freq_mhz"});
    if (const int generation = pcie_generation(read_text(folder + "/current_link_speed").value_or(""))) {
        sample.pcie_generation = generation;
    }
    sample.pcie_width = read_number(folder + "/current_link_width");
    if (const auto hwmon = hwmon_of(card); !hwmon.empty()) {
        // xe: 1 is the card, 2 the package; temperatures 2 package, 3 memory. i915: all of them 1.
        sample.energy_mj = divided(first_of(hwmon, {"/energy1_input", "/energy2_input"}), 1000);
        sample.power_limit_mw = divided(first_of(hwmon, {"/power1_max", "/power2_max"}), 1000);
        sample.temperature_celsius = divided(first_of(hwmon, {"/temp2_input", "/temp1_input"}), 1000);
        sample.memory_temperature_celsius = divided(read_number(hwmon + "/temp3_input"), 1000);
    }
    read_throttling(card, sample);
    return sample;
}

void add_processes(GpuSample& sample, const std::vector<DrmUse>& uses, const std::string& pci_address) {
    std::vector<GpuProcess> processes;
    for (const DrmUse& use : uses)
        if (use.pci_address == pci_address)
            processes.push_back({.pid = use.pid,
                                 .memory_bytes = use.memory_bytes,
                                 .utilisation_percent = use.utilisation_percent});
    if (!processes.empty()) sample.processes = std::move(processes);
}

}  // namespace hostler::intel
