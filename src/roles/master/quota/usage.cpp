#include "roles/master/quota/usage.h"

#include <algorithm>

#include "roles/master/quota/amounts.h"
#include "roles/master/tenancy/principals.h"

namespace hostler::master {

namespace {

bool says_models(const Claim& claim) { return claim.gpu_models.size() == claim.gpus.size(); }

}  // namespace

Amounts amounts_of(const Desk& desk, const Claim& claim) {
    Amounts amounts;
    const auto count = [&](std::string resource, std::int64_t amount) {
        if (amount != 0) amounts[std::move(resource)] += amount;
    };
    count("cpu", claim.cpu_milli);
    count("memory", claim.memory_bytes);
    count(std::string{gpus_resource}, std::ssize(claim.gpus));
    if (says_models(claim)) {
        for (const std::string& model : claim.gpu_models) count(gpu_class(model), 1);
    } else if (const Host* host = desk.estate.hosts.find(claim.host)) {
        for (const GpuFacts& gpu : host->facts.gpus)
            if (std::ranges::count(claim.gpus, gpu.uuid) > 0) count(gpu_class(gpu.model), 1);
    }
    return amounts;
}

std::string gpu_class(const std::string& model) {
    return resource_key(std::string{gpu_class_prefix} + model);
}

void Usage::follow(const Desk& desk) {
    std::set<std::string> holders = followed_.instances.changed(desk.estate.instances);
    for (const std::string& id : followed_.claims.changed(desk.estate.claims)) {
        if (const auto was = claims_.find(id); was != claims_.end()) {
            holders.insert(was->second.holder);
            if (const auto here = by_host_.find(was->second.host); here != by_host_.end()) {
                here->second.erase(id);
                if (here->second.empty()) by_host_.erase(here);
            }
            claims_.erase(was);
        }
        const Claim* claim = desk.estate.claims.find(id);
        if (!claim) continue;
        holders.insert(claim->holder);
        claims_.emplace(id, Place{claim->holder, claim->host});
        if (!says_models(*claim)) by_host_[claim->host].insert(id);
    }
    for (const std::string& host : followed_.hosts.changed(desk.estate.hosts))
        if (const auto here = by_host_.find(host); here != by_host_.end())
            for (const std::string& claim : here->second) holders.insert(claims_.at(claim).holder);
    for (const std::string& id : holders) look_at_holder(desk, id);
    for (const std::string& id : followed_.volumes.changed(desk.estate.volumes)) look_at_volume(desk, id);
    for (const std::string& id : followed_.jobs.changed(desk.estate.jobs)) look_at_job(desk, id);
    for (const std::string& id : followed_.clusters.changed(desk.estate.clusters)) look_at_cluster(desk, id);
}

void Usage::look_at_holder(const Desk& desk, const std::string& id) {
    Counted now;
    Amounts reserved;
    bool has_place = false;
    for (const Claim* claim : desk.estate.claims.by().holder.of(id)) {
        if (claim->use == ClaimUse::reserved) reserved = amounts_of(desk, *claim);
        if (claim->use != ClaimUse::instance && claim->use != ClaimUse::node) continue;
        has_place = true;
        add(now.amounts, amounts_of(desk, *claim));
        now.tenant = claim->tenant;
        now.project = claim->project;
        now.subject = counted_subject(claim->created_by);
    }
    // What is reserved names no tenant.
    if (const Instance* instance = desk.estate.instances.find(id)) {
        if (!has_place) add(now.amounts, reserved);
        if (!is_final(instance->phase)) add(now.amounts, {{"instances", 1}});
        now.tenant = instance->tenant;
        now.project = instance->project;
        now.subject = counted_subject(instance->created_by);
    }
    count(holders_, id, std::move(now));
}

void Usage::look_at_volume(const Desk& desk, const std::string& id) {
    Counted now;
    const Volume* volume = desk.estate.volumes.find(id);
    if (volume && volume->phase != VolumePhase::deleted) {
        now.tenant = volume->tenant;
        now.project = volume->project;
        now.subject = counted_subject(volume->created_by);
        add(now.amounts, {{"volumes", std::max(volume->size_bytes, volume->wanted_bytes)}});
    }
    count(volumes_, id, std::move(now));
}

void Usage::look_at_job(const Desk& desk, const std::string& id) {
    Counted now;
    const Job* job = desk.estate.jobs.find(id);
    if (job && !is_final(job->phase)) {
        now.tenant = job->tenant;
        now.project = job->project;
        now.subject = counted_subject(job->created_by);
        add(now.amounts, {{"jobs", 1}});
    }
    count(jobs_, id, std::move(now));
}

void Usage::look_at_cluster(const Desk& desk, const std::string& id) {
    Counted now;
    const Cluster* cluster = desk.estate.clusters.find(id);
    if (cluster && !is_final(cluster_life, cluster->phase)) {
        now.tenant = cluster->tenant;
        now.project = cluster->project;
        now.subject = counted_subject(cluster->created_by);
        add(now.amounts, {{"clusters", 1}});
    }
    count(clusters_, id, std::move(now));
}

// In place of what was counted for it before.
void Usage::count(std::map<std::string, Counted>& rows, const std::string& id, Counted now) {
    const auto each_scope = [](const Counted& row, auto visit) {
        if (row.tenant.empty()) return;
        visit(Scope{row.tenant, "", ""});
        visit(Scope{row.tenant, row.project, ""});
        if (!row.subject.empty()) visit(Scope{row.tenant, "", row.subject});
    };
    if (const auto was = rows.find(id); was != rows.end()) {
        each_scope(was->second, [&](const Scope& scope) {
            const auto at = used_.find(scope);
            subtract(at->second, was->second.amounts);
            if (at->second.empty()) used_.erase(at);
        });
        rows.erase(was);
    }
    if (now.amounts.empty() || now.tenant.empty()) return;
    each_scope(now, [&](const Scope& scope) { add(used_[scope], now.amounts); });
    rows.emplace(id, std::move(now));
}

Amounts Usage::used(const std::string& tenant, const std::string& project, const std::string& subject) const {
    const auto at = used_.find({tenant, project, subject});
    return at == used_.end() ? Amounts{} : at->second;
}

Amounts Usage::of_instance(const std::string& instance) const {
    const auto at = holders_.find(instance);
    return at == holders_.end() ? Amounts{} : at->second.amounts;
}

Usage& usage(const Desk& desk) {
    desk.live.part<Usage>().follow(desk);
    return desk.live.part<Usage>();
}

std::string counted_subject(const std::string& created_by) {
    const bool counts = created_by.starts_with(user_subject) || created_by.starts_with(account_subject);
    return counts ? created_by : "";
}

}  // namespace hostler::master
