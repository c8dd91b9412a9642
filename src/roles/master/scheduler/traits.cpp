#include "roles/master/scheduler/traits.h"

#include <algorithm>
#include <set>

#include "domain/image/image.h"
#include "domain/inventory/model.h"
#include "roles/master/billing/prices.h"

namespace hostler::master {

namespace {

std::uint8_t bit(Isolation isolation) { return static_cast<std::uint8_t>(1U << static_cast<int>(isolation)); }

// Its GPUs of this model that can be lent, as `of` them.
template <class T>
std::vector<T> of_each(const Host& host, const std::string& model, T GpuFacts::* of) {
    std::vector<T> found;
    for (const GpuFacts& gpu : host.facts.gpus)
        if (!gpu.cdi_name.empty() && gpu.model == model) found.push_back(gpu.*of);
    return found;
}

std::uint8_t isolations_of(const Host& host, const std::string& model) {
    unsigned found = bit(Isolation::container) | bit(Isolation::exclusive);
    if (host.facts.user_namespaces) found |= bit(Isolation::user_namespace);
    const auto modes = of_each(host, model, &GpuFacts::mig);
    if (!modes.empty() && std::ranges::count(modes, MigMode::unsupported) == 0) found |= bit(Isolation::mig);
    return static_cast<std::uint8_t>(found);
}

}  // namespace

bool has_unified_memory(const GpuFacts& gpu) {
    const GpuModel* model = find_gpu_model(gpu.model);
    return model ? model->form == GpuForm::soc : gpu.memory_bytes == 0;
}

std::int64_t memory_of(const Host& host, const GpuFacts& gpu) {
    const GpuModel* model = find_gpu_model(gpu.model);
    if (model && model->memory_gib > 0) return std::int64_t{model->memory_gib} << 30;
    return has_unified_memory(gpu) ? host.facts.memory_bytes : gpu.memory_bytes;
}

std::vector<std::string> models_of(const Host& host) {
    std::set<std::string> models;
    for (const GpuFacts& gpu : host.facts.gpus)
        if (!gpu.cdi_name.empty()) models.insert(gpu.model);
    if (models.empty()) return {""};
    return {models.begin(), models.end()};
}

Traits traits_of(const Desk& desk, const Host& host, const std::string& model) {
    Traits traits{.name = host.id, .zone = host.zone, .rack = host.rack, .model = model};
    if (const Zone* zone = desk.estate.zones.find(host.zone)) traits.spot = zone->spot;
    traits.isolations = isolations_of(host, model);
    traits.trust = trust_of(host);
    traits.labels = host.labels;
    traits.programs = host.facts.programs;
    traits.tier = tier_of(host.facts, host.admission);
    if (const GpuModel* known = find_gpu_model(model)) traits.gpu_class = known->family;
    for (const GpuFacts& gpu : host.facts.gpus) {
        if (gpu.cdi_name.empty() || gpu.model != model) continue;
        traits.vendor = gpu.vendor;
        const std::int64_t memory = memory_of(host, gpu), least = traits.gpu_memory_bytes;
        traits.gpu_memory_bytes = least == 0 ? memory : std::min(least, memory);
    }
    if (const Price* price = price_on(desk, host, model)) traits.price_micros = price->amount_micros;
    return traits;
}

std::vector<std::string> lendable(const Host& host, const std::string& model) {
    return of_each(host, model, &GpuFacts::uuid);
}

Topology topology_of(const Host& host, const std::string& model) {
    HostFacts facts{.topology = host.facts.topology};
    for (const GpuFacts& gpu : host.facts.gpus)
        if (!gpu.cdi_name.empty() && gpu.model == model) facts.gpus.push_back(gpu);
    return hostler::topology_of(facts);
}

bool has_image(const Desk& desk, const std::string& host, const std::string& image) {
    const auto live = desk.live.hosts.find(host);
    return live != desk.live.hosts.end() && live->second.images &&
           live->second.images->contains(full_image_name(image));
}

}  // namespace hostler::master
