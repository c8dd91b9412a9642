// What the API shows of jobs.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::api {
struct Job;
struct JobExplanation;
struct SubmitJob;
}  // namespace hostler::api

namespace hostler::master {

api::Job view(const Desk& desk, const Job& job);
api::JobExplanation explain_job(const Desk& desk, const Job& job);
// The request that makes the same job again.
api::SubmitJob submission_of(const Job& job);

// The instance of a task, and which attempt it is. `attempt` 0: the newest. nullopt: there is none.
struct TaskFound {
    std::string instance;
    std::int64_t attempt = 1;
};
std::optional<TaskFound> find_task(const Job& job, std::int64_t rank, std::optional<std::int64_t> index,
                                   std::int64_t attempt);
// Its instance; empty: there is none.
std::string task_of(const Job& job, std::int64_t rank, std::optional<std::int64_t> index,
                    std::int64_t attempt);

}  // namespace hostler::master
