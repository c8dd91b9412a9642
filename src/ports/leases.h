// What an agent and the supervisor beside its containers tell each other. It outlives them both.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/task.h"

namespace hostler {

// So long an instance runs on without a word of a master.
struct RunLease {
    std::string instance;
    std::uint64_t generation = 0;
    std::string boot;           // Of the machine: it is worth nothing after another one.
    std::int64_t until_us = 0;  // Since that boot, asleep or not.
    std::int64_t length_us = 0;
    bool operator==(const RunLease&) const = default;
};

// That a supervisor watches over a lease.
struct WatchedLease {
    std::string instance;
    std::uint64_t generation = 0;
    std::string saw;  // For people: what it saw there when the lease ran out; empty: it has not.
    bool operator==(const WatchedLease&) const = default;
};

// Each list is replaced as a whole, by one of the two alone. What was told is durable when the call returns.
// Errors everywhere: unavailable, exhausted (the disk).
class LeaseBook {
public:
    virtual ~LeaseBook() = default;
    virtual Task<std::vector<RunLease>> granted() = 0;
    virtual Task<> grant(std::vector<RunLease> all) = 0;  // The agent's.
    virtual Task<std::vector<WatchedLease>> watched() = 0;
    virtual Task<> watch(std::vector<WatchedLease> all) = 0;  // The supervisor's.
    // Starts a supervisor in `boot` of this machine, unless one runs. It runs on when its caller ends.
    virtual Task<> supervise(std::string boot) = 0;

    static constexpr std::size_t leases_max = 1024;
};

}  // namespace hostler
