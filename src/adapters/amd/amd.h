// AMD GPUs, through the files of the amdgpu and amdkfd drivers.
#pragma once

#include "core/drm_clients.h"
#include "core/kernel_files.h"
#include "core/lane.h"
#include "ports/telemetry.h"

namespace hostler {

struct AmdSettings {
    KernelRoots roots;
    Duration timeout = std::chrono::seconds{5};
    int gpus_max = 64;
};

// Reading a file of a GPU that hangs may never end, so each GPU has a lane of its own, and so have the
// processes of all.
class Amd : public Telemetry {
public:
    Amd(Loop& loop, Timers& timers, AmdSettings settings = {});
    std::string_view name() const override { return "amd"; }
    Task<GpuInventory> discover() override;
    Task<std::vector<GpuSample>> sample() override;

private:
    struct Gpu {
        std::unique_ptr<Lane> lane;
        std::string folder;  // ".../class/drm/card0/device"
        int kfd_id = 0;      // By which processes' files call it; 0: the compute driver does not know it.
        GpuFacts facts;
    };
    Loop& loop_;
    Timers& timers_;
    AmdSettings settings_;
    Lane lane_;
    Lane process_lane_;
    std::shared_ptr<DrmClients> clients_;  // Touched by its lane only.
    std::vector<Gpu> gpus_;
};

}  // namespace hostler
