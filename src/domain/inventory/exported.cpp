#include "domain/inventory/exported.h"

#include <algorithm>

namespace hostler {

namespace {

using enum series::Kind;

constexpr double mib = 1.0 / (1 << 20);

constexpr Exported<GpuSample> of_gpu[] = {
    {"DCGM_FI_DEV_SM_CLOCK", "SM clock frequency (in MHz).", gauge, &GpuSample::clock_sm_mhz},
    {"DCGM_FI_DEV_MEM_CLOCK", "Memory clock frequency (in MHz).", gauge, &GpuSample::clock_memory_mhz},
    {"DCGM_FI_DEV_VIDEO_CLOCK", "Video encoder/decoder clock frequency (in MHz).", gauge,
     &GpuSample::clock_video_mhz},
    {"DCGM_FI_DEV_MEMORY_TEMP", "Memory temperature (in C).", gauge, &GpuSample::memory_temperature_celsius},
    {"DCGM_FI_DEV_GPU_TEMP", "GPU temperature (in C).", gauge, &GpuSample::temperature_celsius},
    {"DCGM_FI_DEV_SLOWDOWN_TEMP", "Slowdown temperature (in C).", gauge,
     &GpuSample::temperature_slowdown_celsius},
    {"DCGM_FI_DEV_SHUTDOWN_TEMP", "Shutdown temperature (in C).", gauge,
     &GpuSample::temperature_shutdown_celsius},
    {"DCGM_FI_DEV_POWER_USAGE", "Power draw (in W).", gauge, &GpuSample::power_mw, 1e-3},
    {"DCGM_FI_DEV_POWER_USAGE_INSTANT", "Power draw at this moment (in W).", gauge,
     &GpuSample::power_instant_mw, 1e-3},
    {"DCGM_FI_DEV_ENFORCED_POWER_LIMIT", "Power limit (in W).", gauge, &GpuSample::power_limit_mw, 1e-3},
    {"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "Total energy consumption since boot (in mJ).", counter,
     &GpuSample::energy_mj},
    {"DCGM_FI_DEV_FAN_SPEED", "Fan speed (in %).", gauge, &GpuSample::fan_percent},
    {"DCGM_FI_DEV_PSTATE", "Performance state, 0 the fastest.", gauge, &GpuSample::performance_state},
    {"DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", "Why clocks are lower, as bits.", gauge,
     &GpuSample::throttle_reasons},
    {"DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "Total number of PCIe retries.", counter, &GpuSample::pcie_replays},
    {"DCGM_FI_DEV_PCIE_LINK_GEN", "PCIe generation at the moment.", gauge, &GpuSample::pcie_generation},
    {"DCGM_FI_DEV_PCIE_LINK_WIDTH", "PCIe lanes at the moment.", gauge, &GpuSample::pcie_width},
    {"DCGM_FI_DEV_GPU_UTIL", "GPU utilization (in %).", gauge, &GpuSample::utilisation_percent},
    {"DCGM_FI_DEV_MEM_COPY_UTIL", "Memory utilization (in %).", gauge,
     &GpuSample::memory_utilisation_percent},
    {"DCGM_FI_DEV_ENC_UTIL", "Encoder utilization (in %).", gauge, &GpuSample::encoder_percent},
    {"DCGM_FI_DEV_DEC_UTIL", "Decoder utilization (in %).", gauge, &GpuSample::decoder_percent},
    {"DCGM_FI_DEV_XID_ERRORS", "Value of the last XID error encountered.", gauge, &GpuSample::last_xid},
    {"DCGM_FI_DEV_FB_USED", "Framebuffer memory used (in MiB).", gauge, &GpuSample::memory_used_bytes, mib},
    {"DCGM_FI_DEV_FB_RESERVED", "Framebuffer memory reserved (in MiB).", gauge,
     &GpuSample::memory_reserved_bytes, mib},
    {"DCGM_FI_DEV_FB_TOTAL", "Framebuffer memory (in MiB).", gauge, &GpuSample::memory_total_bytes, mib},
    {"DCGM_FI_DEV_BAR1_USED", "BAR1 memory used (in MiB).", gauge, &GpuSample::bar1_used_bytes, mib},
    {"DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", "Single-bit ECC errors since the driver was loaded.", counter,
     &GpuSample::ecc_corrected},
    {"DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "Double-bit ECC errors since the driver was loaded.", counter,
     &GpuSample::ecc_uncorrected},
    {"DCGM_FI_DEV_ECC_SBE_AGG_TOTAL", "Single-bit ECC errors of its life.", counter,
     &GpuSample::ecc_corrected_lifetime},
    {"DCGM_FI_DEV_ECC_DBE_AGG_TOTAL", "Double-bit ECC errors of its life.", counter,
     &GpuSample::ecc_uncorrected_lifetime},
    {"DCGM_FI_DEV_RETIRED_PENDING", "1: pages wait for a reset to be retired.", gauge,
     &GpuSample::pages_pending},
    {"DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "Number of remapped rows for uncorrectable errors.", counter,
     &GpuSample::rows_remapped_uncorrected},
    {"DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS", "Number of remapped rows for correctable errors.", counter,
     &GpuSample::rows_remapped_corrected},
    {"DCGM_FI_DEV_ROW_REMAP_FAILURE", "Whether remapping of rows has failed.", gauge,
     &GpuSample::rows_failed},
    {"DCGM_FI_PROF_GR_ENGINE_ACTIVE", "Ratio of time the graphics engine is active.", gauge,
     &GpuSample::graphics_active_ppm, 1e-6},
    {"DCGM_FI_PROF_SM_ACTIVE", "The ratio of cycles an SM has at least 1 warp assigned.", gauge,
     &GpuSample::sm_active_ppm, 1e-6},
    {"DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "Ratio of cycles the tensor (HMMA) pipe is active.", gauge,
     &GpuSample::tensor_active_ppm, 1e-6},
    {"DCGM_FI_PROF_DRAM_ACTIVE", "Ratio of cycles the device memory interface is active.", gauge,
     &GpuSample::memory_active_ppm, 1e-6},
    {"hostler_gpu_nvlink_sent_bytes_total", "Sent over all NVLinks.", counter, &GpuSample::nvlink_sent_kib,
     1024},
    {"hostler_gpu_nvlink_received_bytes_total", "Received over all NVLinks.", counter,
     &GpuSample::nvlink_received_kib, 1024},
    {"hostler_gpu_nvlink_errors_total", "CRC errors, replays and recoveries of all NVLinks.", counter,
     &GpuSample::nvlink_errors},
    {"hostler_gpu_nvlinks_active", "NVLinks that are up.", gauge, &GpuSample::nvlinks_active},
    {"hostler_gpu_pcie_sent_bytes_per_second", "Sent over PCIe, in some 20 ms.", gauge,
     &GpuSample::pcie_sent_kb_s, 1000},
    {"hostler_gpu_pcie_received_bytes_per_second", "Received over PCIe, in some 20 ms.", gauge,
     &GpuSample::pcie_received_kb_s, 1000},
    {"hostler_gpu_throttled_power_seconds_total", "Time at a lower clock for the power limit.", counter,
     &GpuSample::throttled_power_us, 1e-6},
    {"hostler_gpu_throttled_thermal_seconds_total", "Time at a lower clock for heat.", counter,
     &GpuSample::throttled_thermal_us, 1e-6},
    {"hostler_gpu_pages_retired", "Memory pages retired.", gauge, &GpuSample::pages_retired},
    {"hostler_gpu_rows_pending", "1: a row remap waits for a reset.", gauge, &GpuSample::rows_pending},
    {"hostler_gpu_recovery_action", "Recovery that its driver asks for; 0: none.", gauge,
     &GpuSample::recovery_action},
};

// A metric that GPUs have too.
constexpr Exported<SliceSample> as_gpus(std::string_view name, Metric SliceSample::* of) {
    const auto gpu = std::ranges::find(of_gpu, name, &Exported<GpuSample>::name);
    return {gpu->name, gpu->help, gpu->kind, of, gpu->scale};
}
constexpr Exported<SliceSample> of_slice[] = {
    as_gpus("DCGM_FI_DEV_FB_USED", &SliceSample::memory_used_bytes),
    as_gpus("DCGM_FI_DEV_FB_TOTAL", &SliceSample::memory_total_bytes),
    as_gpus("DCGM_FI_PROF_GR_ENGINE_ACTIVE", &SliceSample::graphics_active_ppm),
    as_gpus("DCGM_FI_PROF_SM_ACTIVE", &SliceSample::sm_active_ppm),
    as_gpus("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", &SliceSample::tensor_active_ppm),
    as_gpus("DCGM_FI_PROF_DRAM_ACTIVE", &SliceSample::memory_active_ppm),
};

constexpr Exported<HostSample> of_host[] = {
    {"hostler_host_cpu_busy_ratio", "Of all CPUs of the host.", gauge, &HostSample::cpu_busy_percent, 0.01},
    {"hostler_host_load1", "One-minute load average.", gauge, &HostSample::load_milli, 1e-3},
    {"hostler_host_memory_total_bytes", "Memory of the host.", gauge, &HostSample::memory_total_bytes},
    {"hostler_host_memory_available_bytes", "Available without swapping.", gauge,
     &HostSample::memory_available_bytes},
    {"hostler_host_swap_used_bytes", "Swapped out.", gauge, &HostSample::swap_used_bytes},
    {"hostler_host_disk_total_bytes", "Disk for workloads.", gauge, &HostSample::disk_total_bytes},
    {"hostler_host_disk_free_bytes", "Free of it.", gauge, &HostSample::disk_free_bytes},
    {"hostler_host_disk_read_bytes_total", "Read from disks.", counter, &HostSample::disk_read_bytes},
    {"hostler_host_disk_written_bytes_total", "Written to disks.", counter, &HostSample::disk_written_bytes},
    {"hostler_host_disk_busy_seconds_total", "Time with something to do, of all disks.", counter,
     &HostSample::disk_busy_ms, 1e-3},
    {"hostler_host_network_received_bytes_total", "Received by all interfaces but loopback.", counter,
     &HostSample::network_received_bytes},
    {"hostler_host_network_sent_bytes_total", "Sent by them.", counter, &HostSample::network_sent_bytes},
    {"hostler_host_network_errors_total", "Packets with errors and dropped ones.", counter,
     &HostSample::network_errors},
    {"hostler_host_rdma_received_bytes_total", "Received by RDMA ports.", counter,
     &HostSample::rdma_received_bytes},
    {"hostler_host_rdma_sent_bytes_total", "Sent by them.", counter, &HostSample::rdma_sent_bytes},
    {"hostler_host_rdma_errors_total", "Errors of RDMA ports.", counter, &HostSample::rdma_errors},
    {"hostler_host_uptime_seconds", "Since it booted.", gauge, &HostSample::uptime_seconds},
};

constexpr Exported<DiskUse> of_volume[] = {
    {"hostler_volume_used_bytes", "Bytes of a volume in use.", gauge, &DiskUse::used_bytes},
    {"hostler_volume_total_bytes", "Bytes that it has.", gauge, &DiskUse::total_bytes},
    {"hostler_volume_used_inodes", "Files and folders in a volume.", gauge, &DiskUse::used_inodes},
    {"hostler_volume_total_inodes", "Files and folders that there can be.", gauge, &DiskUse::total_inodes},
};

constexpr Exported<DiskUse> of_layer[] = {
    {"hostler_layer_used_bytes", "Bytes that an instance wrote outside its volumes.", gauge,
     &DiskUse::used_bytes},
    {"hostler_layer_total_bytes", "Bytes that it may write there.", gauge, &DiskUse::total_bytes},
    {"hostler_layer_used_inodes", "Files and folders that it made there.", gauge, &DiskUse::used_inodes},
    {"hostler_layer_total_inodes", "Files and folders that there can be.", gauge, &DiskUse::total_inodes},
};

constexpr Exported<InstanceSample> of_instance[] = {
    {"hostler_instance_cpu_seconds_total", "Time of CPUs that an instance used.", counter,
     &InstanceSample::cpu_ms, 1e-3},
    {"hostler_instance_memory_bytes", "Memory that it uses, without files that could be given up.", gauge,
     &InstanceSample::memory_bytes},
    {"hostler_instance_network_sent_bytes_total", "Sent by it, loopback apart.", counter,
     &InstanceSample::network_sent_bytes},
    {"hostler_instance_network_received_bytes_total", "Received by it, loopback apart.", counter,
     &InstanceSample::network_received_bytes},
    {"hostler_instance_disk_read_bytes_total", "Read by it from disks.", counter,
     &InstanceSample::disk_read_bytes},
    {"hostler_instance_disk_written_bytes_total", "Written by it to disks.", counter,
     &InstanceSample::disk_written_bytes},
};

}  // namespace

std::span<const Exported<GpuSample>> exported_gpu() { return of_gpu; }
std::span<const Exported<SliceSample>> exported_slice() { return of_slice; }
std::span<const Exported<HostSample>> exported_host() { return of_host; }
std::span<const Exported<DiskUse>> exported_volume() { return of_volume; }
std::span<const Exported<DiskUse>> exported_layer() { return of_layer; }
std::span<const Exported<InstanceSample>> exported_instance() { return of_instance; }

std::optional<double> framebuffer_free_mib(const GpuSample& sample) {
    if (!sample.memory_total_bytes || !sample.memory_used_bytes) return std::nullopt;
    return static_cast<double>(*sample.memory_total_bytes - *sample.memory_used_bytes -
                               sample.memory_reserved_bytes.value_or(0)) *
           mib;
}

std::optional<double> framebuffer_free_mib(const SliceSample& sample) {
    if (!sample.memory_total_bytes || !sample.memory_used_bytes) return std::nullopt;
    return static_cast<double>(*sample.memory_total_bytes - *sample.memory_used_bytes) * mib;
}

}  // namespace hostler
