#include "adapters/sim/telemetry.h"

#include <fmt/format.h>

#include "adapters/sim/authority.h"

namespace hostler::sim {

namespace {

constexpr std::int64_t memory_bytes = std::int64_t{1} << 40;

std::string uuid_of(const std::string& hash) {
    return fmt::format("{}-{}-{}-{}-{}", hash.substr(0, 8), hash.substr(8, 4), hash.substr(12, 4),
                       hash.substr(16, 4), hash.substr(20, 12));
}

}  // namespace

Gpus::Gpus(const std::string& machine, int count, GpuKind kind)
    : conditions(static_cast<std::size_t>(count), GpuCondition::ok),
      energy_mj(static_cast<std::size_t>(count)) {
    inventory.source = "sim";
    inventory.simulated = true;
    inventory.driver_version = "570.86.15";
    inventory.cuda_version = "12.8";
    for (int i = 0; i < count; ++i) {
        const std::string hash = hash_hex(fmt::format("{} {}", machine, i));
        GpuFacts gpu;
        gpu.uuid = "GPU-" + uuid_of(hash);
        gpu.vendor = GpuVendor::nvidia;
        gpu.model = kind.model;
        gpu.product = kind.product;
        gpu.index = gpu.minor = i;
        gpu.pci_address = fmt::format("0000:{:02x}:00.0", 0x10 + i);
        gpu.pci_id = kind.pci_id;
        gpu.memory_bytes = kind.memory_bytes;
        gpu.core_count = kind.core_count;
        gpu.architecture = kind.architecture;
        gpu.compute_capability = kind.compute_capability;
        gpu.numa_node = i * 2 / std::max(count, 1);
        gpu.pcie_generation = gpu.pcie_generation_max = 5;
        gpu.pcie_width = gpu.pcie_width_max = 16;
        gpu.power_limit_mw = gpu.power_limit_max_mw = kind.power_limit_mw;
        gpu.power_limit_min_mw = 200'000;
        gpu.serial = "SIM" + hash.substr(32, 10);
        gpu.driver = "nvidia";
        gpu.cdi_name = "nvidia.com/gpu=" + gpu.uuid;
        gpu.device_nodes = {fmt::format("/dev/nvidia{}", i)};
        inventory.gpus.push_back(std::move(gpu));
    }
}

std::size_t Gpus::break_one(std::uint64_t dice) {
    constexpr std::int64_t xids[] = {31, 48, 63, 74, 79, 95};
    constexpr GpuCondition ways[] = {GpuCondition::lost, GpuCondition::gone, GpuCondition::unresponsive};
    HOSTLER_ASSERT(!conditions.empty());
    const std::size_t gpu = dice % conditions.size();
    const std::size_t way = dice / conditions.size() % (std::size(xids) + std::size(ways));
    if (way < std::size(xids))
        faults.push_back({.uuid = inventory.gpus[gpu].uuid, .kind = "xid", .code = xids[way]});
    else
        conditions[gpu] = ways[way - std::size(xids)];
    return gpu;
}

void Gpus::reset(std::size_t gpu) {
    conditions[gpu] = GpuCondition::ok;
    energy_mj[gpu] = 0;
}

Task<GpuInventory> SimTelemetry::discover() {
    GpuInventory seen = gpus_.inventory;
    known_.clear();
    for (std::size_t i = gpus_.conditions.size(); i-- > 0;)
        if (gpus_.conditions[i] == GpuCondition::gone)
            seen.gpus.erase(seen.gpus.begin() + static_cast<std::ptrdiff_t>(i));
    for (const auto& gpu : seen.gpus) known_.push_back(gpu.uuid);
    co_return seen;
}

Task<std::vector<GpuSample>> SimTelemetry::sample() {
    std::vector<GpuSample> samples;
    for (const auto& uuid : known_) {
        GpuSample sample{.uuid = uuid};
        for (std::size_t i = 0; i < gpus_.conditions.size(); ++i) {
            if (gpus_.inventory.gpus[i].uuid != uuid) continue;
            sample.condition = gpus_.conditions[i];
            if (sample.condition == GpuCondition::ok) sample.energy_mj = ++gpus_.energy_mj[i];
        }
        if (sample.condition == GpuCondition::ok) {
            sample.utilisation_percent = static_cast<std::int64_t>(dice_.below(101));
            sample.memory_used_bytes = static_cast<std::int64_t>(dice_.below(80) << 30);
            sample.temperature_celsius = static_cast<std::int64_t>(30 + dice_.below(50));
            sample.power_mw = static_cast<std::int64_t>(70'000 + dice_.below(600'000));
        } else {
            sample.reason = "simulated: the GPU does not answer";
        }
        samples.push_back(std::move(sample));
    }
    co_return samples;
}

Task<HostFacts> SimHostTelemetry::facts() {
    HostFacts facts;
    facts.hostname = machine_;
    facts.os = "Debian GNU/Linux 12 (bookworm)";
    facts.kernel = "6.1.0-18-amd64";
    facts.architecture = "x86_64";
    facts.cpu_model = "Simulated CPU";
    facts.cpus = 128;
    facts.memory_bytes = memory_bytes;
    facts.disk_bytes = std::int64_t{8} << 40;
    facts.disk_free_bytes = std::int64_t{6} << 40;
    facts.simulated = true;
    facts.boot_id = boot_id_;
    const std::string hash = hash_hex(machine_);
    facts.serial = "SIM" + hash.substr(0, 10);
    facts.system_uuid = uuid_of(hash);
    // Of the networks for documentation: no machine has these.
    const auto number = [&](std::size_t at) { return std::stoul(hash.substr(at, 2), nullptr, 16); };
    facts.addresses = {fmt::format("198.51.100.{}", 1 + number(0) % 254),
                       fmt::format("2001:db8::{:x}", 1 + number(0) * 256 + number(2))};
    co_return facts;
}

// Something that a query can show: a row without values is stored, and in no answer.
Task<HostSample> SimHostTelemetry::sample() { co_return HostSample{.memory_total_bytes = memory_bytes}; }

// Simulated containers have no processes.
Task<std::map<std::int64_t, std::string>> SimHostTelemetry::containers_of(std::vector<std::int64_t>) {
    co_return std::map<std::int64_t, std::string>{};
}

// Its containers are no processes.
Task<std::map<std::string, ProcessUse>> SimHostTelemetry::processes_of(std::vector<std::string>) {
    co_return std::map<std::string, ProcessUse>{};
}

// The kernel is asked, which answers while the engine does not.
Task<std::map<std::string, InstanceSample>> SimHostTelemetry::samples_of(
    std::vector<std::string> containers) {
    std::map<std::string, InstanceSample> all;
    for (const std::string& id : containers)
        if (const auto sample = engine_.sample_of(id)) all[id] = *sample;
    co_return all;
}

}  // namespace hostler::sim
