#include "quota_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "roles/master/quota/usage.h"

namespace hostler::simulation {

namespace {

using master::Desk;

// Who made it counts for their quota, when it is a person or a program.
std::string subject_of(const std::string& created_by) {
    return created_by.starts_with("user/") || created_by.starts_with("account/") ? created_by : "";
}

// With the models that GPUs of its host have, in lower case.
Amounts amounts_of(const Desk& desk, const Claim& claim) {
    Amounts amounts{{"cpu", claim.cpu_milli},
                    {"memory", claim.memory_bytes},
                    {"gpus", static_cast<std::int64_t>(claim.gpus.size())}};
    if (const Host* host = desk.estate.hosts.find(claim.host))
        for (const GpuFacts& gpu : host->facts.gpus)
            if (std::ranges::find(claim.gpus, gpu.uuid) != claim.gpus.end())
                ++amounts[resource_key("gpus:" + gpu.model)];
    std::erase_if(amounts, [](const auto& row) { return row.second == 0; });
    return amounts;
}

// What the master brings to another place had one: it is not refused by a quota that others have filled
// since.
template <class Before>
bool is_moved(const Before& before) {
    if (before.claimed || is_final(before.phase)) return false;
    return before.phase != InstancePhase::resting || before.reason == "drained";
}

}  // namespace

// Without what `moved_from` says is moved.
QuotaCheck::Use QuotaCheck::count(const Desk& desk, const std::map<std::string, Before>& moved_from) {
    Use use;
    const auto count = [&](const auto& row, const Amounts& amounts) {
        const std::string subject = subject_of(row.created_by);
        add(use[{row.tenant, "", ""}], amounts);
        add(use[{row.tenant, row.project, ""}], amounts);
        if (!subject.empty()) add(use[{row.tenant, "", subject}], amounts);
    };
    for (const auto& [id, instance] : desk.estate.instances.all()) {
        if (const auto before = moved_from.find(id); before != moved_from.end() && is_moved(before->second))
            continue;
        Amounts amounts;
        const Claim* claim = desk.estate.claims.find(instance.claim);
        if (claim && claim->use == ClaimUse::instance)
            amounts = amounts_of(desk, *claim);
        else
            for (const auto& [at, kept] : desk.estate.claims.all())
                if (kept.use == ClaimUse::reserved && kept.holder == id) amounts = amounts_of(desk, kept);
        if (!is_final(instance.phase)) amounts["instances"] = 1;
        if (!amounts.empty()) count(instance, amounts);
    }
    for (const auto& [id, volume] : desk.estate.volumes.all())
        if (volume.phase != VolumePhase::deleted)
            count(volume, {{"volumes", std::max(volume.size_bytes, volume.wanted_bytes)}});
    for (const auto& [id, job] : desk.estate.jobs.all())
        if (!is_final(job.phase)) count(job, {{"jobs", 1}});
    for (const auto& [id, cluster] : desk.estate.clusters.all())
        if (cluster.phase != ClusterPhase::deleted) count(cluster, {{"clusters", 1}});
    for (const auto& [id, claim] : desk.estate.claims.all())
        if (claim.use == ClaimUse::node) count(claim, amounts_of(desk, claim));
    return use;
}

void QuotaCheck::compare(const Desk& desk, const Use& use, Findings& found) const {
    const auto& kept = master::usage(desk).all();
    if (kept == use) return;
    for (const auto& [scope, amounts] : use) {
        const auto at = kept.find(scope);
        if (at != kept.end() && at->second == amounts) continue;
        found.report(Invariant::quota, fmt::format("{} uses {}, and is counted with {}", scope, amounts,
                                                   at == kept.end() ? Amounts{} : at->second));
    }
    for (const auto& [scope, amounts] : kept)
        if (!use.contains(scope))
            found.report(Invariant::quota,
                         fmt::format("{} uses nothing, and is counted with {}", scope, amounts));
}

void QuotaCheck::look(const Desk& desk, std::uint64_t epoch, Findings& found) {
    Use use = count(desk, {});
    compare(desk, use, found);
    const auto& quotas = desk.estate.quotas.all();
    if (epoch == epoch_) {
        const Use asked = count(desk, instances_);
        for (const auto& [id, quota] : quotas) {
            const Scope scope{quota.tenant, quota.subject.empty() ? quota.project : "", quota.subject};
            const auto was = quotas_.find(id);
            if (was == quotas_.end()) continue;  // Whatever was used then is less than it may be.
            for (const QuotaLimit& limit : quota.limits) {
                const auto before =
                    std::ranges::find(was->second.limits, limit.resource, &QuotaLimit::resource);
                if (before == was->second.limits.end()) continue;
                const auto of = [&](const Use& all) {
                    const auto at = all.find(scope);
                    return at == all.end() ? 0 : amount_of(at->second, limit.resource);
                };
                const std::int64_t most = std::max({limit.limit, before->limit, of(used_)});
                if (of(asked) > most)
                    found.report(Invariant::quota,
                                 fmt::format("{} uses {} of {}, and has had {} of {}", scope, of(asked),
                                             limit.resource, of(used_), limit.limit));
            }
        }
    }
    epoch_ = epoch;
    used_ = std::move(use);
    quotas_.clear();
    for (const auto& [id, quota] : quotas) quotas_.emplace(id, quota);
    instances_.clear();
    for (const auto& [id, instance] : desk.estate.instances.all())
        instances_[id] = {!instance.claim.empty(), instance.phase, instance.reason};
}

}  // namespace hostler::simulation
