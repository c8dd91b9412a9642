#include "domain/inventory/catalogue.h"

#include <algorithm>
#include <map>

#include "core/result.h"
#include "domain/inventory/metrics.h"

namespace hostler {

namespace {

using enum series::Kind;

struct Row {
    std::string_view member;
    series::Kind kind;
    std::string_view help;
};

constexpr Row gpu_rows[] = {
    {"utilisation_percent", gauge, "Time in which at least one kernel ran."},
    {"memory_utilisation_percent", gauge, "Time in which memory was read or written."},
    {"encoder_percent", gauge, "Time in which the video encoder was busy."},
    {"decoder_percent", gauge, "Time in which the video decoder was busy."},
    {"memory_used_bytes", gauge, "Memory in use."},
    {"memory_total_bytes", gauge, "Memory that it has."},
    {"memory_reserved_bytes", gauge, "Memory that driver and firmware keep."},
    {"bar1_used_bytes", gauge, "Of the window through which others reach its memory."},
    {"temperature_celsius", gauge, "Temperature of the chip."},
    {"memory_temperature_celsius", gauge, "Temperature of its memory."},
    {"temperature_slowdown_celsius", gauge, "Temperature at which it starts to protect itself."},
    {"temperature_shutdown_celsius", gauge, "Temperature at which it turns itself off."},
    {"power_mw", gauge, "Power drawn, mean of about a second."},
    {"power_limit_mw", gauge, "Power limit in force."},
    {"energy_mj", counter, "Energy used since its driver was loaded."},
    {"fan_percent", gauge, "Speed of its fans."},
    {"clock_graphics_mhz", gauge, "Clock of the graphics engine."},
    {"clock_sm_mhz", gauge, "Clock of the multiprocessors."},
    {"clock_memory_mhz", gauge, "Clock of its memory."},
    {"clock_video_mhz", gauge, "Clock of the video engines."},
    {"performance_state", gauge, "0, the fastest, to 15."},
    {"throttle_reasons", gauge, "Why its clock is lower than wanted, as NVML's bits."},
    {"ecc_corrected", counter, "Memory errors mended since its driver was loaded."},
    {"ecc_uncorrected", counter, "Memory errors not mended since its driver was loaded."},
    {"ecc_corrected_lifetime", counter, "Memory errors mended in its life."},
    {"ecc_uncorrected_lifetime", counter, "Memory errors not mended in its life."},
    {"pages_retired", counter, "Retired pages of memory."},
    {"pages_pending", gauge, "1: pages wait for a reset."},
    {"rows_remapped_corrected", counter, "Rows of memory replaced after mended errors."},
    {"rows_remapped_uncorrected", counter, "Rows of memory replaced after errors not mended."},
    {"rows_pending", gauge, "1: a replacement waits for a reset."},
    {"rows_failed", gauge, "1: a replacement has failed."},
    {"pcie_generation", gauge, "PCIe generation at the moment."},
    {"pcie_width", gauge, "PCIe lanes at the moment."},
    {"pcie_replays", counter, "PCIe packets sent again."},
    {"pcie_sent_bytes", counter, "Sent over PCIe."},
    {"pcie_received_bytes", counter, "Received over PCIe."},
    {"nvlinks_active", gauge, "NVLinks that are up."},
    {"nvlink_sent_kib", counter, "Sent over NVLink."},
    {"nvlink_received_kib", counter, "Received over NVLink."},
    {"recovery_action", gauge,
     "Recovery that its driver asks for: 0 none, 1 a reset, 2 a reboot, 3 and 4 a drain."},
    {"power_instant_mw", gauge, "Power drawn at the moment."},
    {"throttled_power_us", counter, "Time at a lower clock for the power limit."},
    {"throttled_thermal_us", counter, "Time at a lower clock for heat."},
    {"pcie_sent_kb_s", gauge, "Sent over PCIe, over some 20 ms."},
    {"pcie_received_kb_s", gauge, "Received over PCIe, over some 20 ms."},
    {"nvlink_errors", counter, "Errors and recoveries of all NVLinks."},
    {"last_xid", gauge, "The last XID that its driver told of; 0: none."},
    {"graphics_active_ppm", gauge, "Part of the time in which any work ran."},
    {"sm_active_ppm", gauge, "Part of the time in which a multiprocessor had work, mean of all."},
    {"tensor_active_ppm", gauge, "Part of the time in which tensor cores had work."},
    {"memory_active_ppm", gauge, "Of what its memory could have moved."},
};

constexpr Row slice_rows[] = {
    {"memory_used_bytes", gauge, "Memory of the slice in use."},
    {"memory_total_bytes", gauge, "Memory that it has."},
    {"graphics_active_ppm", gauge, "Part of the time in which any work ran on it."},
    {"sm_active_ppm", gauge, "Part of the time in which one of its multiprocessors had work, mean of all."},
    {"tensor_active_ppm", gauge, "Part of the time in which its tensor cores had work."},
    {"memory_active_ppm", gauge, "Of what its memory could have moved."},
};

constexpr Row host_rows[] = {
    {"cpu_busy_percent", gauge, "Of all CPUs."},
    {"load_milli", gauge, "Load average of a minute, in thousandths."},
    {"memory_total_bytes", gauge, "Memory that it has."},
    {"memory_available_bytes", gauge, "Memory available without swapping."},
    {"swap_used_bytes", gauge, "Swap in use."},
    {"disk_total_bytes", gauge, "Disk for workloads."},
    {"disk_free_bytes", gauge, "Free disk for workloads."},
    {"network_sent_bytes", counter, "Sent over all interfaces but loopback."},
    {"network_received_bytes", counter, "Received over all interfaces but loopback."},
    {"uptime_seconds", gauge, "Since it booted."},
    {"network_errors", counter, "Packets with errors and dropped ones, both ways."},
    {"disk_read_bytes", counter, "Read from all disks."},
    {"disk_written_bytes", counter, "Written to all disks."},
    {"disk_busy_ms", counter, "Time in which disks were busy."},
    {"rdma_sent_bytes", counter, "Sent over RDMA ports."},
    {"rdma_received_bytes", counter, "Received over RDMA ports."},
    {"rdma_errors", counter, "Errors of RDMA ports."},
};

constexpr Row volume_rows[] = {
    {"used_bytes", gauge, "Bytes of a volume in use, including the overhead of its file system."},
    {"total_bytes", gauge, "Bytes that it has."},
    {"used_inodes", gauge, "Files and folders in a volume."},
    {"total_inodes", gauge, "Files and folders that there can be."},
};

constexpr Row layer_rows[] = {
    {"used_bytes", gauge, "Bytes that a running instance wrote outside its volumes."},
    {"total_bytes", gauge, "Bytes that it may write there."},
    {"used_inodes", gauge, "Files and folders that a running instance made outside its volumes."},
    {"total_inodes", gauge, "Files and folders that there can be."},
};

constexpr Row instance_rows[] = {
    {"cpu_ms", counter, "Time of CPUs that a running instance used; a rate in ms/s is thousandths of a CPU."},
    {"memory_bytes", gauge, "Memory that it uses, without files that the kernel keeps and could give up."},
    {"network_sent_bytes", counter, "Sent over its interfaces but loopback."},
    {"network_received_bytes", counter, "Received over its interfaces but loopback."},
    {"disk_read_bytes", counter, "Read by it from disks."},
    {"disk_written_bytes", counter, "Written by it to disks."},
};

// The end of a name, and what it stands for.
constexpr std::pair<std::string_view, std::string_view> units[] = {
    {"_percent", "%"}, {"_bytes", "B"},   {"_celsius", "°C"},  {"_mw", "mW"},   {"_mj", "mJ"},
    {"_mhz", "MHz"},   {"_us", "µs"},     {"_ms", "ms"},       {"_kib", "KiB"}, {"_kb_s", "kB/s"},
    {"_ppm", "ppm"},   {"_seconds", "s"}, {"_milli", "1/1000"}};

const std::pair<std::string_view, std::string_view>* unit_of(std::string_view name) {
    const auto found =
        std::ranges::find_if(units, [&](const auto& unit) { return name.ends_with(unit.first); });
    return found == std::end(units) ? nullptr : &*found;
}

// As the API spells it.
std::string spelled(std::string_view member) {
    std::string name{member};
    if (const auto at = name.find("utilisation"); at != std::string::npos)
        name.replace(at, 11, "utilization");
    return name;
}

template <class Sample>
std::vector<MetricFacts> table_of(Measured of, std::string_view prefix, std::span<const Row> rows) {
    std::vector<MetricFacts> table;
    for (const std::string_view member : metric_names<Sample>()) {
        const auto row = std::ranges::find(rows, member, &Row::member);
        HOSTLER_ASSERT(row != rows.end());
        const auto* unit = unit_of(member);
        table.push_back({.name = std::string{prefix} + spelled(member),
                         .unit = unit ? unit->second : "",
                         .help = row->help,
                         .kind = row->kind,
                         .of = of});
    }
    return table;
}

}  // namespace

std::span<const MetricFacts> metrics_of(Measured of) {
    static const auto gpu = table_of<GpuSample>(Measured::gpu, "gpu_", gpu_rows);
    static const auto slice = table_of<SliceSample>(Measured::slice, "slice_", slice_rows);
    static const auto host = table_of<HostSample>(Measured::host, "host_", host_rows);
    static const auto volume = table_of<DiskUse>(Measured::volume, "volume_", volume_rows);
    static const auto layer = table_of<DiskUse>(Measured::layer, "layer_", layer_rows);
    static const auto instance = table_of<InstanceSample>(Measured::instance, "instance_", instance_rows);
    switch (of) {
        case Measured::gpu: return gpu;
        case Measured::slice: return slice;
        case Measured::host: return host;
        case Measured::volume: return volume;
        case Measured::layer: return layer;
        case Measured::instance: return instance;
    }
    return {};
}

const MetricFacts* find_metric(std::string_view name) {
    const MetricFacts* found = nullptr;
    for (const Measured of : all_measured)
        for (const MetricFacts& metric : metrics_of(of)) {
            if (metric.name == name) return &metric;
            const auto* unit = unit_of(metric.name);
            if (unit && metric.name.substr(0, metric.name.size() - unit->first.size()) == name)
                found = &metric;
        }
    return found;
}

const std::vector<series::Column>& columns_of(Measured of) {
    static const auto make = [](Measured what) {
        std::vector<series::Column> columns;
        for (const MetricFacts& metric : metrics_of(what)) columns.push_back({metric.name, metric.kind});
        return columns;
    };
    static const auto all = [] {
        std::map<Measured, std::vector<series::Column>> of_each;
        for (const Measured one : all_measured) of_each[one] = make(one);
        return of_each;
    }();
    return all.at(of);
}

}  // namespace hostler
