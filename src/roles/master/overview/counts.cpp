#include "roles/master/overview/counts.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "api/types_host.h"
#include "domain/inventory/drain.h"
#include "roles/master/billing/prices.h"
#include "roles/master/host/view.h"
#include "roles/master/run/stop_start.h"
#include "roles/master/scheduler/capacity.h"

namespace hostler::master {

namespace {

// Rows of which there are none any longer are taken out.
template <class Key>
void add(std::map<Key, std::int64_t>& to, const Key& key, std::int64_t number) {
    const auto at = to.try_emplace(key, 0).first;
    at->second += number;
    if (at->second == 0) to.erase(at);
}

void add(Counts::Gpus& to, const Counts::Gpus& more, std::int64_t times) {
    to.total += times * more.total;
    to.free += times * more.free;
    to.claimed += times * more.claimed;
    to.stock += times * more.stock;
    to.foreign += times * more.foreign;
    to.out_of_service += times * more.out_of_service;
}

std::int64_t& part_for(Counts::Gpus& gpus, ClaimUse use) {
    switch (use) {
        case ClaimUse::stock: return gpus.stock;
        case ClaimUse::foreign: return gpus.foreign;
        case ClaimUse::instance:
        case ClaimUse::reserved:
        case ClaimUse::leaving:
        case ClaimUse::node: break;
    }
    return gpus.claimed;
}

// A workload that is only seen there does not hide who holds a GPU by a claim.
std::map<std::string, const Claim*> holders(const std::vector<const Claim*>& claims) {
    std::map<std::string, const Claim*> by_gpu;
    for (const Claim* claim : claims)
        for (const std::string& gpu : claim->gpus) {
            const Claim*& holder = by_gpu[gpu];
            if (!holder || holder->use == ClaimUse::foreign) holder = claim;
        }
    return by_gpu;
}

}  // namespace

bool waits(const Instance& instance) {
    switch (instance.phase) {
        case InstancePhase::placed:
        case InstancePhase::pulling:
        case InstancePhase::starting:
        case InstancePhase::probing:
        case InstancePhase::lost: return true;
        case InstancePhase::failed: return !instance.deleted;
        case InstancePhase::resting: return instance.reason == drained || instance.reason == consolidated;
        case InstancePhase::running:
        case InstancePhase::halting:
        case InstancePhase::stopping:
        case InstancePhase::stopped: break;
    }
    return false;
}

std::int64_t waits_since(const Instance& instance) {
    switch (instance.phase) {
        case InstancePhase::failed:
        case InstancePhase::resting: return instance.ended_at;
        case InstancePhase::lost: return std::max(instance.created_at, instance.ready_at);
        case InstancePhase::placed:
        case InstancePhase::pulling:
        case InstancePhase::starting:
        case InstancePhase::probing:
        case InstancePhase::running:
        case InstancePhase::halting:
        case InstancePhase::stopping:
        case InstancePhase::stopped: break;
    }
    const std::int64_t last = instance.runs.empty() ? 0 : instance.runs.back().ended_at;
    return std::max(instance.created_at, last);
}

void Counts::follow(const Desk& desk) {
    for (const std::string& id : followed_.instances.changed(desk.estate.instances))
        look_at_instance(desk, id);
    for (const std::string& id : changed_hosts(desk)) look_at_host(desk, id);
    for (const std::string& id : followed_.alerts.changed(desk.estate.alerts)) look_at_alert(desk, id);
    for (const std::string& id : followed_.jobs.changed(desk.estate.jobs)) look_at_job(desk, id);
}

// All whose GPUs may be counted otherwise than before.
std::set<std::string> Counts::changed_hosts(const Desk& desk) {
    std::set<std::string> hosts = followed_.hosts.changed(desk.estate.hosts);
    hosts.merge(followed_.drains.changed(desk.estate.drains));
    for (const std::string& id : followed_.claims.changed(desk.estate.claims)) {
        if (const auto was = claim_at_.find(id); was != claim_at_.end()) {
            hosts.insert(was->second);
            claim_at_.erase(was);
        }
        const Claim* claim = desk.estate.claims.find(id);
        if (!claim || claim->host.empty()) continue;
        hosts.insert(claim->host);
        claim_at_.emplace(id, claim->host);
    }
    for (const std::string& id : followed_.consolidations.changed(desk.estate.consolidations))
        if (const ConsolidationRecord* run = desk.estate.consolidations.find(id))
            hosts.insert(run->freed.begin(), run->freed.end());
    // Hosts that have not spoken since a restore take nothing new.
    for (const std::string& id : followed_.restores.changed(desk.estate.restores)) {
        const Restore* row = desk.estate.restores.find(id);
        const auto was = heard_.find(id);
        if (row && was != heard_.end()) {
            std::ranges::set_symmetric_difference(was->second, row->heard, std::inserter(hosts, hosts.end()));
            was->second = row->heard;
            continue;
        }
        for (const auto& [host, known] : each_host_) hosts.insert(host);
        if (row)
            heard_.insert_or_assign(id, row->heard);
        else
            heard_.erase(id);
    }
    return hosts;
}

void Counts::look_at_instance(const Desk& desk, const std::string& id) {
    if (const auto was = each_instance_.find(id); was != each_instance_.end()) {
        count(was->second, -1);
        each_instance_.erase(was);
    }
    const Instance* row = desk.estate.instances.find(id);
    if (!row || (row->deleted && is_final(row->phase))) return;
    OneInstance one{.sort = {row->tenant, row->project, std::string{state_of(row->phase)}}};
    if (waits(*row)) one.waiting = Waiting{row->tenant, row->project, -waits_since(*row), id};
    count(each_instance_.emplace(id, std::move(one)).first->second, 1);
}

void Counts::count(const OneInstance& one, std::int64_t times) {
    add(instances_, one.sort, times);
    add(instances_of_all_, one.sort.state, times);
    if (!one.waiting) return;
    const Waiting of_all{{}, {}, one.waiting->before, one.waiting->id};
    if (times > 0)
        waiting_.insert(*one.waiting), waiting_of_all_.insert(of_all);
    else
        waiting_.erase(*one.waiting), waiting_of_all_.erase(of_all);
}

void Counts::look_at_host(const Desk& desk, const std::string& id) {
    if (const auto was = each_host_.find(id); was != each_host_.end()) {
        count(was->second, -1);
        each_host_.erase(was);
    }
    const Host* host = desk.estate.hosts.find(id);
    if (!host || host->phase == HostPhase::retired) return;
    OneHost one{.sort = {host->owner, text_of(state_of(desk, *host))}, .zone = host->zone};
    const auto by_gpu = holders(desk.estate.claims.by().host.of(id));
    const bool closed = !unavailable(desk, *host).empty();
    const std::string trust = text_of(trust_of(*host)), isolation = isolation_of(*host);
    for (const GpuFacts& gpu : host->facts.gpus) {
        Gpus& gpus = one.gpus[gpu.model];
        ++gpus.total;
        const auto holder = by_gpu.find(gpu.uuid);
        if (holder == by_gpu.end()) {
            ++(closed || !usable(*host, gpu.uuid) ? gpus.out_of_service : gpus.free);
            continue;
        }
        const Claim& claim = *holder->second;
        ++part_for(gpus, claim.use);
        if (claim.use == ClaimUse::instance)
            ++one.held[{claim.tenant, claim.project, host->zone, gpu.model, trust, isolation}];
    }
    count(each_host_.emplace(id, std::move(one)).first->second, 1);
}

void Counts::count(const OneHost& one, std::int64_t times) {
    add(hosts_, one.sort, times);
    for (const auto& [model, number] : one.gpus) {
        const auto at = gpus_.try_emplace({one.sort.owner, one.zone, model}).first;
        add(at->second, number, times);
        if (at->second == Gpus{}) gpus_.erase(at);
    }
    for (const auto& [sort, number] : one.held) {
        add(held_, sort, times * number);
        add(held_by_all_, {{}, {}, sort.zone, sort.model, sort.trust, sort.isolation}, times * number);
    }
}

void Counts::look_at_alert(const Desk& desk, const std::string& id) {
    if (const auto was = each_alert_.find(id); was != each_alert_.end()) {
        count(was->second, -1);
        each_alert_.erase(was);
    }
    const alert::Alert* row = desk.estate.alerts.find(id);
    if (!row || row->resolved_at != 0) return;
    count(each_alert_.emplace(id, AlertSort{row->tenant, row->severity}).first->second, 1);
}

void Counts::count(const AlertSort& one, std::int64_t times) {
    add(alerts_, one, times);
    add(alerts_of_all_, one.severity, times);
}

void Counts::look_at_job(const Desk& desk, const std::string& id) {
    if (const auto was = each_job_.find(id); was != each_job_.end()) {
        count_job(was->second, -1);
        each_job_.erase(was);
    }
    const Job* row = desk.estate.jobs.find(id);
    if (!row || is_final(row->phase)) return;
    InstanceSort one{row->tenant, row->project, text_of(row->phase)};
    count_job(each_job_.emplace(id, std::move(one)).first->second, 1);
}

void Counts::count_job(const InstanceSort& one, std::int64_t times) {
    add(jobs_, one, times);
    add(jobs_of_all_, one.state, times);
}

std::vector<Counts::Waiting> Counts::waiting(const std::string& tenant, const std::string& project,
                                             std::size_t most) const {
    using Limits = std::numeric_limits<std::int64_t>;
    const std::set<Waiting>& from = tenant.empty() ? waiting_of_all_ : waiting_;
    std::vector<Waiting> found;
    auto at = from.lower_bound({tenant, project, Limits::min(), {}});
    // The newest of each project, so that the next project is found without a look at the rest of this one.
    while (at != from.end() && at->tenant == tenant && (project.empty() || at->project == project)) {
        const std::string here = at->project;
        for (std::size_t taken = 0; taken < most && at != from.end(); ++taken, ++at) {
            if (at->tenant != tenant || at->project != here) break;
            found.push_back(*at);
        }
        at = from.upper_bound({tenant, here, Limits::max(), {}});
    }
    std::ranges::sort(found, {}, [](const Waiting& one) { return std::pair(one.before, one.id); });
    if (found.size() > most) found.resize(most);
    return found;
}

bool Counts::operator==(const Counts& other) const {
    return instances_ == other.instances_ && instances_of_all_ == other.instances_of_all_ &&
           waiting_ == other.waiting_ && waiting_of_all_ == other.waiting_of_all_ && gpus_ == other.gpus_ &&
           held_ == other.held_ && held_by_all_ == other.held_by_all_ && hosts_ == other.hosts_ &&
           jobs_ == other.jobs_ && jobs_of_all_ == other.jobs_of_all_ && alerts_ == other.alerts_ &&
           alerts_of_all_ == other.alerts_of_all_;
}

const Counts& counts(const Desk& desk) {
    Counts& known = desk.live.part<Counts>();
    known.follow(desk);
    return known;
}

}  // namespace hostler::master
