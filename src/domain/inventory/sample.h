// What a machine and its GPUs do at one moment. Every metric is absent until something measures it.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "domain/inventory/gpu_pod.h"

namespace hostler {

// The unit is the end of a member's name. Without one it is a count.
using Metric = std::optional<std::int64_t>;

enum class GpuCondition {
    ok,
    unresponsive,  // A call to its driver does not come back; nothing else is known.
    lost,          // It has fallen off the bus.
    gone,          // It was there at the last discovery and is not counted any more.
};
BOOST_DESCRIBE_ENUM(GpuCondition, ok, unresponsive, lost, gone)

// A process that holds memory of a GPU.
struct GpuProcess {
    std::int64_t pid = 0;  // In the PID namespace of the host.
    Metric memory_bytes;
    Metric utilisation_percent;         // Of the GPU's time,
    Metric memory_utilisation_percent;  // and of its memory's.
    bool operator==(const GpuProcess&) const = default;
};
BOOST_DESCRIBE_STRUCT(GpuProcess, (), (pid, memory_bytes, utilisation_percent, memory_utilisation_percent))

// Bits of GpuSample::throttle_reasons, as NVML numbers them; other vendors' reasons are mapped to these.
enum ThrottleReason : std::int64_t {
    throttle_idle = 0x1,
    throttle_application_clocks = 0x2,
    throttle_power_cap = 0x4,
    throttle_hardware = 0x8,
    throttle_sync_boost = 0x10,
    throttle_thermal_software = 0x20,
    throttle_thermal_hardware = 0x40,
    throttle_power_brake = 0x80,
    throttle_display = 0x100,
};

// How busy its parts were since the sample before, where a GPU tells. (Described apart: one struct has room
// for 52 members.)
struct GpuActivity {
    Metric graphics_active_ppm;  // Of the time: any work ran;
    Metric sm_active_ppm;        // a multiprocessor had work (mean of all),
    Metric tensor_active_ppm;    // its tensor cores had.
    Metric memory_active_ppm;    // Of what memory could have moved.
    bool operator==(const GpuActivity&) const = default;
};
BOOST_DESCRIBE_STRUCT(GpuActivity, (),
                      (graphics_active_ppm, sm_active_ppm, tensor_active_ppm, memory_active_ppm))

// What a slice of a GPU does; the rest is told of the whole GPU alone.
struct SliceSample : GpuActivity {
    std::string uuid;
    Metric memory_used_bytes;
    Metric memory_total_bytes;
    bool operator==(const SliceSample&) const = default;
};
BOOST_DESCRIBE_STRUCT(SliceSample, (GpuActivity), (uuid, memory_used_bytes, memory_total_bytes))

struct GpuSample : GpuActivity {
    std::string uuid;
    GpuCondition condition = GpuCondition::ok;
    std::string reason;  // A sentence, when the condition is not `ok`.

