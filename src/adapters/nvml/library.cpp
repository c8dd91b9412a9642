#include "adapters/nvml/library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <initializer_list>

namespace hostler::nvml {

namespace {

// The loader's own search first; then where distributions, the driver container and WSL put it.
constexpr const char* search_order[] = {
    "libnvidia-ml.so.1",
    "libnvidia-ml.so",
    "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
    "/usr/lib/aarch64-linux-gnu/libnvidia-ml.so.1",
    "/usr/lib64/libnvidia-ml.so.1",
    "/usr/local/nvidia/lib64/libnvidia-ml.so.1",
    "/run/nvidia/driver/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
    "/run/nvidia/driver/usr/lib/aarch64-linux-gnu/libnvidia-ml.so.1",
    "/run/nvidia/driver/usr/lib64/libnvidia-ml.so.1",
    "/usr/lib/wsl/lib/libnvidia-ml.so.1",
};

void* open_any(const std::string& path, std::string& found) {
    if (!path.empty()) {
        found = path;
        return dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
    }
    for (const char* place : search_order) {
        if (void* handle = dlopen(place, RTLD_LAZY | RTLD_LOCAL)) {
            found = place;
            return handle;
        }
    }
    return nullptr;
}

template <class F>
void find(void* handle, F*& function, std::initializer_list<const char*> names) {
    for (const char* name : names) {
        function = reinterpret_cast<F*>(dlsym(handle, name));
        if (function) return;
    }
}

const char* advice(Status status) {
    switch (status) {
        case driver_not_loaded: return "load the kernel module (modprobe nvidia), or remove the library";
        case version_mismatch: return "the kernel module is of another version: reboot, or reload it";
        case no_permission: return "let the agent open /dev/nvidiactl and /dev/nvidia*";
        case gpu_is_lost: return "a GPU has fallen off the bus: power-cycle the machine";
        case success:
        case uninitialized:
        case invalid_argument:
        case not_supported:
        case not_found:
        case insufficient_size:
        case timeout:
        case function_not_found:
        case reset_required:
        case argument_version_mismatch:
        case gpu_not_found:
        case unknown_error: break;
    }
    return "look into the kernel log for NVRM";
}

}  // namespace

Result<std::shared_ptr<const Library>> Library::open(const std::string& path) {
    std::string found;
    void* handle = open_any(path, found);
    if (!handle && path.empty()) {
        return fail(Code::not_found, "there is no libnvidia-ml.so.1 on this machine");
    }
    if (!handle) {
        const char* why = dlerror();
        return fail(Code::unavailable, fmt::format("cannot load {}: {}", path, why ? why : "unknown"));
    }
    std::shared_ptr<Library> library{new Library{handle}};
    library->path = found;
    library->bind();
    if (!library->call.init || !library->call.shutdown) {
        return fail(Code::unavailable, fmt::format("{} is not NVML: it has no nvmlInit_v2", found));
    }
    return library;
}

Library::~Library() { dlclose(handle_); }

// The versioned names, newest first: the plain ones are macros in NVIDIA's header and mean the oldest layout
// here.
void Library::bind() {
    Functions& f = call;
    find(handle_, f.init, {"nvmlInit_v2", "nvmlInit"});
    find(handle_, f.shutdown, {"nvmlShutdown"});
    find(handle_, f.error_string, {"nvmlErrorString"});
    find(handle_, f.driver_version, {"nvmlSystemGetDriverVersion"});
    find(handle_, f.nvml_version, {"nvmlSystemGetNVMLVersion"});
    find(handle_, f.cuda_version, {"nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion"});

    find(handle_, f.count, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"});
    find(handle_, f.handle_by_index, {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"});
    find(handle_, f.name, {"nvmlDeviceGetName"});
    find(handle_, f.uuid, {"nvmlDeviceGetUUID"});
    find(handle_, f.serial, {"nvmlDeviceGetSerial"});
    find(handle_, f.vbios, {"nvmlDeviceGetVbiosVersion"});
    find(handle_, f.index, {"nvmlDeviceGetIndex"});
    find(handle_, f.minor_number, {"nvmlDeviceGetMinorNumber"});
    find(handle_, f.pci, {"nvmlDeviceGetPciInfo_v3"});
    find(handle_, f.architecture, {"nvmlDeviceGetArchitecture"});
    find(handle_, f.compute_capability, {"nvmlDeviceGetCudaComputeCapability"});
    find(handle_, f.cores, {"nvmlDeviceGetNumGpuCores"});
    find(handle_, f.numa_node, {"nvmlDeviceGetNumaNodeId"});

    find(handle_, f.mig_mode, {"nvmlDeviceGetMigMode"});
    find(handle_, f.mig_count_max, {"nvmlDeviceGetMaxMigDeviceCount"});
    find(handle_, f.mig_device, {"nvmlDeviceGetMigDeviceHandleByIndex"});
    find(handle_, f.gpu_instance_id, {"nvmlDeviceGetGpuInstanceId"});
    find(handle_, f.compute_instance_id, {"nvmlDeviceGetComputeInstanceId"});
    find(handle_, f.gpu_instance, {"nvmlDeviceGetGpuInstanceById"});
    find(handle_, f.gpu_instance_info, {"nvmlGpuInstanceGetInfo"});
    find(handle_, f.attributes, {"nvmlDeviceGetAttributes_v2"});

    find(handle_, f.memory, {"nvmlDeviceGetMemoryInfo"});
    find(handle_, f.memory_v2, {"nvmlDeviceGetMemoryInfo_v2"});
    find(handle_, f.bar1, {"nvmlDeviceGetBAR1MemoryInfo"});
    find(handle_, f.utilization, {"nvmlDeviceGetUtilizationRates"});
    find(handle_, f.encoder, {"nvmlDeviceGetEncoderUtilization"});
    find(handle_, f.decoder, {"nvmlDeviceGetDecoderUtilization"});
    find(handle_, f.temperature, {"nvmlDeviceGetTemperature"});
    find(handle_, f.temperature_v, {"nvmlDeviceGetTemperatureV"});
    find(handle_, f.temperature_threshold, {"nvmlDeviceGetTemperatureThreshold"});
    find(handle_, f.power, {"nvmlDeviceGetPowerUsage"});
    find(handle_, f.power_limit, {"nvmlDeviceGetEnforcedPowerLimit", "nvmlDeviceGetPowerManagementLimit"});
    find(handle_, f.power_limits, {"nvmlDeviceGetPowerManagementLimitConstraints"});
    find(handle_, f.energy, {"nvmlDeviceGetTotalEnergyConsumption"});
    find(handle_, f.clock, {"nvmlDeviceGetClockInfo"});
    find(handle_, f.clock_max, {"nvmlDeviceGetMaxClockInfo"});
    find(handle_, f.fan, {"nvmlDeviceGetFanSpeed"});
    find(handle_, f.performance_state, {"nvmlDeviceGetPerformanceState"});
    find(handle_, f.clock_reasons,
         {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});
    find(handle_, f.fields, {"nvmlDeviceGetFieldValues"});

    find(handle_, f.ecc_errors, {"nvmlDeviceGetTotalEccErrors"});
    find(handle_, f.retired_pages, {"nvmlDeviceGetRetiredPages"});
    find(handle_, f.retired_pages_pending, {"nvmlDeviceGetRetiredPagesPendingStatus"});
    find(handle_, f.remapped_rows, {"nvmlDeviceGetRemappedRows"});

    find(handle_, f.pcie_generation, {"nvmlDeviceGetCurrPcieLinkGeneration"});
    find(handle_, f.pcie_generation_max, {"nvmlDeviceGetMaxPcieLinkGeneration"});
    find(handle_, f.pcie_width, {"nvmlDeviceGetCurrPcieLinkWidth"});
    find(handle_, f.pcie_width_max, {"nvmlDeviceGetMaxPcieLinkWidth"});
    find(handle_, f.pcie_replays, {"nvmlDeviceGetPcieReplayCounter"});
    find(handle_, f.pcie_throughput, {"nvmlDeviceGetPcieThroughput"});
    find(handle_, f.nvlink_state, {"nvmlDeviceGetNvLinkState"});
    find(handle_, f.nvlink_remote_pci, {"nvmlDeviceGetNvLinkRemotePciInfo_v2"});
    find(handle_, f.nvlink_remote_type, {"nvmlDeviceGetNvLinkRemoteDeviceType"});
    find(handle_, f.common_ancestor, {"nvmlDeviceGetTopologyCommonAncestor"});
    find(handle_, f.p2p_status, {"nvmlDeviceGetP2PStatus"});

    // Version 2 has the layout of version 3.
    find(handle_, f.compute_processes,
         {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"});
    find(handle_, f.compute_processes_v1, {"nvmlDeviceGetComputeRunningProcesses"});
    find(handle_, f.graphics_processes,
         {"nvmlDeviceGetGraphicsRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v2"});
    find(handle_, f.process_use, {"nvmlDeviceGetProcessUtilization"});

    find(handle_, f.gpm_support, {"nvmlGpmQueryDeviceSupport"});
    find(handle_, f.gpm_alloc, {"nvmlGpmSampleAlloc"});
    find(handle_, f.gpm_free, {"nvmlGpmSampleFree"});
    find(handle_, f.gpm_sample, {"nvmlGpmSampleGet"});
    find(handle_, f.gpm_mig_sample, {"nvmlGpmMigSampleGet"});
    find(handle_, f.gpm_metrics, {"nvmlGpmMetricsGet"});

    find(handle_, f.event_set_create, {"nvmlEventSetCreate"});
    find(handle_, f.event_set_free, {"nvmlEventSetFree"});
    find(handle_, f.event_set_wait, {"nvmlEventSetWait_v2", "nvmlEventSetWait"});
    find(handle_, f.supported_events, {"nvmlDeviceGetSupportedEventTypes"});
    find(handle_, f.register_events, {"nvmlDeviceRegisterEvents"});

    simulated = dlsym(handle_, "hostlerSimulated") != nullptr;
}

std::string Library::words(Status status) const {
    const char* text = call.error_string ? call.error_string(status) : nullptr;
    return fmt::format("{} ({})", text ? text : "NVML error", static_cast<int>(status));
}

Result<std::shared_ptr<const Session>> Session::open(const std::string& path) {
    auto library = TRY(Library::open(path));
    if (const Status status = library->call.init(); status != success) {
        return fail(Code::unavailable,
                    fmt::format("NVML does not start: {}; {}", library->words(status), advice(status)));
    }
    return std::shared_ptr<const Session>{new Session{std::move(library)}};
}

}  // namespace hostler::nvml
