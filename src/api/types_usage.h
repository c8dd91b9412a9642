// What GPUs and hosts do at this moment.
#pragma once

#include "api/types_host.h"

namespace hostler::api {

// clang-format off

// What the processes of one instance cost a GPU.
struct GpuShare {
    std::string instance_id;
    std::string tenant_id;
    int processes = 0;
    std::optional<std::int64_t> memory_used_bytes{};
    std::optional<double> utilization_percent{};
    std::optional<double> memory_utilization_percent{};
};
BOOST_DESCRIBE_STRUCT(GpuShare, (),
                      (instance_id, tenant_id, processes, memory_used_bytes, utilization_percent,
                       memory_utilization_percent))
template <>
inline constexpr auto fields<GpuShare> = std::to_array<Field>({
    {.member = "instance_id", .help = "Instance that the processes belong to; empty: none.", .example = "notebook-1"},
    {.member = "tenant_id", .help = "Tenant that owns the instance.", .example = "acme"},
    {.member = "processes", .help = "Number of processes on this GPU.", .example = "2"},
    {.member = "memory_used_bytes", .help = "Memory that they hold.", .unit = Unit::bytes},
    {.member = "utilization_percent", .help = "Their share of the GPU's time.", .unit = Unit::percent},
    {.member = "memory_utilization_percent", .help = "Their share of its memory's time.", .unit = Unit::percent},
});

struct GpuUsage {
    std::string id;
    std::string host;
    std::string host_name;
    std::string zone;
    int index = 0;
    std::string model;
    GpuState state = GpuState::healthy;
    GpuUse use = GpuUse::idle;
    std::string instance_id;
    std::string tenant_id;
    std::string cluster;
    std::string node;
    std::string pod_namespace;
    std::string pod;
    std::string container;
    std::optional<double> utilization_percent{};
    std::optional<double> memory_utilization_percent{};
    std::optional<double> tensor_active_percent{};
    std::optional<std::int64_t> memory_used_bytes{};
    std::optional<std::int64_t> memory_total_bytes{};
    std::optional<double> power_watts{};
    std::optional<double> power_limit_watts{};
    std::optional<double> temperature_celsius{};
    std::optional<double> memory_temperature_celsius{};
    std::optional<std::int64_t> clock_mhz{};
    std::optional<double> fan_percent{};
    std::vector<std::string> throttled;
    std::optional<double> energy_joules{};
    std::vector<GpuShare> shares;
    std::optional<WallTime> sampled_at{};
};
BOOST_DESCRIBE_STRUCT(GpuUsage, (),
                      (id, host, host_name, zone, index, model, state, use, instance_id, tenant_id,
                       cluster, node, pod_namespace, pod, container, utilization_percent, memory_utilization_percent, tensor_active_percent,
                       memory_used_bytes, memory_total_bytes, power_watts, power_limit_watts,
                       temperature_celsius, memory_temperature_celsius, clock_mhz, fan_percent, throttled,
                       energy_joules, shares, sampled_at))
template <>
inline constexpr auto fields<GpuUsage> = std::to_array<Field>({
    {.member = "id", .help = "Its UUID.", .example = "GPU-6d1f0c7e-3a52-4b8e-9d44-0f1e2d3c4b5a"},
    {.member = "host", .help = "The host it is in.", .example = "h-4f2a9c"},
    {.member = "host_name", .help = "Host name of the machine.", .example = "gpu-07"},
    {.member = "zone", .help = "The zone it is in.", .example = "nj"},
    {.member = "index", .help = "The driver's number for it; -1: none.", .example = "0"},
    {.member = "model", .help = "Model.", .example = "H100 SXM5 80GB"},
    {.member = "state", .help = "Its health.", .example = "healthy"},
    {.member = "use", .help = "Kind of its holder.", .example = "instance"},
    {.member = "instance_id", .help = "Instance that holds it; empty: none.", .example = "notebook-1"},
    {.member = "tenant_id", .help = "Tenant that owns the instance or the cluster.", .example = "acme"},
    {.member = "cluster", .help = "Cluster that its host is a node of, by its name; empty: none.", .example = "train"},
    {.member = "node", .help = "The node's name.", .example = "train-w1"},
    {.member = "pod_namespace", .help = "Namespace of the pod that has it; empty: none, or unknown.", .example = "default"},
    {.member = "pod", .help = "The pod's name.", .example = "train-0"},
    {.member = "container", .help = "The pod's container; empty: several.", .example = "main"},
    {.member = "utilization_percent", .help = "Share of time with a kernel running.", .unit = Unit::percent},
    {.member = "memory_utilization_percent", .help = "Share of time with memory being read or written.",
     .unit = Unit::percent},
    {.member = "tensor_active_percent", .help = "Share of time with tensor cores at work.", .unit = Unit::percent},
    {.member = "memory_used_bytes", .help = "Memory in use.", .unit = Unit::bytes},
    {.member = "memory_total_bytes", .help = "Its memory.", .unit = Unit::bytes},
    {.member = "power_watts", .help = "Power drawn.", .unit = Unit::watts},
    {.member = "power_limit_watts", .help = "Power that it may draw.", .unit = Unit::watts},
    {.member = "temperature_celsius", .help = "Temperature.", .unit = Unit::celsius},
    {.member = "memory_temperature_celsius", .help = "Temperature of its memory.", .unit = Unit::celsius},
    {.member = "clock_mhz", .help = "Clock of its multiprocessors, in MHz.", .example = "1980"},
    {.member = "fan_percent", .help = "Fan speed, in percent of the maximum.", .unit = Unit::percent},
    {.member = "throttled", .help = "Why it runs below full speed, idleness aside.",
     .example = "[\"power_cap\"]"},
    {.member = "energy_joules", .help = "Energy drawn since its driver was loaded.", .example = "81234.5"},
    {.member = "shares", .help = "Usage by instance, from its processes."},
    {.member = "sampled_at", .help = "When this was measured; absent: not yet."},
});

struct ListGpuUsage {
    std::optional<std::string> zone{};
    std::optional<std::string> host{};
    std::optional<std::string> instance{};
    std::optional<std::string> tenant_id{};
    bool live = false;
};
BOOST_DESCRIBE_STRUCT(ListGpuUsage, (), (zone, host, instance, tenant_id, live))
template <>
inline constexpr auto fields<ListGpuUsage> = std::to_array<Field>({
    {.member = "zone", .help = "Only those in this zone.", .example = "nj", .form = &forms::label},
    {.member = "host", .help = "Only those in this host.", .example = "h-4f2a9c", .max = 128},
    {.member = "instance", .help = "Only those that this instance holds.", .example = "notebook-1", .max = 128},
    {.member = "tenant_id", .help = "Only those that this tenant's instances and clusters hold.", .example = "acme",
     .max = 128},
    {.member = "live", .help = "Have their hosts measure each second for the next 15 seconds.",
     .absent = Absent::fills},
});

struct HostUsage {
    std::string id;
    std::string name;
    std::string zone;
    HostState state = HostState::joining;
    int gpus = 0;
    int gpus_used = 0;
    std::optional<double> cpu_percent{};
    std::optional<double> load{};
    std::optional<std::int64_t> memory_used_bytes{};
    std::optional<std::int64_t> memory_total_bytes{};
    std::optional<std::int64_t> swap_used_bytes{};
    std::optional<std::int64_t> disk_used_bytes{};
    std::optional<std::int64_t> disk_total_bytes{};
    std::optional<std::int64_t> disk_read_bytes{};
    std::optional<std::int64_t> disk_written_bytes{};
    std::optional<std::int64_t> network_received_bytes{};
    std::optional<std::int64_t> network_sent_bytes{};
    std::optional<std::int64_t> rdma_received_bytes{};
    std::optional<std::int64_t> rdma_sent_bytes{};
    std::optional<std::int64_t> uptime_seconds{};
    std::optional<WallTime> sampled_at{};
};
BOOST_DESCRIBE_STRUCT(HostUsage, (),
                      (id, name, zone, state, gpus, gpus_used, cpu_percent, load, memory_used_bytes,
                       memory_total_bytes, swap_used_bytes, disk_used_bytes, disk_total_bytes, disk_read_bytes,
                       disk_written_bytes, network_received_bytes, network_sent_bytes, rdma_received_bytes,
                       rdma_sent_bytes, uptime_seconds, sampled_at))
template <>
inline constexpr auto fields<HostUsage> = std::to_array<Field>({
    {.member = "id", .help = "Its id.", .example = "h-4f2a9c"},
    {.member = "name", .help = "Host name of the machine.", .example = "gpu-07"},
    {.member = "zone", .help = "The zone it is in.", .example = "nj"},
    {.member = "state", .help = "Its state.", .example = "ready"},
    {.member = "gpus", .help = "GPUs in it.", .example = "8"},
    {.member = "gpus_used", .help = "Claimed GPUs.", .example = "5"},
    {.member = "cpu_percent", .help = "Of all its CPUs, busy since the sample before.", .unit = Unit::percent},
    {.member = "load", .help = "One-minute load average.", .example = "3.2"},
    {.member = "memory_used_bytes", .help = "Memory that is unavailable without swapping.",
     .unit = Unit::bytes},
    {.member = "memory_total_bytes", .help = "Its memory.", .unit = Unit::bytes},
    {.member = "swap_used_bytes", .help = "Swapped out.", .unit = Unit::bytes},
    {.member = "disk_used_bytes", .help = "Of the disk for workloads, in use.", .unit = Unit::bytes},
    {.member = "disk_total_bytes", .help = "Disk for workloads.", .unit = Unit::bytes},
    {.member = "disk_read_bytes", .help = "Read from its disks since it booted.", .unit = Unit::bytes},
    {.member = "disk_written_bytes", .help = "Written to them.", .unit = Unit::bytes},
    {.member = "network_received_bytes", .help = "Received by its network interfaces since it booted.",
     .unit = Unit::bytes},
    {.member = "network_sent_bytes", .help = "Sent by them.", .unit = Unit::bytes},
    {.member = "rdma_received_bytes", .help = "Received by its RDMA ports; absent: it has none.",
     .unit = Unit::bytes},
    {.member = "rdma_sent_bytes", .help = "Sent by them.", .unit = Unit::bytes},
    {.member = "uptime_seconds", .help = "Since it booted.", .unit = Unit::seconds},
    {.member = "sampled_at", .help = "When this was measured; absent: not yet."},
});

struct ListHostUsage {
    std::optional<std::string> zone{};
    std::optional<std::string> host{};
    bool live = false;
};
BOOST_DESCRIBE_STRUCT(ListHostUsage, (), (zone, host, live))
template <>
inline constexpr auto fields<ListHostUsage> = std::to_array<Field>({
    {.member = "zone", .help = "Only those in this zone.", .example = "nj", .form = &forms::label},
    {.member = "host", .help = "Only this one.", .example = "h-4f2a9c", .max = 128},
    {.member = "live", .help = "Have them measure each second for the next 15 seconds.",
     .absent = Absent::fills},
});

}  // namespace hostler::api
