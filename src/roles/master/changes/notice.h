// What a watch over all kinds is told of a commit, and who may know. Each kind's row in kinds.def says so.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "domain/tenancy/principal.h"

namespace hostler::master {

// Who may know of an object: those with its permission at `scope`,
struct Audience {
    Scope scope;
    bool everywhere = false;  // or at any scope,
    bool own = false;         // or not even those,
    std::string subject{};    // and this one whatever they may: "user/u-…".
};

enum class Happened { added, changed, removed };

struct Notice {
    std::string_view kind;  // As kinds.def calls it.
    Permission permission = Permission::self_read;
    std::string id, name;
    Audience audience;
    Happened what = Happened::changed;
};

// `actor`: as events name the caller.
bool may_know(const Principal& principal, const std::string& actor, const Notice& notice);

// Events have no rows: that there are new ones is told once for each tenant and commit, with the tenant as
// id.
inline constexpr std::string_view event_kind = "event", cloud_events = "cloud";
Notice notice_of_events(const std::string& tenant);

// What the rows of kinds.def say of who may know.
namespace audience {

inline Audience at(Scope scope) { return {.scope = std::move(scope)}; }
inline Audience in_cloud() { return at(Scope::cloud()); }
inline Audience everywhere() { return {.scope = Scope::cloud(), .everywhere = true}; }
inline Audience in_tenant(const std::string& tenant) {
    return at(tenant.empty() ? Scope::cloud() : Scope::of_tenant(tenant));
}
inline Audience in_project(const std::string& tenant, const std::string& project) {
    return at(tenant.empty() ? Scope::cloud() : Scope::of_project(tenant, project));
}
inline Audience of_provider(const std::string& owner) {
    return at(owner.empty() ? Scope::cloud() : Scope::of_provider(owner));
}
template <class E>
Audience of_host(const E& estate, const std::string& id) {
    const auto* host = estate.hosts.find(id);
    return of_provider(host ? host->owner : "");
}
inline Audience of_user(const std::string& user) {
    return {.scope = Scope::cloud(), .own = true, .subject = "user/" + user};
}
inline Audience at_or_of(Scope scope, std::string subject) {
    return {.scope = std::move(scope), .subject = std::move(subject)};
}

}  // namespace audience

}  // namespace hostler::master
