#include "adapters/amd/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "adapters/amd/gpu_metrics.h"
#include "domain/inventory/merge.h"
#include "domain/inventory/model.h"

namespace hostler::amd {

namespace {

constexpr std::size_t metrics_max = 16384;

bool is_card(std::string_view name) {
    return name.starts_with("card") && name.size() > 4 &&
           name.find_first_not_of("0123456789", 4) == name.npos;
}

std::string hwmon_of(const std::string& folder) {
    const auto names = list_folder(folder + "/hwmon", 16);
    return names.empty() ? std::string{} : folder + "/hwmon/" + names.front();
}

Metric divided(Metric value, std::int64_t by) { return value ? Metric{*value / by} : value; }

// "0: 500Mhz\n1: 2100Mhz *": the starred one, or the highest.
Metric clock_of(const std::string& path, bool current) {
    Metric found;
    std::istringstream lines{read_text(path, 65536).value_or("")};
    for (std::string line; std::getline(lines, line);) {
        const auto colon = line.find(':');
        if (colon == std::string::npos) continue;
        const auto mhz = parse_number(std::string_view{line}.substr(colon + 1));
        const bool starred = line.find('*') != std::string::npos;
        if (mhz && (current ? starred : mhz > found)) found = mhz;
    }
    return found;
}

std::string text_of(const std::string& path) {
    auto text = read_text(path).value_or("");
    return text == "N/A" || text == "0" ? std::string{} : text;
}

GpuFacts read_facts(const std::string& folder, int card) {
    GpuFacts facts;
    facts.vendor = GpuVendor::amd;
    facts.minor = card;
    const std::string place = real_path(folder);
    facts.pci_address = normal_pci_address(place.substr(place.rfind('/') + 1));
    facts.pci_id = fmt::format("1002:{:04x}", read_number(folder + "/device").value_or(0));
    const auto unique = text_of(folder + "/unique_id");
    facts.uuid = unique.empty() ? uuid_of_pci(facts.pci_address) : "GPU-" + unique;
    facts.product = text_of(folder + "/product_name");
    facts.serial = text_of(folder + "/serial_number");
    facts.vbios = text_of(folder + "/vbios_version");
    facts.memory_bytes = read_number(folder + "/mem_info_vram_total").value_or(0);
    facts.model = gpu_model_name(facts.product, facts.pci_id, facts.memory_bytes);
    facts.numa_node = static_cast<int>(read_number(folder + "/numa_node").value_or(-1));
    facts.pcie_generation = pcie_generation(read_text(folder + "/current_link_speed").value_or(""));
    facts.pcie_generation_max = pcie_generation(read_text(folder + "/max_link_speed").value_or(""));
    facts.pcie_width = static_cast<int>(read_number(folder + "/current_link_width").value_or(0));
    facts.pcie_width_max = static_cast<int>(read_number(folder + "/max_link_width").value_or(0));
    facts.clock_graphics_max_mhz = static_cast<int>(clock_of(folder + "/pp_dpm_sclk", false).value_or(0));
    facts.clock_memory_max_mhz = static_cast<int>(clock_of(folder + "/pp_dpm_mclk", false).value_or(0));
    const auto hwmon = hwmon_of(folder);
    facts.power_limit_mw = divided(read_number(hwmon + "/power1_cap"), 1000).value_or(0);
    facts.power_limit_min_mw = divided(read_number(hwmon + "/power1_cap_min"), 1000).value_or(0);
    facts.power_limit_max_mw = divided(read_number(hwmon + "/power1_cap_max"), 1000).value_or(0);
    facts.driver = link_name(folder + "/driver");
    facts.device_nodes = {fmt::format("/dev/dri/card{}", card)};
    for (const auto& name : list_folder(folder + "/drm", 64)) {
        if (name.starts_with("renderD")) facts.device_nodes.push_back("/dev/dri/" + name);
    }
    return facts;
}

// Dies of one package, or boards with a faulty fuse, may share what should be unique.
void make_unique(std::vector<Card>& cards) {
    std::map<std::string, int> seen;
    for (const auto& card : cards) ++seen[card.facts.uuid];
    for (auto& card : cards) {
        if (seen[card.facts.uuid] > 1) card.facts.uuid += "-" + card.facts.pci_address;
    }
}

void join_kfd(Cards& found, const std::vector<KfdNode>& nodes) {
    std::map<int, Card*> by_node;
    for (const auto& node : nodes) {
        const auto card = std::ranges::find(found.cards, node.pci_address,
                                            [](const Card& c) { return c.facts.pci_address; });
        if (card == found.cards.end()) continue;
        by_node[node.node] = &*card;
        card->kfd_id = node.gpu_id;
        card->facts.architecture = node.architecture;
        card->facts.core_count = node.cores;
    }
    for (const auto& node : nodes) {
        const auto from = by_node.find(node.node);
        if (from == by_node.end()) continue;
        for (const int other : node.xgmi_to) {
            const auto to = by_node.find(other);
            if (to == by_node.end() || to == from) continue;
            auto& links = from->second->facts.nvlinks;
            links.push_back({static_cast<int>(links.size()), true, to->second->facts.pci_address,
                             to->second->facts.uuid, false});
            if (from->second->facts.uuid < to->second->facts.uuid) {
                found.links.push_back(
                    {from->second->facts.uuid, to->second->facts.uuid, GpuLinkKind::nvlink, 1});
            }
        }
    }
    std::ranges::sort(found.links, {}, [](const GpuLink& link) { return std::pair(link.a, link.b); });
}

void read_errors(const std::string& folder, GpuSample& sample) {
    for (const char* block : {"umc", "sdma", "gfx", "mmhub", "hdp", "pcie_bif", "xgmi_wafl"}) {
        const auto text = read_text(fmt::format("{}/ras/{}_err_count", folder, block));
        if (!text) continue;
        const auto add = [&](Metric& to, const char* key) {
            if (const auto count = parse_number(value_of_line(*text, key).value_or("")))
                to = to.value_or(0) + *count;
        };
        add(sample.ecc_uncorrected, "ue");
        add(sample.ecc_corrected, "ce");
    }
    // One line a page, which ends in R (retired), P (waits for a reset) or F (could not be).
    const auto pages = read_text(folder + "/ras/gpu_vram_bad_pages", 1 << 20);
    if (!pages) return;
    sample.pages_retired = 0;
    sample.pages_pending = 0;
    std::istringstream lines{*pages};
    for (std::string line; std::getline(lines, line);) {
        while (!line.empty() && line.back() == ' ') line.pop_back();
        if (line.ends_with(": R")) ++*sample.pages_retired;
        if (line.ends_with(": P") || line.ends_with(": F")) sample.pages_pending = 1;
    }
}

// What the other files did not tell.
void fill_from_metrics(const std::string& folder, GpuSample& sample) {
    const auto bytes = read_bytes(folder + "/gpu_metrics", metrics_max);
    if (!bytes) return;
    const auto metrics = parse_gpu_metrics(*bytes);
    if (!metrics) return;
    const auto fill = [](Metric& into, Metric value) {
        if (!into) into = value;
    };
    fill(sample.temperature_celsius, metrics->hotspot_celsius);
    fill(sample.memory_temperature_celsius, metrics->memory_celsius);
    fill(sample.utilisation_percent, metrics->gfx_percent);
    fill(sample.memory_utilisation_percent, metrics->memory_percent);
    if (metrics->power_w) fill(sample.power_mw, *metrics->power_w * 1000);
    fill(sample.energy_mj, divided(metrics->energy_uj, 1000));
    fill(sample.pcie_width, metrics->pcie_width);
    fill(sample.pcie_generation, metrics->pcie_generation);
    fill(sample.pcie_replays, metrics->pcie_replays);
    fill(sample.clock_graphics_mhz, metrics->gfx_mhz);
    fill(sample.clock_memory_mhz, metrics->memory_mhz);
}

void read_hwmon(const std::string& hwmon, GpuSample& sample) {
    // 2: junction, the hottest place; 1: edge, where there is no other. 3: memory. Thousandths of a degree.
    const std::string sensor = hwmon + (read_number(hwmon + "/temp2_input") ? "/temp2_" : "/temp1_");
    sample.temperature_celsius = divided(read_number(sensor + "input"), 1000);
    sample.temperature_slowdown_celsius = divided(read_number(sensor + "crit"), 1000);
    sample.temperature_shutdown_celsius = divided(read_number(sensor + "emergency"), 1000);
    sample.memory_temperature_celsius = divided(read_number(hwmon + "/temp3_input"), 1000);
    sample.power_mw = divided(read_number(hwmon + "/power1_average"), 1000);
    if (!sample.power_mw) sample.power_mw = divided(read_number(hwmon + "/power1_input"), 1000);
    sample.power_limit_mw = divided(read_number(hwmon + "/power1_cap"), 1000);
    if (const auto pwm = read_number(hwmon + "/pwm1")) sample.fan_percent = *pwm * 100 / 255;
}

}  // namespace

Cards find_cards(const KernelRoots& roots) {
    Cards found;
    const std::string drm = roots.sys + "/class/drm/";
    for (const auto& name : list_folder(drm)) {
        const std::string folder = drm + name + "/device";
        if (!is_card(name) || read_number(folder + "/vendor") != 0x1002) continue;
        const int card = static_cast<int>(parse_number(name.substr(4)).value_or(0));
        found.cards.push_back({.folder = folder, .facts = read_facts(folder, card)});
    }
    std::ranges::sort(found.cards, {}, [](const Card& card) { return card.facts.pci_address; });
    make_unique(found.cards);
    for (std::size_t i = 0; i < found.cards.size(); ++i) {
        found.cards[i].facts.index = static_cast<int>(i);
        found.cards[i].facts.cdi_name = fmt::format("amd.com/gpu={}", i);
    }
    join_kfd(found, read_kfd(roots));
    return found;
}

GpuSample read_sample(const KernelRoots& roots, const std::string& folder, int kfd_id) {
    GpuSample sample;
    if (!read_text(folder + "/vendor")) {
        sample.condition = GpuCondition::gone;
        sample.reason = "its files have disappeared";
        return sample;
    }
    sample.utilisation_percent = read_number(folder + "/gpu_busy_percent");
    sample.memory_utilisation_percent = read_number(folder + "/mem_busy_percent");
    sample.memory_total_bytes = read_number(folder + "/mem_info_vram_total");
    sample.memory_used_bytes = read_number(folder + "/mem_info_vram_used");
    sample.clock_graphics_mhz = clock_of(folder + "/pp_dpm_sclk", true);
    sample.clock_memory_mhz = clock_of(folder + "/pp_dpm_mclk", true);
    if (const int generation = pcie_generation(read_text(folder + "/current_link_speed").value_or(""))) {
        sample.pcie_generation = generation;
    }
    sample.pcie_width = read_number(folder + "/current_link_width");
    sample.pcie_replays = read_number(folder + "/pcie_replay_count");
    if (const auto hwmon = hwmon_of(folder); !hwmon.empty()) read_hwmon(hwmon, sample);
    read_errors(folder, sample);
    fill_from_metrics(folder, sample);
    sample.processes = read_kfd_processes(roots, kfd_id);
    return sample;
}

}  // namespace hostler::amd
