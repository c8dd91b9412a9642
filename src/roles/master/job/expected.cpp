#include "roles/master/job/expected.h"

#include <utility>

#include "domain/order/expected.h"
#include "roles/master/job/admit.h"
#include "roles/master/job/queues.h"
#include "roles/master/job/reserve.h"
#include "roles/master/run/reserved.h"
#include "roles/master/scheduler/capacity.h"

namespace hostler::master {

namespace {

constexpr std::size_t ahead_max = 256;  // Elements; one that is behind more of them has no expected start.

// Of other models: they do not take each other's places.
bool differ(const Spec& a, const Spec& b) {
    return a.gpu_count > 0 && b.gpu_count > 0 && !model_matches(a.gpu_type, b.gpu_type) &&
           !model_matches(b.gpu_type, a.gpu_type);
}

// nullopt: it is not among the first.
std::optional<std::vector<Ahead>> ahead_of(const Desk& desk, const Job& job, const Spec& spec) {
    std::vector<Ahead> ahead;
    for (const Waiting& one : job_queues(desk).line(ahead_max, desk.estate.micros())) {
        const std::string id = JobQueues::job_of(one.id);
        if (id == job.id) return ahead;
        const Job* other = desk.estate.jobs.find(id);
        const Spec* its = other ? desk.estate.specs.find(other->spec.spec_name) : nullptr;
        if (its && !differ(spec, *its))
            ahead.push_back({.size = one.size, .lasts = other->spec.time_limit_s * 1'000'000});
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> expected_start_of(const Desk& desk, const Job& job) {
    if (job.held || is_final(job.phase) || dependencies_of(desk, job) != Dependencies::met)
        return std::nullopt;
    const Error* why = job_queues(desk).refused(job.id);
    if (why && why->reason != "insufficient_capacity") return std::nullopt;
    const std::int64_t now = desk.estate.micros();
    const auto& kept = std::as_const(desk.live).part<Reservations>().of_the_oldest;
    if (kept && kept->job == job.id) return kept->at > now ? std::optional{kept->at} : std::nullopt;
    const auto asked = demands_of(desk, job);
    if (!asked) return std::nullopt;
    const auto ahead = ahead_of(desk, job, *desk.estate.specs.find(job.spec.spec_name));
    if (!ahead) return std::nullopt;
    const Demand& demand = asked->demands.front();
    Endings ends = endings_for(desk, demand);
    const auto& hosts = room(desk).hosts();
    for (const Place& place : room(desk).plan(asked->demands, asked->gang).places)
        if (const auto there = hosts.find(place.host); there != hosts.end())
            ends.free.try_emplace(place.host, free_for(demand, there->second.free));
    return expected_start(*ahead, size_of_element(desk, job), ends.free, ends.all, now);
}

}  // namespace hostler::master
