#include "roles/master/job/follow.h"

#include <fmt/format.h>

#include <algorithm>

#include "roles/master/instance/lifecycle.h"
#include "roles/master/job/counts.h"
#include "roles/master/job/queues.h"
#include "roles/master/state/host_blocks.h"

namespace hostler::master {

namespace {

struct Followed {
    static constexpr bool follows_estate = true;
    Follower<Instance> instances;
    Follower<Job> dependencies;   // What waits for another, and what others wait for.
    std::set<std::string> jobs;   // To be looked at.
    std::set<std::string> later;  // Again at the next call: tasks of them may run still on a silent host.
};

// It has ended as far as we know, but its host is silent and may run it still: for as long as its lease
// lasts, or without one until the host says otherwise.
bool may_run_still(const Desk& desk, const Instance& task, Instant now) {
    const Host* host = desk.estate.hosts.find(task.host);
    if (task.claim.empty() || !host || host->phase != HostPhase::lost) return false;
    const auto live = desk.live.hosts.find(task.host);
    if (task.spec.loss_policy == LossPolicy::stay || live == desk.live.hosts.end() ||
        live->second.heard == Instant{})
        return true;
    return now - live->second.heard < lease_of(desk, task) + desk.settings.move_margin;
}

// Why a task that ended did not end well, as a token of JobEnd; empty: it did.
std::string failure_of(const Instance& task) {
    if (task.reason == completed) return {};
    if (task.reason == "exited") return "exit_code";
    if (task.reason == "disappeared") return "host_lost";
    return task.reason.empty() ? "failed" : task.reason;
}

struct Look {
    bool all_over = true;
    bool all_run = true;  // Or did.
    bool any_run = false;
    std::string failure;  // Of the first that failed.
    std::optional<int> exit_code;
    std::optional<std::int64_t> failed_rank;
    std::int64_t failed_at = 0;      // When its end was seen.
    std::vector<std::int64_t> done;  // Ranks that ended well, which the run does not know yet.
    std::uint64_t generations = 0;
    bool in_doubt = false;  // One that is over may run still.
};

Look look_at(const Desk& desk, const JobRun& run, Instant now) {
    Look look;
    for (std::size_t rank = 0; rank < run.instances.size(); ++rank) {
        const Instance* task = desk.estate.instances.find(run.instances[rank]);
        const bool done = std::ranges::count(run.done, static_cast<std::int64_t>(rank)) > 0;
        if (!task) {  // It has left memory: it ended.
            look.any_run = true;
            if (!done && look.failure.empty()) look.failure = "unknown";
            continue;
        }
        look.generations += task->run_generation;
        const bool over = is_final(task->phase);
        if (!over) look.all_over = false;
        if (over || task->phase == InstancePhase::running)
            look.any_run = true;
        else
            look.all_run = false;
        if (!over) continue;
        if (may_run_still(desk, *task, now)) look.in_doubt = true;
        const std::string failure = failure_of(*task);
        if (failure.empty()) {
            if (!look.exit_code) look.exit_code = 0;
            if (!done) look.done.push_back(static_cast<std::int64_t>(rank));
        } else if (look.failure.empty() || task->ended_at < look.failed_at) {
            look.failure = failure;
            look.exit_code = task->exit_code;
            look.failed_rank = static_cast<std::int64_t>(rank);
            look.failed_at = task->ended_at;
        }
    }
    return look;
}

void end_tasks(Desk& desk, const JobRun& run, const std::string& why) {
    for (const std::string& id : run.instances) {
        const Instance* task = desk.estate.instances.find(id);
        if (task && !is_final(task->phase)) delete_instance(desk, id, why);
    }
}

JobRun* run_of(Job& job, std::int64_t position) {
    const auto at = std::ranges::find(job.runs, position, &JobRun::position);
    return at == job.runs.end() ? nullptr : &*at;
}

// Its tasks are to end, for this reason; `look`: where one of them failed. false: they have to already.
bool begin_end(Desk& desk, const std::string& id, std::int64_t position, const std::string& reason,
               const std::string& why, const Look& look = {}) {
    JobRun& run = *run_of(desk.estate.jobs.edit(id), position);
    if (!run.ending.empty()) return false;
    run.ending = reason;
    run.exit_code = look.exit_code;
    run.failed_rank = look.failed_rank;
    end_tasks(desk, JobRun{run}, why);
    return true;
}

std::string index_words(const Job& job, std::int64_t position) {
    if (!job.spec.array.ranges.empty()) return fmt::format(" of index {}", job.spec.array.index_at(position));
    return job.elements() > 1 ? fmt::format(" {}", position) : "";
}

// Of a gang the task that failed first: ": rank 2 ended first, with exit code 7".
std::string failed_words(const JobEnd& end) {
    if (!end.failed_rank) return {};
    return fmt::format(": rank {} ended first{}", *end.failed_rank,
                       end.exit_code ? fmt::format(", with exit code {}", *end.exit_code) : "");
}

// An attempt is over: its element succeeded, failed, or waits again.
void end_attempt(Desk& desk, const std::string& id, const JobRun& run, const Look& look) {
    const std::string reason = !run.ending.empty()    ? run.ending
                               : look.failure.empty() ? "completed"
                                                      : look.failure;
    const std::optional<int> exit_code = run.ending.empty() ? look.exit_code : run.exit_code;
    const auto failed_rank = run.ending.empty() ? look.failed_rank : run.failed_rank;
    const std::int64_t now = desk.estate.micros();
    Job& job = desk.estate.jobs.edit(id);
    if (job.ends.size() >= JobEnd::kept_max) job.ends.erase(job.ends.begin());
    job.ends.push_back({.position = run.position,
                        .attempt = run.attempt,
                        .reason = reason,
                        .exit_code = exit_code,
                        .instances = run.instances,
                        .started_at = run.started_at,
                        .ended_at = now,
                        .failed_rank = job.spec.gang ? failed_rank : std::nullopt});
    const AfterEnd after = after_end(job, run, reason);
    const std::int64_t position = run.position;
    if (after == AfterEnd::succeed) ++job.succeeded;
    if (after == AfterEnd::fail) {
        ++job.failed;
        if (!job.exit_code) job.exit_code = exit_code;
        desk.estate.event("job", id, job.tenant, reason,
                          fmt::format("The element{} of job {} failed: {}{}.", index_words(job, position),
                                      job.name, reason, failed_words(job.ends.back())));
    }
    if (after == AfterEnd::retry) {
        const bool counts = reason != "preempted" && reason != "host_lost" && reason != "host_removed";
        const std::int64_t failures = run.failures + (counts ? 1 : 0);
        JobRetry retry{.position = position,
                       .attempt = run.attempt + 1,
                       .failures = failures,
                       .not_before = now + (counts ? backoff_s(failures) * 1'000'000 : 0)};
        job.again.insert(std::ranges::upper_bound(job.again, position, {}, &JobRetry::position), retry);
        desk.estate.event(
            "job", id, job.tenant, "retry",
            fmt::format("The element{} of job {} is tried again: {}{}.", index_words(job, position), job.name,
                        reason, failed_words(job.ends.back())));
    }
    std::erase_if(job.runs, [&](const JobRun& one) { return one.position == position; });
}

void follow_run(Desk& desk, const std::string& id, const JobRun& run, Instant now) {
    const Job& job = desk.estate.jobs.at(id);
    const Look look = look_at(desk, run, now);
    if (look.all_over && look.in_doubt) desk.live.part<Followed>().later.insert(id);
    if (look.all_over && !look.in_doubt) return end_attempt(desk, id, run, look);
    if (!look.done.empty())
        std::ranges::copy(look.done,
                          std::back_inserter(run_of(desk.estate.jobs.edit(id), run.position)->done));
    if (look.all_run && run.started_at == 0 && run.ending.empty()) {
        Job& row = desk.estate.jobs.edit(id);
        JobRun& started = *run_of(row, run.position);
        started.started_at = desk.estate.micros();
        started.generations = look.generations;
        if (row.started_at == 0) row.started_at = desk.estate.micros();
    }
    if (run.instances.size() > 1 && run.generations != 0 && look.generations > run.generations)
        begin_end(desk, id, run.position, "host_lost", "another task of its gang began again");
    if (!look.failure.empty())
        begin_end(desk, id, run.position, look.failure, "another task of its gang failed", look);
    const std::int64_t limit = job.spec.time_limit_s * 1'000'000;
    if (limit > 0 && run.started_at != 0 && desk.estate.micros() >= run.started_at + limit)
        begin_end(desk, id, run.position, "time_limit",
                  fmt::format("the time limit of {} s of job {} is over", job.spec.time_limit_s, job.name));
}

// The phase follows from the runs.
void settle_phase(Desk& desk, const std::string& id, Instant now) {
    const Job& job = desk.estate.jobs.at(id);
    if (is_final(job.phase)) return;
    if (job.runs.empty()) {
        const bool over = job.next >= job.elements() && job.again.empty();
        if (!over)
            return note_job(desk, id, JobEvent::wait, "waits",
                            job.again.empty() ? "it waits for room for its next element"
                                              : "an element waits to be tried again");
        if (job.failed == 0)
            return note_job(desk, id, JobEvent::succeed, "completed", "all its tasks succeeded");
        const std::string reason = job.ends.empty() ? "failed" : job.ends.back().reason;
        return note_job(desk, id, JobEvent::fail, reason,
                        fmt::format("{} of {} elements failed{}", job.failed, job.elements(),
                                    job.ends.empty() ? "" : failed_words(job.ends.back())));
    }
    if (job.phase == JobPhase::preempting) return;
    const bool runs = std::ranges::any_of(job.runs, [](const JobRun& run) { return run.started_at != 0; });
    if (runs) return note_job(desk, id, JobEvent::run, "running", "it runs");
    const bool starts =
        std::ranges::any_of(job.runs, [&](const JobRun& run) { return look_at(desk, run, now).any_run; });
    if (starts) note_job(desk, id, JobEvent::start, "starting", "some of its tasks run");
}

void follow_job(Desk& desk, const std::string& id, Instant now) {
    const Job* job = desk.estate.jobs.find(id);
    if (!job || is_final(job->phase)) return;
    if (job->phase == JobPhase::pending && job->runs.empty() &&
        dependencies_of(desk, *job) == Dependencies::never)
        return note_job(desk, id, JobEvent::fail, "dependency_failed",
                        "a job that it waited for did not end as it had to");
    for (const JobRun& run : std::vector<JobRun>{job->runs}) follow_run(desk, id, run, now);
    settle_phase(desk, id, now);
}

}  // namespace

void note_job(Desk& desk, const std::string& id, JobEvent event, std::string reason, std::string message) {
    const auto to = next(job_life, desk.estate.jobs.at(id).phase, event);
    if (!to) return;
    Job& job = desk.estate.jobs.edit(id);
    job.phase = *to;
    if (is_final(*to)) ++desk.live.part<JobCounts>().ended[*to];
    job.reason = reason;
    job.message = message;
    if (is_final(*to)) {
        job.ended_at = desk.estate.micros();
        if (*to == JobPhase::succeeded) job.exit_code = 0;
    }
    desk.estate.event("job", id, job.tenant, std::move(reason),
                      fmt::format("Job {}: {}.", job.name, message));
}

void preempt_run(Desk& desk, const std::string& job, std::int64_t position, const std::string& why) {
    if (begin_end(desk, job, position, "preempted", why)) ++desk.live.part<JobCounts>().preempted;
    const Job& row = desk.estate.jobs.at(job);
    const bool all =
        std::ranges::all_of(row.runs, [](const JobRun& run) { return run.ending == "preempted"; });
    if (all) note_job(desk, job, JobEvent::preempt, "preempted", why);
}

bool follow_jobs(Desk& desk, Instant now, std::size_t most) {
    Followed& followed = desk.live.part<Followed>();
    followed.jobs.merge(std::exchange(followed.later, {}));
    for (const std::string& id : followed.instances.changed(desk.estate.instances)) {
        const Instance* task = desk.estate.instances.find(id);
        if (task && task->owner && task->owner->kind == "job") followed.jobs.insert(task->owner->id);
    }
    const auto& by = desk.estate.jobs.by();
    for (const std::string& id : followed.dependencies.changed(desk.estate.jobs)) {
        const Job* job = desk.estate.jobs.find(id);
        if (!job) continue;
        if (job->phase == JobPhase::pending && !job->spec.after.empty()) followed.jobs.insert(id);
        if (is_final(job->phase))
            for (const Job* dependent : by.dependency.of(id)) followed.jobs.insert(dependent->id);
    }
    for (const Job* job : by.due.between(0, desk.estate.micros(), most)) followed.jobs.insert(job->id);
    for (std::size_t looked = 0; looked < most && !followed.jobs.empty(); ++looked) {
        const std::string id = followed.jobs.extract(followed.jobs.begin()).value();
        follow_job(desk, id, now);
        const Job* job = desk.estate.jobs.find(id);
        if (job && is_final(job->phase))
            for (const Job* dependent : by.dependency.of(id)) followed.jobs.insert(dependent->id);
    }
    return !followed.jobs.empty();
}

}  // namespace hostler::master
