#include "bin/inventory.h"

#include <algorithm>
#include <boost/describe.hpp>
#include <boost/json.hpp>
#include <boost/mp11/algorithm.hpp>
#include <cstdio>

#include <fmt/format.h>

namespace hostler::bin {

namespace {

namespace json = boost::json;
namespace describe = boost::describe;

// Any described value: names as members are called, in camelCase as the API writes them.
std::string camel(std::string_view name) {
    std::string made;
    for (std::size_t at = 0; at < name.size(); ++at)
        if (name[at] == '_' && at + 1 < name.size())
            made += static_cast<char>(std::toupper(static_cast<unsigned char>(name[++at])));
        else
            made += name[at];
    return made;
}

template <class Value>
json::value to_json(const Value& value) {
    if constexpr (describe::has_describe_enumerators<Value>::value) {
        return json::value(describe::enum_to_string(value, ""));
    } else if constexpr (describe::has_describe_members<Value>::value) {
        json::object made;
        boost::mp11::mp_for_each<describe::describe_members<Value, describe::mod_public>>(
            [&](auto member) { made[camel(member.name)] = to_json(value.*member.pointer); });
        return made;
    } else if constexpr (requires {
                             value.begin();
                             typename Value::value_type;
                         } && !std::is_convertible_v<Value, std::string_view>) {
        json::array made;
        for (const auto& one : value) made.push_back(to_json(one));
        return made;
    } else {
        return json::value(value);
    }
}

std::string gib(std::int64_t bytes) {
    return bytes <= 0 ? "-" : fmt::format("{:.0f} GiB", static_cast<double>(bytes) / (1LL << 30));
}

std::string link_of(const GpuFacts& gpu) {
    if (gpu.pcie_generation_max == 0) return "-";
    return fmt::format("gen{} x{}", gpu.pcie_generation_max, gpu.pcie_width_max);
}

void print_table(const HostFacts& facts) {
    const auto line = [](std::string_view name, const std::string& value) {
        if (!value.empty()) fmt::print("{:<14}{}\n", name, value);
    };
    line("Host", facts.hostname + (facts.simulated ? "  (its GPUs are simulated)" : ""));
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
               "MEMORY", "PCIE", "ADDRESS", "NVLINKS", "LENT AS", "UUID");
    for (const auto& gpu : facts.gpus)
        fmt::print("{:<5} {:<8} {:<{}} {:>8}  {:<10} {:<13} {:<8} {:<8} {}\n",
                   gpu.index < 0 ? "-" : std::to_string(gpu.index), describe::enum_to_string(gpu.vendor, ""),
                   gpu.model, model, gib(gpu.memory_bytes), link_of(gpu),
                   gpu.pci_address.empty() ? "-" : gpu.pci_address,
                   std::ranges::count_if(gpu.nvlinks, &NvLink::active),
                   gpu.cdi_name.empty() ? "nothing" : "CDI", gpu.uuid);
}

}  // namespace

void print_inventory(const HostFacts& facts, InventoryFormat format) {
    switch (format) {
        case InventoryFormat::json: fmt::print("{}\n", json::serialize(to_json(facts))); return;
        case InventoryFormat::table: break;
    }
    print_table(facts);
    for (const auto& problem : facts.problems) fmt::print(stderr, "note: {}\n", problem);
}

}  // namespace hostler::bin
