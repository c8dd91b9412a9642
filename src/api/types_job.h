// Jobs: work that waits for its turn and for room, and runs to its end; and the queues that share the GPUs.
#pragma once

#include "api/types_container.h"
#include "api/types_log.h"
#include "api/types_placement.h"
#include "domain/job/job.h"

namespace hostler::api {

// clang-format off

namespace forms {
extern const Form array;  // "0-15:5%4": domain/job/array.h.
}  // namespace forms

enum class JobState { pending, admitted, starting, running, preempting, succeeded, failed, cancelled };
BOOST_DESCRIBE_ENUM(JobState, pending, admitted, starting, running, preempting, succeeded, failed, cancelled)

enum class JobWhen { succeeded, failed, ended };
BOOST_DESCRIBE_ENUM(JobWhen, succeeded, failed, ended)

struct JobAfter {
    std::string job;
    JobWhen when = JobWhen::succeeded;
    bool operator==(const JobAfter&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobAfter, (), (job, when))
template <>
inline constexpr auto fields<JobAfter> = std::to_array<Field>({
    {.member = "job", .help = "Id or name of another job of the project.", .example = "prepare", .min = 1, .max = 128,
     .form = &forms::id},
    {.member = "when", .help = "How that job has to end. If it ends otherwise, this one fails.", .example = "succeeded",
     .absent = Absent::fills},
});

// POST /v1/jobs.
struct SubmitJob {
    std::string name;
    std::optional<std::string> tenant_id{};
    std::optional<std::string> project{};
    std::string image;
    std::string cmd;
    std::optional<std::string> entrypoint{};
    std::vector<Env> envs;
    std::vector<VolumeMount> volumes;
    std::optional<std::vector<SecretEnv>> secret_envs{};
    std::optional<std::vector<SecretFile>> secret_files{};
    std::string spec_name;
    std::int64_t tasks = 1;
    bool gang = false;
    std::optional<std::string> array{};
    std::int64_t time_limit_seconds = 0;
    std::int64_t retries = 0;
    std::int64_t priority = 0;
    std::vector<JobAfter> after;
    bool hold = false;
    std::optional<std::string> zone{};
    std::optional<Placement> placement{};
    std::optional<std::string> shm_size{};
    std::optional<std::int64_t> stop_grace_seconds{};
    std::optional<bool> no_init{};
    std::optional<bool> program{};
    std::optional<Labels> labels{};
};
BOOST_DESCRIBE_STRUCT(SubmitJob, (),
                      (name, tenant_id, project, image, cmd, entrypoint, envs, volumes, secret_envs, secret_files,
                       spec_name, tasks, gang, array, time_limit_seconds, retries, priority, after, hold, zone,
                       placement, shm_size, stop_grace_seconds, no_init, program, labels))
template <>
inline constexpr auto fields<SubmitJob> = std::to_array<Field>({
    {.member = "name", .help = "Name of the job, unique among the project's jobs that are not over.", .example = "train",
     .form = &forms::label},
    {.member = "tenant_id", .help = "Owning tenant; required with an operator's key.", .example = "acme", .form = &forms::id},
    {.member = "project", .help = "Project of the tenant. Default: `default`.", .example = "lab", .form = &forms::label},
    {.member = "image", .help = "Container image to run; required unless it is a program.",
     .example = "docker.io/pytorch/pytorch:2.9", .max = 512, .form = &forms::image, .absent = Absent::fills},
    {.member = "cmd", .help = "Command line of each task, split as a shell would; empty: the image's own.",
     .example = "python train.py --epochs 3", .max = 32768, .absent = Absent::fills},
    {.member = "entrypoint", .help = "Command line in place of the image's ENTRYPOINT; empty: none.", .example = "tini --",
     .max = 32768},
    {.member = "envs", .help = "Environment variables of each task.", .max = 256, .absent = Absent::fills},
    {.member = "volumes", .help = "Volumes that each task sees. A job with volumes stays on the host that has them.", .max = 64,
     .absent = Absent::fills},
    {.member = "secret_envs", .help = "Variables that have values of secrets.", .max = 256},
    {.member = "secret_files", .help = "Files in memory that have values of secrets.", .max = 64},
    {.member = "spec_name", .help = "Shape of each task.", .example = "h100-1", .form = &forms::id},
    {.member = "tasks", .help = "Number of tasks.", .example = "4", .min = 1, .max = job_tasks_max, .absent = Absent::fills},
    {.member = "gang", .help = "The tasks begin together on one host, find each other by RANK, WORLD_SIZE and MASTER_ADDR, and "
                               "end together when one fails.",
     .absent = Absent::fills},
    {.member = "array", .help = "Run it once for each index; `%4` lets four run at the same time. A task finds its index in "
                                "HOSTLER_ARRAY_INDEX.",
     .example = "0-99%10", .max = 4096, .form = &forms::array},
    {.member = "time_limit_seconds", .help = "Running time after which it is ended; 0: none. A job with a limit starts sooner, in gaps "
                                             "before larger jobs.",
     .example = "3600", .min = 0, .max = 366 * 86400, .absent = Absent::fills, .unit = Unit::seconds},
    {.member = "retries", .help = "Tries after an exit code other than 0. A lost host and a preemption do not count.", .example = "2",
     .min = 0, .max = job_retries_max, .absent = Absent::fills},
    {.member = "priority", .help = "Order among the jobs of the same user; more is first.", .example = "10",
     .min = -job_priority_max, .max = job_priority_max, .absent = Absent::fills},
    {.member = "after", .help = "Jobs that have to end first.", .max = 32, .absent = Absent::fills},
    {.member = "hold", .help = "Do not begin it before it is released.", .absent = Absent::fills},
    {.member = "zone", .help = "Only in this zone.", .example = "nj", .form = &forms::label},
    {.member = "placement", .help = "Placement constraints of each task."},
    {.member = "shm_size", .help = "Size of /dev/shm of a task. Without it, half of its memory.", .example = "8Gi",
     .form = &forms::quantity},
    {.member = "stop_grace_seconds", .help = "Time between SIGTERM and SIGKILL when it is ended or preempted. Default: 30 s, unless the "
                                             "operator has set another time.",
     .example = "120", .min = 1, .max = 600, .unit = Unit::seconds},
    {.member = "no_init", .help = "Run its program as process 1 and not below an init that reaps orphans."},
    {.member = "program", .help = "Run `cmd` as a program of the host, without a container and an image (docs/use/jobs.md)."},
    {.member = "labels", .help = "Labels of the job and of its tasks.", .example = "{\"team\":\"ml\"}", .max = labels_max},
});

// No variable or mount path twice.
template <>
struct Rules<SubmitJob> {
    static void check(const SubmitJob& request, Wrong& wrong);
};

// A task of an element that has a place.
struct JobTask {
    std::string instance;
    std::int64_t rank = 0;
    std::optional<std::int64_t> index{};
    std::int64_t attempt = 1;
    std::string state;
    std::optional<std::string> zone{};
};
BOOST_DESCRIBE_STRUCT(JobTask, (), (instance, rank, index, attempt, state, zone))
template <>
inline constexpr auto fields<JobTask> = std::to_array<Field>({
    {.member = "instance", .help = "Id of the instance.", .example = "i-7f3k2m9qxy"},
    {.member = "rank", .help = "Number of the task in its gang, or of the independent task.", .example = "0"},
    {.member = "index", .help = "Index of an array job.", .example = "17"},
    {.member = "attempt", .help = "The how many-th attempt it is, from 1.", .example = "1"},
    {.member = "state", .help = "State of the instance.", .example = "running"},
    {.member = "zone", .help = "Zone of its host.", .example = "nj"},
});

// An attempt that is over.
struct JobEndShown {
    std::int64_t rank = 0;
    std::optional<std::int64_t> index{};
    std::int64_t attempt = 1;
    std::string reason;
    std::optional<int> exit_code{};
    std::vector<std::string> instances;
    std::optional<WallTime> started_at{};
    WallTime ended_at;
};
BOOST_DESCRIBE_STRUCT(JobEndShown, (), (rank, index, attempt, reason, exit_code, instances, started_at, ended_at))
template <>
inline constexpr auto fields<JobEndShown> = std::to_array<Field>({
    {.member = "rank", .help = "Number of the independent task; of a gang that of the task that failed first, or 0.", .example = "0"},
    {.member = "index", .help = "Index of an array job.", .example = "17"},
    {.member = "attempt", .help = "The how many-th attempt it was, from 1.", .example = "1"},
    {.member = "reason", .help = "Reason of its end, stable for programs (docs/use/jobs.md).", .example = "exit_code"},
    {.member = "exit_code", .help = "Exit code of the program that ended first with one other than 0, else 0.", .example = "1"},
    {.member = "instances", .help = "Ids of its instances, by rank."},
    {.member = "started_at", .help = "All its tasks ran since then; absent: they never did."},
    {.member = "ended_at", .help = "Time of its end."},
});

// What happens to running jobs when one is admitted. Jobs that the caller may not see are counted and not named.
struct JobVictims {
    std::string tenant_id;
    std::string project;
    std::string created_by;
    std::int64_t elements = 0;
    std::int64_t tasks = 0;
    std::string why;
    std::vector<std::string> jobs;
};
BOOST_DESCRIBE_STRUCT(JobVictims, (), (tenant_id, project, created_by, elements, tasks, why, jobs))
template <>
inline constexpr auto fields<JobVictims> = std::to_array<Field>({
    {.member = "tenant_id", .help = "Tenant of the jobs; empty: one that the caller may not see.", .example = "acme"},
    {.member = "project", .help = "Project; empty: one that the caller may not see.", .example = "lab"},
    {.member = "created_by", .help = "Submitter; empty: the caller may not see it.", .example = "user/u-3hq8wz"},
    {.member = "elements", .help = "Elements that are preempted. They wait again afterwards.", .example = "2"},
    {.member = "tasks", .help = "Tasks of them, which get SIGTERM.", .example = "8"},
    {.member = "why", .help = "reclaim (their queue borrows what this one is guaranteed) or priority (theirs is lower).",
     .example = "reclaim"},
    {.member = "jobs", .help = "Names of the jobs; empty: the caller may not see them."},
});

// With dryRun=true: what the submission would do.
struct JobPlan {
    std::string sentence;
    bool starts_now = false;
    std::vector<std::string> zones;
    std::vector<std::string> hosts;
    std::optional<std::string> price_per_hour{};
    std::optional<std::string> currency{};
    std::optional<std::int64_t> position{};
    std::optional<WallTime> expected_start{};
    std::string reason;
    std::vector<JobVictims> victims;
};
BOOST_DESCRIBE_STRUCT(JobPlan, (),
                      (sentence, starts_now, zones, hosts, price_per_hour, currency, position, expected_start, reason, victims))
template <>
inline constexpr auto fields<JobPlan> = std::to_array<Field>({
    {.member = "sentence", .help = "All of it in words."},
    {.member = "starts_now", .help = "There is room for its first element."},
    {.member = "zones", .help = "Zones of its first element; where it waits for victims to end, those that it gets then."},
    {.member = "hosts", .help = "Hosts of its first element; for callers who may see hosts.", .example = "[\"h-4f2a9c\"]"},
    {.member = "price_per_hour", .help = "Present price of an hour of the GPUs of its first element; absent: it has none, or no "
                                         "price is set.",
     .example = "9.96"},
    {.member = "currency", .help = "Currency of the price.", .example = "USD"},
    {.member = "position", .help = "Elements of jobs before it, an estimate; absent: it would not wait for its turn.", .example = "3"},
    {.member = "expected_start", .help = "When it starts if all jobs end by their time limits; absent: not known."},
    {.member = "reason", .help = "Why it would wait, stable for programs; empty: it would not.", .example = "insufficient_capacity"},
    {.member = "victims", .help = "Running jobs that would be preempted for its first element."},
});

// One queue of a job, and what it is entitled to.
struct JobShare {
    std::string queue;
    std::int64_t share_milli = 0;
    std::int64_t entitled_milli = 0;
};
BOOST_DESCRIBE_STRUCT(JobShare, (), (queue, share_milli, entitled_milli))
template <>
inline constexpr auto fields<JobShare> = std::to_array<Field>({
    {.member = "queue", .help = "Tenant, project or user, with the names above it.", .example = "acme/lab/user/u-3hq8wz"},
    {.member = "share_milli", .help = "Part of the cloud that its jobs have now, by the scarcest resource, in thousandths.",
     .example = "250", .unit = Unit::per_mille},
    {.member = "entitled_milli", .help = "Part of the cloud that it is entitled to, by weights and guarantees among the queues that "
                                         "have jobs, in thousandths.",
     .example = "500", .unit = Unit::per_mille},
});

// GET /v1/jobs/{job}/explain.
struct JobExplanation {
    std::string token;
    std::string sentence;
    std::optional<std::string> would_help{};
    std::optional<std::int64_t> position{};
    std::optional<WallTime> expected_start{};
    std::vector<JobShare> shares;
};
BOOST_DESCRIBE_STRUCT(JobExplanation, (), (token, sentence, would_help, position, expected_start, shares))
template <>
inline constexpr auto fields<JobExplanation> = std::to_array<Field>({
    {.member = "token", .help = "The reason, stable for programs.", .example = "insufficient_capacity"},
    {.member = "sentence", .help = "The reason in words."},
    {.member = "would_help", .help = "The smallest change that would help.", .example = "hostler job release train"},
    {.member = "position", .help = "Elements of jobs before its next one, an estimate; absent: none of it waits for its turn.",
     .example = "3"},
    {.member = "expected_start", .help = "When its next element starts if all jobs end by their time limits; absent: not known, as "
                                         "where jobs without a time limit are before it."},
    {.member = "shares", .help = "Its queues: the tenant's, the project's and the user's."},
});

struct Job {
    std::string id;
    std::string name;
    std::string tenant_id;
    std::string project;
    JobState state = JobState::pending;
    std::string reason;
    std::string message;
    std::string image;
    std::string cmd;
    std::string spec_name;
    std::int64_t tasks = 1;
    bool gang = false;
    std::optional<std::string> array{};
    std::int64_t elements = 1;
    std::int64_t waiting = 0;
    std::int64_t active = 0;
    std::int64_t succeeded = 0;
    std::int64_t failed = 0;
    std::int64_t time_limit_seconds = 0;
    std::int64_t retries = 0;
    std::int64_t priority = 0;
    bool held = false;
    std::vector<JobAfter> after;
    std::optional<int> exit_code{};
    std::vector<JobTask> running;
    std::vector<JobEndShown> ends;
    std::string created_by;
    WallTime created_at;
    std::optional<WallTime> started_at{};
    std::optional<WallTime> ended_at{};
    Labels labels;
    std::optional<std::int64_t> position{};
    std::optional<SubmitJob> submission{};
    std::optional<JobPlan> plan{};
};
BOOST_DESCRIBE_STRUCT(Job, (),
                      (id, name, tenant_id, project, state, reason, message, image, cmd, spec_name, tasks, gang, array,
                       elements, waiting, active, succeeded, failed, time_limit_seconds, retries, priority, held, after,
                       exit_code, running, ends, created_by, created_at, started_at, ended_at, labels, position,
                       submission, plan))
template <>
inline constexpr auto fields<Job> = std::to_array<Field>({
    {.member = "id", .help = "Id of the job.", .example = "j-7f3k2m9qxy"},
    {.member = "name", .help = "Name of the job.", .example = "train"},
    {.member = "tenant_id", .help = "Tenant that owns it.", .example = "acme"},
    {.member = "project", .help = "Project of the tenant.", .example = "default"},
    {.member = "state", .help = "State.", .example = "running"},
    {.member = "reason", .help = "Reason of the state, stable for programs; empty: none.", .example = "insufficient_capacity"},
    {.member = "message", .help = "The reason in words."},
    {.member = "image", .help = "Container image of its tasks.", .example = "docker.io/pytorch/pytorch:2.9"},
    {.member = "cmd", .help = "Command line of its tasks.", .example = "python train.py"},
    {.member = "spec_name", .help = "Shape of each task.", .example = "h100-1"},
    {.member = "tasks", .help = "Number of tasks, of an array job for each index.", .example = "4"},
    {.member = "gang", .help = "The tasks begin and end together."},
    {.member = "array", .help = "Indexes of an array job.", .example = "0-99%10"},
    {.member = "elements", .help = "Parts that are admitted by themselves: indexes, or independent tasks.", .example = "100"},
    {.member = "waiting", .help = "Elements that wait.", .example = "80"},
    {.member = "active", .help = "Elements that have a place.", .example = "10"},
    {.member = "succeeded", .help = "Elements that ended with exit code 0.", .example = "9"},
    {.member = "failed", .help = "Elements that failed.", .example = "1"},
    {.member = "time_limit_seconds", .help = "Running time after which an element is ended; 0: none.", .example = "3600",
     .unit = Unit::seconds},
    {.member = "retries", .help = "Tries after an exit code other than 0.", .example = "2"},
    {.member = "priority", .help = "Order among the jobs of the same user; more is first.", .example = "10"},
    {.member = "held", .help = "It is held back until it is released."},
    {.member = "after", .help = "Jobs that have to end first."},
    {.member = "exit_code", .help = "Exit code of the first element that failed, 0 if all succeeded; absent: it is not over, or "
                                    "there is none.",
     .example = "0"},
    {.member = "running", .help = "Tasks that have a place, at most 64."},
    {.member = "ends", .help = "Attempts that are over, the newest 64."},
    {.member = "created_by", .help = "Who submitted it.", .example = "user/u-3hq8wz"},
    {.member = "created_at", .help = "Time of submission."},
    {.member = "started_at", .help = "An element ran for the first time."},
    {.member = "ended_at", .help = "Time of its end."},
    {.member = "labels", .help = "Labels."},
    {.member = "position", .help = "Elements of jobs before its next one, of the first 500 that wait; absent: it is behind them, or "
                                   "does not wait for its turn.",
     .example = "3"},
    {.member = "submission", .help = "The request that makes the same job again; in the answer of getJob."},
    {.member = "plan", .help = "With dryRun=true: what the submission would do."},
});

struct ListJobs {
    std::optional<std::string> tenant_id{};
    std::optional<std::string> project{};
    std::optional<JobState> state{};
    std::optional<std::string> label{};
};
BOOST_DESCRIBE_STRUCT(ListJobs, (), (tenant_id, project, state, label))
template <>
inline constexpr auto fields<ListJobs> = std::to_array<Field>({
    {.member = "tenant_id", .help = "Only this tenant's.", .example = "acme", .form = &forms::id},
    {.member = "project", .help = "Only those in this project.", .example = "lab", .form = &forms::label},
    {.member = "state", .help = "Only those in this state."},
    {.member = "label", .help = "Only those with these labels.", .example = "team=ml", .max = 1024, .form = &forms::label_filter},
});

struct NameJob {
    std::string job;
    std::optional<std::string> tenant_id{};
    std::optional<std::string> project{};
};
BOOST_DESCRIBE_STRUCT(NameJob, (), (job, tenant_id, project))
template <>
inline constexpr auto fields<NameJob> = std::to_array<Field>({
    {.member = "job", .help = "The job's id or name.", .example = "train", .min = 1, .max = 128},
    {.member = "tenant_id", .help = "Owning tenant; for an operator's key, when two tenants use the same name.",
     .example = "acme", .form = &forms::id},
    {.member = "project", .help = "Project of the job; needed when jobs of two projects have this name.", .example = "lab",
     .form = &forms::label},
});

struct UpdateJob {
    std::string job;
    std::optional<std::string> tenant_id{};
    std::optional<std::string> project{};
    std::optional<std::int64_t> priority{};
    std::optional<std::int64_t> time_limit_seconds{};
};
BOOST_DESCRIBE_STRUCT(UpdateJob, (), (job, tenant_id, project, priority, time_limit_seconds))
template <>
inline constexpr auto fields<UpdateJob> = std::to_array<Field>({
    {.member = "job", .help = "The job's id or name.", .example = "train", .min = 1, .max = 128},
    {.member = "tenant_id", .help = "Owning tenant; for an operator's key, when two tenants use the same name.",
     .example = "acme", .form = &forms::id},
    {.member = "project", .help = "Project of the job; needed when jobs of two projects have this name.", .example = "lab",
     .form = &forms::label},
    {.member = "priority", .help = "Order among the jobs of the same user; more is first.", .example = "10",
     .min = -job_priority_max, .max = job_priority_max},
    {.member = "time_limit_seconds", .help = "Running time after which an element is ended; 0: none.", .example = "3600", .min = 0,
     .max = 366 * 86400, .unit = Unit::seconds},
});

// GET /v1/jobs/{job}/logs: as the logs of an instance, of one of its tasks.
struct GetJobLogs {
    std::string job;
    std::optional<std::string> tenant_id{};
    std::optional<std::string> project{};
    std::int64_t rank = 0;
    std::optional<std::int64_t> index{};
    std::optional<std::int64_t> attempt{};
    int tail = 200;
    std::optional<std::int64_t> since{};
    bool timestamps = false;
    bool follow = false;
    std::string after;
    LogStream stream = LogStream::both;
};
BOOST_DESCRIBE_STRUCT(GetJobLogs, (), (job, tenant_id, project, rank, index, attempt, tail, since, timestamps, follow, after, stream))
template <>
inline constexpr auto fields<GetJobLogs> = std::to_array<Field>({
    {.member = "job", .help = "The job's id or name.", .example = "train", .min = 1, .max = 128},
    {.member = "tenant_id", .help = "Owning tenant; for an operator's key, when two tenants use the same name.",
     .example = "acme", .form = &forms::id},
    {.member = "project", .help = "Project of the job; needed when jobs of two projects have this name.", .example = "lab",
     .form = &forms::label},
    {.member = "rank", .help = "The task of this number.", .example = "0", .min = 0, .max = job_tasks_max - 1, .absent = Absent::fills},
    {.member = "index", .help = "Of an array job, its index. Default: the first one.", .example = "17", .min = 0, .max = array_index_max},
    {.member = "attempt", .help = "The how many-th attempt, from 1. Default: the last one.", .example = "1", .min = 1,
     .max = 2 * job_retries_max + 2},
    {.member = "tail", .help = "Number of last lines; with `after`, of first ones.", .example = "200", .min = 1, .max = 10'000,
     .absent = Absent::fills},
    {.member = "since", .help = "Only lines of the last N seconds.", .example = "600", .min = 1, .max = 366 * 86400,
     .unit = Unit::seconds},
    {.member = "timestamps", .help = "Begin each line with the time at which it was written.", .absent = Absent::fills},
    {.member = "follow", .help = "Answer `next`, with which the next call asks for later lines.", .absent = Absent::fills},
    {.member = "after", .help = "Only lines behind this place: `next` of an earlier answer.", .example = "1763725229000123.1",
     .max = 64, .absent = Absent::fills},
    log_stream_field,
});

}  // namespace hostler::api
