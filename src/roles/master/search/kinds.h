// What each kind of objects is found by. A kind has: its name and permission; its rows; the texts that are
// compared; where a row lies; what is shown of it; and `begin`, which visits rows whose name begins with a
// text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/types_host.h"
#include "api/types_search.h"
#include "api/types_volume.h"
#include "roles/master/host/view.h"
#include "roles/master/http/gate.h"
#include "roles/master/search/search.h"
#include "roles/master/state/index_keys.h"
#include "roles/master/volume/view.h"

namespace hostler::master::searching {

using TenantNames = std::vector<std::string>;  // Empty: all tenants.

// Behind all texts that begin with it: no UTF-8 has this byte.
inline std::string behind(const std::string& text) { return text + '\xff'; }

inline const char* enabled(std::int64_t disabled_at) { return disabled_at == 0 ? "enabled" : "disabled"; }

// In the tenants, by an index of tenant and name, or in all by an index of names.
template <class OfAll, class InTenant>
auto named(const OfAll& of_all, const InTenant& in_tenant, const TenantNames& tenants,
           const std::string& text) {
    if (tenants.empty()) return of_all.between(text, behind(text), search_begins_max);
    auto rows =
        in_tenant.between({tenants.front(), text}, {tenants.front(), behind(text)}, search_begins_max);
    for (std::size_t i = 1; i < tenants.size() && rows.size() < search_begins_max; ++i)
        for (const auto* row : in_tenant.between({tenants[i], text}, {tenants[i], behind(text)},
                                                 search_begins_max - rows.size()))
            rows.push_back(row);
    return rows;
}

struct OfInstance {
    static constexpr std::string_view kind = "instance";
    static constexpr Permission permission = Permission::instance_read;
    static const auto& table(const Desk& desk) { return desk.estate.instances; }
    static bool there(const Instance& row) { return !row.deleted || !is_final(row.phase); }
    static Texts texts(const Instance& row) { return {row.id, row.caller_id}; }
    static Scope scope(const Instance& row) { return scope_of(row); }
    static auto begin(const Desk& desk, const TenantNames& tenants, const std::string& text) {
        const auto& by = desk.estate.instances.by();
        return named(by.shown_name, by.name, tenants, text);
    }
    static void show(const Desk&, const Instance& row, api::SearchHit& hit) {
        hit.id = row.id;
        hit.name = row.caller_id;
        hit.state = state_of(row.phase);
        hit.tenant_id = row.tenant;
        hit.project = row.project;
    }
};

struct OfVolume {
    static constexpr std::string_view kind = "volume";
    static constexpr Permission permission = Permission::volume_read;
    static const auto& table(const Desk& desk) { return desk.estate.volumes; }
    static bool there(const Volume& row) { return row.phase != VolumePhase::deleted; }
    static Texts texts(const Volume& row) { return {row.id, row.name}; }
    static Scope scope(const Volume& row) { return scope_of(row); }
    static auto begin(const Desk& desk, const TenantNames& tenants, const std::string& text) {
        const auto& by = desk.estate.volumes.by();
        return named(by.name, by.tenant_name, tenants, text);
    }
    static void show(const Desk& desk, const Volume& row, api::SearchHit& hit) {
        hit.id = row.id;
        hit.name = row.name;
        hit.state = text_of(view(desk, row).state);
        hit.tenant_id = row.tenant;
        hit.project = row.project;
    }
};

struct OfJob {
    static constexpr std::string_view kind = "job";
    static constexpr Permission permission = Permission::job_read;
    static const auto& table(const Desk& desk) { return desk.estate.jobs; }
    static bool there(const Job&) { return true; }
    static Texts texts(const Job& row) { return {row.id, row.name}; }
    static Scope scope(const Job& row) { return scope_of(row); }
    static auto begin(const Desk& desk, const TenantNames& tenants, const std::string& text) {
        const auto& by = desk.estate.jobs.by();
        return named(by.name, by.tenant_name, tenants, text);
    }
    static void show(const Desk&, const Job& row, api::SearchHit& hit) {
        hit.id = row.id;
        hit.name = row.name;
        hit.state = text_of(row.phase);
        hit.tenant_id = row.tenant;
        hit.project = row.project;
    }
};

struct OfCluster {
    static constexpr std::string_view kind = "cluster";
    static constexpr Permission permission = Permission::cluster_read;
    static const auto& table(const Desk& desk) { return desk.estate.clusters; }
    static bool there(const Cluster& row) { return row.phase != ClusterPhase::deleted; }
    static Texts texts(const Cluster& row) { return {row.id, row.name}; }
    static Scope scope(const Cluster& row) { return scope_of(row); }
    static auto begin(const Desk& desk, const TenantNames& tenants, const std::string& text) {
        const auto& by = desk.estate.clusters.by();
        return named(by.name, by.tenant_name, tenants, text);
    }
    static void show(const Desk&, const Cluster& row, api::SearchHit& hit) {
        hit.id = row.id;
        hit.name = row.name;
        hit.state = text_of(row.phase);
        hit.tenant_id = row.tenant;
        hit.project = row.project;
    }
};

struct OfHost {
    static constexpr std::string_view kind = "host";
    static constexpr Permission permission = Permission::host_read;
    static const auto& table(const Desk& desk) { return desk.estate.hosts; }
    static bool there(const Host& row) { return row.phase != HostPhase::retired; }
    static Texts texts(const Host& row) { return {row.id, row.facts.hostname}; }
    static Scope scope(const Host& row) { return scope_of_provider(row.owner); }
    static const auto& by_provider(const Desk& desk) { return desk.estate.hosts.by().owner; }
    static auto begin(const Desk& desk, const TenantNames&, const std::string& text) {
        return desk.estate.hosts.by().name.between(text, behind(text), search_begins_max);
    }
    static void show(const Desk& desk, const Host& row, api::SearchHit& hit) {
        hit.id = row.id;
        hit.name = row.facts.hostname;
        hit.state = text_of(state_of(desk, row));
    }
};

struct OfTenants {
    static constexpr std::string_view kind = "tenant";
    static constexpr Permission permission = Permission::tenant_read;
    static const auto& table(const Desk& desk) { return desk.estate.tenants; }
    static bool there(const Tenant&) { return true; }
    static Texts texts(const Tenant& row) { return {row.id, row.display_name}; }
    static Scope scope(const Tenant& row) { return scope_of_tenant(row.id); }
    static void show(const Desk&, const Tenant& row, api::SearchHit& hit) {
        hit.id = row.id;
        hit.name = row.display_name.empty() ? row.id : row.display_name;
        hit.state = enabled(row.disabled_at);
        hit.tenant_id = row.id;
    }
};

struct OfProjects {
    static constexpr std::string_view kind = "project";
    static constexpr Permission permission = Permission::project_read;
    static const auto& table(const Desk& desk) { return desk.estate.projects; }
    static bool there(const Project&) { return true; }
    static Texts texts(const Project& row) { return {row.id, row.name, row.display_name}; }
    static Scope scope(const Project& row) { return Scope::of_project(row.tenant, row.name); }
    static auto begin(const Desk& desk, const TenantNames&, const std::string& text) {
        return desk.estate.projects.by().name.between(text, behind(text), search_begins_max);
    }
    static void show(const Desk&, const Project& row, api::SearchHit& hit) {
        hit.id = row.name;
        hit.name = row.display_name.empty() ? row.name : row.display_name;
        hit.state = enabled(row.disabled_at);
        hit.tenant_id = row.tenant;
        hit.project = row.name;
    }
};

struct OfUser {
    static constexpr std::string_view kind = "user";
    static constexpr Permission permission = Permission::user_read;
    static const auto& table(const Desk& desk) { return desk.estate.users; }
    static bool there(const User&) { return true; }
    static Texts texts(const User& row) { return {row.id, row.login, row.name}; }
    static Scope scope(const User& row) { return scope_of(row); }
    static auto begin(const Desk& desk, const TenantNames&, const std::string& text) {
        return desk.estate.users.by().login.between(text, behind(text), search_begins_max);
    }
    static void show(const Desk&, const User& row, api::SearchHit& hit) {
        hit.id = row.id;
        hit.name = row.login;
        hit.state = enabled(row.disabled_at);
        hit.tenant_id = row.tenant;
    }
};

struct OfGroup {
    static constexpr std::string_view kind = "group";
    static constexpr Permission permission = Permission::group_read;
    static const auto& table(const Desk& desk) { return desk.estate.groups; }
    static bool there(const Group&) { return true; }
    static Texts texts(const Group& row) { return {row.id, row.name}; }
    static Scope scope(const Group& row) { return scope_of_tenant(row.tenant); }
    static auto begin(const Desk& desk, const TenantNames&, const std::string& text) {
        return desk.estate.groups.by().name.between(text, behind(text), search_begins_max);
    }
    static void show(const Desk&, const Group& row, api::SearchHit& hit) {
        hit.id = row.id;
        hit.name = row.name;
        hit.state = enabled(row.disabled_at);
        hit.tenant_id = row.tenant;
    }
};

struct OfSpec {
    static constexpr std::string_view kind = "spec";
    static constexpr Permission permission = Permission::spec_read;
    static const auto& table(const Desk& desk) { return desk.estate.specs; }
    static bool there(const Spec&) { return true; }
    static Texts texts(const Spec& row) { return {row.name, row.gpu_type}; }
    static Scope scope(const Spec&) { return Scope::cloud(); }
    static void show(const Desk&, const Spec& row, api::SearchHit& hit) { hit.id = hit.name = row.name; }
};

// The slots of a spec.
struct OfStock : OfSpec {
    static constexpr std::string_view kind = "stock";
    static constexpr Permission permission = Permission::stock_read;
};

struct OfZone {
    static constexpr std::string_view kind = "zone";
    static constexpr Permission permission = Permission::zone_read;
    static const auto& table(const Desk& desk) { return desk.estate.zones; }
    static bool there(const Zone&) { return true; }
    static Texts texts(const Zone& row) { return {row.name, row.place}; }
    static Scope scope(const Zone&) { return Scope::cloud(); }
    static void show(const Desk&, const Zone& row, api::SearchHit& hit) {
        hit.id = row.name;
        hit.name = row.place.empty() ? row.name : row.place;
    }
};

}  // namespace hostler::master::searching
