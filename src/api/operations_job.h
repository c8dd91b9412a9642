// Jobs.
#pragma once

#include "api/operation.h"
#include "api/types_event.h"
#include "api/types_job.h"
#include "api/types_log.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<SubmitJob, Job> submit_job{{
    .name = "submitJob", .method = Method::post, .path = "/v1/jobs", .permission = Permission::job_write,
    .help = "Submit a job. A job that no host could ever take is refused.", .status = 201, .noun = "job", .verb = "submit",
    .argument = "name",
    .example = "job submit train --image docker.io/pytorch/pytorch:2.9 --spec h100-1 --tasks 4 --gang --cmd 'python train.py'"}};
inline constexpr Typed<ListJobs, List<Job>> list_jobs{{
    .name = "listJobs", .path = "/v1/jobs", .permission = Permission::job_read,
    .help = "List jobs.", .list = true, .noun = "job", .verb = "list",
    .columns = "name id state reason position succeeded failed active waiting specName tasks priority tenantID project createdAt startedAt endedAt"}};
inline constexpr Typed<NameJob, Job> get_job{{
    .name = "getJob", .path = "/v1/jobs/{job}", .permission = Permission::job_read, .help = "Show a job.",
    .noun = "job", .verb = "get", .example = "job get train"}};
inline constexpr Typed<UpdateJob, Job> update_job{{
    .name = "updateJob", .method = Method::patch, .path = "/v1/jobs/{job}", .permission = Permission::job_write,
    .help = "Change the priority or the time limit of a job that is not over.", .noun = "job", .verb = "update",
    .example = "job update train --priority 10"}};
inline constexpr Typed<NameJob, Job> cancel_job{{
    .name = "cancelJob", .method = Method::post, .path = "/v1/jobs/{job}/cancel", .permission = Permission::job_write,
    .help = "Cancel a job and end its tasks.", .noun = "job", .verb = "cancel",
    .confirm = "Its tasks end. Files that they wrote outside volumes are lost.", .example = "job cancel train"}};
inline constexpr Typed<NameJob, Job> hold_job{{
    .name = "holdJob", .method = Method::post, .path = "/v1/jobs/{job}/hold", .permission = Permission::job_write,
    .help = "Hold a job: no further part of it begins. Running tasks stay.", .noun = "job", .verb = "hold",
    .example = "job hold train"}};
inline constexpr Typed<NameJob, Job> release_job{{
    .name = "releaseJob", .method = Method::post, .path = "/v1/jobs/{job}/release", .permission = Permission::job_write,
    .help = "Release a held job.", .noun = "job", .verb = "release", .example = "job release train"}};
inline constexpr Typed<NameJob, JobExplanation> explain_job{{
    .name = "explainJob", .path = "/v1/jobs/{job}/explain", .permission = Permission::job_read,
    .help = "Explain why a job is in its state, and what would help.", .noun = "job", .verb = "explain",
    .example = "job explain train"}};
inline constexpr Typed<NameJob, List<Event>> list_job_events{{
    .name = "listJobEvents", .path = "/v1/jobs/{job}/events", .permission = Permission::job_read,
    .help = "List the newest events of a job; with order=-created, page by page on to the oldest.", .list = true,
    .pages = Pages::newest, .noun = "job", .verb = "events", .columns = "time actor reason message"}};
inline constexpr Typed<GetJobLogs, Logs> get_job_logs{{
    .name = "getJobLogs", .path = "/v1/jobs/{job}/logs", .permission = Permission::instance_logs,
    .help = "Show the last lines of the output of a task.", .noun = "job", .verb = "logs",
    .example = "job logs train --rank 1 --follow"}};

}  // namespace hostler::api::ops
