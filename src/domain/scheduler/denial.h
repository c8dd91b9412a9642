// Why a need has no host, and the least that would have to change for it to have one.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "domain/scheduler/fleet.h"

namespace hostler {

// One thing that would have to change, as seen from one host.
struct Change {
    enum class By {
        asking,   // Ask for less or for something else: relax().
        waiting,  // Until so much more is free there.
        opening,  // The host takes new ones again.
    };
    Obstacle obstacle = Obstacle::host;
    By by = By::asking;
    HostNumber host = 0;
    // What to ask for, or by how much more must be free: GPUs, thousandths, millis of CPU, bytes, kilometres,
    // millionths; for slices and profiles a profile's number, 0: a whole GPU. Of a gang: tasks.
    std::int64_t value = 0;
};

struct Reason {
    Obstacle obstacle = Obstacle::host;
    int hosts = 0;  // That it keeps out, before all else.
};

struct Denial {
    bool never = false;           // No such host, even if nothing ran anywhere.
    std::vector<Reason> reasons;  // The most telling first: what is full or closed, the nearest to fit first.
    std::vector<Change> changes;  // All together admit it; empty: there are no hosts.
    std::vector<std::size_t> fitting;  // Of a gang: tasks that would fit.
    std::string sentence;
    std::string would_help;
};

// What the fleet does not know of: the change that a host still needs which would do by all else; nullopt: it
// does.
using Besides = std::function<std::optional<Change>(HostNumber)>;

// Nullopt: there is a host for it. Looks at every host. `instead`: the one change that would do on a host in
// place of all that it lacks; nullopt: there is none.
std::optional<Denial> explain(const Fleet& fleet, const Need& need, const Besides& besides = {},
                              const Besides& instead = {});
// When not even one task fits, it is about the first of them, and that alone need not admit them all.
std::optional<Denial> explain(Fleet& fleet, const Gang& gang);

// The need as it is after a change by asking.
void relax(Need& need, const Change& change, const Fleet& fleet);

}  // namespace hostler
