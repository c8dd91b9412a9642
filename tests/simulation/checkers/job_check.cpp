#include "job_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "estate_check.h"

namespace hostler::simulation {

namespace {

using master::Desk;

// How often an element may fail is said by its job; other causes have a bound that no storm reaches.
bool counts_as_try(std::string_view reason) {
    constexpr std::string_view others[] = {"completed",  "preempted", "host_lost",    "host_removed",
                                           "time_limit", "cancelled", "image_missing"};
    return std::ranges::count(others, reason) == 0;
}
bool is_tried_again_never(std::string_view reason) {
    constexpr std::string_view last[] = {"completed", "time_limit", "cancelled", "image_missing"};
    return std::ranges::count(last, reason) > 0;
}

// Some edges lead from one phase to the other.
bool leads(JobPhase from, JobPhase to) {
    std::set<JobPhase> reached{from};
    for (std::size_t before = 0; before != reached.size();) {
        before = reached.size();
        for (const JobEdge& edge : job_life)
            if (reached.contains(edge.from)) reached.insert(edge.to);
    }
    return reached.contains(to);
}

// Of one element: the attempts that are over, as its job has kept them.
struct Past {
    std::set<std::int64_t> attempts;
    int tries = 0;
    bool over = false;
};

std::map<std::int64_t, Past> past_of(const Job& job, Findings& found) {
    std::map<std::int64_t, Past> all;
    for (const JobEnd& end : job.ends) {
        Past& past = all[end.position];
        if (!past.attempts.insert(end.attempt).second)
            found.report(Invariant::job_life, fmt::format("attempt {} of {}/{} of {} ended twice",
                                                          end.attempt, job.id, end.position, job.name));
        past.tries += counts_as_try(end.reason);
        past.over = past.over || is_tried_again_never(end.reason);
    }
    return all;
}

// An attempt that is under way, or waits.
void check_attempt(const Job& job, std::int64_t position, std::int64_t attempt,
                   const std::map<std::int64_t, Past>& past, Findings& found) {
    const auto report = [&](std::string_view what) {
        found.report(Invariant::job_life, fmt::format("attempt {} of element {} of {} ({}) {}", attempt,
                                                      position, job.name, job.id, what));
    };
    if (position >= job.next || position >= job.elements()) report("was never its turn");
    const auto at = past.find(position);
    if (at == past.end()) {
        if (attempt != 1 && job.ends.size() < JobEnd::kept_max) report("has none before it");
        return;
    }
    if (at->second.over) report("comes after its end");
    if (attempt != *at->second.attempts.rbegin() + 1) report("is not the next one");
}

void check_elements(const Job& job, Findings& found) {
    const auto past = past_of(job, found);
    std::set<std::int64_t> open;
    for (const JobRun& run : job.runs) {
        check_attempt(job, run.position, run.attempt, past, found);
        if (!open.insert(run.position).second)
            found.report(Invariant::task_once,
                         fmt::format("element {} of {} ({}) has two places", run.position, job.name, job.id));
    }
    for (const JobRetry& retry : job.again) {
        check_attempt(job, retry.position, retry.attempt, past, found);
        if (!open.insert(retry.position).second)
            found.report(Invariant::task_once, fmt::format("element {} of {} ({}) waits beside another try",
                                                           retry.position, job.name, job.id));
    }
    for (const auto& [position, of] : past)
        if (of.tries > job.spec.retries + 1)
            found.report(Invariant::job_life,
                         fmt::format("element {} of {} ({}) failed {} times, and may be tried again {} times",
                                     position, job.name, job.id, of.tries, job.spec.retries));
    const std::int64_t known = std::ssize(open) + job.succeeded + job.failed + (job.elements() - job.next);
    if (job.phase != JobPhase::cancelled && known != job.elements())
        found.report(Invariant::job_life, fmt::format("{} of {} elements of {} ({}) are accounted for", known,
                                                      job.elements(), job.name, job.id));
}

void check_gangs(const Desk& desk, const Job& job, Findings& found) {
    if (!job.spec.gang || job.spec.tasks < 2) return;
    for (const JobRun& run : job.runs) {
        if (!run.ending.empty()) continue;
        std::set<std::string> hosts;
        std::size_t placed = 0, ended = 0, moving = 0;
        for (const std::string& id : run.instances) {
            const Instance* task = desk.estate.instances.find(id);
            if (!task || is_final(task->phase)) {
                ++ended;
            } else if (task->phase == InstancePhase::lost || task->run_generation > 1) {
                ++moving;  // Its host is silent, or was: it may begin again elsewhere.
            } else if (desk.estate.claims.find(task->claim)) {
                ++placed;
                hosts.insert(task->host);
            }
        }
        if (std::ssize(run.instances) != job.spec.tasks)
            found.report(Invariant::gang, fmt::format("gang {} ({}) has {} of {} tasks", job.name, job.id,
                                                      run.instances.size(), job.spec.tasks));
        if (ended > 0 || moving > 0) continue;
        if (placed != run.instances.size() || hosts.size() != 1)
            found.report(Invariant::gang,
                         fmt::format("{} of {} tasks of gang {} ({}) have a place, on {} hosts", placed,
                                     run.instances.size(), job.name, job.id, hosts.size()));
    }
}

bool ends(const Instance& task) { return is_final(task.phase) || task.phase == InstancePhase::stopping; }

}  // namespace

void JobCheck::look(const Desk& desk, std::uint64_t epoch, Findings& found) {
    const bool same_epoch = epoch == std::exchange(epoch_, epoch);
    if (desk.estate.jobs.all().empty()) return phases_.clear();
    std::map<std::string, std::string> keys;
    for (const auto& [id, job] : desk.estate.jobs.all()) {
        check_elements(job, found);
        check_gangs(desk, job, found);
        const auto key = job.labels.find(key_label);
        if (key == job.labels.end()) continue;
        const auto [at, first] = keys.emplace(job.tenant + "/" + key->second, id);
        if (!first)
            found.report(Invariant::job_key, fmt::format("{} and {} were both made under the key {}",
                                                         at->second, id, key->second));
    }
    look_at_lives(desk, same_epoch, found);
    look_at_tasks(desk, found);
}

void JobCheck::look_at_lives(const Desk& desk, bool same_epoch, Findings& found) {
    std::map<std::string, JobPhase> now;
    for (const auto& [id, job] : desk.estate.jobs.all()) {
        now[id] = job.phase;
        const auto before = phases_.find(id);
        if (same_epoch && before != phases_.end() && !leads(before->second, job.phase))
            found.report(Invariant::job_life,
                         fmt::format("job {} ({}) was {} and is {}", job.name, id,
                                     master::text_of(before->second), master::text_of(job.phase)));
        const bool has_place = job.phase != JobPhase::pending && !is_final(job.phase);
        if (has_place == job.runs.empty())
            found.report(Invariant::job_life,
                         fmt::format("job {} ({}) is {} and has {} elements with a place", job.name, id,
                                     master::text_of(job.phase), job.runs.size()));
        if (is_final(job.phase) && (!job.again.empty() || job.ended_at == 0))
            found.report(Invariant::job_life, fmt::format("job {} ({}) is {} and not over", job.name, id,
                                                          master::text_of(job.phase)));
    }
    phases_ = std::move(now);
}

void JobCheck::look_at_tasks(const Desk& desk, Findings& found) {
    std::set<std::string> known;
    for (const auto& [id, job] : desk.estate.jobs.all())
        for (const JobRun& run : job.runs)
            for (std::size_t rank = 0; rank < run.instances.size(); ++rank) {
                known.insert(run.instances[rank]);
                tasks_[run.instances[rank]] = {id, run.position, run.attempt, rank};
            }
    for (const auto& [id, task] : desk.estate.instances.all()) {
        if (!task.owner || task.owner->kind != "job" || ends(task)) continue;
        const Job* job = desk.estate.jobs.find(task.owner->id);
        if (!job) continue;  // `owned` is about that.
        if (is_final(job->phase))
            found.report(Invariant::job_over,
                         fmt::format("job {} is {}, and its task {} is {}", job->name,
                                     master::text_of(job->phase), id, state_of(task.phase)));
        else if (!known.contains(id))
            found.report(Invariant::task_once, fmt::format("task {} is {}, and its job {} does not know it",
                                                           id, state_of(task.phase), job->name));
    }
}

void JobCheck::look_at(const std::vector<const sim::Machine*>& hosts, Findings& found) const {
    if (tasks_.empty()) return;
    std::map<std::tuple<std::string, std::int64_t, std::size_t>, std::string> running;
    for (const sim::Machine* host : hosts)
        for (const auto& container : host->engine.standing()) {
            const std::string id = instance_of(container.spec.name);
            const auto task = tasks_.find(id);
            if (container.state != ContainerState::running || task == tasks_.end()) continue;
            const auto& [job, position, attempt, rank] = task->second;
            const auto [at, first] = running.try_emplace({job, position, rank}, id);
            if (!first)
                found.report(Invariant::task_once,
                             fmt::format("rank {} of element {} of {} runs twice: as {} and as {} on {}",
                                         rank, position, job, at->second, id, host->name));
        }
}

void JobCheck::look_at_ends(const Desk& desk, Duration quiet, Findings& found) {
    std::map<std::string, int> ending;
    if (quiet == Duration{}) return ending_s_.clear();
    for (const auto& [id, task] : desk.estate.instances.all()) {
        if (!task.owner || is_final(task.phase)) continue;
        const Job* job = desk.estate.jobs.find(task.owner->id);
        if (!job || !is_final(job->phase)) continue;
        const auto before = ending_s_.find(id);
        const int waited_s = ending[id] = 1 + (before == ending_s_.end() ? 0 : before->second);
        if (std::chrono::seconds{waited_s} > end_within)
            found.report(Invariant::job_over,
                         fmt::format("job {} is {} since {} quiet seconds, and its task {} is {}", job->name,
                                     master::text_of(job->phase), waited_s, id, state_of(task.phase)));
    }
    ending_s_ = std::move(ending);
}

}  // namespace hostler::simulation
