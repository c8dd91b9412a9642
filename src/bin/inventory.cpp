#include "bin/inventory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "bin/described_json.h"

namespace hostler::bin {

namespace {

std::string gib(std::int64_t bytes) {
    return bytes <= 0 ? "-" : fmt::format("{:.0f} GiB", static_cast<double>(bytes) / (1LL << 30));
}

std::string link_of(const GpuFacts& gpu) {
    if (gpu.pcie_generation_max == 0) return "-";
    return fmt::format("gen{} x{}", gpu.pcie_generation_max, gpu.pcie_width_max);
}

void print_table(const HostFacts& facts, const Unusable& unusable) {
    const auto line = [](std::string_view name, const std::string& value) {
        if (!value.empty()) fmt::print("{:<14}{}\n", name, value);
    };
    line("Host", facts.hostname + (facts.simulated ? "  (its GPUs are simulated)" : ""));
    line("Serial", facts.serial);
    line("Addresses", fmt::format("{}", fmt::join(facts.addresses, ", ")));
    line("System", fmt::format("{}, kernel {}, {}", facts.os, facts.kernel, facts.architecture));
    line("CPU", fmt::format("{} x {}", facts.cpus, facts.cpu_model));
    line("Memory", gib(facts.memory_bytes));
    line("Disk", fmt::format("{}, {} free", gib(facts.disk_bytes), gib(facts.disk_free_bytes)));
    if (!facts.driver_version.empty())
        line("Driver", fmt::format("{}{}", facts.driver_version,
                                   facts.cuda_version.empty() ? "" : ", CUDA " + facts.cuda_version));
    if (facts.gpus.empty()) {
        line("GPUs", "none");
        return;
    }
    std::size_t model = 5;
    for (const auto& gpu : facts.gpus) model = std::max(model, gpu.model.size());
    fmt::print("\n{:<5} {:<8} {:<{}} {:>8}  {:<10} {:<13} {:<8} {:<8} {}\n", "GPU", "VENDOR", "MODEL", model,
               "MEMORY", "PCIE", "ADDRESS", "NVLINKS", "USABLE", "UUID");
    for (const auto& gpu : facts.gpus)
        fmt::print("{:<5} {:<8} {:<{}} {:>8}  {:<10} {:<13} {:<8} {:<8} {}\n",
                   gpu.index < 0 ? "-" : std::to_string(gpu.index),
                   boost::describe::enum_to_string(gpu.vendor, ""), gpu.model, model, gib(gpu.memory_bytes),
                   link_of(gpu), gpu.pci_address.empty() ? "-" : gpu.pci_address,
                   std::ranges::count_if(gpu.nvlinks, &NvLink::active),
                   unusable.contains(gpu.uuid) ? "no" : "yes", gpu.uuid);
}

}  // namespace

void print_inventory(const HostFacts& facts, const Unusable& unusable, InventoryFormat format) {
    switch (format) {
        case InventoryFormat::json: {
            auto value = to_json(facts);
            for (auto& gpu : value.at("gpus").as_array()) {
                const auto found = unusable.find(std::string{gpu.at("uuid").as_string()});
                gpu.as_object()["missing"] = boost::json::value_from(
                    found == unusable.end() ? std::vector<std::string>{} : found->second);
            }
            fmt::print("{}\n", boost::json::serialize(value));
            return;
        }
        case InventoryFormat::table: break;
    }
    print_table(facts, unusable);
    for (const auto& [uuid, missing] : unusable)
        for (const auto& sentence : missing)
            fmt::print(stderr, "note: instances cannot have GPU {}: {}\n", uuid, sentence);
    for (const auto& problem : facts.problems) fmt::print(stderr, "note: {}\n", problem);
}

}  // namespace hostler::bin
