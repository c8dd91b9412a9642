#include "roles/master/job/reserve.h"

#include <algorithm>

#include "roles/master/job/admit.h"
#include "roles/master/run/reserved.h"
#include "roles/master/scheduler/capacity.h"

namespace hostler::master {

namespace {

constexpr std::size_t endings_max = 1024;  // Running elements that are looked at, those that end first.
constexpr std::int64_t late = 60 * std::int64_t{1'000'000};  // Tasks end so long after their limit at most.
constexpr std::int64_t waits_long = 10 * 60 * std::int64_t{1'000'000};

// The host that could take it if nothing ran there, and has most free now.
std::optional<Reservation> of_the_emptiest(const Desk& desk, const Job& job, const Demand& demand,
                                           const Amount& size) {
    std::optional<Reservation> best;
    std::pair<std::int64_t, std::int64_t> most{-1, -1};
    for (const auto& [id, there] : room(desk).hosts()) {
        if (!there.free.unavailable.empty() || there.free.cpu_total_milli < size.cpu_milli ||
            there.free.memory_total_bytes < size.memory_bytes)
            continue;
        const bool fits =
            size.gpu_milli == 0 || std::ranges::any_of(there.parts, [&](const Room::Part& part) {
                return model_matches(demand.gpu_type, part.model) &&
                       1000 * std::ssize(part.gpus) >= size.gpu_milli;
            });
        const Amount free = free_for(demand, there.free);
        const std::pair now{free.gpu_milli, free.cpu_milli};
        if (!fits || now <= most) continue;
        most = now;
        best = Reservation{.job = job.id, .where = id, .at = desk.estate.micros()};
    }
    return best;
}

bool has_gpus_for(const Room::There& there, const Demand& demand) {
    return demand.gpu_count == 0 || std::ranges::any_of(there.parts, [&](const Room::Part& part) {
               return model_matches(demand.gpu_type, part.model);
           });
}

}  // namespace

Amount free_for(const Demand& demand, const Candidate& there) {
    Amount amount{.cpu_milli = there.cpu_milli, .memory_bytes = there.memory_bytes};
    for (const FreeGpu& gpu : there.gpus)
        if (model_matches(demand.gpu_type, gpu.model)) amount.gpu_milli += 1000;
    return amount;
}

Endings endings_for(const Desk& desk, const Demand& demand) {
    Endings endings;
    const std::int64_t now = desk.estate.micros();
    const auto& hosts = room(desk).hosts();
    std::set<std::string> jobs;
    for (const Job* job :
         desk.estate.jobs.by().due.between(now, std::numeric_limits<std::int64_t>::max(), endings_max))
        jobs.insert(job->id);
    for (const std::string& one : jobs) {
        const Job* job = desk.estate.jobs.find(one);
        const Spec* spec = desk.estate.specs.find(job->spec.spec_name);
        if (!spec) continue;
        for (const JobRun& run : job->runs)
            for (const std::string& id : run.instances) {
                const Instance* task = desk.estate.instances.find(id);
                const auto there = task ? hosts.find(task->host) : hosts.end();
                if (there == hosts.end() || run.started_at == 0 || !has_gpus_for(there->second, demand))
                    continue;
                endings.free.try_emplace(task->host, free_for(demand, there->second.free));
                endings.all.push_back({.where = task->host,
                                       .size = amount_of(*spec),
                                       .at = run.started_at + job->spec.time_limit_s * 1'000'000});
            }
    }
    return endings;
}

void reserve_room(Desk& desk, const Job* oldest) {
    auto& kept = desk.live.part<Reservations>().of_the_oldest;
    const auto asked = oldest ? demands_of(desk, *oldest) : std::nullopt;
    if (!asked) return kept.reset();
    const Amount size = size_of_element(desk, *oldest);
    Endings ends = endings_for(desk, asked->demands.front());
    if (auto found = reserve(oldest->id, size, ends.free, std::move(ends.all), desk.estate.micros())) {
        kept = std::move(found);
        return;
    }
    // What it has is not given away again: a task that has ended holds its room until its host says so.
    const std::int64_t now = desk.estate.micros();
    const bool long_ago = now - oldest->waits_since >= waits_long;
    if (kept && kept->job == oldest->id && (long_ago || now < kept->at + late)) return;
    if (!long_ago) return kept.reset();
    kept = of_the_emptiest(desk, *oldest, asked->demands.front(), size);
}

void note_backfill(Desk& desk, const Job& job, const std::string& host) {
    auto& kept = desk.live.part<Reservations>().of_the_oldest;
    if (!kept) return;
    if (kept->job == job.id) return kept.reset();
    if (kept->where == host) backfill(*kept, host, size_of_element(desk, job), ends_by_limit(desk, job));
}

}  // namespace hostler::master
