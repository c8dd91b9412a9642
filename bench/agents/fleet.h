// Agents without machines: each dials from an address of its own and says what the shipped agent says.
#pragma once

#include <array>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/agents/hosts.h"
#include "core/signal.h"
#include "core/task_group.h"

namespace hostler::bench {

struct FleetSettings {
    std::string access;                // Where the access point listens, "127.0.0.1:7441".
    double connects_per_second = 200;  // At first; who loses its connection comes back as an agent does.
    std::size_t gpus = 8;              // Of each host.
    std::uint64_t seed = 1;
};

class Fleet {
public:
    Fleet(Loop& loop, Timers& timers, Net& net, Random& random, FleetSettings settings,
          std::vector<JoinedHost> hosts);
    ~Fleet();

    void start();
    Task<> close();
    // No more reports are made; those without an answer are still sent.
    void rest() { resting_ = true; }

    struct Count {
        std::size_t agents = 0;
        std::size_t welcomed = 0;          // Speak with a master now.
        std::uint64_t made = 0;            // Reports,
        std::uint64_t acknowledged = 0;    // and those that the master has durably.
        std::uint64_t sent_again = 0;      // On another connection or after another hello.
        std::uint64_t connections = 0;     // That were made, and
        std::uint64_t lost = 0;            // that ended.
        std::chrono::milliseconds late{};  // 99 of 100 reports were made within it of their moment, since it
                                           // was asked last.
    };
    Count count();

    // The next report that is made by whoever speaks with a master.
    struct Marked {
        std::string host;
        std::int64_t marker = 0;  // disk_busy_ms in it; rises with each report of the fleet.
        WallTime sampled;
    };
    Task<Marked> mark();

private:
    class Agent;
    void note_late(Duration late);

    Loop& loop_;
    Timers& timers_;
    Net& net_;
    Random& random_;
    const FleetSettings settings_;
    const Instant begun_;
    bool resting_ = false;
    Count count_;
    static constexpr std::size_t late_max_ms = 2'000;
    std::vector<std::uint32_t> late_ms_ = std::vector<std::uint32_t>(late_max_ms + 1);  // Reports, by ms.
    std::int64_t markers_ = 0;
    std::optional<Marked> marked_;
    bool wanted_ = false;
    Signal came_;
    std::vector<std::unique_ptr<Agent>> agents_;
    TaskGroup tasks_;
};

}  // namespace hostler::bench
