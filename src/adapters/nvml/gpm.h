// What only Hopper and later measure of their parts: how busy multiprocessors, tensor cores and memory are.
#pragma once

#include <memory>

#include "adapters/nvml/read.h"

namespace hostler::nvml {

// Rates between two moments; it keeps the one before. Of one GPU, or of one of its slices; to be used on that
// GPU's lane.
class Gpm {
public:
    // `gpu_instance`: that of a slice.
    explicit Gpm(std::shared_ptr<const Session> session, std::optional<unsigned> gpu_instance = {})
        : session_(std::move(session)), gpu_instance_(gpu_instance) {}
    ~Gpm();
    Gpm(const Gpm&) = delete;
    Gpm& operator=(const Gpm&) = delete;

    // Leaves the metrics absent the first time, and where the GPU or the library cannot tell them.
    void read(Reader& gpu, GpuActivity& activity);

private:
    enum class Can { unknown, yes, no };
    bool prepare(Reader& gpu);
    bool take(Reader& gpu);
    const std::shared_ptr<const Session> session_;
    const std::optional<unsigned> gpu_instance_;
    Can can_ = Can::unknown;
    GpmSample before_ = nullptr;
    GpmSample now_ = nullptr;
    bool has_before_ = false;
};

}  // namespace hostler::nvml
