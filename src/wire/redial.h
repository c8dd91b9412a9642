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

// Dials one address, serves its link, and returns when that has ended: an error says why.
using DialOnce = std::function<Task<>(std::string address)>;

// Calls `once` again and again until it is cancelled. After each call, `ended` says whether a link had been
// made by it. Errors: cancelled; invalid (there is no address).
Task<> keep_linked(Timers& timers, Random& random, Redial how, DialOnce once, std::function<bool()> ended);

}  // namespace hostler::wire
