// What the submission of a job would do.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::api {
struct Call;
struct JobPlan;
}  // namespace hostler::api

namespace hostler::master {

// Of its first element: where it would run, what it costs an hour, what it waits for, and which running jobs
// would be preempted for it. The job is in the estate, in a trial. Jobs and hosts that the caller may not see
// are counted and not named.
api::JobPlan plan_of(Desk& desk, const api::Call& call, const Job& job);

}  // namespace hostler::master
