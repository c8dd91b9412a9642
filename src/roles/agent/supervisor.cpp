#include "roles/agent/supervisor.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/log.h"
#include "roles/agent/within.h"
#include "roles/agent/workloads.h"

namespace hostler::agent {

namespace {

constexpr std::string_view nothing_runs = "nothing of it runs", was_stopped = "it was stopped";
constexpr Duration look_again =
    std::chrono::seconds{1};  // At what has run out, for a launch that was under way.

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
        for (const WatchedLease& one : *before) told_[one.instance] = one;
    CO_TRY(co_await check_cancelled());
    watched_ = told_;
    TaskGroup enforcing{loop_};
    auto ended = co_await watch(enforcing);
    (void)co_await enforcing.close();
    co_return ended;
}

Task<> Supervisor::watch(TaskGroup& enforcing) {
    std::string warned;
    Instant since = timers_.now();
    while (true) {
        const auto before = idle_;
        const auto looked = co_await look(enforcing);
        CO_TRY(co_await check_cancelled());
        const std::string wrong = looked ? "" : looked.error().message;
        if (std::exchange(warned, wrong) != wrong && !wrong.empty()) log_warn("leases: {}", wrong);
        if (idle_ != before) since = timers_.now();
        if (idle_ && timers_.now() - since >= *idle_) co_return Result<>{};
        CO_TRY(co_await sleep(timers_, settings_.look_interval));
    }
}

// Engines are asked beside it: one that takes long holds up neither other leases nor what the agent waits
// for.
Task<> Supervisor::look(TaskGroup& enforcing) {
    idle_.reset();
    const auto leases = CO_TRY(co_await leases_.granted());
    std::map<std::string, WatchedLease> now;
    for (const RunLease& lease : leases) {
        const auto known = watched_.find(lease.instance);
        now[lease.instance] = known != watched_.end() && known->second.generation == lease.generation
                                  ? known->second
                                  : WatchedLease{lease.instance, lease.generation, ""};
        if (!has_run_out(lease, settings_.boot, since_boot_us(timers_)) ||
            rest_until_[lease.instance] > timers_.now() || !asked_.insert(lease.instance).second)
            continue;
        enforcing.start("lease of " + lease.instance, enforce(lease));
    }
    watched_ = std::move(now);
    std::erase_if(rest_until_, [&](const auto& row) { return !watched_.contains(row.first); });
    std::erase_if(quiet_, [&](const std::string& instance) { return !watched_.contains(instance); });
    idle_ = idle_time(leases);
    co_return co_await tell();
}

Task<> Supervisor::tell() {
    if (watched_ == told_) co_return Result<>{};
    auto telling = watched_;
    std::vector<WatchedLease> all;
    for (const auto& [instance, one] : telling) all.push_back(one);
    CO_TRY(co_await leases_.watch(std::move(all)));
    told_ = std::move(telling);
    co_return Result<>{};
}

std::optional<Duration> Supervisor::idle_time(const std::vector<RunLease>& leases) const {
    if (leases.empty()) return settings_.idle_max;
    const std::int64_t now = since_boot_us(timers_);
    const bool all_over = std::ranges::all_of(leases, [&](const RunLease& lease) {
        return has_run_out(lease, settings_.boot, now) && quiet_.contains(lease.instance);
    });
    return all_over ? std::optional{settings_.over_max} : std::nullopt;
}

Task<> Supervisor::enforce(RunLease lease) {
    const auto saw = co_await stop(lease);
    asked_.erase(lease.instance);
    CO_TRY(co_await check_cancelled());
    rest_until_[lease.instance] = timers_.now() + look_again;
    const auto watched = watched_.find(lease.instance);
    if (watched == watched_.end() || watched->second.generation != lease.generation) co_return Result<>{};
    if (saw && *saw == nothing_runs)
        quiet_.insert(lease.instance);
    else
        quiet_.erase(lease.instance);
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
        if (std::ranges::find(leases, lease) == leases.end()) co_return "it was granted again";
        // One that the engine cannot look at has no name.
        const std::string& name = container.name.empty() ? container.id : container.name;
        CO_TRY(co_await within(loop_, timers_, settings_.stop_grace + settings_.call_deadline,
                               "the container engine", engine_.stop(name, settings_.stop_grace)));
        stopped = true;
    }
    if (!stopped) co_return std::string{nothing_runs};
    for (const Container& container : CO_TRY(co_await ask()))
        if (container.state == ContainerState::running && generation_of(container) <= lease.generation)
            co_return fail(Code::unavailable, fmt::format("{} still runs", container.name));
    co_return std::string{was_stopped};
}

}  // namespace hostler::agent
