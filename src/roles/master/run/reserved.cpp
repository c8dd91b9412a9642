#include "roles/master/run/reserved.h"

namespace hostler::master {

Amount amount_of(const Spec& spec) {
    return {.gpu_milli = std::int64_t{1000} * spec.gpu_count,
            .cpu_milli = spec.cpu_milli,
            .memory_bytes = spec.memory_bytes};
}

std::optional<std::int64_t> ends_by_limit(const Desk& desk, const Job& job) {
    if (job.spec.time_limit_s == 0) return std::nullopt;
    return desk.estate.micros() + job.spec.time_limit_s * 1'000'000;
}

bool is_kept_from(const Desk& desk, const Instance& instance, const std::string& host) {
    const Reservations& kept = desk.live.part<Reservations>();
    const auto owner = kept.owner_of.find(host);
    if (owner != kept.owner_of.end()) return !instance.owner || instance.owner->path() != owner->second;
    const auto& oldest = kept.of_the_oldest;
    if (!oldest || oldest->where != host || !instance.owner || instance.owner->id == oldest->job)
        return false;
    const Job* job = desk.estate.jobs.find(instance.owner->id);
    const Spec* spec = desk.estate.specs.find(instance.spec_name);
    return job && spec && !may_backfill(*oldest, host, amount_of(*spec), ends_by_limit(desk, *job));
}

std::vector<std::string> kept_for_others(const Desk& desk, const std::string& job) {
    std::vector<std::string> hosts;
    for (const auto& [host, owner] : desk.live.part<Reservations>().owner_of)
        if (owner != Owner{"job", job}.path()) hosts.push_back(host);
    return hosts;
}

std::vector<std::string> kept_from(const Desk& desk, const Job& job) {
    std::vector<std::string> hosts = kept_for_others(desk, job.id);
    const Reservations& kept = desk.live.part<Reservations>();
    const auto& oldest = kept.of_the_oldest;
    const Spec* spec = desk.estate.specs.find(job.spec.spec_name);
    if (!oldest || !spec || oldest->job == job.id || kept.owner_of.contains(oldest->where)) return hosts;
    const std::int64_t tasks = job.tasks_of_element();
    const Amount one = amount_of(*spec);
    const Amount all{one.gpu_milli * tasks, one.cpu_milli * tasks, one.memory_bytes * tasks};
    if (!may_backfill(*oldest, oldest->where, all, ends_by_limit(desk, job))) hosts.push_back(oldest->where);
    return hosts;
}

}  // namespace hostler::master
