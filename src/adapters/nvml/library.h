// libnvidia-ml.so, opened at run time: whatever functions it has.
#pragma once

#include <memory>
#include <string>

#include "adapters/nvml/abi.h"
#include "core/result.h"

namespace hostler::nvml {

// Every pointer but `init` and `shutdown` may be null: an older driver, or a library that leaves things out.
struct Functions {
    Status (*init)();
    Status (*shutdown)();
    const char* (*error_string)(Status);
    Status (*driver_version)(char*, unsigned);
    Status (*nvml_version)(char*, unsigned);
    Status (*cuda_version)(int*);

    Status (*count)(unsigned*);
    Status (*handle_by_index)(unsigned, Device*);
    Status (*name)(Device, char*, unsigned);
    Status (*uuid)(Device, char*, unsigned);
    Status (*serial)(Device, char*, unsigned);
    Status (*vbios)(Device, char*, unsigned);
    Status (*index)(Device, unsigned*);
    Status (*minor_number)(Device, unsigned*);
    Status (*pci)(Device, PciInfo*);
    Status (*architecture)(Device, unsigned*);
    Status (*compute_capability)(Device, int*, int*);
    Status (*cores)(Device, unsigned*);
    Status (*numa_node)(Device, unsigned*);

    Status (*mig_mode)(Device, unsigned*, unsigned*);
    Status (*mig_count_max)(Device, unsigned*);
    Status (*mig_device)(Device, unsigned,
                         Device*);  // NOT_FOUND: none at this index; there may be later ones.
    Status (*gpu_instance_id)(Device, unsigned*);
    Status (*compute_instance_id)(Device, unsigned*);
    Status (*gpu_instance)(Device, unsigned id, GpuInstance*);
    Status (*gpu_instance_info)(GpuInstance, GpuInstanceInfo*);
    Status (*attributes)(Device, Attributes*);

    Status (*memory)(Device, Memory*);
    Status (*memory_v2)(Device, MemoryV2*);
    Status (*bar1)(Device, Bar1Memory*);
    Status (*utilization)(Device, Utilization*);
    Status (*encoder)(Device, unsigned*, unsigned*);
    Status (*decoder)(Device, unsigned*, unsigned*);
    Status (*temperature)(Device, unsigned, unsigned*);
    Status (*temperature_v)(Device, TemperatureV1*);
    Status (*temperature_threshold)(Device, Threshold, unsigned*);
    Status (*power)(Device, unsigned*);
    Status (*power_limit)(Device, unsigned*);
    Status (*power_limits)(Device, unsigned*, unsigned*);
    Status (*energy)(Device, unsigned long long*);
    Status (*clock)(Device, ClockType, unsigned*);
    Status (*clock_max)(Device, ClockType, unsigned*);
    Status (*fan)(Device, unsigned*);
    Status (*performance_state)(Device, unsigned*);
    Status (*clock_reasons)(Device, unsigned long long*);
    Status (*fields)(Device, int, FieldValue*);

    Status (*ecc_errors)(Device, ErrorType, CounterType, unsigned long long*);
    Status (*retired_pages)(Device, unsigned cause, unsigned*, unsigned long long*);
    Status (*retired_pages_pending)(Device, unsigned*);
    Status (*remapped_rows)(Device, unsigned*, unsigned*, unsigned*, unsigned*);

    Status (*pcie_generation)(Device, unsigned*);
    Status (*pcie_generation_max)(Device, unsigned*);
    Status (*pcie_width)(Device, unsigned*);
    Status (*pcie_width_max)(Device, unsigned*);
    Status (*pcie_replays)(Device, unsigned*);
    Status (*pcie_throughput)(Device, PcieCounter, unsigned*);  // kB/s; takes some 20 ms.
    Status (*nvlink_state)(Device, unsigned, unsigned*);
    Status (*nvlink_remote_pci)(Device, unsigned, PciInfo*);
    Status (*nvlink_remote_type)(Device, unsigned, unsigned*);
    Status (*common_ancestor)(Device, Device, TopologyLevel*);
    Status (*p2p_status)(Device, Device, P2PCapability, unsigned*);

    Status (*compute_processes)(Device, unsigned*, Process*);
    Status (*compute_processes_v1)(Device, unsigned*, ProcessV1*);
    Status (*graphics_processes)(Device, unsigned*, Process*);
    Status (*process_use)(Device, ProcessUse*, unsigned*, unsigned long long since_us);

    Status (*gpm_support)(Device, GpmSupport*);
    Status (*gpm_alloc)(GpmSample*);
    Status (*gpm_free)(GpmSample);
    Status (*gpm_sample)(Device, GpmSample);
    Status (*gpm_mig_sample)(Device, unsigned gpu_instance, GpmSample);
    Status (*gpm_metrics)(GpmMetricsGet*);

    Status (*event_set_create)(EventSet*);
    Status (*event_set_free)(EventSet);
    Status (*event_set_wait)(EventSet, EventData*, unsigned timeout_ms);
    Status (*supported_events)(Device, unsigned long long*);
    Status (*register_events)(Device, unsigned long long, EventSet);
};

// Open while it lives. NVML itself says that it may be called from several threads.
class Library {
public:
    // `path` empty: where drivers put it (search_order). May block: dlopen runs code of the library.
    // Errors: not_found (nowhere); unavailable (there, and cannot be used).
    static Result<std::shared_ptr<const Library>> open(const std::string& path);
    ~Library();
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;

    Functions call{};
    bool simulated = false;  // It says itself that no such GPUs exist.
    std::string path;

    std::string words(Status) const;  // "GPU is lost (15)"

private:
    explicit Library(void* handle) : handle_(handle) {}
    void bind();
    void* handle_;
};

// A library between nvmlInit and nvmlShutdown. Whoever may be inside a call holds it, so that it is shut down
// when the last has come back.
class Session {
public:
    // Errors: as Library::open; unavailable when NVML cannot start, with what to do.
    static Result<std::shared_ptr<const Session>> open(const std::string& path);
    ~Session() { library->call.shutdown(); }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    const std::shared_ptr<const Library> library;
    const Functions& call;

private:
    explicit Session(std::shared_ptr<const Library> started)
        : library(std::move(started)), call(library->call) {}
};

}  // namespace hostler::nvml
