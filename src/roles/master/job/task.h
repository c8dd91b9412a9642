// The request that makes a task of a job.
#pragma once

#include <string>

#include "core/result.h"

namespace hostler {
struct Job;
}  // namespace hostler

namespace hostler::api {
struct CreateInstance;
struct SubmitJob;
}  // namespace hostler::api

namespace hostler::master {

// What a submission says of a task, for JobSpec::task. Very many jobs wait, so what the job itself has and
// what is usual is left out.
std::string kept_task(const api::SubmitJob& request);

// Whole, with the name of the job. Errors: invalid (it is no such text).
Result<api::CreateInstance> task_request(const Job& job);

}  // namespace hostler::master
