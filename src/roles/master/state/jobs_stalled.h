// Whether jobs find no place for a long time, which alerts look at.
#pragma once

#include <cstdint>

namespace hostler::master {

// Of this term.
struct JobsStalled {
    // Microseconds since 1970: since when it is the turn of waiting jobs and none of them is admitted. 0: the
    // last round admitted one, or no job had its turn.
    std::int64_t since = 0;
    std::int64_t seconds(std::int64_t now) const { return since == 0 ? 0 : (now - since) / 1'000'000; }
};

}  // namespace hostler::master
