// Intel GPUs, through the files of the xe and i915 drivers.
#pragma once

#include "core/drm_clients.h"
#include "core/kernel_files.h"
#include "core/lane.h"
#include "ports/telemetry.h"

namespace hostler {

struct IntelSettings {
    KernelRoots roots;
    Duration timeout = std::chrono::seconds{5};
    int gpus_max = 64;
};

// These drivers tell no memory use and no load of a whole GPU: both are absent; of processes they do. The
// size of the memory is that of the model in the catalogue. Power comes from the energy between two samples,
// so the first has none.
class Intel : public Telemetry {
public:
    Intel(Loop& loop, Timers& timers, IntelSettings settings = {});
    std::string_view name() const override { return "intel"; }
    Task<GpuInventory> discover() override;
    Task<std::vector<GpuSample>> sample() override;

private:
    struct Gpu {
        std::unique_ptr<Lane> lane;
        std::string folder;  // ".../class/drm/card0"
        GpuFacts facts;
        Metric energy_mj;  // Of the sample before, at `sampled`.
        Instant sampled{};
    };
    Loop& loop_;
    Timers& timers_;
    IntelSettings settings_;
    Lane lane_;
    Lane process_lane_;
    std::shared_ptr<DrmClients> clients_;  // Touched by its lane only.
    std::vector<Gpu> gpus_;
};

}  // namespace hostler