    Metric utilisation_percent;         // Time in which at least one kernel ran.
    Metric memory_utilisation_percent;  // Time in which memory was read or written.
    Metric encoder_percent;
    Metric decoder_percent;
    Metric memory_used_bytes;
    Metric memory_total_bytes;
    Metric memory_reserved_bytes;  // By driver and firmware.
    Metric bar1_used_bytes;
    Metric temperature_celsius;
    Metric memory_temperature_celsius;
    Metric temperature_slowdown_celsius;  // Where the GPU starts to protect itself.
    Metric temperature_shutdown_celsius;
    Metric power_mw;
    Metric power_limit_mw;
    Metric energy_mj;  // Since the driver was loaded; only ever rises until then.
    Metric fan_percent;
    Metric clock_graphics_mhz;
    Metric clock_sm_mhz;
    Metric clock_memory_mhz;
    Metric clock_video_mhz;
    Metric performance_state;  // 0: fastest … 15.
    Metric throttle_reasons;   // ThrottleReason bits.
    Metric ecc_corrected;      // Since the driver was loaded.
    Metric ecc_uncorrected;
    Metric ecc_corrected_lifetime;
    Metric ecc_uncorrected_lifetime;
    Metric pages_retired;
    Metric pages_pending;  // 1: some wait for a reset.
    Metric rows_remapped_corrected;
    Metric rows_remapped_uncorrected;
    Metric rows_pending;  // 1: a remap waits for a reset.
    Metric rows_failed;   // 1: a remap has failed; the board is to be replaced.
    Metric pcie_generation;
    Metric pcie_width;
    Metric pcie_replays;
    Metric pcie_sent_bytes;  // Counters, from the GPU's point of view. Absent where they wrap.
    Metric pcie_received_bytes;
    Metric nvlinks_active;
    Metric nvlink_sent_kib;
    Metric nvlink_received_kib;
    Metric recovery_action;       // What the driver asks for: 0 nothing, 1 GPU reset, 2 reboot, 3 drain P2P,
                                  // 4 drain and reset, 5 recover the fabric (NVML field 230).
    Metric power_instant_mw;      // At this moment; power_mw is a mean of about a second.
    Metric throttled_power_us;    // Time at a lower clock than wanted, since the driver was loaded:
    Metric throttled_thermal_us;  // for the power limit; for heat.
    Metric pcie_sent_kb_s;        // Over some 20 ms of the moment, from the GPU's point of view.
    Metric pcie_received_kb_s;
    Metric nvlink_errors;  // CRC errors, replays, recoveries of all links, since the driver was loaded.
    Metric last_xid;       // The last XID that its driver told of; 0: none since the agent began.
    std::optional<std::vector<GpuProcess>> processes;  // By PID.
    std::vector<SliceSample> slices;                   // As its facts have them.
    std::optional<GpuPod> pod;                         // That has it; nullopt: none, or it is not known.
    bool operator==(const GpuSample&) const = default;
};
BOOST_DESCRIBE_STRUCT(GpuSample, (GpuActivity),
                      (uuid, condition, reason, utilisation_percent, memory_utilisation_percent,
                       encoder_percent, decoder_percent, memory_used_bytes, memory_total_bytes,
                       memory_reserved_bytes, bar1_used_bytes, temperature_celsius,
                       memory_temperature_celsius, temperature_slowdown_celsius, temperature_shutdown_celsius,
                       power_mw, power_limit_mw, energy_mj, fan_percent, clock_graphics_mhz, clock_sm_mhz,
                       clock_memory_mhz, clock_video_mhz, performance_state, throttle_reasons, ecc_corrected,
                       ecc_uncorrected, ecc_corrected_lifetime, ecc_uncorrected_lifetime, pages_retired,
                       pages_pending, rows_remapped_corrected, rows_remapped_uncorrected, rows_pending,
                       rows_failed, pcie_generation, pcie_width, pcie_replays, pcie_sent_bytes,
                       pcie_received_bytes, nvlinks_active, nvlink_sent_kib, nvlink_received_kib,
                       recovery_action, power_instant_mw, throttled_power_us, throttled_thermal_us,
                       pcie_sent_kb_s, pcie_received_kb_s, nvlink_errors, last_xid, processes))

// Something a driver said went wrong, at the moment it said so.
struct GpuFault {
    std::string uuid;
    // "xid", "sxid", "ecc_corrected", "ecc_uncorrected", "unavailable", "recovery_action", "lost"
    std::string kind;
    std::int64_t code = 0;      // The XID number, or the value that came with the event.
    std::int64_t info = 0;      // XIDs 144 to 150: the two numbers that say more.
    std::int64_t status = 0;    // SXIDs: 1, their line says that it is fatal.
    std::string pci_address{};  // Where it is, when `uuid` is not known; neither: all GPUs behind NVSwitches.
    bool operator==(const GpuFault&) const = default;
};
BOOST_DESCRIBE_STRUCT(GpuFault, (), (uuid, kind, code, info, status, pci_address))

struct HostSample {
    Metric cpu_busy_percent;  // Of all CPUs, since the sample before; absent in the first.
    Metric load_milli;        // One-minute load average.
    Metric memory_total_bytes;
    Metric memory_available_bytes;  // What could be had without swapping.
    Metric swap_used_bytes;
    Metric disk_total_bytes;
    Metric disk_free_bytes;
    Metric network_sent_bytes;  // Counters over all interfaces but loopback.
    Metric network_received_bytes;
    Metric uptime_seconds;
    Metric network_errors;   // Counter: packets with errors and dropped ones, both ways.
    Metric disk_read_bytes;  // Counters over all disks, partitions and what is made of them left out.
    Metric disk_written_bytes;
    Metric disk_busy_ms;
    Metric rdma_sent_bytes;  // Counters over all ports; absent where there are none.
    Metric rdma_received_bytes;
    Metric rdma_errors;
    bool operator==(const HostSample&) const = default;
};
BOOST_DESCRIBE_STRUCT(HostSample, (),
                      (cpu_busy_percent, load_milli, memory_total_bytes, memory_available_bytes,
                       swap_used_bytes, disk_total_bytes, disk_free_bytes, network_sent_bytes,
                       network_received_bytes, uptime_seconds, network_errors, disk_read_bytes,
                       disk_written_bytes, disk_busy_ms, rdma_sent_bytes, rdma_received_bytes, rdma_errors))

// How full a file system of its own is: a volume, or what an instance writes beside its volumes.
struct DiskUse {
    Metric used_bytes;
    Metric total_bytes;  // What its file system keeps for itself is not in it.
    Metric used_inodes;
    Metric total_inodes;  // So many there can be: fewer, as XFS has it, the less room is left for them.
    bool operator==(const DiskUse&) const = default;
};
BOOST_DESCRIBE_STRUCT(DiskUse, (), (used_bytes, total_bytes, used_inodes, total_inodes))

// What the container of one instance uses, as the kernel counts it. Counters begin again with its container.
struct InstanceSample {
    Metric cpu_ms;              // Counter: time of CPUs, of all of them together.
    Metric memory_bytes;        // Without what the kernel keeps of files and could give up at once.
    Metric network_sent_bytes;  // Counters over its interfaces but loopback.
    Metric network_received_bytes;
    Metric disk_read_bytes;  // Counters of what reached a disk, or came from one.
    Metric disk_written_bytes;
    bool operator==(const InstanceSample&) const = default;
};
BOOST_DESCRIBE_STRUCT(InstanceSample, (),
                      (cpu_ms, memory_bytes, network_sent_bytes, network_received_bytes, disk_read_bytes,
                       disk_written_bytes))

// What the processes of one instance cost one GPU at one moment.
struct WorkloadUse {
    std::string instance;  // Empty: processes that are of no instance.
    std::string gpu;
    int processes = 0;
    Metric memory_bytes;
    Metric utilisation_percent;
    Metric memory_utilisation_percent;
    bool operator==(const WorkloadUse&) const = default;
};
BOOST_DESCRIBE_STRUCT(WorkloadUse, (),
                      (instance, gpu, processes, memory_bytes, utilisation_percent,
                       memory_utilisation_percent))

}  // namespace hostler
