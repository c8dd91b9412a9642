#include "roles/master/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "domain/inventory/metrics.h"
#include "proto/uplink.pb.h"
#include "roles/master/access_rules.h"
#include "roles/master/instance_rules.h"
#include "roles/master/layer_rules.h"
#include "roles/master/measure_rules.h"
#include "roles/master/move_rules.h"
#include "roles/master/secret_rules.h"

namespace hostler::master {

namespace {

template <class Enum>
Enum enum_of(const std::string& text, Enum otherwise) {
    Enum value = otherwise;
    return boost::describe::enum_from_string(text.c_str(), value) ? value : otherwise;
}

// What a host says of itself is kept, shown and compared: no more of it than an agent of ours says.
constexpr std::size_t gpus_max = 256;
constexpr int slices_max = 64;          // Of a GPU.
constexpr std::size_t words_max = 512;  // Bytes of a name or a sentence.
constexpr std::uint32_t cpus_max = 1 << 16;

std::string brief(const std::string& text) { return text.size() <= words_max ? text : std::string{}; }

bool is_plausible(const uplink::Gpu& gpu) {
    return std::ranges::max({gpu.uuid().size(), gpu.model().size(), gpu.pci_address().size(),
                             gpu.health_reason().size()}) <= words_max;
}

GpuFacts gpu_of(const uplink::Gpu& from) {
    GpuFacts gpu;
    gpu.uuid = from.uuid();
    gpu.vendor = enum_of(from.vendor(), GpuVendor::other);
    gpu.model = from.model();
    gpu.index = static_cast<int>(from.index());
    gpu.minor = static_cast<int>(from.minor());
    gpu.pci_address = from.pci_address();
    gpu.memory_bytes = static_cast<std::int64_t>(from.memory_bytes());
    gpu.core_count = static_cast<int>(from.core_count());
    gpu.serial = brief(from.serial());
    gpu.vbios = brief(from.vbios());
    gpu.architecture = brief(from.architecture());
    gpu.compute_capability = brief(from.compute_capability());
    gpu.numa_node = from.numa_node();
    gpu.pcie_generation = static_cast<int>(from.pcie_generation());
    gpu.pcie_width = static_cast<int>(from.pcie_width());
    gpu.pcie_generation_max = static_cast<int>(from.pcie_generation_max());
    gpu.pcie_width_max = static_cast<int>(from.pcie_width_max());
    gpu.driver = brief(from.driver());
    gpu.cdi_name = brief(from.cdi_name());
    gpu.product = brief(from.product());
    gpu.pci_id = brief(from.pci_id());
    gpu.mig = enum_of(from.mig(), MigMode::unsupported);
    for (int i = 0; i < std::min(from.slices_size(), slices_max); ++i) {
        const auto& slice = from.slices(i);
        if (slice.uuid().empty() || slice.uuid().size() > words_max) continue;
        gpu.slices.push_back({.uuid = slice.uuid(),
                              .profile = brief(slice.profile()),
                              .gpu_instance = static_cast<int>(slice.gpu_instance()),
                              .compute_instance = static_cast<int>(slice.compute_instance()),
                              .start = slice.start(),
                              .size = static_cast<int>(slice.size()),
                              .multiprocessors = static_cast<int>(slice.multiprocessors()),
                              .memory_bytes = static_cast<std::int64_t>(slice.memory_bytes())});
    }
    return gpu;
}

GpuState state_of(const uplink::Gpu& from) {
    constexpr int evidence_max = 16;
    GpuState state;
    if (!from.health().empty()) state.health = enum_of(from.health(), GpuHealth::faulty);
    state.reason = from.health_reason();
    state.remedy = enum_of(from.remedy(), Remedy::none);
    state.since = from.health_since();
    state.testing_until = from.testing_until();
    for (int i = 0; i < std::min(from.evidence_size(), evidence_max); ++i) {
        const auto& one = from.evidence(i);
        state.evidence.push_back({.kind = brief(one.kind()),
                                  .code = one.code(),
                                  .count = one.count(),
                                  .first_at = one.first_time(),
                                  .last_at = one.last_time(),
                                  .health = enum_of(one.health(), GpuHealth::faulty),
                                  .remedy = enum_of(one.remedy(), Remedy::none),
                                  .sentence = brief(one.message())});
    }
    return state;
}

void read_facts(const uplink::HostFacts& from, HostReport& into) {
    HostFacts facts;
    facts.hostname = brief(from.hostname());
    facts.os = brief(from.os());
    facts.kernel = brief(from.kernel());
    facts.cpu_model = brief(from.cpu_model());
    facts.cpus = static_cast<int>(std::min(from.cpus(), cpus_max));
    facts.memory_bytes = static_cast<std::int64_t>(from.memory_bytes());
    facts.disk_bytes = static_cast<std::int64_t>(from.disk_bytes());
    facts.disk_free_bytes = static_cast<std::int64_t>(from.disk_free_bytes());
    facts.volume_bytes = static_cast<std::int64_t>(from.volume_bytes());
    facts.volumes_refused = from.volumes_refused();
    facts.disk_unlimited = brief(from.disk_unlimited());
    facts.limits_disk = from.limits_disk() && facts.disk_unlimited.empty();
    facts.keeps_layers = from.keeps_layers();
    facts.driver_version = brief(from.driver_version());
    facts.cuda_version = brief(from.cuda_version());
    facts.simulated = from.simulated();
    facts.measures = from.measures();
    facts.unmeasurable = brief(from.unmeasurable());
    facts.files_damaged = brief(from.files_damaged());
    for (const auto& gpu : from.gpus()) {
        if (facts.gpus.size() == gpus_max) break;
        if (!is_plausible(gpu)) continue;
        facts.gpus.push_back(gpu_of(gpu));
        GpuState state = state_of(gpu);
        if (state.health != GpuHealth::healthy || !state.evidence.empty())
            into.gpu_states[gpu.uuid()] = std::move(state);
    }
    for (const auto& link : from.links())
        facts.topology.push_back(
            {link.a(), link.b(), enum_of(link.kind(), GpuLinkKind::sys), static_cast<int>(link.width())});
    facts.user_namespaces = from.user_namespaces();
    into.engine = from.engine();
    into.engine_error = from.engine_error();
    if (from.has_images()) {
        into.images.emplace(from.images().names().begin(), from.images().names().end());
        into.images_truncated = from.images().truncated();
    }
    into.facts = std::move(facts);
}

std::vector<std::string> sentences_of(const auto& from) {
    constexpr int sentences_max = 16;
    std::vector<std::string> found;
    for (int i = 0; i < std::min(from.size(), sentences_max); ++i) found.push_back(brief(from[i]));
    return found;
}

GpuFigures figures_of(const uplink::GpuFigures& from) {
    const auto figure = [](bool there, std::int64_t value) {
        return there && value >= 0 ? Metric{value} : std::nullopt;
    };
    GpuFigures gpu{.uuid = brief(from.uuid()), .product = brief(from.product())};
    gpu.memory_checked_bytes = figure(from.has_memory_checked_bytes(), from.memory_checked_bytes());
    gpu.memory_copy_mb_s = figure(from.has_memory_copy_mb_s(), from.memory_copy_mb_s());
    gpu.fp32_gflops = figure(from.has_fp32_gflops(), from.fp32_gflops());
    gpu.tensor_gflops = figure(from.has_tensor_gflops(), from.tensor_gflops());
    gpu.host_to_gpu_mb_s = figure(from.has_host_to_gpu_mb_s(), from.host_to_gpu_mb_s());
    gpu.gpu_to_host_mb_s = figure(from.has_gpu_to_host_mb_s(), from.gpu_to_host_mb_s());
    for (const auto& peer : from.peers()) {
        if (gpu.peers.size() == gpus_max) break;
        gpu.peers.push_back(
            {brief(peer.uuid()), figure(peer.has_copy_mb_s(), peer.copy_mb_s()), peer.direct()});
    }
    gpu.skipped = sentences_of(from.skipped());
    gpu.faults = sentences_of(from.faults());
    return gpu;
}

HostFigures figures_of(const uplink::Measured& from) {
    HostFigures figures;
    for (const auto& gpu : from.gpus())
        if (figures.gpus.size() < gpus_max) figures.gpus.push_back(figures_of(gpu));
    figures.problems = sentences_of(from.problems());
    if (from.disk().has_write_mb_s()) figures.disk.write_mb_s = from.disk().write_mb_s();
    if (from.disk().has_read_mb_s()) figures.disk.read_mb_s = from.disk().read_mb_s();
    figures.disk.skipped = brief(from.disk().skipped());
    return figures;
}

SeenWorkload workload_of(const uplink::Workload& from) {
    SeenWorkload seen;
    seen.state = from.state();
    // Room for the next: that of the stop.
    seen.generation =
        std::min<std::uint64_t>(from.generation(), std::numeric_limits<std::int64_t>::max() - 1);
    seen.ready = from.ready();
    seen.exit_code = from.exit_code();
    seen.oom_killed = from.oom_killed();
    seen.detail = from.detail();
    seen.tenant = from.tenant();
    seen.gpus.assign(from.gpus().begin(), from.gpus().end());
    seen.cpu_milli = from.cpu_milli();
    seen.memory_bytes = from.memory_bytes();
    constexpr std::uint64_t unused_max = std::uint64_t{10} * 366 * 24 * 3600 * 1000;
    if (from.has_unused_ms())
        seen.unused_ms = static_cast<std::int64_t>(std::min(from.unused_ms(), unused_max));
    seen.used_by = from.used_by();
    seen.name = from.name();
    seen.image = from.image();
    seen.network = from.network();
    seen.address = from.address();
    for (const auto& port : from.ports())
        if (port.port() > 0 && port.port() <= 65535)
            seen.ports.push_back({.port = static_cast<int>(port.port()),
                                  .is_probe = port.probe(),
                                  .base_url = port.probe_path()});
    for (const auto& mount : from.mounts())
        seen.mounts.push_back({mount.volume(), mount.path(), mount.read_only()});
    seen.jupyter_port = static_cast<int>(std::min(from.jupyter_port(), 65535u));
    seen.jupyter_path = from.jupyter_path();
    seen.lease_ended = from.lease_ended();
    return seen;
}

// As ids are that we give; a store need not be able to hold others.
bool is_short_word(std::string_view text) {
    constexpr std::size_t size_max = 128;
    return text.size() <= size_max && std::ranges::none_of(text, [](char c) {
               const auto byte = static_cast<unsigned char>(c);
               return byte < 0x20 || byte == 0x7f;
           });
}

bool is_plausible(const uplink::Workload& workload) {
    return !workload.instance().empty() && is_short_word(workload.instance()) &&
           is_short_word(workload.tenant()) && is_short_word(workload.network()) &&
           std::ranges::all_of(workload.mounts(),
                               [](const auto& mount) { return is_short_word(mount.volume()); });
}

// What no agent of ours would say is left out, and of more than a host can run the rest.
template <class Workloads>
void read_workloads(const Workloads& from, HostReport& into) {
    for (const auto& workload : from) {
        if (workload.state() == "absent" || !is_plausible(workload)) continue;
        if (into.workloads.size() == workloads_host_max && !into.workloads.contains(workload.instance())) {
            into.complete = false;
            ++into.workloads_cut;
            continue;
        }
        into.workloads[workload.instance()] = workload_of(workload);
    }
}

void write_network(const Desk& desk, const Subnet& subnet, uplink::EnsureNetwork& into) {
    into.set_network(subnet.id);
    into.set_subnet(desk.pool.subnet(subnet.index));
    into.set_gateway(desk.pool.address(subnet.index, 1));
}

bool write_start(const Desk& desk, const Instance& instance, uplink::StartWorkload& into) {
    const Claim* claim = desk.estate.claims.find(instance.claim);
    const Subnet* subnet = desk.estate.subnets.find(instance.subnet);
    if (!claim || !subnet) return false;
    into.set_instance(instance.id);
    into.set_tenant(instance.tenant);
    into.set_name(instance.caller_id);
    into.set_image(instance.spec.image);
    for (const std::string& word : instance.spec.command) into.add_command(word);
    for (const InstanceVariable& variable : instance.spec.environment) {
        auto& added = *into.add_environment();
        added.set_name(variable.name);
        added.set_value(variable.value);
    }
    into.set_cpu_milli(claim->cpu_milli);
    into.set_memory_bytes(claim->memory_bytes);
    into.set_pids_max(desk.settings.pids_max);
    into.set_disk_bytes(desk.settings.instance_disk_bytes);
    into.set_disk_limit_required(desk.settings.require_disk_limit);
    into.set_keep_layer(keeps_its_layer(instance));
    for (const std::string& gpu : claim->gpus) into.add_gpus(gpu);
    write_network(desk, *subnet, *into.mutable_network());
    into.set_address(instance.address);
    for (const InstancePort& port : instance.spec.ports) {
        auto& added = *into.add_ports();
        added.set_port(static_cast<std::uint32_t>(port.port));
        added.set_protocol(port.protocol);
        added.set_probe(port.is_probe);
        if (port.is_probe) added.set_probe_path(port.base_url);
    }
    for (const InstanceVolume& volume : instance.spec.volumes) {
        auto& added = *into.add_mounts();
        added.set_volume(volume.volume);
        added.set_path(volume.path);
        added.set_read_only(volume.read_only);
    }
    into.set_stop_grace_ms(std::chrono::milliseconds{desk.settings.stop_grace}.count());
    into.set_jupyter_port(static_cast<std::uint32_t>(instance.spec.jupyter_port));
    into.set_jupyter_path(instance.spec.jupyter_path);
    into.set_ready_deadline_ms(std::chrono::milliseconds{desk.settings.ready_deadline}.count());
    if (instance.spec.loss_policy == LossPolicy::move) {
        const auto live = desk.live.hosts.find(instance.host);
        if (live == desk.live.hosts.end() || !live->second.keeps_leases) return false;
        // From what it has said itself: a copy of this that comes late is of no use.
        auto& lease = *into.mutable_lease();
        lease.set_boot_id(live->second.boot_id);
        lease.set_stamp_us(live->second.stamp_us);
        lease.set_length_ms(static_cast<std::uint64_t>(instance.lease_ms));
    }
    return true;
}

// Whoever may not have them gets no start: an older agent would write them down, and give its containers
// none.
bool write_secrets(const Desk& desk, const Instance& instance, uplink::StartWorkload& into) {
    if (!needs_secrets(desk, instance)) return true;
    const auto live = desk.live.hosts.find(instance.host);
    const auto given = given_secrets(desk, instance);
    if (!given || live == desk.live.hosts.end() || !live->second.takes_secrets) return false;
    into.set_has_secrets(true);
    for (const GivenSecret& one : *given) {
        auto& added = *into.add_secrets();
        added.set_variable(one.variable);
        added.set_path(one.path);
        added.set_value(one.value->value);
    }
    const Secret* login = login_for(desk, instance.tenant, instance.spec.image);
    const SecretValue* password = login ? find_value(*login, Secret::password) : nullptr;
    if (!password) return true;
    into.mutable_login()->set_server(login->server);
    into.mutable_login()->set_username(login->username);
    into.mutable_login()->set_password(password->value);
    return true;
}

// A report's and a telemetry frame's alike.
template <class From>
HostTelemetryTold told_in(const From& from, const HostLive& live) {
    constexpr std::size_t uses_max = 4096;
    HostTelemetryTold told;
    for (const auto& gpu : from.gpus()) {
        if (told.gpus.size() == gpus_max) break;
        GpuSample& sample = told.gpus[gpu.uuid()];
        sample.uuid = gpu.uuid();
        unpack_metrics({gpu.values().data(), static_cast<std::size_t>(gpu.values_size())}, live.gpu_order,
                       sample);
        sample.slices.clear();
        for (int i = 0; i < std::min(gpu.slices_size(), slices_max); ++i) {
            const auto& slice = gpu.slices(i);
            SliceSample& part = sample.slices.emplace_back();
            part.uuid = slice.uuid();
            unpack_metrics({slice.values().data(), static_cast<std::size_t>(slice.values_size())},
                           live.slice_order, part);
        }
    }
    if (from.has_host())
        unpack_metrics({from.host().values().data(), static_cast<std::size_t>(from.host().values_size())},
                       live.host_order, told.host.emplace());
    std::set<std::pair<std::string_view, std::string_view>> of;  // One of each GPU and instance.
    for (const auto& use : from.uses()) {
        if (told.uses.size() == uses_max) break;
        if (!of.emplace(use.gpu(), use.instance()).second) continue;
        WorkloadUse made{.instance = use.instance(),
                         .gpu = use.gpu(),
                         .processes = static_cast<int>(std::min<std::uint32_t>(use.processes(), 1 << 20))};
        const auto kept = [](bool has, std::int64_t value) {
            return has ? Metric{std::max<std::int64_t>(value, 0)} : Metric{};
        };
        made.memory_bytes = kept(use.has_memory_bytes(), use.memory_bytes());
        made.utilisation_percent = kept(use.has_utilisation_percent(), use.utilisation_percent());
        made.memory_utilisation_percent =
            kept(use.has_memory_utilisation_percent(), use.memory_utilisation_percent());
        told.uses.push_back(std::move(made));
    }
    return told;
}

}  // namespace

HostReport report_of(const uplink::AgentHello& hello) {
    HostReport report;
    report.agent_version = hello.version();
    report.stamp_us = hello.stamp_us();
    if (hello.has_facts()) read_facts(hello.facts(), report);
    if (report.facts) report.facts->boot_id = hello.boot_id();
    // An engine that does not answer says nothing about what runs.
    report.complete = report.engine_error.empty();
    read_workloads(hello.workloads(), report);
    return report;
}

void learn_order(const uplink::AgentHello& hello, HostLive& live) {
    live.gpu_order = metric_order<GpuSample>(hello.gpu_metrics());
    live.host_order = metric_order<HostSample>(hello.host_metrics());
    live.slice_order = metric_order<SliceSample>(hello.slice_metrics());
}

HostTelemetryTold telemetry_of(const uplink::Telemetry& from, const HostLive& live) {
    return told_in(from, live);
}

HostReport report_of(const uplink::Report& from, const HostLive& live) {
    HostReport report;
    report.sequence = from.sequence();
    report.time = from.time();
    if (from.made_us() != 0 && from.made_us() <= from.stamp_us() && from.stamp_us() < 1ULL << 62)
        report.age_us = static_cast<std::int64_t>(from.stamp_us() - from.made_us());
    report.stamp_us = from.stamp_us();
    if (from.has_facts()) read_facts(from.facts(), report);
    report.complete = from.workloads_complete();
    read_workloads(from.workloads(), report);
    constexpr int faults_max = 64;
    if (report.complete && from.layers_told()) {
        report.layers.emplace();
        for (const auto& layer : from.layers())
            if (report.layers->size() < layers_host_max && !layer.instance().empty() &&
                is_short_word(layer.instance()))
                (*report.layers)[layer.instance()] = {
                    .bytes = static_cast<std::int64_t>(std::min<std::uint64_t>(layer.bytes(), INT64_MAX)),
                    .kept_at = layer.kept_at(),
                    .generation = layer.generation()};
    }
    for (int i = 0; i < std::min(from.faults_size(), faults_max); ++i)
        report.faults.push_back(
            {.uuid = from.faults(i).gpu(), .kind = from.faults(i).kind(), .code = from.faults(i).number()});
    if (from.has_host() || !from.gpus().empty()) report.telemetry = told_in(from, live);
    return report;
}

std::vector<GpuProof> proofs_of(const uplink::CommandUpdate& update) {
    std::vector<GpuProof> proofs;
    for (const auto& from : update.proofs()) {
        if (proofs.size() == gpus_max) break;
        GpuProof& one = proofs.emplace_back();
        one.uuid = brief(from.uuid());
        one.words = from.words();
        one.answers.assign(from.answers().begin(), from.answers().end());
        one.problems = sentences_of(from.problems());
    }
    return proofs;
}

CommandAnswer answer_of(const uplink::CommandUpdate& update) {
    CommandAnswer answer;
    answer.done = update.state() == "done";
    answer.code = update.code();
    answer.reason = update.reason();
    answer.message = update.message();
    if (update.has_measured()) answer.measured = figures_of(update.measured());
    if (update.has_workload()) {
        answer.absent = update.workload().state() == "absent";
        answer.exited = update.workload().state() == "exited" || update.reason() == "exited" ||
                        update.workload().exit_code() != 0;
        answer.exit_code = update.workload().exit_code();
    }
    return answer;
}

bool write_command(const Desk& desk, std::uint64_t epoch, const HostCommand& command, uplink::Command& into) {
    into.set_id(command.id);
    into.set_epoch(epoch);
    into.set_subject(command.subject);
    into.set_generation(command.subject_generation);
    into.set_expires(command.expires_at);
    switch (command.verb) {
        case Verb::start_workload: {
            const Instance* instance = desk.estate.instances.find(command.subject);
            return instance && instance->meta.generation == command.subject_generation &&
                   write_start(desk, *instance, *into.mutable_start_workload()) &&
                   write_secrets(desk, *instance, *into.mutable_start_workload());
        }
        case Verb::stop_workload:
            into.mutable_stop_workload()->set_instance(command.subject);
            into.mutable_stop_workload()->set_grace_ms(
                std::chrono::milliseconds{desk.settings.stop_grace}.count());
            if (const Instance* instance = desk.estate.instances.find(command.subject))
                into.mutable_stop_workload()->set_keep_layer(keeps_its_layer(*instance) &&
                                                             instance->host == command.host);
            return true;
        case Verb::stop_left:
            into.set_subject(left_instance(command.subject));
            into.mutable_stop_workload()->set_instance(into.subject());
            into.mutable_stop_workload()->set_grace_ms(
                std::chrono::milliseconds{desk.settings.stop_grace}.count());
            return true;
        case Verb::stop_unused: {
            const Instance* instance = desk.estate.instances.find(command.subject);
            // Its owner may have changed his mind.
            if (!instance || instance->schedule.inactivity_s == 0 ||
                instance->schedule.kept_until > desk.estate.micros())
                return false;
            auto& stop = *into.mutable_stop_workload();
            stop.set_instance(command.subject);
            stop.set_grace_ms(std::chrono::milliseconds{desk.settings.stop_grace}.count());
            stop.set_keep_layer(may_keep_layer(desk, *instance));
            stop.set_if_unused_ms(static_cast<std::uint64_t>(instance->schedule.inactivity_s) * 1000);
            return true;
        }
        case Verb::create_volume: {
            const Volume* volume = desk.estate.volumes.find(command.subject);
            if (!volume) return false;
            into.mutable_create_volume()->set_volume(volume->id);
            into.mutable_create_volume()->set_size_bytes(
                static_cast<std::uint64_t>(std::max(volume->size_bytes, volume->wanted_bytes)));
            return true;
        }
        case Verb::delete_volume: into.mutable_delete_volume()->set_volume(command.subject); return true;
        case Verb::pull_image: into.mutable_pull_image()->set_image(command.image); return true;
        case Verb::test_gpu: into.mutable_test_gpu()->set_gpu(command.subject); return true;
        case Verb::measure_host: {
            const Host* host = desk.estate.hosts.find(command.subject);
            if (!host) return false;
            into.mutable_measure_host()->set_gpus(host->facts.unmeasurable.empty());
            return true;
        }
        case Verb::prove_gpus: {
            const GpuChallenge challenge = challenge_of(desk, command.id);
            auto& asked = *into.mutable_prove_gpus();
            asked.set_seed(challenge.seed);
            asked.set_rounds(challenge.rounds);
            asked.set_steps(challenge.steps);
            asked.set_walkers(challenge.walkers);
            return true;
        }
        case Verb::remove_network: into.mutable_remove_network()->set_network(command.subject); return true;
    }
    return false;
}

void write_routes(const Desk& desk, const Instance& instance, uplink::Routes& routes) {
    for (const InstancePort& port : instance.spec.ports) {
        auto& route = *routes.add_routes();
        route.set_name(route_name(instance, port.port));
        route.set_own_port(static_cast<std::uint32_t>(port.own_port));
        route.set_tenant(instance.tenant);
        route.set_instance(instance.id);
        route.set_generation(instance.run_generation);
        route.set_port(static_cast<std::uint32_t>(port.port));
        route.set_open_to_all(port.is_public);
        const bool rests = instance.phase == InstancePhase::resting;
        route.set_state(rests ? "resting" : std::string{state_of(instance.phase)});
        route.set_detail(instance.message);
        if (rests)
            route.set_detail(fmt::format("Why: {}.\nStart it again: hostler instance start {}",
                                         instance.message, instance.caller_id));
        route.set_host(instance.host);
        write_ways(desk, instance.host, route);
        route.set_shown_as(instance.caller_id);
    }
}

}  // namespace hostler::master
