// How every function of the simulated library begins: is NVML up, is the handle one of ours, and does the
// state file want this call to hang, to fail, or to find its GPU lost?
#pragma once

#include <atomic>
#include <cstring>
#include <optional>

#include "adapters/nvml/abi.h"
#include "simulated_nvml/state.h"

#define SIMULATED extern "C" __attribute__((visibility("default")))

namespace hostler::simulated {

using namespace nvml;

// A function call that may answer. `status` other than success: return it as it is.
struct Call {
    Status status = uninitialized;
    std::shared_ptr<const State> state;
    const Section* gpu = nullptr;                                  // The device asked for, if any;
    std::optional<Slice> slice;                                    // or a slice of that one.
    double seconds = 0;                                            // Of a monotonic clock, for what swings.
    double phase = 0;                                              // So that not all GPUs swing together.
    long long value(const char* key, double otherwise = 0) const;  // Of the GPU, now.
};

Call begin(const char* function);                        // Of the system.
Call begin(const char* function, Device device);         // Of a GPU; of a slice NOT_SUPPORTED.
Call begin_either(const char* function, Device device);  // Of a GPU or a slice.

Device handle_of(const std::string& uuid);  // The same for the same UUID as long as the library is loaded.
std::string uuid_of(Device device);         // Empty: not a handle of ours.
extern std::atomic<int> users;              // nvmlInit minus nvmlShutdown.

inline Status put(char* into, unsigned length, const std::string& text) {
    if (!into) return invalid_argument;
    if (text.empty()) return not_supported;
    if (text.size() + 1 > length) return insufficient_size;
    std::memcpy(into, text.c_str(), text.size() + 1);
    return success;
}

template <class T, class V>
Status put(T* into, V value) {
    if (!into) return invalid_argument;
    *into = static_cast<T>(value);
    return success;
}

PciInfo pci_of(const Section& gpu);

}  // namespace hostler::simulated

#define GO_ON_WITH(...)            \
    const auto call = __VA_ARGS__; \
    if (call.status != hostler::nvml::success) return call.status
#define BEGIN(...) GO_ON_WITH(hostler::simulated::begin(__VA_ARGS__))
#define BEGIN_EITHER(...) GO_ON_WITH(hostler::simulated::begin_either(__VA_ARGS__))
// The setting is not there: this GPU does not have the thing.
#define NEEDS(key) \
    if (!call.gpu->has(key)) return hostler::nvml::not_supported
