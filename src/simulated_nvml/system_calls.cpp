// Functions of the library as a whole, and how GPUs are found.
#include <algorithm>
#include <cstdio>

#include "simulated_nvml/call.h"

using namespace hostler::simulated;

// How a program recognises this library: NVIDIA's has no such function.
SIMULATED const char* hostlerSimulated() { return "hostler simulated NVML 1"; }

SIMULATED Status nvmlInit_v2() {
    if (users == 0) forget();
    ++users;
    const auto call = begin("nvmlInit_v2");
    if (call.status != success) --users;
    return call.status;
}
SIMULATED Status nvmlInitWithFlags(unsigned) { return nvmlInit_v2(); }

SIMULATED Status nvmlShutdown() {
    if (users == 0) return uninitialized;
    BEGIN("nvmlShutdown");
    --users;
    return success;
}

SIMULATED const char* nvmlErrorString(Status status) {
    switch (status) {
        case success: return "The operation was successful";
        case uninitialized: return "NVML was not initialized";
        case invalid_argument: return "An argument is invalid";
        case not_supported: return "Not supported";
        case no_permission: return "No permission";
        case not_found: return "Not found";
        case insufficient_size: return "Too little room for the answer";
        case driver_not_loaded: return "The driver is not loaded";
        case timeout: return "Time is over";
        case function_not_found: return "No such function";
        case gpu_is_lost: return "GPU is lost";
        case reset_required: return "GPU needs a reset";
        case version_mismatch: return "Driver and library do not match";
        case argument_version_mismatch: return "Version of a structure does not match";
        case gpu_not_found: return "No such GPU";
        case unknown_error: break;
    }
    return "Unknown error";
}

SIMULATED Status nvmlSystemGetDriverVersion(char* version, unsigned length) {
    BEGIN("nvmlSystemGetDriverVersion");
    return put(version, length, call.state->system.text("driver"));
}

SIMULATED Status nvmlSystemGetNVMLVersion(char* version, unsigned length) {
    BEGIN("nvmlSystemGetNVMLVersion");
    return put(version, length, call.state->system.text("nvml"));
}

SIMULATED Status nvmlSystemGetCudaDriverVersion_v2(int* version) {
    BEGIN("nvmlSystemGetCudaDriverVersion_v2");
    int major = 0;
    int minor = 0;
    if (std::sscanf(call.state->system.text("cuda").c_str(), "%d.%d", &major, &minor) != 2)
        return not_supported;
    return put(version, major * 1000 + minor * 10);
}

SIMULATED Status nvmlSystemGetDriverBranch(DriverBranch* branch, unsigned length) {
    BEGIN("nvmlSystemGetDriverBranch");
    if (!branch) return invalid_argument;
    if (branch->version != version_word<DriverBranch>(1)) return argument_version_mismatch;
    const std::string driver = call.state->system.text("driver");
    return put(branch->branch, std::min<unsigned>(length, sizeof branch->branch),
               "r" + driver.substr(0, driver.find('.')) + "_00");
}

SIMULATED Status nvmlDeviceGetCount_v2(unsigned* count) {
    BEGIN("nvmlDeviceGetCount_v2");
    return put(count, call.state->present().size());
}

static Status found(const Section* gpu, Device* device) {
    if (!device) return invalid_argument;
    if (!gpu) return not_found;
    if (gpu->yes("lost")) return gpu_is_lost;
    *device = handle_of(gpu->text("uuid"));
    return *device ? success : unknown_error;
}

SIMULATED Status nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
    BEGIN("nvmlDeviceGetHandleByIndex_v2");
    const auto gpus = call.state->present();
    return index < gpus.size() ? found(gpus[index], device) : invalid_argument;
}

SIMULATED Status nvmlDeviceGetHandleByUUID(const char* uuid, Device* device) {
    BEGIN("nvmlDeviceGetHandleByUUID");
    return uuid ? found(call.state->gpu(uuid), device) : invalid_argument;
}

SIMULATED Status nvmlDeviceGetHandleByPciBusId_v2(const char* address, Device* device) {
    BEGIN("nvmlDeviceGetHandleByPciBusId_v2");
    if (!address) return invalid_argument;
    unsigned domain = 0;
    unsigned bus = 0;
    unsigned slot = 0;
    if (std::sscanf(address, "%x:%x:%x", &domain, &bus, &slot) != 3) return invalid_argument;
    for (const Section* gpu : call.state->present()) {
        const PciInfo pci = pci_of(*gpu);
        if (pci.domain == domain && pci.bus == bus && pci.device == slot) return found(gpu, device);
    }
    return not_found;
}
