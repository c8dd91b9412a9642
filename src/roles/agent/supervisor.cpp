#include "roles/agent/supervisor.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/log.h"
#include "roles/agent/job.h"
#include "roles/agent/within.h"
#include "roles/agent/workloads.h"

namespace hostler::agent {

namespace {

constexpr std::string_view nothing_runs = "nothing of it runs", was_stopped = "it was stopped";
constexpr Duration look_again = seconds{1};  // At what has run out, for a launch that was under way.

}  // namespace

std::int64_t since_boot_us(const Timers& timers) {
    return std::chrono::duration_cast<std::chrono::microseconds>(timers.now_with_sleep().time_since_epoch())
        .count();
}

bool has_run_out(const RunLease& lease, const std::string& boot, std::int64_t now_us) {
    return lease.boot != boot || lease.until_us <= now_us;
}

Supervisor::Supervisor(Loop& loop, Timers& timers, Engine& engine, LeaseBook& leases,
                       SupervisorSettings settings)
    : loop_(loop), timers_(timers), engine_(engine), leases_(leases), settings_(std::move(settings)) {}

Task<> Supervisor::run() {
    if (const auto before = co_await leases_.watched())
        for (const WatchedLease& one : *before) watched_[one.instance] = one;
    CO_TRY(co_await check_cancelled());
    Instant busy = timers_.now();
    while (true) {
        if (const auto looked = co_await look(); !looked) {
            CO_TRY(co_await check_cancelled());
            log_warn("leases: {}", looked.error().message);
            busy = timers_.now();
        }
        if (!idle_) busy = timers_.now();
        if (timers_.now() - busy >= settings_.idle_max) co_return Result<>{};
        CO_TRY(co_await sleep(timers_, settings_.look_interval));
    }
}

Task<> Supervisor::look() {
    const auto leases = CO_TRY(co_await leases_.granted());
    idle_ = leases.empty();
    const auto before = watched_;
    std::map<std::string, WatchedLease> now;
    std::vector<Task<>> over;
    for (const RunLease& lease : leases) {
        const auto known = watched_.find(lease.instance);
        now[lease.instance] = known != watched_.end() && known->second.generation == lease.generation
                                  ? known->second
                                  : WatchedLease{lease.instance, lease.generation, ""};
        if (!has_run_out(lease, settings_.boot, since_boot_us(timers_)) ||
            rest_until_[lease.instance] > timers_.now())
            continue;
        over.push_back(enforce(lease));
    }
    watched_ = std::move(now);
    std::erase_if(rest_until_, [&](const auto& row) { return !watched_.contains(row.first); });
    if (!over.empty()) CO_TRY(co_await at_once(loop_, std::move(over)));
    if (watched_ == before) co_return Result<>{};
    std::vector<WatchedLease> all;
    for (const auto& [instance, one] : watched_) all.push_back(one);
    auto told = co_await leases_.watch(std::move(all));
    if (!told) watched_ = before;  // So that it is told again.
    co_return told;
}

Task<> Supervisor::enforce(RunLease lease) {
    const auto saw = co_await stop(lease);
    CO_TRY(co_await check_cancelled());
    rest_until_[lease.instance] = timers_.now() + look_again;
    const auto watched = watched_.find(lease.instance);
    if (watched == watched_.end()) co_return Result<>{};
    if (saw && *saw == nothing_runs && watched->second.saw == was_stopped)  // It has been said.
        co_return Result<>{};
    const std::string text = saw ? *saw : "it is not known: " + saw.error().message;
    if (std::exchange(watched->second.saw, text) != text)
        log_info("the lease of {}, generation {}, has run out: {}", lease.instance, lease.generation, text);
    co_return Result<>{};
}

// By level, at each look again: an engine that does not answer is asked until it does, and a launch that was
// under way when the lease ran out is found when it is done.
Task<std::string> Supervisor::stop(RunLease lease) {
    const auto ask = [&]() -> Task<std::vector<Container>> {
        return within(loop_, timers_, settings_.call_deadline, "the container engine",
                      engine_.list(std::string{label::instance}, lease.instance));
    };
    bool stopped = false;
    for (const Container& container : CO_TRY(co_await ask())) {
        if (container.state != ContainerState::running || generation_of(container) > lease.generation)
            continue;
        // It may have been granted anew while the engine was asked.
        const auto leases = CO_TRY(co_await leases_.granted());
        if (std::ranges::find(leases, lease) == leases.end()) co_return "it was granted anew";
        CO_TRY(co_await within(loop_, timers_, settings_.stop_grace + settings_.call_deadline,
                               "the container engine", engine_.stop(container.name, settings_.stop_grace)));
        stopped = true;
    }
    if (!stopped) co_return std::string{nothing_runs};
    for (const Container& container : CO_TRY(co_await ask()))
        if (container.state == ContainerState::running && generation_of(container) <= lease.generation)
            co_return fail(Code::unavailable, fmt::format("{} still runs", container.name));
    co_return std::string{was_stopped};
}

}  // namespace hostler::agent
