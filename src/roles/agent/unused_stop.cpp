// A stop of what is not used: decided here, where it is known, and stood by.
#include <set>

#include <fmt/format.h>

#include "core/log.h"
#include "proto/uplink.pb.h"
#include "roles/agent/job.h"

namespace hostler::agent {

namespace {

std::string decision_key(const std::string& instance) { return "unused/" + instance; }

}  // namespace

// The host looks once more: whoever came in the meantime is in time. What it has decided it stays with, also
// when it is started anew in the middle of that, and so no longer knows what was used before.
Task<> Executor::decide_unused(JobPtr job) {
    const auto& asked = job->command.stop_workload();
    const std::string instance = asked.instance();
    const std::string key = decision_key(instance);
    const auto decided = ports_.journal.all().find(key);
    if (decided != ports_.journal.all().end() && decided->second == job->command.id()) co_return Result<>{};
    if (auto seen = co_await look(instance); !seen)
        co_return std::unexpected(because(seen.error(), "engine_failed"));
    const auto check = [&]() -> Result<> {
        const Workload* seen = workloads_.find(instance);
        if (!seen || seen->state != WorkloadState::running)
            return fail(Code::conflict, fmt::format("instance {} has stopped running", instance),
                        "not_running");
        const auto unused = hooks_.unused(instance, seen->generation);
        if (!unused || *unused < Duration{milliseconds{asked.if_unused_ms()}})
            return fail(Code::conflict, fmt::format("instance {} is in use", instance), "in_use");
        return {};
    };
    CO_TRY(check());
    if (auto kept = co_await ports_.journal.put(key, job->command.id()); !kept)
        co_return std::unexpected(because(kept.error(), "journal_failed"));
    if (auto still = check(); !still) {
        CO_TRY(co_await ports_.journal.erase(key));
        co_return still;
    }
    co_return Result<>{};
}

// The decision is the command's: with its answer it is over.
Task<> Executor::forget_decision(JobPtr job) {
    const std::string key = decision_key(job->command.stop_workload().instance());
    const auto decided = ports_.journal.all().find(key);
    if (decided == ports_.journal.all().end() || decided->second != job->command.id()) co_return Result<>{};
    const auto gone = co_await ports_.journal.erase(key);
    CO_TRY(co_await check_cancelled());
    if (!gone) log_warn("the journal keeps {} for now: {}", key, gone.error().message);
    co_return Result<>{};
}

// Those whose command was answered right before a crash.
Task<> Executor::forget_old_decisions() {
    std::set<std::string> open;
    for (const auto& command : book_.unfinished()) open.insert(command.id());
    std::vector<std::string> old;
    const auto& all = ports_.journal.all();
    const std::string prefix = decision_key("");
    for (auto at = all.lower_bound(prefix); at != all.end() && at->first.starts_with(prefix); ++at)
        if (!open.contains(at->second)) old.push_back(at->first);
    for (auto& key : old) {
        (void)co_await ports_.journal.erase(std::move(key));  // Else at the next start.
        CO_TRY(co_await check_cancelled());
    }
    co_return Result<>{};
}

}  // namespace hostler::agent
