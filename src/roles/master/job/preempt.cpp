#include "roles/master/job/preempt.h"

#include <fmt/format.h>

#include "api/codec.h"
#include "api/types_instance.h"
#include "roles/master/job/admit.h"
#include "roles/master/job/follow.h"
#include "roles/master/job/queues.h"
#include "roles/master/run/reserved.h"
#include "roles/master/scheduler/capacity.h"

namespace hostler::master {

namespace {

constexpr std::int64_t kept_longest = 15 * 60 * std::int64_t{1'000'000};  // The longest grace and more.
constexpr std::int64_t kept_after_the_last =
    10 * std::int64_t{1'000'000};  // For the round that admits the job.

// For whom elements are being ended.
struct Ways {
    struct One {
        std::vector<std::string> victims;
        std::set<std::string> hosts;
        std::int64_t since = 0, until = 0;
    };
    std::map<std::string, One> by_job;
};

bool is_placed(const Job& job, std::int64_t since) {
    return std::ranges::any_of(job.runs, [&](const JobRun& run) { return run.admitted_at >= since; });
}

const JobRun* run_of(const Desk& desk, const std::string& element, const Job*& job) {
    const auto slash = element.find('/');
    job = desk.estate.jobs.find(element.substr(0, slash));
    if (!job || slash == element.npos) return nullptr;
    const std::int64_t position = std::atoll(element.c_str() + slash + 1);
    const auto at = std::ranges::find(job->runs, position, &JobRun::position);
    return at == job->runs.end() ? nullptr : &*at;
}

// What others end for already is counted once.
EvictionRules rules_of(const Desk& desk) {
    EvictionRules rules{.min_run_s = desk.settings.job_min_run.count()};
    rules.leaving = job_queues(desk).leaving();
    for (const auto& [id, way] : desk.live.part<Ways>().by_job)
        if (const Job* claimant = desk.estate.jobs.find(id); claimant && !is_placed(*claimant, way.since))
            rules.promised.push_back({path_of(*claimant), size_of_element(desk, *claimant)});
    return rules;
}

// Elements that end, as an earlier master has told them to, and of which the room is kept for none.
std::vector<Victim> leave_for_none(const Desk& desk) {
    std::set<std::string> known;
    for (const auto& [id, way] : desk.live.part<Ways>().by_job)
        known.insert(way.victims.begin(), way.victims.end());
    std::vector<Victim> all;
    for (const std::string& id : job_queues(desk).leaving())
        if (!known.contains(id)) all.push_back({id, Eviction::reclaim});
    return all;
}

std::set<std::string> hosts_of(const Desk& desk, const std::string& element) {
    const Job* job = nullptr;
    const JobRun* run = run_of(desk, element, job);
    std::set<std::string> hosts;
    if (run)
        for (const std::string& id : run->instances)
            if (const Instance* task = desk.estate.instances.find(id)) hosts.insert(task->host);
    return hosts;
}

// What these elements hold, as the scheduler takes what may go.
IdleStock held_by(const Desk& desk, const std::vector<Victim>& victims) {
    IdleStock held;
    for (const Victim& victim : victims) {
        const Job* job = nullptr;
        const JobRun* run = run_of(desk, victim.id, job);
        if (!run) continue;
        for (const std::string& id : run->instances) {
            const Instance* task = desk.estate.instances.find(id);
            const Claim* claim = task ? desk.estate.claims.find(task->claim) : nullptr;
            const Host* host = claim ? desk.estate.hosts.find(claim->host) : nullptr;
            if (!host || !unavailable(desk, *host).empty()) continue;
            Spare spare{.id = claim->id,
                        .kind = "job",
                        .cpu_milli = claim->cpu_milli,
                        .memory_bytes = claim->memory_bytes};
            for (const GpuFacts& gpu : host->facts.gpus)
                if (std::ranges::count(claim->gpus, gpu.uuid) > 0)
                    spare.gpus.push_back({gpu.uuid, gpu.model, gpu.memory_bytes, gpu.numa_node});
            held.by_host[claim->host].push_back(std::move(spare));
            ++held.may_go["job"];
        }
    }
    return held;
}

}  // namespace

std::optional<Way> way_for(const Desk& desk, const Job& job, const std::string& waiting) {
    const auto asked = demands_of(desk, job);
    if (!asked) return std::nullopt;
    std::set<std::string> hosts;
    const std::vector<Victim> leave = leave_for_none(desk);
    const std::vector<std::string> kept = kept_for_others(desk, job.id);
    const Enough enough = [&](const std::vector<Victim>& so_far) {
        std::vector<Victim> gone = leave;
        gone.insert(gone.end(), so_far.begin(), so_far.end());
        const Plan plan =
            room(desk).plan(asked->demands, asked->gang, [&] { return held_by(desk, gone); }, kept);
        hosts.clear();
        for (const Place& place : plan.places) hosts.insert(place.host);
        return !plan.places.empty();
    };
    auto found = victims(job_queues(desk).order(), waiting, rules_of(desk), desk.estate.micros(), enough);
    if (!found || !enough(*found)) return std::nullopt;
    for (const Victim& one : leave)
        if (std::ranges::any_of(hosts_of(desk, one.id), [&](auto& host) { return hosts.contains(host); }))
            found->push_back(one);
    if (found->empty()) return std::nullopt;
    return Way{std::move(*found), std::move(hosts)};
}

bool may_preempt(const Desk& desk, const Waiting& claimant) {
    return may_have_victims(job_queues(desk).order(), claimant, {});
}

void make_way(Desk& desk, const std::string& id, const Way& way) {
    const Job& claimant = desk.estate.jobs.at(id);
    Ways::One& one = desk.live.part<Ways>().by_job[id];
    one = {.hosts = way.hosts, .since = desk.estate.micros(), .until = desk.estate.micros() + kept_longest};
    for (const std::string& host : way.hosts)
        desk.live.part<Reservations>().owner_of[host] = Owner{"job", id}.path();
    for (const Victim& victim : way.victims) {
        const Job* job = nullptr;
        const JobRun* run = run_of(desk, victim.id, job);
        if (!run) continue;
        one.victims.push_back(victim.id);
        preempt_run(desk, std::string{job->id}, run->position,
                    victim.why == Eviction::priority
                        ? fmt::format("job {} of a higher priority needs its room", claimant.name)
                        : fmt::format("job {} needs room that is guaranteed to its queue", claimant.name));
    }
}

bool makes_way(const Desk& desk, const std::string& job) {
    return desk.live.part<Ways>().by_job.contains(job);
}

std::set<std::string> jobs_with_ways(const Desk& desk) {
    std::set<std::string> jobs;
    for (const auto& [job, way] : desk.live.part<Ways>().by_job) jobs.insert(job);
    return jobs;
}

void forget_ways(Desk& desk) {
    auto& ways = desk.live.part<Ways>().by_job;
    const std::int64_t now = desk.estate.micros();
    const auto is_over = [&](const std::string& id, Ways::One& one) {
        const Job* job = desk.estate.jobs.find(id);
        const bool placed = job && is_placed(*job, one.since);
        const bool ends = std::ranges::any_of(one.victims, [&](const std::string& element) {
            const Job* victim = nullptr;
            const JobRun* run = run_of(desk, element, victim);
            return run && !run->ending.empty();
        });
        if (!ends) one.until = std::min(one.until, now + kept_after_the_last);
        if (job && !is_final(job->phase) && !placed && now < one.until) return false;
        auto& owners = desk.live.part<Reservations>().owner_of;
        for (const std::string& host : one.hosts)
            if (const auto at = owners.find(host);
                at != owners.end() && at->second == Owner{"job", id}.path())
                owners.erase(at);
        return true;
    };
    for (auto at = ways.begin(); at != ways.end();)
        at = is_over(at->first, at->second) ? ways.erase(at) : std::next(at);
}

std::string words_of(const Desk& desk, const Victim& victim) {
    const Job* job = nullptr;
    (void)run_of(desk, victim.id, job);
    return job ? fmt::format("job {} of {}", job->name, job->created_by) : victim.id;
}

}  // namespace hostler::master
