// Hosts and their GPUs.
#pragma once

#include "api/types_placement.h"

namespace hostler::api {

// clang-format off

enum class HostState { joining, ready, unreachable, lost, cordoned, draining, retired, faulty, quarantined, unmeasured, refused,
                       drained };
BOOST_DESCRIBE_ENUM(HostState, joining, ready, unreachable, lost, cordoned, draining, retired, faulty, quarantined, unmeasured, refused,
                    drained)

enum class Admission { admitted, unmeasured, refused };
BOOST_DESCRIBE_ENUM(Admission, admitted, unmeasured, refused)

// One of a host's ways to access points, as the access point has measured it.
struct HostNetwork {
    std::string access_point;
    std::optional<double> round_trip_ms{};
    std::optional<double> down_mbit_s{};
    std::optional<double> up_mbit_s{};
    std::optional<WallTime> measured_at{};
    std::string problem;
};
BOOST_DESCRIBE_STRUCT(HostNetwork, (),
                      (access_point, round_trip_ms, down_mbit_s, up_mbit_s, measured_at, problem))
template <>
inline constexpr auto fields<HostNetwork> = std::to_array<Field>({
    {.member = "access_point", .help = "The access point.", .example = "access-nj-1"},
    {.member = "round_trip_ms", .help = "Median round trip.", .example = "1.9"},
    {.member = "down_mbit_s", .help = "To the host, in 10^6 bits a second, by one TCP connection.", .example = "941"},
    {.member = "up_mbit_s", .help = "The same, from the host.", .example = "938"},
    {.member = "measured_at", .help = "When these were measured; absent: not yet."},
    {.member = "problem", .help = "Error of the last measurement; empty: it succeeded.",
     .example = "the host's link is in use"},
});

// What tells a machine from others of its kind.
struct HostMachine {
    std::string serial_number;
    std::string system_uuid;
    std::vector<std::string> gpu_serial_numbers;
    std::vector<std::string> addresses;
    bool operator==(const HostMachine&) const = default;
};
BOOST_DESCRIBE_STRUCT(HostMachine, (), (serial_number, system_uuid, gpu_serial_numbers, addresses))
template <>
inline constexpr auto fields<HostMachine> = std::to_array<Field>({
    {.member = "serial_number", .help = "The machine's serial number; empty: its firmware does not tell one.",
     .example = "S411732X2A07412"},
    {.member = "system_uuid", .help = "The machine's UUID, as its firmware tells it; empty: it does not.",
     .example = "4c4c4544-0039-4a10-8052-b4c04f4d3233"},
    {.member = "gpu_serial_numbers", .help = "Serial numbers of its GPUs, of those that tell one.",
     .example = "[\"1652822001234\"]"},
    {.member = "addresses", .help = "Addresses of its network interfaces: IPv4, then IPv6.",
     .example = "[\"192.0.2.17\"]"},
});

struct Host {
    std::string id;
    std::string name;
    std::string zone;
    std::string provider;
    HostState state = HostState::joining;
    std::string reason;
    std::string message;
    bool cordoned = false;
    std::optional<WallTime> drain_until{};
    std::string drain_reason;
    bool simulated = false;
    int gpus = 0;
    int gpus_free = 0;
    std::vector<std::string> gpu_models;
    int cpus = 0;
    std::string cpu_free;
    std::int64_t memory_bytes = 0;
    std::int64_t memory_free_bytes = 0;
    std::int64_t disk_bytes = 0;
    std::int64_t disk_free_bytes = 0;
    std::int64_t volume_free_bytes = 0;
    int instances = 0;
    std::string access_point;
    std::optional<double> access_rtt_ms{};
    std::vector<std::string> standby_access_points;
    std::int64_t reports_dropped = 0;
    std::int64_t reports_lost = 0;
    std::string os;
    std::string kernel;
    std::string architecture;
    std::string cpu_model;
    std::string driver_version;
    std::string cuda_version;
    std::string agent_version;
    std::string engine;
    bool user_namespaces = false;
    bool programs = false;
    std::vector<std::string> problems;
    WallTime joined_at;
    std::optional<WallTime> seen_at{};
    std::optional<HostMachine> machine{};
    std::string rack;
    Labels labels;
    Trust trust = Trust::trusted;
    Admission admission = Admission::admitted;
    std::vector<std::string> admission_reasons;
    std::string tier;
    std::optional<WallTime> measured_at{};
    std::optional<WallTime> proved_at{};
    std::optional<double> disk_write_mb_s{};
    std::optional<double> disk_read_mb_s{};
    std::vector<HostNetwork> network;
};
BOOST_DESCRIBE_STRUCT(Host, (),
                      (id, name, zone, provider, state, reason, message, cordoned, drain_until, drain_reason, simulated, gpus,
                       gpus_free, gpu_models, cpus, cpu_free, memory_bytes, memory_free_bytes, disk_bytes,
                       disk_free_bytes, volume_free_bytes, instances, access_point, access_rtt_ms, standby_access_points,
                       reports_dropped, reports_lost, os, kernel, architecture, cpu_model,
                       driver_version, cuda_version, agent_version, engine, user_namespaces, programs, problems, joined_at, seen_at,
                       machine, rack, labels, trust, admission, admission_reasons, tier, measured_at, proved_at, disk_write_mb_s,
                       disk_read_mb_s, network))
template <>
inline constexpr auto fields<Host> = std::to_array<Field>({
    {.member = "id", .help = "Its id.", .example = "h-4f2a9c"},
    {.member = "name", .help = "Host name of the machine.", .example = "gpu-07"},
    {.member = "zone", .help = "The zone it is in.", .example = "nj"},
    {.member = "provider", .help = "Owner; empty: the operator.", .example = "rackhouse"},
    {.member = "state", .help = "Its state.", .example = "ready"},
    {.member = "reason", .help = "Reason of the state, as a token.", .example = "no_report"},
    {.member = "message", .help = "Reason of the state, in words.", .example = "no report for 45 s"},
    {.member = "cordoned", .help = "It accepts no new workloads."},
    {.member = "drain_until", .help = "End of the drain notice: the remaining instances are stopped then; absent: it "
                                      "is not drained."},
    {.member = "drain_reason", .help = "Why it is drained, in an operator's words.", .example = "new memory"},
    {.member = "simulated", .help = "Its GPUs are simulated: this is a demonstration."},
    {.member = "gpus", .help = "GPUs in it.", .example = "8"},
    {.member = "gpus_free", .help = "Unclaimed GPUs.", .example = "5"},
    {.member = "gpu_models", .help = "Their models.", .example = "[\"H100 SXM5 80GB\"]"},
    {.member = "cpus", .help = "Logical CPUs.", .example = "128"},
    {.member = "cpu_free", .help = "Unclaimed CPUs.", .example = "96"},
    {.member = "memory_bytes", .help = "Memory.", .unit = Unit::bytes},
    {.member = "memory_free_bytes", .help = "Unclaimed memory.", .unit = Unit::bytes},
    {.member = "disk_bytes", .help = "Disk for workloads.", .unit = Unit::bytes},
    {.member = "disk_free_bytes", .help = "Disk that is free.", .unit = Unit::bytes},
    {.member = "volume_free_bytes", .help = "Disk available for new volumes.", .unit = Unit::bytes},
    {.member = "instances", .help = "Instances on it.", .example = "3"},
    {.member = "access_point", .help = "The access point it is connected to; empty: none.",
     .example = "access-nj-1"},
    {.member = "access_rtt_ms", .help = "Round trip to it, as the host measures it.", .example = "1.9"},
    {.member = "standby_access_points", .help = "Other connected access points, for a failover.",
     .example = "[\"access-lon-1\"]"},
    {.member = "reports_dropped", .help = "Samples dropped because its reports were not collected in time.",
     .example = "0"},
    {.member = "reports_lost", .help = "Reports lost since this master leads; always 0.",
     .example = "0"},
    {.member = "os", .help = "Its operating system.", .example = "Debian GNU/Linux 12 (bookworm)"},
    {.member = "kernel", .help = "Its kernel.", .example = "6.1.0-18-amd64"},
    {.member = "architecture", .help = "CPU architecture.", .example = "x86_64"},
    {.member = "cpu_model", .help = "Model of its CPUs."},
    {.member = "driver_version", .help = "GPU driver version.", .example = "570.86.15"},
    {.member = "cuda_version", .help = "Newest CUDA version that the driver supports.", .example = "12.8"},
    {.member = "agent_version", .help = "Release of its agent.", .example = "0.1.0"},
    {.member = "engine", .help = "The container engine that runs workloads.", .example = "podman 4.3.1"},
    {.member = "user_namespaces",
     .help = "Root in an instance is an unprivileged user of the host."},
    {.member = "programs", .help = "It runs programs without containers, for tenants whose operator allows that."},
    {.member = "problems", .help = "Devices or facts that the agent could not read, with the reason."},
    {.member = "joined_at", .help = "When it joined."},
    {.member = "seen_at", .help = "When it last reported."},
    {.member = "machine", .help = "Machine identity and addresses, as reported; absent: not reported."},
    {.member = "rack", .help = "The rack it stands in; empty: unknown.", .example = "nj-r12"},
    {.member = "labels", .help = "Labels set by the operator.", .example = "{\"disk\":\"nvme\"}"},
    {.member = "trust", .help = "trusted or community; a host of the operator's own is trusted, unless said otherwise.",
     .example = "trusted"},
    {.member = "admission", .help = "Whether it may be scheduled, from its measurements and its reported identity.",
     .example = "admitted"},
    {.member = "admission_reasons", .help = "Why, in words; of an admitted host the tests that did not run."},
    {.member = "tier", .help = "The lowest measured tier of its GPUs: frontier, training, inference, entry or unrated.",
     .example = "frontier"},
    {.member = "measured_at", .help = "When it was last measured."},
    {.member = "proved_at", .help = "When its GPUs last passed the memory test."},
    {.member = "disk_write_mb_s", .help = "Sequential write rate of its disk, in 10^6 bytes a second.",
     .example = "2100"},
    {.member = "disk_read_mb_s", .help = "Sequential read rate of its disk, in 10^6 bytes a second.", .example = "3400"},
    {.member = "network", .help = "Measured connections to access points."},
});

// PATCH /v1/hosts/{host}. What is not given stays.
struct UpdateHost {
    std::string host;
    std::optional<std::string> rack{};
    Labels labels;
    std::optional<Trust> trust{};
};
BOOST_DESCRIBE_STRUCT(UpdateHost, (), (host, rack, labels, trust))
template <>
inline constexpr auto fields<UpdateHost> = std::to_array<Field>({
    {.member = "host", .help = "The host's id or name.", .example = "h-4f2a9c", .min = 1, .max = 128},
    {.member = "rack", .help = "The rack it stands in, a name unique in this cloud; empty: unknown.", .example = "nj-r12",
     .max = 63, .form = &forms::one_line},
    {.member = "labels", .help = "Labels to set; an empty value removes a label, the others stay.",
     .example = "{\"disk\":\"nvme\"}", .max = label_changes_max, .absent = Absent::fills},
    {.member = "trust", .help = "Whether its owner is trusted like the operator.", .example = "trusted"},
});
template <>
struct Rules<UpdateHost> {
    static void check(const UpdateHost& request, Wrong& wrong);
};

struct ListHosts {
    std::optional<std::string> zone{};
    std::optional<HostState> state{};
    std::optional<std::string> label{};
};
BOOST_DESCRIBE_STRUCT(ListHosts, (), (zone, state, label))
template <>
inline constexpr auto fields<ListHosts> = std::to_array<Field>({
    {.member = "zone", .help = "Only those in this zone.", .example = "nj", .form = &forms::label},
    {.member = "state", .help = "Only those in this state."},
    {.member = "label", .help = "Only those with these labels, with commas: NAME=VALUE, or NAME with any value.",
     .example = "disk=nvme", .form = &forms::label_filter},
});

struct NameHost {
    std::string host;
};
BOOST_DESCRIBE_STRUCT(NameHost, (), (host))
template <>
inline constexpr auto fields<NameHost> = std::to_array<Field>({
    {.member = "host", .help = "The host's id, or its name if only one has it.", .example = "h-4f2a9c"},
});

// POST /v1/hosts/{host}/drain.
struct DrainHost {
    std::string host;
    int notice_seconds = 3600;
    std::string reason;
};
BOOST_DESCRIBE_STRUCT(DrainHost, (), (host, notice_seconds, reason))
template <>
inline constexpr auto fields<DrainHost> = std::to_array<Field>({
    {.member = "host", .help = "The host's id, or its name if only one has it.", .example = "h-4f2a9c"},
    {.member = "notice_seconds", .help = "Notice, after which the remaining instances are stopped.", .example = "1800", .min = 0,
     .max = 604'800, .absent = Absent::fills},
    {.member = "reason", .help = "Reason, for the tenants with instances on it.", .example = "new memory", .max = 256,
     .form = &forms::one_line, .absent = Absent::fills},
});

struct RemoveHost {
    std::string host;
    bool force = false;
};
BOOST_DESCRIBE_STRUCT(RemoveHost, (), (host, force))
template <>
inline constexpr auto fields<RemoveHost> = std::to_array<Field>({
    {.member = "host", .help = "The host's id, or its name if only one has it.", .example = "h-4f2a9c"},
    {.member = "force", .help = "Remove it even with instances or volumes on it: they are lost.",
     .absent = Absent::fills},
});

enum class GpuState { healthy, degraded, faulty, unresponsive, gone };
BOOST_DESCRIBE_ENUM(GpuState, healthy, degraded, faulty, unresponsive, gone)

// What holds a GPU.
enum class GpuUse { idle, stock, instance, foreign, cluster };
BOOST_DESCRIBE_ENUM(GpuUse, idle, stock, instance, foreign, cluster)

// A part of a GPU that is cut (MIG).
struct GpuSlice {
    std::string id;
    std::string profile;
    int gpu_instance = 0;
    int compute_instance = 0;
    int start = -1;
    int size = 0;
    int multiprocessors = 0;
    std::int64_t memory_bytes = 0;
    std::optional<std::int64_t> memory_used_bytes{};
    std::optional<double> active_percent{};
};
BOOST_DESCRIBE_STRUCT(GpuSlice, (),
                      (id, profile, gpu_instance, compute_instance, start, size, multiprocessors, memory_bytes,
                       memory_used_bytes, active_percent))
template <>
inline constexpr auto fields<GpuSlice> = std::to_array<Field>({
    {.member = "id", .help = "Its UUID.", .example = "MIG-0f1e2d3c-4b5a-5c6d-8e7f-90a1b2c3d4e5"},
    {.member = "profile", .help = "MIG profile, as the driver names it.", .example = "1g.10gb"},
    {.member = "gpu_instance", .help = "The driver's number of its GPU instance.", .example = "9"},
    {.member = "compute_instance", .help = "The driver's number within that.", .example = "0"},
    {.member = "start", .help = "The first of its memory slices; -1: not told.", .example = "4"},
    {.member = "size", .help = "How many memory slices its GPU instance has.", .example = "1"},
    {.member = "multiprocessors", .help = "Number of its multiprocessors.", .example = "16"},
    {.member = "memory_bytes", .help = "Its memory.", .unit = Unit::bytes},
    {.member = "memory_used_bytes", .help = "Memory in use.", .unit = Unit::bytes},
    {.member = "active_percent", .help = "Share of time with any work on it.", .unit = Unit::percent},
});

struct Gpu {
    std::string id;
    std::string host;
    std::string zone;
    int index = 0;
    std::string vendor;
    std::string model;
    std::string serial_number;
    GpuState state = GpuState::healthy;
    std::string reason;
    std::string message;
    std::string remedy;
    std::optional<WallTime> since{};
    GpuUse use = GpuUse::idle;
    std::string held_by;
    std::string holder;
    std::string cluster;
    std::string pod_namespace;
    std::string pod;
    std::string container;
    std::string host_name;
    bool simulated = false;
    std::optional<std::int64_t> memory_bytes{};
    bool memory_unified = false;
    std::string pci_address;
    int numa_node = -1;
    int pcie_generation = 0;
    int pcie_width = 0;
    std::string driver_version;
    std::string compute_capability;
    std::string mig;
    std::vector<GpuSlice> slices;
    std::string gpu_class;
    std::string tier;
    std::string verdict;
    std::vector<std::string> evidence;
    std::optional<double> memory_copy_gb_s{};
    std::optional<double> fp32_tflops{};
    std::optional<double> tensor_tflops{};
    std::optional<double> host_to_gpu_gb_s{};
    std::optional<double> gpu_to_host_gb_s{};
    std::optional<std::int64_t> memory_used_bytes{};
    std::optional<double> utilization_percent{};
    std::optional<double> temperature_celsius{};
    std::optional<double> power_watts{};
    std::optional<WallTime> sampled_at{};
};
BOOST_DESCRIBE_STRUCT(Gpu, (),
                      (id, host, zone, index, vendor, model, serial_number, state, reason, message, remedy, since, use, held_by,
                       holder, cluster, pod_namespace, pod, container, host_name, simulated, memory_bytes, memory_unified,
                       pci_address, numa_node, pcie_generation, pcie_width, driver_version,
                       compute_capability, mig, slices, gpu_class, tier, verdict, evidence, memory_copy_gb_s, fp32_tflops, tensor_tflops, host_to_gpu_gb_s, gpu_to_host_gb_s, memory_used_bytes, utilization_percent,
                       temperature_celsius, power_watts, sampled_at))
template <>
inline constexpr auto fields<Gpu> = std::to_array<Field>({
    {.member = "id", .help = "Its UUID.", .example = "GPU-6d1f0c7e-3a52-4b8e-9d44-0f1e2d3c4b5a"},
    {.member = "host", .help = "The host it is in.", .example = "h-4f2a9c"},
    {.member = "zone", .help = "The zone it is in.", .example = "nj"},
    {.member = "index", .help = "The driver's number for it; -1: none.", .example = "0"},
    {.member = "vendor", .help = "Vendor.", .example = "nvidia"},
    {.member = "model", .help = "Model.", .example = "H100 SXM5 80GB"},
    {.member = "serial_number", .help = "Its serial number; empty: its driver does not tell one.",
     .example = "1652822001234"},
    {.member = "state", .help = "Its health.", .example = "healthy"},
    {.member = "reason", .help = "Why, as a token."},
    {.member = "message", .help = "Why, in words."},
    {.member = "remedy", .help = "Required action, as a token; empty: none.",
     .example = "drain_and_reset"},
    {.member = "since", .help = "Since when it has this health; absent: since it is known."},
    {.member = "use", .help = "Kind of its holder.", .example = "instance"},
    {.member = "held_by", .help = "Id of its holder.", .example = "i-7k2m9x"},
    {.member = "holder", .help = "Name of its holder: an instanceID, the spec of a stock slot, or a node of a cluster.",
     .example = "notebook-1"},
    {.member = "cluster", .help = "Id of the cluster that its host is a node of; empty: none.", .example = "kc-7f3k2m9qxy"},
    {.member = "pod_namespace", .help = "Namespace of the pod that has it; empty: none, or unknown.", .example = "default"},
    {.member = "pod", .help = "The pod's name.", .example = "train-0"},
    {.member = "container", .help = "The pod's container; empty: several.", .example = "main"},
    {.member = "host_name", .help = "Name of the host it is in.", .example = "gpu-01"},
    {.member = "simulated", .help = "It is simulated: this is a demonstration."},
    {.member = "memory_bytes", .help = "Its own memory; absent: its driver tells none.", .unit = Unit::bytes},
    {.member = "memory_unified", .help = "It shares the memory of its host (unified memory)."},
    {.member = "pci_address", .help = "PCI address.", .example = "0000:07:00.0"},
    {.member = "numa_node", .help = "The NUMA node it is at; -1: unknown.", .example = "0"},
    {.member = "pcie_generation", .help = "Maximum PCIe generation of its link.", .example = "5"},
    {.member = "pcie_width", .help = "Maximum lanes of its link.", .example = "16"},
    {.member = "driver_version", .help = "Version of its driver.", .example = "570.86.15"},
    {.member = "compute_capability", .help = "NVIDIA compute capability.", .example = "9.0"},
    {.member = "mig", .help = "MIG state: unsupported, disabled or enabled.",
     .example = "disabled"},
    {.member = "slices", .help = "Its MIG slices, as the operator configured them."},
    {.member = "gpu_class", .help = "GPU class with matching measurements; empty: none, or not measured.",
     .example = "H100 SXM5 80GB"},
    {.member = "tier", .help = "Measured tier: frontier, training, inference, entry or unrated.",
     .example = "frontier"},
    {.member = "verdict", .help = "Whether the measurements match its reported model: as_expected, slow, "
                                  "wrong_model, faulty or unrated.",
     .example = "as_expected"},
    {.member = "evidence", .help = "Evidence of the verdict, in words."},
    {.member = "memory_copy_gb_s", .help = "Copying in its memory, read and written together, in 10^9 bytes a second.",
     .example = "3004"},
    {.member = "fp32_tflops", .help = "In fp32 without matrix units, in 10^12 operations a second.", .example = "64.3"},
    {.member = "tensor_tflops", .help = "Of its matrix units in bf16, in 10^12 operations a second.", .example = "666"},
    {.member = "host_to_gpu_gb_s", .help = "From its host's memory, in 10^9 bytes a second.", .example = "55"},
    {.member = "gpu_to_host_gb_s", .help = "To its host's memory, in 10^9 bytes a second.", .example = "55"},
    {.member = "memory_used_bytes", .help = "Memory in use.", .unit = Unit::bytes},
    {.member = "utilization_percent", .help = "Share of time with a kernel running.", .unit = Unit::percent},
    {.member = "temperature_celsius", .help = "Temperature.", .unit = Unit::celsius},
    {.member = "power_watts", .help = "Power drawn.", .unit = Unit::watts},
    {.member = "sampled_at", .help = "When these four were measured."},
});

struct ListGpus {
    std::optional<std::string> zone{};
    std::optional<std::string> host{};
    std::optional<std::string> model{};
    std::optional<GpuState> state{};
    std::optional<GpuUse> use{};
};
BOOST_DESCRIBE_STRUCT(ListGpus, (), (zone, host, model, state, use))
template <>
inline constexpr auto fields<ListGpus> = std::to_array<Field>({
    {.member = "zone", .help = "Only those in this zone.", .example = "nj", .form = &forms::label},
    {.member = "host", .help = "Only those in this host.", .example = "h-4f2a9c", .max = 128},
    {.member = "model", .help = "Only those of this model.", .example = "H100 SXM5 80GB", .max = 128},
    {.member = "state", .help = "Only those in this state."},
    {.member = "use", .help = "Only those held so."},
});

struct GetGpu {
    std::string gpu;
};
BOOST_DESCRIBE_STRUCT(GetGpu, (), (gpu))
template <>
inline constexpr auto fields<GetGpu> = std::to_array<Field>({
    {.member = "gpu", .help = "The GPU's UUID.", .example = "GPU-6d1f0c7e-3a52-4b8e-9d44-0f1e2d3c4b5a"},
});

struct GpuEvidence {
    std::string kind;
    std::int64_t code = 0;
    std::int64_t count = 0;
    WallTime first_at;
    WallTime last_at;
    GpuState state = GpuState::healthy;
    std::string remedy;
    std::string message;
};
BOOST_DESCRIBE_STRUCT(GpuEvidence, (), (kind, code, count, first_at, last_at, state, remedy, message))
template <>
inline constexpr auto fields<GpuEvidence> = std::to_array<Field>({
    {.member = "kind", .help = "Source: xid, sxid, or a rule over samples.", .example = "xid"},
    {.member = "code", .help = "Its number.", .example = "79"},
    {.member = "count", .help = "Number of occurrences; a burst within seconds counts once.", .example = "1"},
    {.member = "first_at", .help = "When it was first seen."},
    {.member = "last_at", .help = "When it was last seen."},
    {.member = "state", .help = "The health that it alone implies.", .example = "faulty"},
    {.member = "remedy", .help = "Required action, as a token.", .example = "reboot"},
    {.member = "message", .help = "Description.", .example = "XID 79: the GPU has fallen off the bus"},
});

struct GpuExplanation {
    std::string id;
    std::string host;
    GpuState state = GpuState::healthy;
    std::string sentence;
    std::optional<WallTime> since{};
    std::string remedy;
    std::optional<std::string> would_help{};
    std::string way_back;
    std::optional<WallTime> testing_until{};
    std::vector<std::string> running;
    std::vector<GpuEvidence> evidence;
};
BOOST_DESCRIBE_STRUCT(GpuExplanation, (),
                      (id, host, state, sentence, since, remedy, would_help, way_back, testing_until, running, evidence))
template <>
inline constexpr auto fields<GpuExplanation> = std::to_array<Field>({
    {.member = "id", .help = "Its UUID.", .example = "GPU-6d1f0c7e-3a52-4b8e-9d44-0f1e2d3c4b5a"},
    {.member = "host", .help = "The host it is in.", .example = "h-4f2a9c"},
    {.member = "state", .help = "Its health.", .example = "faulty"},
    {.member = "sentence", .help = "Its health and why, in words."},
    {.member = "since", .help = "Since when it is so."},
    {.member = "remedy", .help = "Required action, as a token; empty: none.",
     .example = "reboot"},
    {.member = "would_help", .help = "Required action, in words."},
    {.member = "way_back", .help = "Steps before it takes work again."},
    {.member = "testing_until", .help = "It was reset. If it stays well until then, it takes work again."},
    {.member = "running", .help = "Ids of the instances that hold it.", .example = "[\"i-7k2m9x\"]"},
    {.member = "evidence", .help = "Faults, worst first."},
});

}  // namespace hostler::api
