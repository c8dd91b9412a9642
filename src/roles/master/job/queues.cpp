#include "roles/master/job/queues.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/codec.h"
#include "api/types_instance.h"
#include "domain/inventory/host_record.h"
#include "roles/master/job/admit.h"
#include "roles/master/job/task.h"
#include "roles/master/state/host_blocks.h"

namespace hostler::master {

namespace {

constexpr std::int64_t use_half_life_s = 24 * 3600;
constexpr char element_mark = '#', place_mark = '/';

// Of a host that may take work, as it says.
Amount capacity_of(const Host& host) {
    if (host.phase != HostPhase::ready) return {};
    return {.gpu_milli = 1000 * std::ssize(host.facts.gpus),
            .cpu_milli = host.facts.cpus * std::int64_t{1000},
            .memory_bytes = host.facts.memory_bytes};
}

// What an element asks of hosts, as a text; equal ones find room where the others do.
std::string asks_of(const Job& job) {
    std::string asks = fmt::format("{} {}", job.spec.spec_name, job.tasks_of_element());
    const auto task = task_request(job);
    if (!task) return asks;
    const api::CreateInstance likes{.zone = task->zone, .placement = task->placement};
    if (task->zone || task->placement) asks += api::encode(likes);
    if (job.spec.program) asks += " program";
    // A volume lies where it lies, and a group is its tenant's.
    if (!task->template_.volumes.empty() || task->placement) asks += job.tenant + "/" + job.project;
    for (const auto& volume : task->template_.volumes) asks += " " + api::encode(volume);
    return asks;
}

}  // namespace

QueuePath path_of(const Job& job) {
    return {job.tenant, job.project, job.created_by.empty() ? "unknown" : job.created_by};
}

std::string words_of(const QueuePath& path) {
    std::string words = path.tenant;
    for (const std::string* name : {&path.project, &path.user})
        if (!name->empty()) words += "/" + *name;
    return words;
}

std::string JobQueues::waiting_of(const std::string& job) { return fmt::format("{}{}0", job, element_mark); }

std::string JobQueues::job_of(const std::string& waiting) {
    return waiting.substr(0, waiting.find_first_of({element_mark, place_mark}));
}

Dependencies dependencies_of(const Desk& desk, const Job& job) {
    bool open = false;
    for (const JobDependency& one : job.spec.after) {
        const Job* other = desk.estate.jobs.find(one.job);
        if (!other)
            continue;  // It ended so long ago that it is not in memory: it ended well, or this one failed
                       // then.
        if (!is_final(other->phase)) {
            open = true;
            continue;
        }
        const bool succeeded = other->phase == JobPhase::succeeded;
        if ((one.when == DependencyWhen::succeeded && !succeeded) ||
            (one.when == DependencyWhen::failed && succeeded))
            return Dependencies::never;
    }
    return open ? Dependencies::open : Dependencies::met;
}

JobQueues& job_queues(const Desk& desk) {
    JobQueues& queues = desk.live.part<JobQueues>();
    queues.follow(desk);
    return queues;
}

void JobQueues::follow_capacity(const Desk& desk) {
    for (const std::string& id : hosts_.changed(desk.estate.hosts)) {
        const Host* host = desk.estate.hosts.find(id);
        Amount& of = capacity_of_[id];
        capacity_ -= of;
        of = host ? capacity_of(*host) : Amount{};
        capacity_ += of;
        if (!host) capacity_of_.erase(id);
    }
    if (order_.capacity() == capacity_) return;
    line_.reset();
    (void)order_.set_capacity(capacity_);
}

JobQueues::JobQueues() { (void)order_.set_half_life(use_half_life_s, 0); }

// The settings of a queue whose row is gone are the defaults.
void JobQueues::follow_settings(const Desk& desk) {
    if (!std::exchange(began_, true))
        for (const auto& [id, row] : desk.estate.queue_uses.all())
            (void)order_.settle({.path = row.path(), .used = Mean{row.used}, .at = row.at});
    for (const std::string& id : settings_.changed(desk.estate.queues)) {
        line_.reset();
        if (const QueueSettings* row = desk.estate.queues.find(id)) {
            (void)order_.set_queue(row->path(), row->queue());
            continue;
        }
        QueuePath path;
        const auto project = id.find('/'), user = id.find('/', project + 1);
        path.tenant = id.substr(0, project);
        path.project = id.substr(project + 1, user - project - 1);
        path.user = id.substr(user + 1);
        order_.clear_queue(path);
    }
}

void JobQueues::note_phase(Known& known, std::optional<JobPhase> phase) {
    if (known.phase) --phases_[*known.phase];
    if (phase) ++phases_[*phase];
    known.phase = phase;
}

void JobQueues::follow_job(const Desk& desk, const std::string& id) {
    const Job* job = desk.estate.jobs.find(id);
    Known& known = known_[id];
    const std::int64_t now = desk.estate.micros();
    const bool over = !job || is_final(job->phase);
    std::vector<std::string> running;
    int waiting = 0;
    note_phase(known, over ? std::nullopt : std::optional{job->phase});
    if (!over && known.kind == 0) known.kind = join_kind(*job);
    if (!over) {
        const Amount size = size_of_element(desk, *job);
        const QueuePath path = path_of(*job);
        const int priority = static_cast<int>(job->priority);
        for (const JobRun& run : job->runs) {
            const std::string name = fmt::format("{}{}{}", id, place_mark, run.position);
            if (!std::ranges::binary_search(known.running, name) || known.priority != priority)
                (void)order_.start({.id = name,
                                    .path = path,
                                    .priority = priority,
                                    .size = size,
                                    .started = run.admitted_at});
            running.push_back(name);
            run.ending == "preempted" ? void(leaving_.insert(name)) : void(leaving_.erase(name));
        }
        const std::int64_t rest = job->elements() - job->next + std::ssize(job->again);
        const std::int64_t free = job->spec.array.at_most > 0
                                      ? job->spec.array.at_most - std::ssize(job->runs)
                                      : std::int64_t{side_by_side};
        const bool may = !job->held && job->phase != JobPhase::preempting &&
                         dependencies_of(desk, *job) == Dependencies::met;
        waiting = may ? static_cast<int>(std::clamp<std::int64_t>(std::min(rest, free), 0, side_by_side)) : 0;
        for (int i = 0; i < waiting; ++i)
            (void)order_.wait({.id = fmt::format("{}{}{}", id, element_mark, i),
                               .path = path,
                               .priority = priority,
                               .since = job->waits_since,
                               .size = size,
                               .kind = known.kind});
    }
    std::ranges::sort(running);
    for (int i = waiting; i < known.waiting; ++i) order_.withdraw(fmt::format("{}{}{}", id, element_mark, i));
    for (const std::string& name : known.running)
        if (!std::ranges::binary_search(running, name)) order_.end(name, now), leaving_.erase(name);
    known.waiting = waiting;
    known.priority = over ? 0 : static_cast<int>(job->priority);
    known.running = std::move(running);
    if (waiting == 0) refused_.erase(id);
    if (over) {
        leave_kind(known.kind);
        known_.erase(id);
    }
}

bool JobQueues::follow(const Desk& desk) {
    follow_capacity(desk);
    follow_settings(desk);
    const std::set<std::string> changed = jobs_.changed(desk.estate.jobs);
    std::set<std::string> look = changed;
    for (const std::string& id : changed)
        for (const Job* dependent : desk.estate.jobs.by().dependency.of(id)) look.insert(dependent->id);
    for (const std::string& id : look) follow_job(desk, id);
    if (!look.empty()) line_.reset();
    return !look.empty();
}

const Error* JobQueues::refused(const std::string& job) const {
    if (const auto at = refused_.find(job); at != refused_.end()) return &at->second;
    const auto kind = kinds_.find(kind_of(job));
    return kind == kinds_.end() || !kind->second.refused ? nullptr : &*kind->second.refused;
}

void JobQueues::note_refused(const std::string& job, Error why) {
    if (const auto kind = kinds_.find(kind_of(job));
        kind != kinds_.end() && why.reason == "insufficient_capacity") {
        kind->second.refused = std::move(why);
        refused_.erase(job);
        return;
    }
    refused_.insert_or_assign(job, std::move(why));
}

void JobQueues::note_admitted(const std::string& job) {
    refused_.erase(job);
    if (const auto kind = kinds_.find(kind_of(job)); kind != kinds_.end()) kind->second.refused.reset();
}

std::uint32_t JobQueues::kind_of(const std::string& job) const {
    const auto known = known_.find(job);
    return known == known_.end() ? 0 : known->second.kind;
}

std::uint32_t JobQueues::join_kind(const Job& job) {
    std::string asks = asks_of(job);
    const auto [at, fresh] = kind_by_asks_.try_emplace(asks, last_kind_ + 1);
    if (fresh) kinds_.try_emplace(++last_kind_, Kind{std::move(asks)});
    ++kinds_.at(at->second).jobs;
    return at->second;
}

void JobQueues::leave_kind(std::uint32_t kind) {
    const auto at = kinds_.find(kind);
    if (at == kinds_.end() || --at->second.jobs > 0) return;
    kind_by_asks_.erase(at->second.asks);
    kinds_.erase(at);
}

std::optional<std::int64_t> JobQueues::position(const std::string& job, std::int64_t now) const {
    return order_.position(waiting_of(job), now);
}

std::vector<Waiting> JobQueues::line(std::size_t most, std::int64_t now) const {
    std::vector<Waiting> line;
    Round round = order_.round(now);
    while (line.size() < most) {
        auto next = round.next();
        if (!next) break;
        round.admit();
        line.push_back(std::move(*next));
    }
    return line;
}

std::optional<std::int64_t> JobQueues::place_in_line(const std::string& job, std::int64_t now) const {
    constexpr std::int64_t longest = 60 * std::int64_t{1'000'000};  // Usage decays slowly.
    if (!line_ || now - line_->at > longest) {
        line_ = Line{.at = now};
        std::int64_t place = 0;
        for (const Waiting& one : line(line_shown_max, now))
            line_->places.try_emplace(job_of(one.id), place++);
    }
    const auto at = line_->places.find(job);
    return at == line_->places.end() ? std::nullopt : std::optional{at->second};
}

}  // namespace hostler::master
