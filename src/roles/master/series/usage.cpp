#include "roles/master/series/usage.h"

#include <boost/describe/enum_from_string.hpp>

#include "api/types_usage.h"
#include "roles/master/host/view.h"
#include "roles/master/state/kinds.h"

namespace hostler::master {

namespace {

// In units of `unit`. A quotient is the number nearest to what it says; a product with 0.001 is not.
std::optional<double> in(double unit, const Metric& metric) {
    return metric ? std::optional{static_cast<double>(*metric) / unit} : std::nullopt;
}

Metric difference(const Metric& all, const Metric& rest) {
    return all && rest ? Metric{std::max<std::int64_t>(*all - *rest, 0)} : Metric{};
}

std::vector<std::string> throttled_by(const Metric& reasons) {
    static constexpr std::pair<ThrottleReason, const char*> names[] = {
        {throttle_application_clocks, "application_clocks"},
        {throttle_power_cap, "power_cap"},
        {throttle_hardware, "hardware"},
        {throttle_sync_boost, "sync_boost"},
        {throttle_thermal_software, "thermal_software"},
        {throttle_thermal_hardware, "thermal_hardware"},
        {throttle_power_brake, "power_brake"},
        {throttle_display, "display"}};
    std::vector<std::string> all;
    for (const auto& [bit, name] : names)
        if (reasons && (*reasons & bit) != 0) all.emplace_back(name);
    return all;
}

void add_sample(const GpuSample& sample, api::GpuUsage& shown) {
    shown.utilization_percent = in(1, sample.utilisation_percent);
    shown.memory_utilization_percent = in(1, sample.memory_utilisation_percent);
    shown.tensor_active_percent = in(10'000, sample.tensor_active_ppm);
    shown.memory_used_bytes = sample.memory_used_bytes;
    if (sample.memory_total_bytes) shown.memory_total_bytes = sample.memory_total_bytes;
    shown.power_watts = in(1'000, sample.power_mw);
    shown.power_limit_watts = in(1'000, sample.power_limit_mw);
    shown.temperature_celsius = in(1, sample.temperature_celsius);
    shown.memory_temperature_celsius = in(1, sample.memory_temperature_celsius);
    shown.clock_mhz = sample.clock_sm_mhz ? sample.clock_sm_mhz : sample.clock_graphics_mhz;
    shown.fan_percent = in(1, sample.fan_percent);
    shown.throttled = throttled_by(sample.throttle_reasons);
    shown.energy_joules = in(1'000, sample.energy_mj);
}

std::optional<WallTime> moment(std::int64_t micros) {
    if (micros == 0) return std::nullopt;
    return WallTime{std::chrono::microseconds{micros}};
}

}  // namespace

GpuHolders::GpuHolders(const Desk& desk) {
    for (const auto& [id, claim] : desk.estate.claims.all())
        for (const std::string& gpu : claim.gpus) claims_[{claim.host, gpu}] = &claim;
}

const Claim* GpuHolders::of(const std::string& host, const std::string& gpu) const {
    const auto found = claims_.find({host, gpu});
    return found == claims_.end() ? nullptr : found->second;
}

api::GpuUsage usage_of(const Desk& desk, const Host& host, const GpuFacts& gpu, const Claim* claim,
                       const std::string& tenant) {
    api::GpuUsage shown{.id = gpu.uuid,
                        .host = host.id,
                        .host_name = host.facts.hostname,
                        .zone = host.zone,
                        .index = gpu.index,
                        .model = gpu.model};
    if (const auto state = host.gpu_states.find(gpu.uuid); state != host.gpu_states.end())
        boost::describe::enum_from_string(text_of(state->second.health).c_str(), shown.state);
    if (claim) {
        const bool is_instances = claim->use == ClaimUse::leaving || claim->use == ClaimUse::reserved;
        boost::describe::enum_from_string(text_of(is_instances ? ClaimUse::instance : claim->use).c_str(),
                                          shown.use);
        if (claim->use == ClaimUse::node) shown.use = api::GpuUse::cluster;
        shown.tenant_id = claim->tenant;
        if (const Instance* instance = desk.estate.instances.find(claim->holder))
            shown.instance_id = instance->caller_id;
        if (const ClusterNode* node = desk.estate.cluster_nodes.find(claim->holder)) {
            shown.node = node->name;
            if (const Cluster* cluster = desk.estate.clusters.find(node->cluster))
                shown.cluster = cluster->name;
        }
    }
    if (gpu.memory_bytes > 0) shown.memory_total_bytes = gpu.memory_bytes;
    const auto live = desk.live.hosts.find(host.id);
    if (live == desk.live.hosts.end()) return shown;
    const auto sample = live->second.samples.find(gpu.uuid);
    if (sample == live->second.samples.end()) return shown;
    add_sample(sample->second, shown);
    if (sample->second.pod && shown.use == api::GpuUse::cluster) {
        shown.pod_namespace = sample->second.pod->pod_namespace;
        shown.pod = sample->second.pod->name;
        shown.container = sample->second.pod->container;
    }
    shown.sampled_at = moment(live->second.sampled_at);
    for (const WorkloadUse& use : live->second.uses) {
        if (use.gpu != gpu.uuid) continue;
        const Instance* instance = desk.estate.instances.find(use.instance);
        if (!tenant.empty() && (!instance || instance->tenant != tenant)) continue;
        shown.shares.push_back({.instance_id = instance ? instance->caller_id : "",
                                .tenant_id = instance ? instance->tenant : "",
                                .processes = use.processes,
                                .memory_used_bytes = use.memory_bytes,
                                .utilization_percent = in(1, use.utilisation_percent),
                                .memory_utilization_percent = in(1, use.memory_utilisation_percent)});
    }
    return shown;
}

api::HostUsage usage_of(const Desk& desk, const Host& host, const GpuHolders& holders) {
    api::HostUsage shown{.id = host.id,
                         .name = host.facts.hostname,
                         .zone = host.zone,
                         .state = view(desk, host).state,
                         .gpus = static_cast<int>(host.facts.gpus.size())};
    for (const GpuFacts& gpu : host.facts.gpus)
        if (holders.of(host.id, gpu.uuid)) ++shown.gpus_used;
    const auto live = desk.live.hosts.find(host.id);
    if (live == desk.live.hosts.end() || !live->second.sample) return shown;
    const HostSample& sample = *live->second.sample;
    shown.cpu_percent = in(1, sample.cpu_busy_percent);
    shown.load = in(1'000, sample.load_milli);
    shown.memory_used_bytes = difference(sample.memory_total_bytes, sample.memory_available_bytes);
    shown.memory_total_bytes = sample.memory_total_bytes;
    shown.swap_used_bytes = sample.swap_used_bytes;
    shown.disk_used_bytes = difference(sample.disk_total_bytes, sample.disk_free_bytes);
    shown.disk_total_bytes = sample.disk_total_bytes;
    shown.disk_read_bytes = sample.disk_read_bytes;
    shown.disk_written_bytes = sample.disk_written_bytes;
    shown.network_received_bytes = sample.network_received_bytes;
    shown.network_sent_bytes = sample.network_sent_bytes;
    shown.rdma_received_bytes = sample.rdma_received_bytes;
    shown.rdma_sent_bytes = sample.rdma_sent_bytes;
    shown.uptime_seconds = sample.uptime_seconds;
    shown.sampled_at = moment(live->second.sampled_at);
    return shown;
}

}  // namespace hostler::master
