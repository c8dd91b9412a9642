// The supervisor beside the containers: it outlives the agent, and stops what no master has confirmed for the
// length of its lease. It knows nothing but the leases, the engine and the time since the boot.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "core/task_group.h"
#include "core/timers.h"
#include "ports/engine.h"
#include "ports/leases.h"

namespace hostler::agent {

// Microseconds since the boot, with the time that the machine was asleep.
std::int64_t since_boot_us(const Timers& timers);

// Of another boot, or over.
bool has_run_out(const RunLease& lease, const std::string& boot, std::int64_t now_us);

struct SupervisorSettings {
    std::string boot;
    Duration look_interval = std::chrono::milliseconds{200};
    Duration stop_grace = std::chrono::seconds{5};  // Between SIGTERM and SIGKILL.
    Duration idle_max = std::chrono::seconds{60};   // Without any lease it ends,
    Duration over_max = std::chrono::minutes{10};   // and when all have run out and nothing of them runs.
    Duration call_deadline = std::chrono::seconds{30};
};

class Supervisor {
public:
    Supervisor(Loop& loop, Timers& timers, Engine& engine, LeaseBook& leases, SupervisorSettings settings);

    // Until there was nothing to watch over for a while. Errors: cancelled.
    Task<> run();

private:
    Task<> watch(TaskGroup& enforcing);
    Task<> look(TaskGroup& enforcing);
    Task<> tell();
    Task<> enforce(RunLease lease);
    // After how long as it is now it ends; nullopt: there is something to watch over.
    std::optional<Duration> idle_time(const std::vector<RunLease>& leases) const;
    Task<std::string> stop(RunLease lease);  // Gives what it saw in the end.

    Loop& loop_;
    Timers& timers_;
    Engine& engine_;
    LeaseBook& leases_;
    SupervisorSettings settings_;
    std::map<std::string, WatchedLease> watched_, told_;  // By instance; as it is, and as the agent reads it.
    std::map<std::string, Instant> rest_until_;           // By instance, after a look at its engine.
    std::set<std::string> asked_, quiet_;  // The engine is asked for it; nothing ran when it was last.
    std::optional<Duration> idle_;
};

}  // namespace hostler::agent
