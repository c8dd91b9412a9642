#include "roles/master/job/jobs.h"
#include "roles/master/job/task.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/codec.h"
#include "api/types_instance.h"
#include "api/types_job.h"
#include "roles/master/instance/lifecycle.h"
#include "roles/master/instance/owner.h"
#include "roles/master/job/admit.h"
#include "roles/master/job/follow.h"
#include "roles/master/quota/enforce.h"
#include "roles/master/scheduler/wishes.h"
#include "roles/master/state/near.h"
#include "roles/master/state/refuse.h"
#include "roles/master/state/retention.h"
#include "roles/master/tenancy/tenancy.h"

namespace hostler::master {

namespace {

// A task, without its name and its numbers.
DependencyWhen when_of(api::JobWhen when) { return static_cast<DependencyWhen>(when); }

std::vector<JobDependency> dependencies(const Desk& desk, const api::SubmitJob& request,
                                        const std::string& tenant, const std::string& project,
                                        std::vector<FieldError>& wrong) {
    std::vector<JobDependency> all;
    for (std::size_t i = 0; i < request.after.size(); ++i) {
        const std::string& name = request.after[i].job;
        const Job* other = desk.estate.jobs.find(name);
        if (!other || other->tenant != tenant || other->project != project)
            other = find_job(desk, tenant, project, name);
        if (other)
            all.push_back({other->id, when_of(request.after[i].when)});
        else
            wrong.push_back({fmt::format("after[{}].job", i),
                             fmt::format("there is no job {} in project {}", name, project)});
    }
    return all;
}

// Names of tasks in errors are those of a task, not of the job that was asked for.
Error of_job(Error error) {
    constexpr std::string_view prefix = "template.";
    for (FieldError& one : error.fields)
        if (one.path.starts_with(prefix)) one.path.erase(0, prefix.size());
    return error;
}

}  // namespace

const Job* find_job(const Desk& desk, const std::string& tenant, const std::string& project,
                    const std::string& name) {
    const Job* newest = nullptr;
    for (const Job* job : desk.estate.jobs.by().tenant_name.of({tenant, name})) {
        if (job->project != project) continue;
        if (!is_final(job->phase)) return job;
        if (!newest || newest->created_at < job->created_at) newest = job;
    }
    return newest;
}

Result<const Job*> submit_job(Desk& desk, const api::SubmitJob& request, const std::string& tenant,
                              const std::string& created_by) {
    const std::string project = project_meant(request);
    TRY(check_project(desk, tenant, project));
    if (const Job* other = find_job(desk, tenant, project, request.name); other && !is_final(other->phase))
        return refuse(fmt::format("project {} has a job {} that is not over", project, request.name),
                      "job_exists", "Choose another name, or cancel that job.");
    if (desk.estate.jobs.by().project.count({tenant, project}) >= jobs_project_max) {
        Error error{Code::exhausted,
                    fmt::format("project {0} may have {1} jobs that are not over, and has {1}", project,
                                jobs_project_max),
                    "too_many_jobs"};
        error.help = "Cancel jobs that are not needed, or submit one job with an array.";
        return std::unexpected(std::move(error));
    }
    TRY(check_quotas(desk, {tenant, project, created_by}, {{"jobs", 1}}));
    std::vector<FieldError> wrong;
    Job job{.id = new_id(desk.random, "j"),
            .name = request.name,
            .tenant = tenant,
            .project = project,
            .created_by = created_by,
            .spec = {.task = kept_task(request),
                     .spec_name = request.spec_name,
                     .tasks = static_cast<std::int32_t>(request.tasks),
                     .gang = request.gang,
                     .program = request.program.value_or(false),
                     .time_limit_s = request.time_limit_seconds,
                     .after = dependencies(desk, request, tenant, project, wrong),
                     .retries = static_cast<std::int32_t>(request.retries)},
            .held = request.hold,
            .priority = static_cast<std::int32_t>(request.priority),
            .reason = "submitted",
            .message = "it waits for its turn"};
    job.labels = request.labels.value_or(Labels{});
    if (request.array) job.spec.array = TRY(read_array(*request.array));
    if (!desk.estate.specs.find(request.spec_name))
        wrong.push_back({"specName", no_such_in(desk.estate.specs, "spec", request.spec_name)});
    TRY(all_right(std::move(wrong)));
    if (const auto tried = try_element(desk, job); !tried && !may_pass(tried.error()))
        return std::unexpected(of_job(tried.error()));
    ensure_project(desk, tenant, project);
    job.created_at = job.waits_since = desk.estate.micros();
    const std::string id = job.id;
    desk.estate.event("job", id, tenant, "submitted", fmt::format("Job {} was submitted.", job.name));
    desk.estate.jobs.add(std::move(job));
    return &desk.estate.jobs.at(id);
}

void cancel_job(Desk& desk, const std::string& id, const std::string& why) {
    const Job& job = desk.estate.jobs.at(id);
    if (is_final(job.phase)) return;
    const std::vector<JobRun> runs = job.runs;
    note_job(desk, id, JobEvent::cancel, "cancelled", why);
    Job& row = desk.estate.jobs.edit(id);
    row.again.clear();
    for (const JobRun& run : runs) {
        if (row.ends.size() >= JobEnd::kept_max) row.ends.erase(row.ends.begin());
        row.ends.push_back({.position = run.position,
                            .attempt = run.attempt,
                            .reason = "cancelled",
                            .instances = run.instances,
                            .started_at = run.started_at,
                            .ended_at = row.ended_at});
    }
    row.runs.clear();
    delete_owned(desk, Owner{"job", id});
}

Result<> hold_job(Desk& desk, const std::string& id, bool held) {
    const Job& job = desk.estate.jobs.at(id);
    if (is_final(job.phase))
        return refuse(fmt::format("job {} is over", job.name), "job_ended", "Submit it again.");
    if (job.held == held) return {};
    desk.estate.jobs.edit(id).held = held;
    desk.estate.event("job", id, job.tenant, held ? "held" : "released",
                      fmt::format("Job {} was {}.", job.name, held ? "held" : "released"));
    return {};
}

Result<> update_job(Desk& desk, const std::string& id, const api::UpdateJob& request) {
    const Job& job = desk.estate.jobs.at(id);
    if (is_final(job.phase))
        return refuse(fmt::format("job {} is over", job.name), "job_ended", "Submit it again.");
    Job& row = desk.estate.jobs.edit(id);
    if (request.priority) row.priority = *request.priority;
    if (request.time_limit_seconds) row.spec.time_limit_s = *request.time_limit_seconds;
    return {};
}

bool archive_jobs(Desk& desk) {
    constexpr std::size_t at_once = 64;
    const std::int64_t before =
        desk.estate.micros() - std::chrono::microseconds{desk.settings.ended_kept}.count();
    const auto over = desk.estate.jobs.by().ended.between(0, before, at_once + 1);
    std::vector<std::string> ids;
    for (const Job* job : over) ids.push_back(job->id);
    for (std::size_t i = 0; i < std::min(ids.size(), at_once); ++i) retire(desk, desk.estate.jobs, ids[i]);
    return ids.size() > at_once;
}

}  // namespace hostler::master
