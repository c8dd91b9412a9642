// Whose turn it is.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::master {

// What a slice of a round may cost the estate's thread.
struct RoundBounds {
    int admissions = 32;
    int refusals = 64;  // Jobs that are asked and find no room.
    int looks = 1024;   // Queues of whose kind others found none.
};

// Of a term.
struct RoundCount {
    std::uint64_t rounds = 0;
    std::uint64_t pieces = 0;
};

// Admits jobs in their order while there is room. true: there may be more to admit now.
bool admit_jobs(Desk& desk, RoundBounds bounds = {});

}  // namespace hostler::master
