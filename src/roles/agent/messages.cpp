#include "roles/agent/messages.h"

#include <algorithm>

#include <boost/describe/enum_from_string.hpp>
#include <boost/describe/enum_to_string.hpp>

#include "core/utf8.h"
#include "domain/inventory/metrics.h"
#include "proto/uplink.pb.h"

namespace hostler::agent {

namespace {

constexpr std::size_t words_max = 256;  // Bytes of a model's name and the like.

bool control(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f;
}

std::string words(std::string_view text) { return clean_text(text, words_max); }

template <class Number>
std::uint32_t positive(Number value) {
    return value < 0 ? 0 : static_cast<std::uint32_t>(value);
}

std::uint64_t bytes(std::int64_t value) { return value < 0 ? 0 : static_cast<std::uint64_t>(value); }

void fill(uplink::GpuEvidence& into, const GpuEvidence& evidence) {
    into.set_kind(words(evidence.kind));
    into.set_code(evidence.code);
    into.set_count(evidence.count);
    into.set_first_time(evidence.first_at);
    into.set_last_time(evidence.last_at);
    into.set_health(boost::describe::enum_to_string(evidence.health, ""));
    into.set_remedy(boost::describe::enum_to_string(evidence.remedy, ""));
    into.set_message(words(evidence.sentence));
}

// A name that a newer agent wrote stands for the worst.
template <class Enum>
Enum enum_of(const std::string& name, Enum otherwise) {
    Enum found = otherwise;
    return boost::describe::enum_from_string(name.c_str(), found) ? found : otherwise;
}

}  // namespace

uplink::Gpu gpu_message(const GpuFacts& gpu, const GpuState& state) {
    uplink::Gpu into;
    into.set_uuid(words(gpu.uuid));
    into.set_vendor(boost::describe::enum_to_string(gpu.vendor, "other"));
    into.set_model(words(gpu.model));
    into.set_index(positive(gpu.index));
    into.set_minor(positive(gpu.minor));
    into.set_pci_address(words(gpu.pci_address));
    into.set_memory_bytes(bytes(gpu.memory_bytes));
    into.set_core_count(positive(gpu.core_count));
    into.set_serial(words(gpu.serial));
    into.set_vbios(words(gpu.vbios));
    into.set_architecture(words(gpu.architecture));
    into.set_compute_capability(words(gpu.compute_capability));
    into.set_numa_node(gpu.numa_node);
    into.set_pcie_generation(positive(gpu.pcie_generation));
    into.set_pcie_generation_max(positive(gpu.pcie_generation_max));
    into.set_pcie_width(positive(gpu.pcie_width));
    into.set_pcie_width_max(positive(gpu.pcie_width_max));
    into.set_nvlinks_active(positive(std::ranges::count_if(gpu.nvlinks, &NvLink::active)));
    into.set_health(boost::describe::enum_to_string(state.health, ""));
    into.set_health_reason(words(state.reason));
    into.set_remedy(boost::describe::enum_to_string(state.remedy, ""));
    into.set_health_since(state.since);
    into.set_testing_until(state.testing_until);
    for (const auto& evidence : state.evidence) fill(*into.add_evidence(), evidence);
    into.set_driver(words(gpu.driver));
    into.set_cdi_name(words(gpu.cdi_name));
    into.set_product(words(gpu.product));
    into.set_pci_id(words(gpu.pci_id));
    into.set_mig(boost::describe::enum_to_string(gpu.mig, ""));
    for (const GpuSlice& slice : gpu.slices) {
        auto& one = *into.add_slices();
        one.set_uuid(words(slice.uuid));
        one.set_profile(words(slice.profile));
        one.set_gpu_instance(positive(slice.gpu_instance));
        one.set_compute_instance(positive(slice.compute_instance));
        one.set_start(slice.start);
        one.set_size(positive(slice.size));
        one.set_multiprocessors(positive(slice.multiprocessors));
        one.set_memory_bytes(bytes(slice.memory_bytes));
    }
    return into;
}

GpuFacts facts_of(const uplink::Gpu& gpu) {
    GpuFacts facts;
    facts.uuid = gpu.uuid();
    facts.vendor = enum_of(gpu.vendor(), GpuVendor::other);
    facts.model = gpu.model();
    facts.pci_address = gpu.pci_address();
    facts.memory_bytes = static_cast<std::int64_t>(gpu.memory_bytes());
    facts.core_count = static_cast<int>(gpu.core_count());
    facts.serial = gpu.serial();
    facts.cdi_name = gpu.cdi_name();
    facts.driver = gpu.driver();
    facts.product = gpu.product();
    facts.pci_id = gpu.pci_id();
    return facts;
}

GpuState state_of(const uplink::Gpu& gpu) {
    GpuState state{.health = enum_of(gpu.health(), GpuHealth::faulty), .reason = gpu.health_reason()};
    state.remedy = enum_of(gpu.remedy(), Remedy::none);
    state.since = gpu.health_since();
    state.testing_until = gpu.testing_until();
    for (const auto& from : gpu.evidence()) {
        GpuEvidence one{.kind = from.kind(), .code = from.code()};
        one.count = from.count();
        one.first_at = from.first_time();
        one.last_at = from.last_time();
        one.health = enum_of(from.health(), GpuHealth::faulty);
        one.remedy = enum_of(from.remedy(), Remedy::none);
        one.sentence = from.message();
        state.evidence.push_back(std::move(one));
    }
    return state;
}

std::string clean_text(std::string_view text, std::size_t bytes_max) {
    std::string clean;
    clean.reserve(std::min(text.size(), bytes_max));
    const std::size_t end = text.size();
    for (std::size_t at = 0; at < end;) {
        if (text.size() > bytes_max && at < end - bytes_max / 2 && clean.size() + 8 > bytes_max / 2) {
            clean += " […] ";
            at = end - bytes_max / 2 + 16;  // Room for the mark and for half a letter.
            while (at < end && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) ++at;
            continue;
        }
        const std::size_t size = utf8_length(text.substr(at));
        if (size == 0 || (size == 1 && control(text[at]))) {
            clean += '?';
            ++at;
        } else {
            clean += text.substr(at, size);
            at += size;
        }
    }
    return clean;
}

uplink::HostFacts facts_message(const HostFacts& facts, const health::Book& health) {
    uplink::HostFacts made;
    made.set_hostname(words(facts.hostname));
    made.set_os(words(facts.os));
    made.set_kernel(words(facts.kernel));
    made.set_cpu_model(words(facts.cpu_model));
    made.set_cpus(positive(facts.cpus));
    made.set_memory_bytes(bytes(facts.memory_bytes));
    made.set_disk_bytes(bytes(facts.disk_bytes));
    made.set_disk_free_bytes(bytes(facts.disk_free_bytes));
    made.set_driver_version(words(facts.driver_version));
    made.set_cuda_version(words(facts.cuda_version));
    made.set_simulated(facts.simulated);
    made.set_serial(words(facts.serial));
    made.set_system_uuid(words(facts.system_uuid));
    for (const std::string& address : facts.addresses) made.add_addresses(words(address));
    for (const auto& gpu : facts.gpus) *made.add_gpus() = gpu_message(gpu, health.of(gpu.uuid));
    for (const auto& link : facts.topology) {
        auto& into = *made.add_links();
        into.set_a(words(link.a));
        into.set_b(words(link.b));
        into.set_kind(boost::describe::enum_to_string(link.kind, "sys"));
        into.set_width(positive(link.width));
    }
    return made;
}

uplink::Measured measured_message(const HostFigures& figures) {
    uplink::Measured made;
    const auto sentences = [](const std::vector<std::string>& from, auto add) {
        for (const auto& sentence : from) add(words(sentence));
    };
    for (const GpuFigures& gpu : figures.gpus) {
        auto& into = *made.add_gpus();
        into.set_uuid(words(gpu.uuid));
        into.set_product(words(gpu.product));
        if (gpu.memory_checked_bytes) into.set_memory_checked_bytes(*gpu.memory_checked_bytes);
        if (gpu.memory_copy_mb_s) into.set_memory_copy_mb_s(*gpu.memory_copy_mb_s);
        if (gpu.fp32_gflops) into.set_fp32_gflops(*gpu.fp32_gflops);
        if (gpu.tensor_gflops) into.set_tensor_gflops(*gpu.tensor_gflops);
        if (gpu.host_to_gpu_mb_s) into.set_host_to_gpu_mb_s(*gpu.host_to_gpu_mb_s);
        if (gpu.gpu_to_host_mb_s) into.set_gpu_to_host_mb_s(*gpu.gpu_to_host_mb_s);
        for (const GpuPeerFigure& peer : gpu.peers) {
            auto& to = *into.add_peers();
            to.set_uuid(words(peer.uuid));
            if (peer.copy_mb_s) to.set_copy_mb_s(*peer.copy_mb_s);
            to.set_direct(peer.direct);
        }
        sentences(gpu.skipped, [&](std::string text) { into.add_skipped(std::move(text)); });
        sentences(gpu.faults, [&](std::string text) { into.add_faults(std::move(text)); });
    }
    sentences(figures.problems, [&](std::string text) { made.add_problems(std::move(text)); });
    auto& disk = *made.mutable_disk();
    if (figures.disk.write_mb_s) disk.set_write_mb_s(*figures.disk.write_mb_s);
    if (figures.disk.read_mb_s) disk.set_read_mb_s(*figures.disk.read_mb_s);
    disk.set_skipped(words(figures.disk.skipped));
    return made;
}

uplink::GpuProof proof_message(const GpuProof& proof) {
    uplink::GpuProof made;
    made.set_uuid(words(proof.uuid));
    made.set_words(proof.words);
    for (const std::uint32_t answer : proof.answers) made.add_answers(answer);
    for (const auto& problem : proof.problems) made.add_problems(words(problem));
    return made;
}

uplink::GpuSample sample_message(const GpuSample& sample) {
    uplink::GpuSample made;
    made.set_uuid(words(sample.uuid));
    for (const double value : pack_metrics(sample)) made.add_values(value);
    for (const SliceSample& slice : sample.slices) {
        auto& one = *made.add_slices();
        one.set_uuid(words(slice.uuid));
        for (const double value : pack_metrics(slice)) one.add_values(value);
    }
    if (sample.pod) {
        made.mutable_pod()->set_pod_namespace(words(sample.pod->pod_namespace));
        made.mutable_pod()->set_name(words(sample.pod->name));
        made.mutable_pod()->set_container(words(sample.pod->container));
    }
    return made;
}

uplink::WorkloadUse use_message(const WorkloadUse& use) {
    uplink::WorkloadUse made;
    made.set_instance(words(use.instance));
    made.set_gpu(words(use.gpu));
    made.set_processes(positive(use.processes));
    if (use.memory_bytes) made.set_memory_bytes(*use.memory_bytes);
    if (use.utilisation_percent) made.set_utilisation_percent(*use.utilisation_percent);
    if (use.memory_utilisation_percent) made.set_memory_utilisation_percent(*use.memory_utilisation_percent);
    return made;
}

uplink::DiskUse disk_use_message(const DiskUse& use) {
    uplink::DiskUse made;
    made.set_used_bytes(bytes(use.used_bytes.value_or(0)));
    made.set_total_bytes(bytes(use.total_bytes.value_or(0)));
    made.set_used_inodes(bytes(use.used_inodes.value_or(0)));
    made.set_total_inodes(bytes(use.total_inodes.value_or(0)));
    return made;
}

void name_metrics(uplink::AgentHello& hello) {
    for (const auto name : metric_names<GpuSample>()) hello.add_gpu_metrics(std::string{name});
    for (const auto name : metric_names<HostSample>()) hello.add_host_metrics(std::string{name});
    for (const auto name : metric_names<SliceSample>()) hello.add_slice_metrics(std::string{name});
    for (const auto name : metric_names<InstanceSample>()) hello.add_instance_metrics(std::string{name});
}

uplink::HostSample sample_message(const HostSample& sample) {
    uplink::HostSample made;
    for (const double value : pack_metrics(sample)) made.add_values(value);
    return made;
}

uplink::InstanceSample sample_message(const std::string& instance, const InstanceSample& sample) {
    uplink::InstanceSample made;
    made.set_instance(words(instance));
    for (const double value : pack_metrics(sample)) made.add_values(value);
    return made;
}

uplink::Fault fault_message(const GpuFault& fault, WallTime at) {
    uplink::Fault made;
    made.set_gpu(words(fault.uuid));
    made.set_kind(words(fault.kind));
    made.set_number(fault.code);
    made.set_message(words(health::meaning(fault).sentence));
    made.set_time(at.time_since_epoch().count());
    return made;
}

uplink::Workload workload_message(const Workload& workload) {
    constexpr std::size_t detail_max = 2048;
    uplink::Workload made;
    made.set_instance(words(workload.instance));
    made.set_generation(workload.generation);
    made.set_state(boost::describe::enum_to_string(workload.state, "absent"));
    made.set_ready(workload.ready);
    made.set_exit_code(workload.exit_code);
    made.set_oom_killed(workload.oom_killed);
    made.set_detail(clean_text(workload.detail, detail_max));
    made.set_address(words(workload.address));
    constexpr std::size_t long_max = 1024;  // Of images and paths.
    made.set_tenant(words(workload.tenant));
    made.set_project(words(workload.project));
    made.set_name(words(workload.name));
    made.set_image(clean_text(workload.image, long_max));
    made.set_network(words(workload.network));
    for (const std::string& gpu : workload.gpus) made.add_gpus(words(gpu));
    made.set_cpu_milli(workload.cpu_milli);
    made.set_memory_bytes(workload.memory_bytes);
    for (const std::uint16_t number : workload.ports) {
        auto& port = *made.add_ports();
        port.set_port(number);
        const auto probe = workload.probes.find(number);
        if (probe == workload.probes.end()) continue;
        port.set_probe(true);
        port.set_probe_path(clean_text(probe->second, long_max));
    }
    for (std::size_t i = 0; i < workload.volumes.size() && i < workload.mounts.size(); ++i) {
        auto& mount = *made.add_mounts();
        mount.set_volume(words(workload.volumes[i]));
        mount.set_path(clean_text(workload.mounts[i].target, long_max));
        mount.set_read_only(workload.mounts[i].read_only);
    }
    made.set_jupyter_port(workload.jupyter_port);
    made.set_jupyter_path(clean_text(workload.jupyter_path, long_max));
    return made;
}

}  // namespace hostler::agent
