// When a job that waits is expected to start.
#pragma once

#include <cstdint>
#include <optional>

#include "roles/master/state/desk.h"

namespace hostler::master {

// Its next element, if all jobs end by their time limits: microseconds since 1970. nullopt: not known; it is
// held, waits for another job or for something other than room, or jobs without a limit are in its way. It
// looks at a bounded number of jobs and of hosts.
std::optional<std::int64_t> expected_start_of(const Desk& desk, const Job& job);

}  // namespace hostler::master
