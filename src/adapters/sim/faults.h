// What goes wrong in a simulated world, as plain data: rates that an hour is brewed from, and the blows of
// that hour.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "adapters/sim/dice.h"
#include "core/timers.h"

namespace hostler::sim {

// What goes wrong by itself. Rates are chances a minute, for each machine.
struct Faults {
    double lose_connections = 0;  // Each of its connections breaks with a chance of one half.
    double kill = 0;
    double power_cut = 0;
    Duration reboot_max = std::chrono::seconds{20};  // After a crash the same program starts again within it.
    double pause = 0;                                // Its process stops,
    Duration pause_max = std::chrono::seconds{90};   // and goes on within so long as if nothing had been.
    double clock_jump = 0;                           // Its wall clock jumps,
    Duration jump_max = std::chrono::seconds{90};    // by up to so much, and back after up to as long.
    double partition = 0;                            // Of a machine from a random other one,
    Duration partition_max = std::chrono::seconds{60};  // for up to so long; half of them one way only.
    double engine_down = 0;                             // For up to 30 s.
    double container_dies = 0;
    double disk_fails = 0;  // One call fails.
    double disk_full = 0;   // For up to 30 s.
    double torn_write = 0;  // Power goes in the middle of a write of the store.
    double gpu_breaks = 0;  // One of its GPUs, until somebody resets it within 60 s.
};

enum class Trouble {
    lose_connections,
    kill,
    power_cut,
    pause,
    clock_jump,
    partition,
    partition_one_way,
    engine_down,
    container_dies,
    disk_fails,
    disk_full,
    torn_write,
    gpu_breaks,
};

// One thing that goes wrong, at one moment.
struct Strike {
    Duration at{};  // From the beginning of the storm.
    Trouble what{};
    std::string machine;
    int count = 0;           // Of that machine, from 1: "nj.3" names a strike whatever else there is.
    std::string other{};     // From which the machine is cut off.
    Duration lasts{};        // Until it is mended, or boots again.
    std::uint64_t number{};  // Of the call, the container, the bytes that are free; or dice.
    Duration jump{};         // Of the clock.

    std::string name() const;
    std::string words() const;  // "nj is killed, for 3.2 s"
};

// All that goes wrong within `time`. What happens to one machine depends on nothing but the dice, its name
// and the names of all: a longer storm begins with the shorter one.
std::vector<Strike> brew(const Faults& faults, const std::vector<std::string>& machines, Duration time,
                         const Dice& dice);

}  // namespace hostler::sim
