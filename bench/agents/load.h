// What a host with eight GPUs says of itself, and how its gauges move.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/telemetry_load.h"
#include "domain/inventory/host.h"
#include "domain/inventory/sample.h"

namespace hostler::uplink {
class Report;
}

namespace hostler::bench {

class HostLoad {
public:
    // The `index`-th host of a fleet: its name and its GPUs' are its own.
    HostLoad(std::size_t index, std::size_t gpus, std::uint64_t seed);

    HostFacts facts() const;
    // The next samples, ten seconds after those before, in the form in which an agent sends them: every
    // metric there is, twenty of each GPU measured. `marker`: disk_busy_ms of the host's sample.
    void sample(uplink::Report& into, std::int64_t marker);

private:
    std::string uuid(std::size_t gpu) const { return gpu_id(first_ + gpu); }
    HostSample host_sample(std::int64_t marker);

    std::size_t index_;
    std::size_t first_;  // GPU, counted over the fleet.
    std::vector<Gpu> gpus_;
    std::mt19937 dice_;
    std::int64_t sent_ = 0, received_ = 0;
    std::int64_t uptime_ = 0;
};

}  // namespace hostler::bench
