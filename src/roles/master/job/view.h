// What the API shows of jobs.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::api {
struct Explanation;
struct Job;
}  // namespace hostler::api

namespace hostler::master {

api::Job view(const Desk& desk, const Job& job);
api::Explanation explain_job(const Desk& desk, const Job& job);

// The instance of a task; empty: it has none, or not any more. `attempt` 0: the newest.
std::string task_of(const Job& job, std::int64_t rank, std::optional<std::int64_t> index,
                    std::int64_t attempt);

}  // namespace hostler::master
