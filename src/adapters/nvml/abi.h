// The part of NVML's C interface that we use, in declarations of our own: names, numbers and layouts are
// facts of the interface (NVML 13.3, LP64). abi_test.cpp holds the layouts. No other header is needed to
// include this one.
#pragma once

#include <cstdint>

namespace hostler::nvml {

enum Status : int {
    success = 0,
    uninitialized = 1,
    invalid_argument = 2,
    not_supported = 3,
    no_permission = 4,
    not_found = 6,
    insufficient_size = 7,
    driver_not_loaded = 9,
    timeout = 10,
    function_not_found = 13,
    gpu_is_lost = 15,
    reset_required = 16,
    version_mismatch = 18,           // Library and kernel module are of different versions.
    argument_version_mismatch = 25,  // Of a versioned struct.
    gpu_not_found = 28,
    unknown_error = 999,
};

using Device = struct DeviceHandle*;
using EventSet = struct EventSetHandle*;
using GpuInstance = struct GpuInstanceHandle*;  // Part of a GPU that is cut (MIG).
using GpmSample = struct GpmSampleHandle*;      // A moment of counters; two of them make rates.

struct PciInfo {
    char bus_id_legacy[16];
    unsigned domain;
    unsigned bus;
    unsigned device;
    unsigned pci_device_id;  // Device above, vendor below.
    unsigned pci_subsystem_id;
    char bus_id[32];
};

struct Memory {
    unsigned long long total, free, used;
};

struct MemoryV2 {
    unsigned version;
    unsigned long long total, reserved, free, used;  // Bytes; whether `used` has `reserved` in it varies.
};

struct Bar1Memory {
    unsigned long long total, free, used;
};

struct Utilization {
    unsigned gpu, memory;  // Percent.
};

struct ProcessV1 {
    unsigned pid;
    unsigned long long used_memory;
};

struct Process {
    unsigned pid;
    unsigned long long used_memory;  // All ones: not available.
    unsigned gpu_instance, compute_instance;
};

struct ProcessUse {
    unsigned pid;
    unsigned long long timestamp_us;
    unsigned gpu, memory, encoder, decoder;  // Percent.
};

struct TemperatureV1 {
    unsigned version;
    unsigned sensor;
    int temperature;
};

struct EventData {
    Device device;
    unsigned long long type;
    unsigned long long data;  // The XID, for an XID event.
    unsigned gpu_instance, compute_instance;
};

union Value {
    double real;
    int sint;
    unsigned uint;
    unsigned long ulong;
    unsigned long long ulonglong;
    long long slonglong;
    unsigned short ushort;
};

struct FieldValue {
    unsigned field;
    unsigned scope;
    long long timestamp_us;
    long long latency_us;
    unsigned value_type;  // Which member of `value` counts.
    Status status;
    Value value;
};

struct GpmSupport {
    unsigned version;  // 1
    unsigned supported;
};

struct GpmMetric {
    unsigned metric;
    Status status;
    double value;
    const char* names[3];  // Short, long, unit.
};

inline constexpr unsigned gpm_metrics_max = 333;
struct GpmMetricsGet {
    unsigned version;  // 1
    unsigned count;
    GpmSample before;
    GpmSample after;
    GpmMetric metrics[gpm_metrics_max];
};

// Of a MIG device.
struct Attributes {
    unsigned multiprocessors, copy_engines, decoders, encoders, jpeg_units, flow_units;
    unsigned gpu_slices, compute_slices;
    unsigned long long memory_mib;
};

struct Placement {
    unsigned start, size;  // Memory slices.
};

struct GpuInstanceInfo {
    Device device;
    unsigned id;
    unsigned profile;
    Placement placement;
};

struct DriverBranch {
    unsigned version;
    char branch[80];
};

// Of a versioned struct: its size and its version in one word.
template <class T>
constexpr unsigned version_word(unsigned version) {
    return static_cast<unsigned>(sizeof(T)) | version << 24;
}

enum ClockType : unsigned { clock_graphics, clock_sm, clock_memory, clock_video };
enum Threshold : unsigned { threshold_shutdown, threshold_slowdown };
enum ErrorType : unsigned { error_corrected, error_uncorrected };
enum CounterType : unsigned { counter_volatile, counter_aggregate };
enum PcieCounter : unsigned { pcie_sent, pcie_received };
enum P2PCapability : unsigned { p2p_nvlink = 2 };
enum LinkDevice : unsigned { link_gpu = 0, link_switch = 2, link_unknown = 255 };
enum TopologyLevel : unsigned {
    topology_internal = 0,
    topology_single = 10,
    topology_multiple = 20,
    topology_hostbridge = 30,
    topology_node = 40,
    topology_system = 50,
};
enum ValueType : unsigned {
    type_double,
    type_uint,
    type_ulong,
    type_ulonglong,
    type_slonglong,
    type_sint,
    type_ushort
};

// Percent, of the time between two samples.
enum GpmMetricId : unsigned { gpm_graphics = 1, gpm_sm = 2, gpm_tensor = 5, gpm_memory = 10 };

enum EventType : unsigned long long {
    event_sbe = 0x1,
    event_dbe = 0x2,
    event_xid = 0x8,
    event_unavailable = 0x4000,
    event_recovery_action = 0x8000,
};

enum Field : unsigned {
    field_nvlink_crc_flit = 38,
    field_nvlink_crc_data = 45,
    field_nvlink_replays = 52,
    field_nvlink_recoveries = 59,
    field_throttled_power = 74,  // Nanoseconds.
    field_throttled_thermal = 75,
    field_memory_temperature = 82,
    field_nvlink_sent = 138,  // KiB; scope all_links: their sum.
    field_nvlink_received = 139,
    field_power_instant = 186,  // mW.
    field_recovery_action = 230,
};
inline constexpr unsigned all_links = 0xffffffff;
inline constexpr unsigned links_max = 36;
inline constexpr unsigned long long not_available = ~0ULL;

inline constexpr unsigned name_size = 96;
inline constexpr unsigned uuid_size = 96;
inline constexpr unsigned version_size = 80;
inline constexpr unsigned serial_size = 30;
inline constexpr unsigned vbios_size = 32;

}  // namespace hostler::nvml
