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
    if (owner != kept.owner_of.end() && (!instance.owner || instance.owner->path() != owner->second))
        return true;
    const auto& oldest = kept.of_the_oldest;
    if (!oldest || oldest->where != host || !instance.owner || instance.owner->id == oldest->job)
        return false;
    const Job* job = desk.estate.jobs.find(instance.owner->id);
    const Spec* spec = desk.estate.specs.find(instance.spec_name);
    return job && spec && !may_backfill(*oldest, host, amount_of(*spec), ends_by_limit(desk, *job));
}

}  // namespace hostler::master
