#include "roles/master/http/lookup.h"

#include <fmt/format.h>

#include <set>

#include "roles/master/http/gate.h"
#include "roles/master/state/near.h"
#include "roles/master/state/refuse.h"

namespace hostler::master {

namespace {

template <class Row>
bool sees(const api::Call& call, const Row& row) {
    return may(call, scope_of(row)) || may(call, sight_of(call.permission), scope_of(row));
}

template <class Row, class Names>
Result<const Row*> named(const Table<Row>& table, const Index<Row>& index, const api::Call& call,
                         std::string_view kind, const std::string& name,
                         const std::optional<std::string>& tenant, Names names) {
    const std::string meant = TRY(tenant_meant(call, tenant));
    std::set<const Row*> meets;
    for (const Row* row : index.of(name)) meets.insert(row);
    if (const Row* row = table.find(name)) meets.insert(row);
    const Row* found = nullptr;
    for (const Row* row : meets) {
        if ((!meant.empty() && row->tenant != meant) || !sees(call, *row)) continue;
        if (found) {
            Error error{Code::conflict, fmt::format("more than one tenant has {} {}", kind, name),
                        "ambiguous"};
            error.help = "Name the owning tenant with tenantID, or use its id.";
            return std::unexpected(std::move(error));
        }
        found = row;
    }
    if (found && may(call, scope_of(*found))) return found;
    if (found) return api::permission_missing(call.permission);
    std::vector<std::string> known;
    const auto know = [&](const Row& row) {
        if (sees(call, row)) known.push_back(names(row));
    };
    if (!meant.empty())
        for (const Row* row : table.by().tenant.of(meant, near_names_max)) know(*row);
    else
        for (const auto& [id, row] : table.all()) {
            if (known.size() == near_names_max) break;
            know(row);
        }
    return fail(Code::not_found, no_such(kind, name, {known.begin(), known.end()}),
                fmt::format("{}_not_found", kind));
}

}  // namespace

Result<const Instance*> instance_named(const Desk& desk, const api::Call& call, const std::string& name,
                                       const std::optional<std::string>& tenant) {
    return named(desk.estate.instances, desk.estate.instances.by().shown_name, call, "instance", name, tenant,
                 [](const Instance& row) { return row.name_passed_on ? row.id : row.caller_id; });
}

Result<const Volume*> volume_named(const Desk& desk, const api::Call& call, const std::string& name,
                                   const std::optional<std::string>& tenant) {
    return named(desk.estate.volumes, desk.estate.volumes.by().name, call, "volume", name, tenant,
                 [](const Volume& row) { return row.name; });
}

Result<const Network*> network_named(const Desk& desk, const api::Call& call, const std::string& name,
                                     const std::optional<std::string>& tenant) {
    return named(desk.estate.networks, desk.estate.networks.by().name, call, "network", name, tenant,
                 [](const Network& row) { return row.name; });
}

Result<const Secret*> secret_named(const Desk& desk, const api::Call& call, const std::string& name,
                                   const std::optional<std::string>& tenant) {
    return named(desk.estate.secrets, desk.estate.secrets.by().name, call, "secret", name, tenant,
                 [](const Secret& row) { return row.name; });
}

Result<const Job*> job_named(const Desk& desk, const api::Call& call, const std::string& name,
                             const std::optional<std::string>& tenant,
                             const std::optional<std::string>& project) {
    const std::string meant = TRY(tenant_meant(call, tenant));
    if (!desk.estate.jobs.find(name)) {
        const Job* newest = nullptr;
        bool ambiguous = false;
        const auto& by = desk.estate.jobs.by();
        for (const Job* job : meant.empty() ? by.name.of(name) : by.tenant_name.of({meant, name})) {
            if ((project && job->project != *project) || !sees(call, *job)) continue;
            const auto rank = [](const Job& one) { return std::pair(!is_final(one.phase), one.created_at); };
            if (newest && !is_final(newest->phase) && !is_final(job->phase)) ambiguous = true;
            if (!newest || rank(*newest) < rank(*job)) newest = job;
        }
        if (ambiguous)
            return refuse(fmt::format("more than one job {} is not over", name), "ambiguous",
                          "Name its tenant and its project (tenantID, project), or use its id.");
        if (newest)
            return may(call, scope_of(*newest)) ? Result<const Job*>{newest}
                                                : api::permission_missing(call.permission);
        if (project)
            return fail(Code::not_found, fmt::format("project {} has no job {}", *project, name),
                        "job_not_found");
    }
    return named(desk.estate.jobs, desk.estate.jobs.by().name, call, "job", name, tenant,
                 [](const Job& row) { return row.name; });
}

Result<const Cluster*> cluster_named(const Desk& desk, const api::Call& call, const std::string& name,
                                     const std::optional<std::string>& tenant,
                                     const std::optional<std::string>& project) {
    const std::string meant = TRY(tenant_meant(call, tenant));
    const auto& by = desk.estate.clusters.by();
    const Cluster* found = nullptr;
    if (!desk.estate.clusters.find(name))
        for (const Cluster* cluster : meant.empty() ? by.name.of(name) : by.tenant_name.of({meant, name})) {
            if ((project && cluster->project != *project) || cluster->phase == ClusterPhase::deleted ||
                !sees(call, *cluster))
                continue;
            if (found)
                return refuse(fmt::format("more than one cluster is called {}", name), "ambiguous",
                              "Name its tenant and its project (tenantID, project), or use its id.");
            found = cluster;
        }
    if (found)
        return may(call, scope_of(*found)) ? Result<const Cluster*>{found}
                                           : api::permission_missing(call.permission);
    return named(desk.estate.clusters, by.name, call, "cluster", name, tenant,
                 [](const Cluster& row) { return row.name; });
}

Scope scope_of(const Tenant& tenant) { return Scope::of_tenant(tenant.id); }
Scope scope_of(const Project& project) { return Scope::of_project(project.tenant, project.name); }

Result<const Project*> project_named(const Desk& desk, const api::Call& call, const std::string& name,
                                     const std::optional<std::string>& tenant) {
    return named(desk.estate.projects, desk.estate.projects.by().name, call, "project", name, tenant,
                 [](const Project& row) { return row.name; });
}

Scope scope_of(const Host& host) { return scope_of_provider(host.owner); }

Result<const Host*> host_named(const Desk& desk, const api::Call& call, const std::string& name) {
    const auto is_seen = [&](const Host& host) {
        return host.phase != HostPhase::retired &&
               (may(call, scope_of(host)) || may(call, sight_of(call.permission), scope_of(host)));
    };
    const Host* found = desk.estate.hosts.find(name);
    if (!found) found = desk.estate.hosts.by().name.first(name);
    if (found && is_seen(*found)) {
        if (may(call, scope_of(*found))) return found;
        return api::permission_missing(call.permission);
    }
    std::vector<std::string_view> known;
    for (const auto& [id, host] : desk.estate.hosts.all()) {
        if (known.size() == near_names_max) break;
        if (is_seen(host)) known.push_back(host.facts.hostname);
    }
    return fail(Code::not_found, no_such("host", name, known), "host_not_found");
}

LabelFilter filter_of(const std::optional<std::string>& label) {
    return label ? parse_label_filter(*label).value_or(LabelFilter{}) : LabelFilter{};
}

}  // namespace hostler::master
