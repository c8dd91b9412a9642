#include "roles/master/overview/overview.h"

#include <algorithm>
#include <optional>

#include "api/types_overview.h"
#include "api/types_quota.h"
#include "core/quantity.h"
#include "domain/billing/money.h"
#include "roles/master/billing/prices.h"
#include "roles/master/instance/auto_stop.h"
#include "roles/master/instance/explain.h"
#include "roles/master/overview/counts.h"
#include "roles/master/quota/quotas.h"
#include "roles/master/state/views.h"

namespace hostler::master {

namespace {

// Where the caller has a permission. None of `scopes` is within another.
struct Places {
    bool everywhere = false;
    std::vector<Scope> scopes;
    bool cut = false;  // There are more.
    bool empty() const { return !everywhere && scopes.empty(); }
};

Places places_of(const Principal& principal, Permission permission, std::initializer_list<ScopeKind> kinds) {
    Places places;
    std::set<Scope> scopes;
    for (const Held& held : principal.held) {
        if (!held.permissions.has(permission)) continue;
        if (held.scope.kind == ScopeKind::cloud) return {.everywhere = true};
        if (std::ranges::count(kinds, held.scope.kind) > 0) scopes.insert(held.scope);
    }
    for (const Scope& scope : scopes) {
        if (scope.kind == ScopeKind::project && scopes.contains(Scope::of_tenant(scope.tenant))) continue;
        places.cut = places.scopes.size() == overview_places_max;
        if (places.cut) break;
        places.scopes.push_back(scope);
    }
    return places;
}

Places projects_of(const Principal& principal, Permission permission) {
    return places_of(principal, permission, {ScopeKind::tenant, ScopeKind::project});
}

// Rows of a map whose keys begin with a tenant and a project, as far as they lie there.
template <class Map, class Visit>
void each_at(const Map& map, const Scope& at, Visit visit) {
    typename Map::key_type first{};
    first.tenant = at.tenant;
    first.project = at.project;
    for (auto row = map.lower_bound(first); row != map.end(); ++row) {
        if (row->first.tenant != at.tenant) break;
        if (at.kind == ScopeKind::project && row->first.project != at.project) break;
        visit(row->first, row->second);
    }
}

template <class Shown, class Key>
std::vector<Shown> shown(const std::map<Key, std::int64_t>& counted) {
    std::vector<Shown> rows;
    for (const auto& [key, count] : counted) {
        if constexpr (std::is_enum_v<Key>)
            rows.push_back({text_of(key), count});
        else
            rows.push_back({key, count});
    }
    return rows;
}

std::vector<api::StateCount> by_state(const std::map<Counts::InstanceSort, std::int64_t>& counted,
                                      const std::map<std::string, std::int64_t>& of_all,
                                      const Places& places) {
    if (places.everywhere) return shown<api::StateCount>(of_all);
    std::map<std::string, std::int64_t> sum;
    for (const Scope& at : places.scopes)
        each_at(counted, at,
                [&](const Counts::InstanceSort& sort, std::int64_t count) { sum[sort.state] += count; });
    return shown<api::StateCount>(sum);
}

// Up to the first full stop that ends a sentence: those within names of images and hosts have no blank after
// them.
std::string first_sentence(const std::string& text) {
    const auto end = text.find(". ");
    return end == std::string::npos ? text : text.substr(0, end + 1);
}

template <class Row>
Row about(const Instance& instance) {
    Row row;
    row.id = instance.id;
    row.name = instance.caller_id;
    row.tenant_id = instance.tenant;
    row.project = instance.project;
    return row;
}

std::vector<api::WaitingInstance> waiting(const Desk& desk, const Counts& counted, const Places& places) {
    std::vector<Counts::Waiting> found;
    if (places.everywhere) found = counted.waiting("", "", overview_rows_max);
    for (const Scope& at : places.scopes)
        std::ranges::copy(counted.waiting(at.tenant, at.project, overview_rows_max),
                          std::back_inserter(found));
    std::ranges::sort(found, {}, [](const Counts::Waiting& one) { return std::pair(one.before, one.id); });
    if (found.size() > overview_rows_max) found.resize(overview_rows_max);
    std::vector<api::WaitingInstance> rows;
    for (const Counts::Waiting& one : found) {
        const Instance& instance = desk.estate.instances.at(one.id);
        const api::Explanation why = explain_instance(desk, instance);
        auto& row = rows.emplace_back(about<api::WaitingInstance>(instance));
        row.state = state_of(instance.phase);
        row.reason = why.token;
        row.sentence = first_sentence(why.sentence);
        row.since = wall(waits_since(instance));
    }
    return rows;
}

// Those that may be stopped within the hour. Of the whole cloud those whose time is in their schedule, and
// those that were told that nobody uses them: to look at all of them costs too much.
std::vector<const Instance*> perhaps_stopping(const Desk& desk, const Places& places, bool& cut) {
    const auto& by = desk.estate.instances.by();
    std::vector<const Instance*> rows;
    if (places.everywhere) {
        rows =
            by.stops_at.between(0, desk.estate.micros() + overview_stops_within_us, overview_instances_max);
        cut = cut || rows.size() == overview_instances_max;
        return rows;
    }
    for (const Scope& at : places.scopes) {
        const std::size_t left = overview_instances_max - rows.size();
        cut = cut || by.tenant.count(at.tenant) > left;
        for (const Instance* row : by.tenant.of(at.tenant, left))
            if (at.kind == ScopeKind::tenant || row->project == at.project) rows.push_back(row);
    }
    return rows;
}

std::vector<api::StoppingInstance> stopping(const Desk& desk, const Places& places, bool& cut) {
    const std::int64_t now = desk.estate.micros();
    std::vector<api::StoppingInstance> rows;
    for (const Instance* instance : perhaps_stopping(desk, places, cut)) {
        if (instance->phase != InstancePhase::running) continue;
        const auto stop = next_stop(desk, *instance);
        if (!stop || stop->at > now + overview_stops_within_us) continue;
        auto& row = rows.emplace_back(about<api::StoppingInstance>(*instance));
        row.at = wall(std::max(stop->at, now));
        row.why = text_of(stop->rule);
    }
    std::ranges::sort(rows, {}, [](const api::StoppingInstance& row) { return std::pair(row.at, row.id); });
    if (rows.size() > overview_rows_max) rows.resize(overview_rows_max);
    return rows;
}

std::optional<std::vector<api::OverviewCost>> costs(const Desk& desk, const Counts& counted,
                                                    const Places& places) {
    std::map<Counts::HeldSort, std::int64_t> held;
    for (const Scope& at : places.scopes)
        each_at(counted.held(), at, [&](const Counts::HeldSort& sort, std::int64_t gpus) {
            held[{{}, {}, sort.zone, sort.model, sort.trust, sort.isolation}] += gpus;
        });
    std::map<std::string, std::int64_t> sums;  // By currency.
    for (const auto& [sort, gpus] : places.everywhere ? counted.held_by_all() : held) {
        const Price* price = price_now(desk, {sort.model, sort.zone, sort.trust, sort.isolation});
        if (price) sums[price->currency] += price->amount_micros * gpus;
    }
    if (sums.empty()) return std::nullopt;
    std::vector<api::OverviewCost> rows;
    for (const auto& [currency, micros] : sums) rows.push_back({currency, money_text(micros)});
    return rows;
}

bool sees_provider(const Places& places, const std::string& owner) {
    return places.everywhere ||
           (!owner.empty() && std::ranges::count(places.scopes, owner, &Scope::tenant) > 0);
}

std::vector<api::OverviewGpus> gpus(const Counts& counted, const Places& places) {
    std::map<std::pair<std::string, std::string>, api::OverviewGpus> sums;
    for (const auto& [sort, number] : counted.gpus()) {
        if (!sees_provider(places, sort.owner)) continue;
        api::OverviewGpus& row = sums[{sort.zone, sort.model}];
        row.zone = sort.zone;
        row.model = sort.model;
        row.total += number.total;
        row.free += number.free;
        row.claimed += number.claimed;
        row.stock += number.stock;
        row.foreign += number.foreign;
        row.out_of_service += number.out_of_service;
    }
    std::vector<api::OverviewGpus> rows;
    for (auto& [sort, row] : sums) rows.push_back(std::move(row));
    return rows;
}

std::vector<api::StateCount> hosts(const Counts& counted, const Places& places) {
    std::map<std::string, std::int64_t> sums;
    for (const auto& [sort, count] : counted.hosts())
        if (sees_provider(places, sort.owner)) sums[sort.state] += count;
    return shown<api::StateCount>(sums);
}

std::vector<api::SeverityCount> alerts(const Counts& counted, const Places& places) {
    if (places.everywhere) return shown<api::SeverityCount>(counted.alerts_of_all());
    std::map<alert::Severity, std::int64_t> sums;
    for (const Scope& at : places.scopes)
        for (auto row = counted.alerts().lower_bound({at.tenant, alert::Severity{}});
             row != counted.alerts().end() && row->first.tenant == at.tenant; ++row)
            sums[row->first.severity] += row->second;
    return shown<api::SeverityCount>(sums);
}

double share_of(const api::OverviewQuota& row) {
    const Quantity limit = parse_quantity(row.limit).value_or(Quantity{});
    const Quantity used = parse_quantity(row.used).value_or(Quantity{});
    return limit.milli <= 0 ? 1 : static_cast<double>(used.milli) / static_cast<double>(limit.milli);
}

// Of the places that hold what the caller makes, and the caller's own. An operator has none.
std::vector<api::OverviewQuota> quotas(const Desk& desk, const api::Caller& caller, const Places& places) {
    std::map<std::string, const Quota*> found;
    const auto find = [&](const std::string& id) {
        if (const Quota* row = desk.estate.quotas.find(id)) found.emplace(id, row);
    };
    for (const Scope& at : places.scopes) {
        find(Quota::id_of(at.tenant, "", caller.actor));
        if (at.kind == ScopeKind::project) {
            find(Quota::id_of(at.tenant, at.project, ""));
            continue;
        }
        const std::size_t left = overview_quotas_max - std::min(found.size(), overview_quotas_max);
        for (const Quota* row : desk.estate.quotas.by().tenant.of(at.tenant, left))
            found.emplace(Kind<Quota>::id(*row), row);
    }
    std::vector<api::OverviewQuota> rows;
    for (const auto& [id, row] : found) {
        const api::Quota quota = view(desk, *row);
        for (const api::QuotaUse& one : quota.limits)
            rows.push_back({quota.tenant_id, quota.project, quota.subject, quota.name, one.resource,
                            one.limit, one.used});
    }
    std::ranges::sort(rows, {}, [](const api::OverviewQuota& row) {
        return std::tuple(-share_of(row), row.tenant_id, row.project, row.subject, row.resource);
    });
    if (rows.size() > overview_rows_max) rows.resize(overview_rows_max);
    return rows;
}

}  // namespace

api::Overview overview(const Desk& desk, const api::Caller& caller) {
    const Counts& counted = counts(desk);
    const Principal& who = caller.principal;
    api::Overview all{.as_of = wall(desk.estate.micros())};
    if (const Places at = projects_of(who, Permission::instance_read); !at.empty()) {
        all.truncated = at.cut;
        all.instances = by_state(counted.instances(), counted.instances_of_all(), at);
        all.waiting = waiting(desk, counted, at);
        all.stopping = stopping(desk, at, all.truncated);
        if (authorize_anywhere(who, Permission::price_read)) all.costs = costs(desk, counted, at);
    }
    if (const Places at = projects_of(who, Permission::job_read); !at.empty())
        all.jobs = by_state(counted.jobs(), counted.jobs_of_all(), at);
    if (const Places at = places_of(who, Permission::gpu_read, {ScopeKind::provider}); !at.empty())
        all.gpus = gpus(counted, at);
    if (const Places at = places_of(who, Permission::host_read, {ScopeKind::provider}); !at.empty())
        all.hosts = hosts(counted, at);
    if (const Places at = projects_of(who, Permission::quota_read); !at.empty())
        all.quotas = quotas(desk, caller, at);
    if (const Places at = places_of(who, Permission::alert_read, {ScopeKind::tenant}); !at.empty())
        all.alerts = alerts(counted, at);
    return all;
}

}  // namespace hostler::master
