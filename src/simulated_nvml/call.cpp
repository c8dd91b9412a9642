#include "simulated_nvml/call.h"

#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace hostler::simulated {

std::atomic<int> users = 0;

namespace {

// Handles point into this table.
struct Handles {
    std::mutex mutex;
    std::array<std::string, 2048> uuids;
};

Handles& handles() {
    static Handles& one = *new Handles;  // Never destroyed, see state.cpp.
    return one;
}

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Blocks as long as the file says so. Returns the state that lets the call go on; nullptr: there is none.
std::shared_ptr<const State> hang(const char* function, const std::string* uuid) {
    while (true) {
        auto state = current();
        if (!state) return state;
        const Section* gpu = uuid ? state->owner_of(*uuid) : nullptr;
        if (!state->system.names("hang", function) && !(gpu && gpu->names("hang", function))) return state;
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }
}

Status error_of(const Section& section, const char* function) {
    for (const auto& row : section.rows("error")) {
        if (row.size() == 2 && (row[0] == function || row[0] == "all"))
            return Status{std::atoi(row[1].c_str())};
    }
    return success;
}

Call begin_on(std::shared_ptr<const State> state, const char* function) {
    Call call{.state = std::move(state), .seconds = now()};
    if (users == 0) return call;
    call.status = call.state ? error_of(call.state->system, function) : driver_not_loaded;
    return call;
}

}  // namespace

long long Call::value(const char* key, double otherwise) const {
    return std::llround(gpu->number(key, otherwise).at(seconds, phase));
}

Call begin(const char* function) { return begin_on(hang(function, nullptr), function); }

Call begin(const char* function, Device device) {
    Call call = begin_either(function, device);
    if (call.status == success && call.slice) call.status = not_supported;
    return call;
}

Call begin_either(const char* function, Device device) {
    const std::string uuid = uuid_of(device);
    Call call = begin_on(hang(function, &uuid), function);
    if (call.status != success) return call;
    call.gpu = call.state->owner_of(uuid);
    if (const auto slice = call.state->slices.find(uuid); slice != call.state->slices.end())
        call.slice = slice->second.second;
    if (!call.gpu) {
        call.status = invalid_argument;
    } else if (call.gpu->yes("lost")) {
        call.status = gpu_is_lost;
    } else {
        call.status = error_of(*call.gpu, function);
        call.phase = static_cast<double>(call.gpu - call.state->gpus.data());
    }
    return call;
}

Device handle_of(const std::string& uuid) {
    Handles& table = handles();
    const std::scoped_lock lock{table.mutex};
    for (auto& slot : table.uuids) {
        if (slot.empty()) slot = uuid;
        if (slot == uuid) return reinterpret_cast<Device>(&slot);
    }
    return nullptr;
}

std::string uuid_of(Device device) {
    Handles& table = handles();
    const std::scoped_lock lock{table.mutex};
    for (const auto& slot : table.uuids) {
        if (reinterpret_cast<const void*>(&slot) == static_cast<const void*>(device)) return slot;
    }
    return {};
}

PciInfo pci_of(const Section& gpu) {
    PciInfo pci{};
    unsigned vendor = 0;
    unsigned product = 0;
    std::sscanf(gpu.text("pci").c_str(), "%x:%x:%x", &pci.domain, &pci.bus, &pci.device);
    std::sscanf(gpu.text("pci_id").c_str(), "%x:%x", &vendor, &product);
    pci.pci_device_id = product << 16 | vendor;
    std::snprintf(pci.bus_id, sizeof pci.bus_id, "%08X:%02X:%02X.0", pci.domain, pci.bus & 0xff,
                  pci.device & 0xff);
    std::snprintf(pci.bus_id_legacy, sizeof pci.bus_id_legacy, "%04X:%02X:%02X.0", pci.domain & 0xffff,
                  pci.bus & 0xff, pci.device & 0xff);
    return pci;
}

}  // namespace hostler::simulated
