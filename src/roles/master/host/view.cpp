#include "roles/master/host/view.h"

#include <fmt/format.h>
#include <algorithm>
#include <boost/describe/enum_from_string.hpp>

#include "api/types_host.h"
#include "core/quantity.h"
#include "roles/master/health/health.h"
#include "roles/master/scheduler/capacity.h"
#include "roles/master/scheduler/traits.h"
#include "roles/master/state/views.h"

namespace hostler::master {

namespace {

const Claim* claim_of(const Desk& desk, const std::string& host, const std::string& gpu) {
    for (const Claim* claim : desk.estate.claims.by().host.of(host))
        if (std::ranges::count(claim->gpus, gpu) > 0) return claim;
    return nullptr;
}

std::optional<double> in_thousands(const Metric& value) {
    return value ? std::optional{static_cast<double>(*value) / 1e3} : std::nullopt;
}

void show_admission(const Host& host, api::Host& shown) {
    const HostAdmission& known = host.admission;
    boost::describe::enum_from_string(text_of(known.state).c_str(), shown.admission);
    shown.admission_reasons = known.reasons;
    shown.tier = text_of(tier_of(host.facts, known));
    shown.measured_at = wall_if(known.measured_at);
    shown.proved_at = wall_if(known.proved_at);
    if (known.disk.write_mb_s) shown.disk_write_mb_s = static_cast<double>(*known.disk.write_mb_s);
    if (known.disk.read_mb_s) shown.disk_read_mb_s = static_cast<double>(*known.disk.read_mb_s);
    if (!known.disk.skipped.empty()) shown.problems.push_back(known.disk.skipped);
}

void show_network(const Host& host, api::Host& shown) {
    for (const AccessSpeed& way : host.network)
        shown.network.push_back({.access_point = way.access,
                                 .round_trip_ms = in_thousands(way.figures.round_trip_us),
                                 .down_mbit_s = in_thousands(way.figures.down_kbit_s),
                                 .up_mbit_s = in_thousands(way.figures.up_kbit_s),
                                 .measured_at = wall_if(way.measured_at),
                                 .problem = way.failure});
}

void show_rating(const Host& host, api::Gpu& shown) {
    const RatedGpu* measured = rated(host.admission, shown.id);
    const GpuRating rating = measured ? measured->rating : GpuRating{};
    shown.gpu_class = rating.gpu_class;
    shown.tier = text_of(rating.tier);
    shown.verdict = text_of(rating.verdict);
    shown.evidence = rating.evidence;
    if (!measured) return;
    const GpuFigures& figures = measured->figures;
    shown.memory_copy_gb_s = in_thousands(figures.memory_copy_mb_s);
    shown.fp32_tflops = in_thousands(figures.fp32_gflops);
    shown.tensor_tflops = in_thousands(figures.tensor_gflops);
    shown.host_to_gpu_gb_s = in_thousands(figures.host_to_gpu_mb_s);
    shown.gpu_to_host_gb_s = in_thousands(figures.gpu_to_host_mb_s);
}

}  // namespace

std::string host_name(const Desk& desk, const std::string& id) {
    const Host* host = desk.estate.hosts.find(id);
    return host && !host->facts.hostname.empty() ? host->facts.hostname : id;
}

std::string drain_notice(const Desk& desk, const std::string& host) {
    const Drain* drain = desk.estate.drains.find(host);
    if (!drain) return {};
    return fmt::format("Its host {} is being drained: remaining instances are stopped at {}.{}{}",
                       host_name(desk, host), rfc3339(wall(drain->stop_at)), drain->reason.empty() ? "" : " ",
                       drain->reason);
}

api::HostState state_of(const Desk& desk, const Host& host) {
    using api::HostState;
    if (!host.quarantined.empty() && host.phase != HostPhase::retired) return HostState::quarantined;
    switch (host.phase) {
        case HostPhase::joining: return HostState::joining;
        case HostPhase::unreachable: return HostState::unreachable;
        case HostPhase::lost: return HostState::lost;
        case HostPhase::retired: return HostState::retired;
        case HostPhase::ready: break;
    }
    if (const Drain* drain = desk.estate.drains.find(host.id))
        return drain->empty_at != 0 ? HostState::drained : HostState::draining;
    if (host.cordoned) return HostState::cordoned;
    if (!needs_reboot(host).empty() || !host.engine_error.empty()) return HostState::faulty;
    if (host.admission.state == hostler::Admission::admitted) return HostState::ready;
    return host.admission.state == hostler::Admission::refused ? HostState::refused : HostState::unmeasured;
}

api::Host view(const Desk& desk, const Host& host) {
    api::Host shown;
    shown.id = host.id;
    shown.name = host.facts.hostname;
    shown.zone = host.zone;
    shown.provider = host.owner;
    shown.state = state_of(desk, host);
    if (const Drain* drain = desk.estate.drains.find(host.id)) {
        shown.drain_until = wall(drain->stop_at);
        shown.drain_reason = drain->reason;
    }
    const std::string fault = needs_reboot(host);
    shown.reason = !host.quarantined.empty()                              ? "quarantined"
                   : !host.engine_error.empty()                           ? "engine_down"
                   : host.phase != HostPhase::ready                       ? text_of(host.phase)
                   : host.cordoned                                        ? "cordoned"
                   : !fault.empty()                                       ? "reboot"
                   : host.admission.state != hostler::Admission::admitted ? text_of(host.admission.state)
                   : host.facts.gpus.empty()                              ? "no_gpus"
                                                                          : "";
    const auto& admission = host.admission;
    const std::string held_back = admission.state == hostler::Admission::admitted || admission.reasons.empty()
                                      ? ""
                                      : admission.reasons.front();
    shown.message = !host.quarantined.empty()    ? host.quarantined
                    : !host.engine_error.empty() ? host.engine_error
                    : !host.message.empty()      ? host.message
                    : !fault.empty()             ? fault
                    : shown.reason == "no_gpus"  ? "it has no GPUs: only what needs none is placed on it"
                                                 : held_back;
    shown.cordoned = host.cordoned;
    shown.simulated = host.facts.simulated;
    shown.gpus = static_cast<int>(host.facts.gpus.size());
    const auto& rooms = room(desk).hosts();
    if (const auto there = rooms.find(host.id); there != rooms.end()) {
        const Candidate* free = &there->second.free;
        shown.gpus_free = static_cast<int>(free->gpus.size());
        shown.cpu_free = to_string(Quantity{free->cpu_milli});
        shown.memory_free_bytes = free->memory_bytes;
        shown.volume_free_bytes =
            free->volumes_refused.empty() ? std::max<std::int64_t>(free->volume_bytes, 0) : 0;
    }
    for (const GpuFacts& gpu : host.facts.gpus)
        if (std::ranges::count(shown.gpu_models, gpu.model) == 0) shown.gpu_models.push_back(gpu.model);
    shown.cpus = host.facts.cpus;
    shown.memory_bytes = host.facts.memory_bytes;
    shown.disk_bytes = host.facts.disk_bytes;
    shown.disk_free_bytes = host.facts.disk_free_bytes;
    for (const Instance* instance : desk.estate.instances.by().host.of(host.id))
        if (has_place(instance->phase)) ++shown.instances;
    shown.os = host.facts.os;
    shown.kernel = host.facts.kernel;
    shown.architecture = host.facts.architecture;
    shown.cpu_model = host.facts.cpu_model;
    shown.driver_version = host.facts.driver_version;
    shown.cuda_version = host.facts.cuda_version;
    shown.agent_version = host.agent_version;
    shown.engine = host.engine;
    shown.user_namespaces = host.facts.user_namespaces;
    shown.programs = host.facts.programs;
    shown.problems = host.facts.problems;
    if (!host.facts.volumes_refused.empty())
        shown.problems.push_back("no volumes: " + host.facts.volumes_refused);
    if (!host.facts.disk_unlimited.empty())
        shown.problems.push_back("no limit of what containers write: " + host.facts.disk_unlimited);
    if (!host.facts.files_damaged.empty())
        shown.problems.push_back("files of its agent were damaged: " + host.facts.files_damaged);
    shown.joined_at = wall(host.joined_at);
    api::HostMachine machine{.serial_number = host.facts.serial,
                             .system_uuid = host.facts.system_uuid,
                             .gpu_serial_numbers = {},
                             .addresses = host.facts.addresses};
    for (const GpuFacts& gpu : host.facts.gpus)
        if (!gpu.serial.empty()) machine.gpu_serial_numbers.push_back(gpu.serial);
    if (machine != api::HostMachine{}) shown.machine = std::move(machine);
    shown.rack = host.rack;
    shown.labels = host.labels;
    shown.trust = trust_of(host) == Trust::trusted ? api::Trust::trusted : api::Trust::community;
    show_admission(host, shown);
    show_network(host, shown);
    const auto live = desk.live.hosts.find(host.id);
    if (live != desk.live.hosts.end()) {
        shown.access_point = live->second.connected ? live->second.access : "";
        shown.seen_at = wall_if(live->second.heard_at);
        shown.reports_dropped = static_cast<std::int64_t>(live->second.reports_dropped);
        shown.reports_lost = static_cast<std::int64_t>(live->second.reports_lost);
        if (live->second.connected && live->second.rtt_us > 0)
            shown.access_rtt_ms = static_cast<double>(live->second.rtt_us) / 1000;
        if (live->second.connected)
            for (const auto& [name, session] : live->second.ways)
                if (name != live->second.access) shown.standby_access_points.push_back(name);
    }
    return shown;
}

api::Gpu view(const Desk& desk, const Host& host, const GpuFacts& gpu) {
    api::Gpu shown;
    shown.id = gpu.uuid;
    shown.host = host.id;
    shown.host_name = host.facts.hostname;
    shown.zone = host.zone;
    shown.index = gpu.index;
    shown.vendor = text_of(gpu.vendor);
    shown.model = gpu.model;
    shown.serial_number = gpu.serial;
    if (const auto state = host.gpu_states.find(gpu.uuid); state != host.gpu_states.end()) {
        boost::describe::enum_from_string(text_of(state->second.health).c_str(), shown.state);
        shown.reason = text_of(state->second.health);
        shown.message = state->second.reason;
        shown.remedy = text_of(state->second.remedy);
        shown.since = wall_if(state->second.since);
    }
    if (const Claim* claim = claim_of(desk, host.id, gpu.uuid)) {
        shown.held_by = claim->holder;
        const Instance* instance = desk.estate.instances.find(claim->holder);
        const Slot* slot = desk.estate.slots.find(claim->holder);
        const ClusterNode* node = desk.estate.cluster_nodes.find(claim->holder);
        if (node) shown.cluster = node->cluster;
        shown.holder = instance ? instance->caller_id : slot ? slot->spec : node ? node->name : claim->holder;
        switch (claim->use) {
            case ClaimUse::stock: shown.use = api::GpuUse::stock; break;
            case ClaimUse::instance:
            case ClaimUse::reserved:
            case ClaimUse::leaving: shown.use = api::GpuUse::instance; break;
            case ClaimUse::node: shown.use = api::GpuUse::cluster; break;
            case ClaimUse::foreign: shown.use = api::GpuUse::foreign; break;
        }
    }
    shown.simulated = host.facts.simulated;
    if (gpu.memory_bytes > 0) shown.memory_bytes = gpu.memory_bytes;
    shown.memory_unified = has_unified_memory(gpu);
    shown.pci_address = gpu.pci_address;
    shown.numa_node = gpu.numa_node;
    shown.pcie_generation = gpu.pcie_generation_max;
    shown.pcie_width = gpu.pcie_width_max;
    shown.driver_version = host.facts.driver_version;
    shown.compute_capability = gpu.compute_capability;
    shown.mig = text_of(gpu.mig);
    for (const GpuSlice& slice : gpu.slices)
        shown.slices.push_back({.id = slice.uuid,
                                .profile = slice.profile,
                                .gpu_instance = slice.gpu_instance,
                                .compute_instance = slice.compute_instance,
                                .start = slice.start,
                                .size = slice.size,
                                .multiprocessors = slice.multiprocessors,
                                .memory_bytes = slice.memory_bytes});
    show_rating(host, shown);
    const auto live = desk.live.hosts.find(host.id);
    if (live == desk.live.hosts.end()) return shown;
    if (const auto sample = live->second.samples.find(gpu.uuid); sample != live->second.samples.end()) {
        for (api::GpuSlice& slice : shown.slices) {
            const auto& parts = sample->second.slices;
            const auto part = std::ranges::find(parts, slice.id, &SliceSample::uuid);
            if (part == parts.end()) continue;
            slice.memory_used_bytes = part->memory_used_bytes;
            if (part->graphics_active_ppm)
                slice.active_percent = static_cast<double>(*part->graphics_active_ppm) / 1e4;
        }
        const auto as_double = [](const Metric& metric, double scale) {
            return metric ? std::optional{static_cast<double>(*metric) * scale} : std::nullopt;
        };
        if (sample->second.pod && shown.use == api::GpuUse::cluster) {
            shown.pod_namespace = sample->second.pod->pod_namespace;
            shown.pod = sample->second.pod->name;
            shown.container = sample->second.pod->container;
        }
        shown.memory_used_bytes = sample->second.memory_used_bytes;
        shown.utilization_percent = as_double(sample->second.utilisation_percent, 1);
        shown.temperature_celsius = as_double(sample->second.temperature_celsius, 1);
        shown.power_watts = as_double(sample->second.power_mw, 0.001);
        shown.sampled_at = wall_if(live->second.sampled_at);
    }
    return shown;
}

}  // namespace hostler::master
