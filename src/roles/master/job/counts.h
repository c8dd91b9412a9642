// What operators see of jobs in the metrics of a master that leads.
#pragma once

#include <cstdint>
#include <map>

#include "core/metrics.h"
#include "core/timers.h"
#include "domain/job/life.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

// Of this term.
struct JobCounts {
    std::map<JobPhase, std::uint64_t> ended;  // Jobs, by how they ended.
    std::uint64_t admitted = 0;               // Elements that got a place.
    std::uint64_t preempted = 0;              // Elements that had to make room.
    Duration worked{};                        // Time that jobs took of the estate's thread.
};

void write_job_metrics(MetricsPage& page, const Desk& desk);

}  // namespace hostler::master
