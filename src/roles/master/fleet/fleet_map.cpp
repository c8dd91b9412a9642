#include "roles/master/fleet/fleet_map.h"

#include <algorithm>

#include "api/types_fleet.h"
#include "api/types_host.h"
#include "roles/master/host/view.h"
#include "roles/master/scheduler/capacity.h"

namespace hostler::master {

namespace {

template <class E>
char byte_of(E value) {
    return static_cast<char>(static_cast<std::uint8_t>(value));
}

// Rounded to the nearest step.
char byte_of(const Metric& metric, std::int64_t step) {
    if (!metric) return byte_of(byte_unknown);
    constexpr std::int64_t highest = byte_unknown - 1;
    return static_cast<char>(std::clamp<std::int64_t>((*metric + step / 2) / step, 0, highest));
}

api::FleetUse use_of(ClaimUse use) {
    switch (use) {
        case ClaimUse::stock: return api::FleetUse::stock;
        case ClaimUse::instance:
        case ClaimUse::reserved:
        case ClaimUse::leaving: return api::FleetUse::instance;
        case ClaimUse::node: return api::FleetUse::cluster;
        case ClaimUse::foreign: return api::FleetUse::foreign;
    }
    return api::FleetUse::foreign;
}

api::GpuState health_of(const Host& host, const std::string& gpu) {
    const auto state = host.gpu_states.find(gpu);
    if (state == host.gpu_states.end()) return api::GpuState::healthy;
    switch (state->second.health) {
        case GpuHealth::healthy: return api::GpuState::healthy;
        case GpuHealth::degraded: return api::GpuState::degraded;
        case GpuHealth::faulty: return api::GpuState::faulty;
        case GpuHealth::unresponsive: return api::GpuState::unresponsive;
        case GpuHealth::gone: return api::GpuState::gone;
    }
    return api::GpuState::faulty;
}

FleetBlock::Samples samples_of(const Desk& desk, const std::string& id, const FleetBlock::Facts& facts) {
    const std::string unknown(facts.gpus.size(), byte_of(byte_unknown));
    FleetBlock::Samples samples{.utilization = unknown, .temperature = unknown, .power = unknown};
    const auto live = desk.live.hosts.find(id);
    if (!facts.heard || live == desk.live.hosts.end()) return samples;
    constexpr std::int64_t power_step_mw = power_step_w * std::int64_t{1000};
    for (std::size_t i = 0; i < facts.gpus.size(); ++i) {
        const auto at = live->second.samples.find(facts.gpus[i]);
        if (at == live->second.samples.end()) continue;
        samples.utilization[i] = byte_of(at->second.utilisation_percent, 1);
        samples.temperature[i] = byte_of(at->second.temperature_celsius, 1);
        samples.power[i] = byte_of(at->second.power_mw, power_step_mw);
    }
    return samples;
}

// In the order of the map.
std::vector<const GpuFacts*> sorted(const std::vector<GpuFacts>& gpus) {
    std::vector<const GpuFacts*> order;
    for (const GpuFacts& gpu : gpus) order.push_back(&gpu);
    std::ranges::sort(order, {}, [](const GpuFacts* gpu) {
        return std::pair{std::max(gpu->index, 0), std::string_view{gpu->uuid}};
    });
    if (order.size() > fleet_gpus_host_max) order.resize(fleet_gpus_host_max);
    return order;
}

void place(auto& order, std::uint64_t& at, std::uint64_t number, const FleetMap::Place* host) {
    order.erase(std::exchange(at, number));
    order.emplace(number, host);
}

}  // namespace

std::uint16_t NameNumbers::of(const std::string& name) {
    if (name.empty()) return unknown;
    const auto known = numbers_.find(name);
    if (known != numbers_.end()) return known->second;
    if (names_.size() == unknown) return unknown;
    const auto number = static_cast<std::uint16_t>(names_.size());
    names_.push_back(name);
    numbers_.emplace(name, number);
    return number;
}

std::uint16_t NameNumbers::find(const std::string& name) const {
    const auto known = numbers_.find(name);
    return known == numbers_.end() ? unknown : known->second;
}

void FleetMap::follow(const Desk& desk, std::size_t hosts_max) {
    note_stirred(desk);
    for (; hosts_max > 0 && !stirred_.empty(); --hosts_max)
        look(desk, stirred_.extract(stirred_.begin()).value());
}

void FleetMap::note_stirred(const Desk& desk) {
    stirred_.merge(hosts_.changed(desk.estate.hosts));
    stirred_.merge(drains_.changed(desk.estate.drains));
    for (const std::string& id : claims_.changed(desk.estate.claims)) {
        const Claim* claim = desk.estate.claims.find(id);
        const auto was = claim_at_.find(id);
        if (was != claim_at_.end()) stirred_.insert(was->second);
        if (claim) {
            stirred_.insert(claim->host);
            claim_at_[id] = claim->host;
        } else if (was != claim_at_.end()) {
            claim_at_.erase(was);
        }
    }
}

void FleetMap::look(const Desk& desk, const std::string& id) {
    const Host* host = desk.estate.hosts.find(id);
    if (!host || host->phase == HostPhase::retired) return drop(id);
    FleetBlock::Facts facts = facts_of(desk, *host);
    FleetBlock::Samples samples = samples_of(desk, id, facts);
    const auto [at, fresh] = blocks_.try_emplace(id);
    FleetBlock& block = at->second;
    const bool other_facts = fresh || block.facts != facts;
    if (!other_facts && block.samples == samples) return;
    if (!fresh && (block.facts.owner != facts.owner || block.facts.zone != facts.zone)) {
        note_gone(*at);
        take_out(*at);
    }
    ++number_;
    Owned& owned = owned_[facts.owner];
    owned.hosts.emplace(at->first, &*at);
    if (other_facts) place(owned.told, block.told, number_, &*at);
    place(owned.changed, block.changed, number_, &*at);
    block.facts = std::move(facts);
    block.samples = std::move(samples);
}

void FleetMap::drop(const std::string& id) {
    const auto at = blocks_.find(id);
    if (at == blocks_.end()) return;
    note_gone(*at);
    take_out(*at);
    blocks_.erase(at);
}

void FleetMap::take_out(const Place& place) {
    const auto owned = owned_.find(place.second.facts.owner);
    owned->second.hosts.erase(place.first);
    owned->second.told.erase(place.second.told);
    owned->second.changed.erase(place.second.changed);
    if (owned->second.hosts.empty()) owned_.erase(owned);
}

void FleetMap::note_gone(const Place& place) {
    const FleetBlock::Facts& facts = place.second.facts;
    gone_.emplace(++number_, Gone{.host = place.first, .owner = facts.owner, .zone = facts.zone});
    if (gone_.size() <= gone_max) return;
    forgotten_ = gone_.begin()->first;
    gone_.erase(gone_.begin());
}

FleetBlock::Facts FleetMap::facts_of(const Desk& desk, const Host& host) {
    FleetBlock::Facts facts{.name = host.facts.hostname, .owner = host.owner, .zone = zones_.of(host.zone)};
    facts.state = static_cast<std::uint8_t>(state_of(desk, host));
    facts.heard = host.phase == HostPhase::ready;
    const bool closed = !unavailable(host).empty() || desk.estate.drains.find(host.id);
    for (const GpuFacts* gpu : sorted(host.facts.gpus)) {
        facts.gpus.push_back(gpu->uuid);
        facts.use +=
            byte_of(closed || !usable(host, gpu->uuid) ? api::FleetUse::unavailable : api::FleetUse::idle);
        facts.health += byte_of(health_of(host, gpu->uuid));
        facts.models.push_back(model_of(host.owner, gpu->model));
    }
    facts.tenants.assign(facts.gpus.size(), NameNumbers::unknown);
    hold(desk, host.id, facts);
    return facts;
}

std::uint16_t FleetMap::model_of(const std::string& owner, const std::string& name) {
    if (name.empty()) return NameNumbers::unknown;
    const auto other = [&] { return models_.of(std::string{fleet_model_other}); };
    if (name.size() > fleet_model_bytes_max) return other();
    auto& own = models_of_[owner];
    if (own.size() >= fleet_models_owner_max && !own.contains(models_.find(name))) return other();
    const std::uint16_t number = models_.of(name);
    own.insert(number);
    return number;
}

void FleetMap::hold(const Desk& desk, const std::string& id, FleetBlock::Facts& facts) {
    for (const Claim* claim : desk.estate.claims.by().host.of(id))
        for (const std::string& gpu : claim->gpus) {
            const auto at = std::ranges::find(facts.gpus, gpu);
            if (at == facts.gpus.end()) continue;
            const auto i = static_cast<std::size_t>(at - facts.gpus.begin());
            facts.use[i] = byte_of(use_of(claim->use));
            facts.tenants[i] = tenants_.of(claim->tenant);
        }
}

void FleetMap::sampled(const Desk& desk, const std::string& host) {
    const auto at = blocks_.find(host);
    if (at == blocks_.end()) return;  // follow() has it soon.
    FleetBlock& block = at->second;
    FleetBlock::Samples samples = samples_of(desk, host, block.facts);
    if (samples == block.samples) return;
    block.samples = std::move(samples);
    place(owned_[block.facts.owner].changed, block.changed, ++number_, &*at);
}

std::vector<std::string> FleetMap::owners() const {
    std::vector<std::string> names;
    for (const auto& [name, owned] : owned_) names.push_back(name);
    return names;
}

std::vector<const FleetMap::Place*> FleetMap::hosts_of(const std::string& owner, const std::string& behind,
                                                       const Wanted& wanted, std::size_t most) const {
    std::vector<const Place*> hosts;
    const auto owned = owned_.find(owner);
    if (owned == owned_.end()) return hosts;
    const auto& all = owned->second.hosts;
    for (auto at = all.upper_bound(behind); at != all.end() && hosts.size() < most; ++at)
        if (wanted(at->second->second)) hosts.push_back(at->second);
    return hosts;
}

std::vector<const FleetMap::Place*> FleetMap::changed_since(const std::string& owner, std::uint64_t number,
                                                            bool samples) const {
    std::vector<const Place*> hosts;
    const auto owned = owned_.find(owner);
    if (owned == owned_.end()) return hosts;
    const Order& order = samples ? owned->second.changed : owned->second.told;
    for (auto at = order.upper_bound(number); at != order.end(); ++at) hosts.push_back(at->second);
    return hosts;
}

std::vector<FleetMap::Gone> FleetMap::gone_since(std::uint64_t number) const {
    std::vector<Gone> hosts;
    for (auto at = gone_.upper_bound(number); at != gone_.end(); ++at) hosts.push_back(at->second);
    return hosts;
}

}  // namespace hostler::master
