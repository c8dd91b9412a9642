// The leases of a simulated machine, and the supervisor that outlives its process.
#pragma once

#include "adapters/sim/storage.h"
#include "ports/leases.h"

namespace hostler::sim {

// What is on the disk, and whether a supervisor runs.
struct LeaseFiles {
    std::vector<RunLease> granted;
    std::vector<WatchedLease> watched;
    std::function<void(const std::string& boot)> supervise;  // Starts one, unless one runs.
};

class SimLeases final : public LeaseBook {
public:
    SimLeases(LeaseFiles& files, Disk& disk, Timers& timers) : files_(files), disk_(disk), timers_(timers) {}
    Task<std::vector<RunLease>> granted() override { co_return files_.granted; }
    Task<> grant(std::vector<RunLease> all) override {
        co_return co_await change(disk_, timers_, [&] { files_.granted = all; }, true);
    }
    Task<std::vector<WatchedLease>> watched() override { co_return files_.watched; }
    Task<> watch(std::vector<WatchedLease> all) override {
        co_return co_await change(disk_, timers_, [&] { files_.watched = all; }, true);
    }
    Task<> supervise(std::string boot) override {
        if (files_.supervise) files_.supervise(boot);
        co_return Result<>{};
    }

private:
    LeaseFiles& files_;
    Disk& disk_;
    Timers& timers_;
};

}  // namespace hostler::sim
