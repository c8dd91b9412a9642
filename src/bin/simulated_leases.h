// The leases of simulated containers. Those end with their agent, so their supervisor is in its process.
#pragma once

#include "adapters/sim/leases.h"
#include "core/task_group.h"
#include "roles/agent/supervisor.h"

namespace hostler::bin {

class SimulatedLeases {
public:
    SimulatedLeases(Loop& loop, Timers& timers, Engine& engine, sim::Disk& disk)
        : loop_(loop), timers_(timers), engine_(engine), book_(files_, disk, timers), tasks_(loop) {
        files_.supervise = [this](const std::string& boot) { supervise(boot); };
    }
    LeaseBook& book() { return book_; }
    Task<> close() { return tasks_.close(); }

private:
    void supervise(const std::string& boot) {
        if (tasks_.size() == 0) tasks_.start("supervisor", watch(boot));
    }
    Task<> watch(std::string boot) {
        agent::Supervisor supervisor{loop_, timers_, engine_, book_, {.boot = std::move(boot)}};
        co_return co_await supervisor.run();
    }

    Loop& loop_;
    Timers& timers_;
    Engine& engine_;
    sim::LeaseFiles files_;
    sim::SimLeases book_;
    TaskGroup tasks_;
};

}  // namespace hostler::bin
