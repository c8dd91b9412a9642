// NVIDIA GPUs, through the driver's NVML library.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/timers.h"
#include "ports/telemetry.h"

namespace hostler {

struct NvmlSettings {
    std::string library;  // Path of libnvidia-ml.so.1; empty: where drivers put it.
    // Without persistence a driver takes seconds to wake.
    Duration discover_timeout = std::chrono::seconds{30};
    Duration sample_timeout = std::chrono::seconds{5};
    // What is slow to read (ECC, remaps, energy, links, encoders) is read anew when it is this old, and after
    // a fault; samples between carry what was read last.
    Duration slow_interval = std::chrono::seconds{30};
    int gpus_max = 64;
};

// Every call to the library is made on a lane of its GPU: one that hangs costs that GPU's metrics and nothing
// else. NVML stays open between samples, which also keeps the driver awake.
class Nvml : public Telemetry {
public:
    Nvml(Loop& loop, Timers& timers, NvmlSettings settings = {});
    ~Nvml() override;

    std::string_view name() const override { return "nvml"; }
    Task<GpuInventory> discover() override;
    Task<std::vector<GpuSample>> sample() override;
    std::vector<GpuFault> take_faults() override;

    bool simulated() const;       // The library that is open makes its GPUs up.
    std::string library() const;  // Where it was found; empty: none is open.

private:
    struct Gpu;
    struct State;
    Task<> open();
    Task<> discover_gpus(GpuInventory& into, unsigned count);
    Task<> discover_links(GpuInventory& into);
    std::unique_ptr<State> state_;
};

}  // namespace hostler
