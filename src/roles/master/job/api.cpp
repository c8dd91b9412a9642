// Jobs.
#include <fmt/format.h>

#include "api/operations_job.h"
#include "api/types_log.h"
#include "roles/master/http/api.h"
#include "roles/master/http/events_page.h"
#include "roles/master/http/lookup.h"
#include "roles/master/instance/archive.h"
#include "roles/master/instance/logs.h"
#include "roles/master/job/jobs.h"
#include "roles/master/job/plan.h"
#include "roles/master/job/queues.h"
#include "roles/master/job/view.h"
#include "roles/master/scheduler/wishes.h"
#include "roles/master/state/refuse.h"
#include "roles/master/tenancy/tenancy.h"

namespace hostler::master {

namespace {

constexpr std::int64_t job_attempts_looked_for = 64;

Result<api::Job> decide_submit(Desk& desk, const api::Call& call, const api::SubmitJob& request) {
    const std::string tenant = TRY(one_tenant_meant(call, request.tenant_id));
    TRY(check_new(call, Scope::of_project(tenant, project_meant(request))));
    if (request.placement) TRY(may_ask(call.caller, *request.placement));
    const Job& job = *TRY(submit_job(desk, request, tenant, call.caller.actor));
    api::Job shown = view(desk, job);
    if (call.dry_run) shown.plan = plan_of(desk, call, Job{job});
    return shown;
}

struct TaskInstance {
    Instance instance;
    std::int64_t attempt = 1;
};

// The element of a task; nullopt: the job has none such, or it was not admitted so far.
std::optional<std::int64_t> admitted_element(const Job& job, std::int64_t rank,
                                             std::optional<std::int64_t> index) {
    std::optional<std::int64_t> position = job.spec.gang ? 0 : rank;
    if (!job.spec.array.ranges.empty()) position = index ? job.spec.array.position_of(*index) : 0;
    const bool is_one = position && *position < job.next && rank < job.spec.tasks;
    return is_one ? position : std::nullopt;
}

// A job remembers its latest ends; tasks that ended before are found by their names.
Task<TaskInstance> task_anywhere(TermPtr term, api::Call call, Job job, std::int64_t rank,
                                 std::optional<std::int64_t> index, std::optional<std::int64_t> attempt) {
    if (const auto known = find_task(job, rank, index, attempt.value_or(0)))
        co_return TaskInstance{CO_TRY(co_await instance_anywhere(term, call, known->instance, job.tenant)),
                               known->attempt};
    std::optional<TaskInstance> found;
    if (const auto position = admitted_element(job, rank, index)) {
        const std::int64_t first = attempt.value_or(1), last = attempt.value_or(job_attempts_looked_for);
        for (std::int64_t n = first; n <= last; ++n) {
            const std::string name = name_of_task(job, {.position = *position, .attempt = n}, rank);
            auto there = co_await instance_anywhere(term, call, name, job.tenant);
            if (!there && there.error().code != Code::not_found) co_return std::unexpected(there.error());
            if (!there) break;
            found = {std::move(*there), n};
        }
    }
    if (found) co_return std::move(*found);
    co_return refuse(fmt::format("job {} has no such task that has begun", job.name), "not_running",
                     fmt::format("`hostler job explain {}` says why it waits.", job.name));
}

template <class Request>
Result<const Job*> job_meant(const Desk& desk, const api::Call& call, const Request& request) {
    return job_named(desk, call, request.job, request.tenant_id, request.project);
}

Result<api::Job> look_at(const Desk& desk, const api::Call& call, const api::NameJob& request) {
    const Job& job = *TRY(job_meant(desk, call, request));
    api::Job shown = view(desk, job);
    shown.position = job_queues(desk).position(job.id, desk.estate.micros());
    shown.submission = submission_of(job);
    return shown;
}

}  // namespace

Subject subject_of(const Desk& desk, const api::Call& call, const api::SubmitJob& request) {
    const Job* job =
        find_job(desk, request.tenant_id.value_or(call.caller.tenant), project_meant(request), request.name);
    return job ? subject_named(*job, api::encode(view(desk, *job))) : Subject{};
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::NameJob& request) {
    const auto found = job_meant(desk, call, request);
    return found ? subject_named(**found, api::encode(view(desk, **found))) : Subject{};
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::UpdateJob& request) {
    return subject_of(desk, call, api::NameJob{request.job, request.tenant_id, request.project});
}

void add_jobs(Api& service) {
    namespace ops = api::ops;
    service.write<ops::submit_job>(decide_submit);
    service.read<ops::list_jobs>([](const Desk& desk, const api::Call& call,
                                    const api::ListJobs& request) -> Result<api::List<api::Job>> {
        const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
        const LabelFilter labels = filter_of(request.label);
        return rows_of<api::Job>(
                   desk.estate.jobs,
                   [&](const Job& row) {
                       return (tenant.empty() || row.tenant == tenant) &&
                              (!request.project || row.project == *request.project) &&
                              (!request.state || row.phase == static_cast<JobPhase>(*request.state)) &&
                              labels.fits(row.labels) && may(call, scope_of(row));
                   })
            .page(call, [&](const Job& row) {
                api::Job shown = view(desk, row);
                shown.position = job_queues(desk).place_in_line(row.id, desk.estate.micros());
                return shown;
            });
    });
    service.read<ops::get_job>(look_at);
    service.read<ops::explain_job>([](const Desk& desk, const api::Call& call,
                                      const api::NameJob& request) -> Result<api::JobExplanation> {
        return explain_job(desk, *TRY(job_meant(desk, call, request)));
    });
    service.write<ops::update_job>(
        [](Desk& desk, const api::Call& call, const api::UpdateJob& request) -> Result<api::Job> {
            const std::string id = TRY(job_meant(desk, call, request))->id;
            TRY(update_job(desk, id, request));
            return view(desk, desk.estate.jobs.at(id));
        });
    service.write<ops::cancel_job>(
        [](Desk& desk, const api::Call& call, const api::NameJob& request) -> Result<api::Job> {
            const std::string id = TRY(job_meant(desk, call, request))->id;
            cancel_job(desk, id, "it was cancelled");
            return view(desk, desk.estate.jobs.at(id));
        });
    service.write<ops::hold_job>(
        [](Desk& desk, const api::Call& call, const api::NameJob& request) -> Result<api::Job> {
            const std::string id = TRY(job_meant(desk, call, request))->id;
            TRY(hold_job(desk, id, true));
            return view(desk, desk.estate.jobs.at(id));
        });
    service.write<ops::release_job>(
        [](Desk& desk, const api::Call& call, const api::NameJob& request) -> Result<api::Job> {
            const std::string id = TRY(job_meant(desk, call, request))->id;
            TRY(hold_job(desk, id, false));
            return view(desk, desk.estate.jobs.at(id));
        });
    service.handlers().on<ops::list_job_events>(
        [&service](api::Call call, api::NameJob request) -> Task<api::List<api::Event>> {
            const TermPtr term = CO_TRY(service.leader());
            const std::string id = CO_TRY(job_meant(term->look(), call, request))->id;
            co_return co_await events_page(term, std::move(call), {.kind = "job", .id = id});
        });
    service.handlers().on<ops::get_job_logs>(
        [&service](api::Call call, api::GetJobLogs request) -> Task<api::Logs> {
            const TermPtr term = CO_TRY(service.leader());
            const Job job = *CO_TRY(job_meant(term->look(), call, request));
            const auto [task, attempt] =
                CO_TRY(co_await task_anywhere(term, call, job, request.rank, request.index, request.attempt));
            api::Logs logs = CO_TRY(co_await fetch_logs(term, task,
                                                        {.instance = task.id,
                                                         .tail = request.tail,
                                                         .since = request.since,
                                                         .timestamps = request.timestamps,
                                                         .follow = request.follow,
                                                         .after = request.after,
                                                         .stream = request.stream}));
            logs.attempt = attempt;
            co_return logs;
        });
}

}  // namespace hostler::master
