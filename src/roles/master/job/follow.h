// What becomes of the tasks of jobs: their elements run, end, are tried again.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::master {

// Looks at the jobs of which a task changed since this was asked last, at those whose time is over, and at
// those that waited for one that has ended. `now`: on the clock of HostLive::heard. At most `most` jobs;
// true: there are more.
bool follow_jobs(Desk& desk, Instant now, std::size_t most);

// The tasks of this element are ended, and it is tried again afterwards.
void preempt_run(Desk& desk, const std::string& job, std::int64_t position, const std::string& why);

// Moves the job along its life, if the event leads anywhere.
void note_job(Desk& desk, const std::string& id, JobEvent event, std::string reason, std::string message);

}  // namespace hostler::master
