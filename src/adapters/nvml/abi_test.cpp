// Layouts as the real library has them: computed by a compiler from NVML 13.3.29's header, x86-64 and
// aarch64.
#include "adapters/nvml/abi.h"

#include <gtest/gtest.h>

#include <cstddef>

namespace hostler::nvml {
namespace {

#define LAYOUT(type, size) static_assert(sizeof(type) == size)
#define AT(type, member, offset, size) \
    static_assert(offsetof(type, member) == offset && sizeof(type::member) == size)

LAYOUT(PciInfo, 68);
AT(PciInfo, bus_id_legacy, 0, 16);
AT(PciInfo, domain, 16, 4);
AT(PciInfo, bus, 20, 4);
AT(PciInfo, device, 24, 4);
AT(PciInfo, pci_device_id, 28, 4);
AT(PciInfo, pci_subsystem_id, 32, 4);
AT(PciInfo, bus_id, 36, 32);

LAYOUT(Memory, 24);
AT(Memory, total, 0, 8);
AT(Memory, free, 8, 8);
AT(Memory, used, 16, 8);

LAYOUT(MemoryV2, 40);
AT(MemoryV2, version, 0, 4);
AT(MemoryV2, total, 8, 8);
AT(MemoryV2, reserved, 16, 8);
AT(MemoryV2, free, 24, 8);
AT(MemoryV2, used, 32, 8);
static_assert(version_word<MemoryV2>(2) == 0x02000028);

LAYOUT(Attributes, 40);
AT(Attributes, multiprocessors, 0, 4);
AT(Attributes, copy_engines, 4, 4);
AT(Attributes, decoders, 8, 4);
AT(Attributes, encoders, 12, 4);
AT(Attributes, jpeg_units, 16, 4);
AT(Attributes, flow_units, 20, 4);
AT(Attributes, gpu_slices, 24, 4);
AT(Attributes, compute_slices, 28, 4);
AT(Attributes, memory_mib, 32, 8);

LAYOUT(Placement, 8);
AT(Placement, start, 0, 4);
AT(Placement, size, 4, 4);

LAYOUT(GpuInstanceInfo, 24);
AT(GpuInstanceInfo, device, 0, 8);
AT(GpuInstanceInfo, id, 8, 4);
AT(GpuInstanceInfo, profile, 12, 4);
AT(GpuInstanceInfo, placement, 16, 8);

LAYOUT(GpmSupport, 8);
AT(GpmSupport, version, 0, 4);
AT(GpmSupport, supported, 4, 4);

LAYOUT(GpmMetric, 40);
AT(GpmMetric, metric, 0, 4);
AT(GpmMetric, status, 4, 4);
AT(GpmMetric, value, 8, 8);
AT(GpmMetric, names, 16, 24);

LAYOUT(GpmMetricsGet, 13344);
AT(GpmMetricsGet, version, 0, 4);
AT(GpmMetricsGet, count, 4, 4);
AT(GpmMetricsGet, before, 8, 8);
AT(GpmMetricsGet, after, 16, 8);
AT(GpmMetricsGet, metrics, 24, 13320);

LAYOUT(ProcessUse, 32);
AT(ProcessUse, pid, 0, 4);
AT(ProcessUse, timestamp_us, 8, 8);
AT(ProcessUse, gpu, 16, 4);
AT(ProcessUse, memory, 20, 4);
AT(ProcessUse, encoder, 24, 4);
AT(ProcessUse, decoder, 28, 4);

LAYOUT(Bar1Memory, 24);
AT(Bar1Memory, total, 0, 8);
AT(Bar1Memory, free, 8, 8);
AT(Bar1Memory, used, 16, 8);

LAYOUT(Utilization, 8);
AT(Utilization, gpu, 0, 4);
AT(Utilization, memory, 4, 4);

LAYOUT(ProcessV1, 16);
AT(ProcessV1, pid, 0, 4);
AT(ProcessV1, used_memory, 8, 8);

LAYOUT(Process, 24);
AT(Process, pid, 0, 4);
AT(Process, used_memory, 8, 8);
AT(Process, gpu_instance, 16, 4);
AT(Process, compute_instance, 20, 4);

LAYOUT(TemperatureV1, 12);
AT(TemperatureV1, version, 0, 4);
AT(TemperatureV1, sensor, 4, 4);
AT(TemperatureV1, temperature, 8, 4);
static_assert(version_word<TemperatureV1>(1) == 0x0100000c);

LAYOUT(EventData, 32);
AT(EventData, device, 0, 8);
AT(EventData, type, 8, 8);
AT(EventData, data, 16, 8);
AT(EventData, gpu_instance, 24, 4);
AT(EventData, compute_instance, 28, 4);

LAYOUT(Value, 8);
LAYOUT(FieldValue, 40);
AT(FieldValue, field, 0, 4);
AT(FieldValue, scope, 4, 4);
AT(FieldValue, timestamp_us, 8, 8);
AT(FieldValue, latency_us, 16, 8);
AT(FieldValue, value_type, 24, 4);
AT(FieldValue, status, 28, 4);
AT(FieldValue, value, 32, 8);

LAYOUT(DriverBranch, 84);
AT(DriverBranch, branch, 4, 80);
static_assert(version_word<DriverBranch>(1) == 0x01000054);

static_assert(sizeof(Device) == 8 && sizeof(EventSet) == 8);
static_assert(sizeof(Status) == 4 && sizeof(ClockType) == 4 && sizeof(TopologyLevel) == 4);

TEST(NvmlAbi, LayoutsAreCheckedByTheCompiler) { SUCCEED(); }

}  // namespace
}  // namespace hostler::nvml
