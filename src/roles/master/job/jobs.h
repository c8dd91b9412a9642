// What people ask of jobs.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::api {
struct SubmitJob;
struct UpdateJob;
}  // namespace hostler::api

namespace hostler::master {

// Of a project, that are not over. A quota of `jobs` may allow fewer.
inline constexpr std::size_t jobs_project_max = 100'000;

// Errors: invalid (each wrong field), conflict (job_exists, placement_impossible), forbidden (policy_denied),
// exhausted (too_many_jobs, quota_exceeded), not_found (tenant_not_found, project_not_found).
Result<const Job*> submit_job(Desk& desk, const api::SubmitJob& request, const std::string& tenant,
                              const std::string& created_by);

// The one of this name that is not over, else the newest that is; nullptr: there is none.
const Job* find_job(const Desk& desk, const std::string& tenant, const std::string& project,
                    const std::string& name);

// It is over at once, and its tasks end. One that is over stays as it is.
void cancel_job(Desk& desk, const std::string& id, const std::string& why);
// Errors: conflict (job_ended).
Result<> hold_job(Desk& desk, const std::string& id, bool held);
Result<> update_job(Desk& desk, const std::string& id, const api::UpdateJob& request);

// Jobs that ended leave memory after a day, a bounded number at a time. true: there are more.
bool archive_jobs(Desk& desk);

}  // namespace hostler::master
