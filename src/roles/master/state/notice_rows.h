// Makes the notices of a row that a commit has, by kinds.def. For the estate alone.
#pragma once

#include <type_traits>

#include "roles/master/state/kinds.h"
#include "roles/master/state/notice.h"

namespace hostler::master {

// ── What the rows of kinds.def say of who may know

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

inline void add_notice(std::vector<Notice>& to, Notice notice) {
    if (!notice.id.empty()) to.push_back(std::move(notice));
}

template <class T, class E>
void tell_of([[maybe_unused]] const E& estate, [[maybe_unused]] const T& object,
             [[maybe_unused]] Happened what, [[maybe_unused]] std::vector<Notice>& to) {
#define PART(type)
#define KIND(...)
#define HIDDEN(type, why)
#define SHOWN(type, word, permission, id_of, name_at, who) \
    if constexpr (std::is_same_v<T, type>)                 \
        add_notice(to, {word, Permission::permission, id_of, name_at, who, what});
#define SHOWN_PART(type, word, permission, id_of, name_at, who) \
    if constexpr (std::is_same_v<T, type>)                      \
        add_notice(to, {word, Permission::permission, id_of, name_at, who, Happened::changed});
#include "roles/master/kinds.def"
#undef KIND
#undef PART
}

}  // namespace hostler::master
