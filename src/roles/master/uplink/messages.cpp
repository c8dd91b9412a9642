#include "roles/master/uplink/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "core/ip_address.h"
#include "core/safe_text.h"
#include "domain/inventory/metrics.h"
#include "proto/uplink.pb.h"

namespace hostler::master {

namespace {

template <class Enum>
Enum enum_of(const std::string& text, Enum otherwise) {
    Enum value = otherwise;
    return boost::describe::enum_from_string(text.c_str(), value) ? value : otherwise;
}

// What a host says of itself is kept, shown and compared: no more of it than an agent of ours says.
constexpr std::size_t gpus_max = 256;
constexpr int slices_max = 64;  // Of a GPU.
constexpr std::size_t addresses_max = 16;
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
    facts.serial = brief(from.serial());
    facts.system_uuid = brief(from.system_uuid());
    for (const std::string& text : from.addresses())
        if (const auto address = parse_ip(text); address && facts.addresses.size() < addresses_max)
            facts.addresses.push_back(address->bare_text());
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
    facts.programs = from.programs();
    facts.clusters = from.clusters();
    facts.cluster_saves = from.clusters() && from.cluster_saves();
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
    seen.project = from.project();
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
    constexpr std::uint64_t kills_max = 1'000'000'000;
    constexpr std::size_t process_bytes_max = 256;  // A name has 15, of which each may be shown as four.
    if (from.has_memory_kills())
        seen.memory_kills = {
            .count = static_cast<std::int64_t>(std::min(from.memory_kills().count(), kills_max)),
            .process = from.memory_kills().process().size() <= process_bytes_max
                           ? safe_line(from.memory_kills().process())
                           : std::string{}};
    constexpr std::uint32_t processes_max = 1 << 30;
    seen.processes = static_cast<int>(std::min(from.processes(), processes_max));
    seen.processes_max = static_cast<int>(std::min(from.processes_max(), processes_max));
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
           is_short_word(workload.tenant()) && is_short_word(workload.project()) &&
           is_short_word(workload.network()) && std::ranges::all_of(workload.mounts(), [](const auto& mount) {
               return is_short_word(mount.volume());
           });
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
        sample.pod.reset();
        if (!gpu.has_pod()) continue;
        GpuPod pod{gpu.pod().pod_namespace(), gpu.pod().name(), gpu.pod().container()};
        if (is_valid(pod)) sample.pod = std::move(pod);
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

DiskUses disks_of(const uplink::DiskUses& from) {
    DiskUses told;
    const auto number = [](std::uint64_t value) {
        return static_cast<std::int64_t>(std::min<std::uint64_t>(value, std::uint64_t{1} << 62));
    };
    for (const auto& one : from.of()) {
        if (told.volumes.size() + told.layers.size() == disks_host_max) break;
        const bool volume = !one.volume().empty();
        const std::string& id = volume ? one.volume() : one.instance();
        if (id.empty() || !is_short_word(id) || one.total_bytes() == 0) continue;
        // More than there is nothing can take.
        (volume ? told.volumes : told.layers)[id] = {
            .used_bytes = number(std::min(one.used_bytes(), one.total_bytes())),
            .total_bytes = number(one.total_bytes()),
            .used_inodes = number(std::min(one.used_inodes(), one.total_inodes())),
            .total_inodes = number(one.total_inodes())};
    }
    return told;
}

std::map<std::string, InstanceSample> instances_of(const uplink::Report& from, const HostLive& live) {
    std::map<std::string, InstanceSample> told;
    for (const auto& one : from.instances()) {
        if (told.size() == workloads_host_max) break;
        if (one.instance().empty() || !is_short_word(one.instance())) continue;
        InstanceSample& sample = told[one.instance()];
        unpack_metrics({one.values().data(), static_cast<std::size_t>(one.values_size())},
                       live.instance_order, sample);
        detail::each_metric<InstanceSample>([&](std::string_view, auto member) {
            if (sample.*member && *(sample.*member) < 0) (sample.*member).reset();
        });
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
    live.instance_order = metric_order<InstanceSample>(hello.instance_metrics());
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
        report.layers_ahead = from.layers_ahead();
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
    if (from.has_disks()) report.disks = disks_of(from.disks());
    report.instances = instances_of(from, live);
    if (from.has_pod_devices()) {
        const auto count = [](std::uint64_t value) { return std::min<std::uint64_t>(value, 1ULL << 62); };
        const auto gpus = [](std::uint32_t value) { return std::min<std::uint32_t>(value, gpus_max); };
        const auto& told = from.pod_devices();
        report.pod_devices = {.offered = gpus(told.offered()),
                              .allocated = std::nullopt,
                              .allocations = count(told.allocations()),
                              .refused = count(told.refused())};
        if (told.has_allocated()) report.pod_devices->allocated = gpus(told.allocated());
    }
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
    constexpr std::size_t outputs_max = 2048;
    constexpr std::size_t output_bytes_max = 64 << 10;
    for (const auto& [name, value] : update.outputs())
        if (answer.outputs.size() < outputs_max && name.size() <= words_max &&
            value.size() <= output_bytes_max)
            answer.outputs.emplace(name, value);
    constexpr int leftovers_max = 64;
    for (int i = 0; i < std::min(update.leftovers().size(), leftovers_max); ++i)
        answer.leftovers.push_back(
            fmt::format("{} {}", brief(update.leftovers(i).kind()), brief(update.leftovers(i).name())));
    answer.killed_generation = update.killed().generation();
    answer.killed_after_s = std::clamp<std::int64_t>(update.killed().grace_ms(), 0, 24 * 3'600'000) / 1000;
    return answer;
}

}  // namespace hostler::master
