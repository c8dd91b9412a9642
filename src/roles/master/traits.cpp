#include "roles/master/traits.h"

#include <algorithm>

#include "domain/inventory/model.h"
#include "roles/master/price_rules.h"

namespace hostler::master {

namespace {

std::uint8_t bit(Isolation isolation) { return static_cast<std::uint8_t>(1U << static_cast<int>(isolation)); }

std::uint8_t isolations_of(const Host& host) {
    unsigned found = bit(Isolation::container) | bit(Isolation::exclusive);
    if (host.facts.user_namespaces) found |= bit(Isolation::user_namespace);
    const auto& gpus = host.facts.gpus;
    if (!gpus.empty() &&
        std::ranges::none_of(gpus, [](auto mode) { return mode == MigMode::unsupported; }, &GpuFacts::mig))
        found |= bit(Isolation::mig);
    return static_cast<std::uint8_t>(found);
}

}  // namespace

std::int64_t memory_of(const GpuFacts& gpu) {
    const GpuModel* model = find_gpu_model(gpu.model);
    return model && model->memory_gib > 0 ? std::int64_t{model->memory_gib} << 30 : gpu.memory_bytes;
}

Traits traits_of(const Desk& desk, const Host& host) {
    Traits traits{.name = host.id, .zone = host.zone, .rack = host.rack};
    if (const Zone* zone = desk.estate.zones.find(host.zone)) traits.spot = zone->spot;
    traits.isolations = isolations_of(host);
    traits.trust = trust_of(host);
    traits.labels = host.labels;
    traits.tier = tier_of(host.facts, host.admission);
    bool first = true;
    for (const GpuFacts& gpu : host.facts.gpus) {
        if (gpu.cdi_name.empty()) continue;
        const GpuModel* model = find_gpu_model(gpu.model);
        const std::string family = model ? std::string{model->family} : "";
        const std::int64_t memory = memory_of(gpu);
        if (std::exchange(first, false)) {
            traits.model = gpu.model;
            traits.gpu_class = family;
            traits.vendor = gpu.vendor;
            traits.gpu_memory_bytes = memory;
            continue;
        }
        if (gpu.model != traits.model) traits.model.clear();
        if (family != traits.gpu_class) traits.gpu_class.clear();
        if (gpu.vendor != traits.vendor) traits.vendor = GpuVendor::other;
        traits.gpu_memory_bytes = std::min(traits.gpu_memory_bytes, memory);
    }
    if (const Price* price = price_on(desk, host, traits.model)) traits.price_micros = price->amount_micros;
    return traits;
}

std::vector<std::string> lendable(const Host& host) {
    std::vector<std::string> found;
    for (const GpuFacts& gpu : host.facts.gpus)
        if (!gpu.cdi_name.empty()) found.push_back(gpu.uuid);
    return found;
}

Topology topology_of(const Host& host) {
    HostFacts facts{.topology = host.facts.topology};
    for (const GpuFacts& gpu : host.facts.gpus)
        if (!gpu.cdi_name.empty()) facts.gpus.push_back(gpu);
    return hostler::topology_of(facts);
}

}  // namespace hostler::master
