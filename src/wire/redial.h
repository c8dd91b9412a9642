// One link to the leading master, whichever of its addresses that is at: kept for ever.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/random.h"
#include "core/timers.h"

namespace hostler::wire {

struct Redial {
    std::string who;                     // Who dials, for the log: "access".
    std::vector<std::string> addresses;  // Tried in turn.
    Duration pause_min;                  // Before the next try; doubles while no link was made, with jitter,
    Duration pause_max;                  // up to here.
};

// What came of one call.
struct Dialled {
    bool linked = false;   // A link was made.
    std::string leader{};  // Else: a master that does not lead has said where the one is that does.
};

// Dials one address, serves its link, and returns when that has ended: an error says why.
using DialOnce = std::function<Task<>(std::string address)>;

// Calls `once` again and again until it is cancelled; after each call, `ended` says what came of it. Where a
// master points to is dialled at once; after a link has ended, the others come first. Errors: cancelled;
// invalid (there is no address).
Task<> keep_linked(Timers& timers, Random& random, Redial how, DialOnce once, std::function<Dialled()> ended);

// How long a silent master is waited for. One of several that is silent leads no longer, as its lease is
// shorter.
constexpr Duration patience_with_masters(std::size_t masters, Duration alone) {
    return masters > 1 ? std::min<Duration>(alone, std::chrono::seconds{3}) : alone;
}

}  // namespace hostler::wire
