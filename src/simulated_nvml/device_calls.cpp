// What a GPU is: identity, limits, links.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "simulated_nvml/call.h"

using namespace hostler::simulated;

#define TEXT(function, key)                                               \
    SIMULATED Status function(Device device, char* text, unsigned size) { \
        BEGIN(#function, device);                                         \
        return put(text, size, call.gpu->text(key));                      \
    }
#define NUMBER(function, key)                                    \
    SIMULATED Status function(Device device, unsigned* number) { \
        BEGIN(#function, device);                                \
        NEEDS(key);                                              \
        return put(number, call.value(key));                     \
    }

SIMULATED Status nvmlDeviceGetName(Device device, char* text, unsigned size) {
    BEGIN_EITHER("nvmlDeviceGetName", device);
    return put(text, size, call.gpu->text("name"));
}
SIMULATED Status nvmlDeviceGetUUID(Device device, char* text, unsigned size) {
    BEGIN_EITHER("nvmlDeviceGetUUID", device);
    return put(text, size, call.slice ? call.slice->uuid : call.gpu->text("uuid"));
}
TEXT(nvmlDeviceGetSerial, "serial")
TEXT(nvmlDeviceGetVbiosVersion, "vbios")
NUMBER(nvmlDeviceGetMinorNumber, "minor")
NUMBER(nvmlDeviceGetArchitecture, "architecture")
NUMBER(nvmlDeviceGetNumGpuCores, "cores")
NUMBER(nvmlDeviceGetNumaNodeId, "numa")
NUMBER(nvmlDeviceGetEnforcedPowerLimit, "power_limit_mw")
NUMBER(nvmlDeviceGetPowerManagementLimit, "power_limit_mw")
NUMBER(nvmlDeviceGetPowerManagementDefaultLimit, "power_limit_mw")
NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, "pcie_generation")
NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, "pcie_generation_max")
NUMBER(nvmlDeviceGetCurrPcieLinkWidth, "pcie_width")
NUMBER(nvmlDeviceGetMaxPcieLinkWidth, "pcie_width_max")

SIMULATED Status nvmlDeviceGetIndex(Device device, unsigned* index) {
    BEGIN("nvmlDeviceGetIndex", device);
    const auto gpus = call.state->present();
    return put(index, std::ranges::find(gpus, call.gpu) - gpus.begin());
}

SIMULATED Status nvmlDeviceGetPciInfo_v3(Device device, PciInfo* pci) {
    BEGIN("nvmlDeviceGetPciInfo_v3", device);
    return put(pci, pci_of(*call.gpu));
}

SIMULATED Status nvmlDeviceGetCudaComputeCapability(Device device, int* major, int* minor) {
    BEGIN("nvmlDeviceGetCudaComputeCapability", device);
    NEEDS("capability");
    if (!major || !minor) return invalid_argument;
    return std::sscanf(call.gpu->text("capability").c_str(), "%d.%d", major, minor) == 2 ? success
                                                                                         : not_supported;
}

SIMULATED Status nvmlDeviceGetPowerManagementLimitConstraints(Device device, unsigned* low, unsigned* high) {
    BEGIN("nvmlDeviceGetPowerManagementLimitConstraints", device);
    NEEDS("power_limit_max_mw");
    if (!low || !high) return invalid_argument;
    *low = static_cast<unsigned>(call.gpu->integer("power_limit_min_mw"));
    return put(high, call.gpu->integer("power_limit_max_mw"));
}

SIMULATED Status nvmlDeviceGetTemperatureThreshold(Device device, Threshold type, unsigned* celsius) {
    BEGIN("nvmlDeviceGetTemperatureThreshold", device);
    const char* key = type == threshold_shutdown   ? "temperature_shutdown"
                      : type == threshold_slowdown ? "temperature_slowdown"
                                                   : "";
    NEEDS(key);
    return put(celsius, call.value(key));
}

SIMULATED Status nvmlDeviceGetMaxClockInfo(Device device, ClockType type, unsigned* mhz) {
    BEGIN("nvmlDeviceGetMaxClockInfo", device);
    if (type > clock_video) return invalid_argument;
    const char* key = type == clock_memory ? "clock_memory_max_mhz" : "clock_graphics_max_mhz";
    NEEDS(key);
    return put(mhz, call.value(key));
}

SIMULATED Status nvmlDeviceGetNvLinkState(Device device, unsigned link, unsigned* active) {
    BEGIN("nvmlDeviceGetNvLinkState", device);
    if (link >= static_cast<unsigned long long>(call.gpu->integer("nvlinks"))) return invalid_argument;
    return put(active, !call.gpu->names("nvlinks_down", std::to_string(link)));
}

// Every link ends at one of four switches, as on an HGX board.
SIMULATED Status nvmlDeviceGetNvLinkRemotePciInfo_v2(Device device, unsigned link, PciInfo* pci) {
    unsigned active = 0;
    if (const Status status = nvmlDeviceGetNvLinkState(device, link, &active); status != success)
        return status;
    BEGIN("nvmlDeviceGetNvLinkRemotePciInfo_v2", device);
    if (!active) return not_supported;
    Section nvswitch;
    nvswitch.add("pci", "0000:" + std::to_string(90 + link % 4) + ":00.0");
    nvswitch.add("pci_id", "10de:22a3");
    return put(pci, pci_of(nvswitch));
}

SIMULATED Status nvmlDeviceGetNvLinkRemoteDeviceType(Device device, unsigned link, unsigned* type) {
    BEGIN("nvmlDeviceGetNvLinkRemoteDeviceType", device);
    if (link >= static_cast<unsigned long long>(call.gpu->integer("nvlinks"))) return invalid_argument;
    return put(type, link_switch);
}

SIMULATED Status nvmlDeviceGetTopologyCommonAncestor(Device device, Device other, TopologyLevel* level) {
    BEGIN("nvmlDeviceGetTopologyCommonAncestor", device);
    const Section* peer = call.state->gpu(uuid_of(other));
    if (!peer || !level) return invalid_argument;
    if (peer == call.gpu) return put(level, topology_internal);
    const bool same_node = peer->integer("numa") == call.gpu->integer("numa");
    const bool same_switch =
        same_node && peer->integer("pcie_switch", -1) == call.gpu->integer("pcie_switch", -2);
    return put(level, same_switch ? topology_single : same_node ? topology_node : topology_system);
}

SIMULATED Status nvmlDeviceGetP2PStatus(Device device, Device other, P2PCapability capability,
                                        unsigned* status) {
    BEGIN("nvmlDeviceGetP2PStatus", device);
    const Section* peer = call.state->gpu(uuid_of(other));
    if (!peer) return invalid_argument;
    const bool linked = call.gpu->integer("nvlinks") > 0 && peer->integer("nvlinks") > 0;
    return put(status, capability != p2p_nvlink || linked ? 0 : 5);  // 5: not supported.
}
