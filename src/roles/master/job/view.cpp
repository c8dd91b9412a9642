#include "roles/master/job/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "api/codec.h"
#include "api/types_instance.h"
#include "api/types_job.h"
#include "roles/master/job/admit.h"
#include "roles/master/job/expected.h"
#include "roles/master/job/queues.h"
#include "roles/master/job/settings.h"
#include "roles/master/job/task.h"
#include "roles/master/state/views.h"

namespace hostler::master {

namespace {

constexpr std::size_t tasks_shown_max = 64;

std::optional<std::int64_t> index_of(const Job& job, std::int64_t position) {
    if (job.spec.array.ranges.empty()) return std::nullopt;
    return job.spec.array.index_at(position);
}

// Of an independent task its number, which is its element's place.
std::int64_t rank_at(const Job& job, std::int64_t position, std::int64_t rank) {
    return job.spec.gang || !job.spec.array.ranges.empty() ? rank : position;
}

void show_tasks(const Desk& desk, const Job& job, api::Job& shown) {
    for (const JobRun& run : job.runs)
        for (std::size_t i = 0; i < run.instances.size(); ++i) {
            if (shown.running.size() == tasks_shown_max) return;
            const Instance* instance = desk.estate.instances.find(run.instances[i]);
            api::JobTask task{.instance = run.instances[i],
                              .rank = rank_at(job, run.position, static_cast<std::int64_t>(i)),
                              .index = index_of(job, run.position),
                              .attempt = run.attempt,
                              .state = instance ? std::string{state_of(instance->phase)} : "stopped"};
            if (instance) task.zone = instance->zone;
            shown.running.push_back(std::move(task));
        }
}

std::int64_t waiting(const Job& job) {
    return is_final(job.phase) ? 0 : job.elements() - job.next + std::ssize(job.again);
}

std::string names_before(const Desk& desk, const Job& job) {
    std::string names;
    for (const JobDependency& one : job.spec.after)
        if (const Job* other = desk.estate.jobs.find(one.job); other && !is_final(other->phase))
            names += (names.empty() ? "" : ", ") + other->name;
    return names;
}

api::JobExplanation explain_turn(const Desk& desk, const Job& job) {
    const JobQueues& queues = job_queues(desk);
    const std::int64_t now = desk.estate.micros();
    std::string sentence = fmt::format("Job {} waits", job.name);
    if (const auto position = queues.position(job.id, now))
        sentence += *position == 0 ? " and is the next" : fmt::format("; {} are before it", *position);
    if (const auto standing = queues.order().standing({job.tenant, "", ""}, now))
        sentence += fmt::format(". Its tenant has {:.0f} % of the cloud in jobs, and is entitled to {:.0f} %",
                                100 * standing->share, 100 * standing->entitled);
    if (const auto full = queues.order().at_limit(JobQueues::waiting_of(job.id)))
        return {
            .token = "queue_limit",
            .sentence =
                fmt::format("{}. Queue {} has as much as its limit allows.", sentence, words_of(*full)),
            .would_help = "Wait for a job of this queue to end, or raise its limit (hostler queue list)."};
    const Error* why = queues.refused(job.id);
    if (!why) return {.token = "waits", .sentence = sentence + "."};
    return {.token = why->reason,
            .sentence = fmt::format("{}. {}", sentence, why->message),
            .would_help = why->help.empty() ? std::nullopt : std::optional{why->help}};
}

// Why it is not its turn, whatever the room; nullopt: nothing keeps it back.
std::optional<api::JobExplanation> kept_back(const Desk& desk, const Job& job) {
    if (job.held)
        return api::JobExplanation{.token = "held",
                                   .sentence = fmt::format("Job {} is held.", job.name),
                                   .would_help = fmt::format("hostler job release {}", job.name)};
    if (dependencies_of(desk, job) == Dependencies::open)
        return api::JobExplanation{.token = "waits_for_job",
                                   .sentence = fmt::format("It begins after {}.", names_before(desk, job))};
    return std::nullopt;
}

void show_why_pending(const Desk& desk, const Job& job, api::Job& shown) {
    if (auto why = kept_back(desk, job)) {
        shown.reason = why->token;
        shown.message = std::move(why->sentence);
    } else if (const Error* refused = job_queues(desk).refused(job.id)) {
        shown.reason = refused->reason;
        shown.message = refused->message;
    }
}

void show_turn(const Desk& desk, const Job& job, api::JobExplanation& why) {
    const JobQueues& queues = job_queues(desk);
    const std::int64_t now = desk.estate.micros();
    why.position = queues.position(job.id, now);
    if (const auto at = expected_start_of(desk, job)) why.expected_start = wall(*at);
    const QueuePath path = path_of(job);
    for (const QueuePath& queue :
         {QueuePath{path.tenant, "", ""}, QueuePath{path.tenant, path.project, ""}, path})
        if (const auto standing = queues.order().standing(queue, now))
            why.shares.push_back({.queue = words_of(queue),
                                  .share_milli = in_milli(standing->share),
                                  .entitled_milli = in_milli(standing->entitled)});
}

}  // namespace

api::Job view(const Desk& desk, const Job& job) {
    const auto task = task_request(job);
    api::Job shown{.id = job.id,
                   .name = job.name,
                   .tenant_id = job.tenant,
                   .project = job.project,
                   .state = static_cast<api::JobState>(job.phase),
                   .reason = job.reason,
                   .message = job.message,
                   .image = task ? task->image : "",
                   .cmd = task ? task->template_.cmd : "",
                   .spec_name = job.spec.spec_name,
                   .tasks = job.spec.tasks,
                   .gang = job.spec.gang,
                   .elements = job.elements(),
                   .waiting = waiting(job),
                   .active = std::ssize(job.runs),
                   .succeeded = job.succeeded,
                   .failed = job.failed,
                   .time_limit_seconds = job.spec.time_limit_s,
                   .retries = job.spec.retries,
                   .priority = job.priority,
                   .held = job.held,
                   .exit_code = job.exit_code,
                   .created_by = job.created_by,
                   .created_at = wall(job.created_at),
                   .labels = job.labels};
    if (!job.spec.array.ranges.empty()) shown.array = text_of(job.spec.array);
    if (job.started_at != 0) shown.started_at = wall(job.started_at);
    if (job.ended_at != 0) shown.ended_at = wall(job.ended_at);
    for (const JobDependency& one : job.spec.after)
        shown.after.push_back({one.job, static_cast<api::JobWhen>(one.when)});
    for (const JobEnd& end : job.ends) {
        api::JobEndShown& row = shown.ends.emplace_back();
        row = {.rank = rank_at(job, end.position, end.failed_rank.value_or(0)),
               .index = index_of(job, end.position),
               .attempt = end.attempt,
               .reason = end.reason,
               .exit_code = end.exit_code,
               .instances = end.instances,
               .ended_at = wall(end.ended_at)};
        if (end.started_at != 0) row.started_at = wall(end.started_at);
    }
    show_tasks(desk, job, shown);
    if (job.phase == JobPhase::pending) show_why_pending(desk, job, shown);
    return shown;
}

api::JobExplanation explain_job(const Desk& desk, const Job& job) {
    api::JobExplanation why;
    if (waiting(job) > 0 && job.runs.empty()) {
        auto kept = kept_back(desk, job);
        why = kept ? *std::move(kept) : explain_turn(desk, job);
    } else
        why = {.token = job.reason, .sentence = fmt::format("Job {}: {}.", job.name, job.message)};
    if (waiting(job) > 0) show_turn(desk, job, why);
    return why;
}

api::SubmitJob submission_of(const Job& job) {
    api::SubmitJob request{.name = job.name, .tenant_id = job.tenant, .project = job.project};
    if (const auto task = task_request(job)) {
        request.image = task->image;
        request.cmd = task->template_.cmd;
        request.entrypoint = task->entrypoint;
        request.envs = task->template_.envs;
        request.volumes = task->template_.volumes;
        request.secret_envs = task->secret_envs;
        request.secret_files = task->secret_files;
        request.zone = task->zone;
        request.placement = task->placement;
        request.shm_size = task->shm_size;
        request.stop_grace_seconds = task->stop_grace_seconds;
        request.no_init = task->no_init;
    }
    request.spec_name = job.spec.spec_name;
    request.tasks = job.spec.tasks;
    request.gang = job.spec.gang;
    if (!job.spec.array.ranges.empty()) request.array = text_of(job.spec.array);
    request.time_limit_seconds = job.spec.time_limit_s;
    request.retries = job.spec.retries;
    request.priority = job.priority;
    for (const JobDependency& one : job.spec.after)
        request.after.push_back({one.job, static_cast<api::JobWhen>(one.when)});
    if (!job.labels.empty()) request.labels = job.labels;
    return request;
}

std::optional<TaskFound> find_task(const Job& job, std::int64_t rank, std::optional<std::int64_t> index,
                                   std::int64_t attempt) {
    const bool array = !job.spec.array.ranges.empty();
    const auto instance = [&](const auto& one) -> std::string {
        if (attempt > 0 && one.attempt != attempt) return {};
        if (array && index && index_of(job, one.position) != index) return {};
        if (!job.spec.gang && !array) return one.position == rank ? one.instances.front() : "";
        return rank < std::ssize(one.instances) ? one.instances[static_cast<std::size_t>(rank)] : "";
    };
    for (const JobRun& run : job.runs)
        if (std::string found = instance(run); !found.empty()) return TaskFound{found, run.attempt};
    for (const JobEnd& end : job.ends | std::views::reverse)
        if (std::string found = instance(end); !found.empty()) return TaskFound{found, end.attempt};
    return std::nullopt;
}

std::string task_of(const Job& job, std::int64_t rank, std::optional<std::int64_t> index,
                    std::int64_t attempt) {
    const auto found = find_task(job, rank, index, attempt);
    return found ? found->instance : "";
}

}  // namespace hostler::master
