// Where something lies, and how far a grant reaches: cloud → tenant → project; beside them the hosts of one
// provider.
#pragma once

#include <compare>
#include <string>
#include <string_view>

namespace hostler {

inline constexpr std::string_view default_project = "default";

enum class ScopeKind { cloud, tenant, project, provider };

struct Scope {
    ScopeKind kind = ScopeKind::cloud;
    std::string tenant;   // Of a tenant or project; of a provider: its name.
    std::string project;  // Of a project.

    static Scope cloud() { return {}; }
    static Scope of_tenant(std::string tenant) { return {ScopeKind::tenant, std::move(tenant), {}}; }
    static Scope of_project(std::string tenant, std::string project) {
        return {ScopeKind::project, std::move(tenant), std::move(project)};
    }
    static Scope of_provider(std::string name) { return {ScopeKind::provider, std::move(name), {}}; }

    auto operator<=>(const Scope&) const = default;
};

// Whether what is granted at `granted` counts at `at`. Grants reach downwards.
inline bool reaches(const Scope& granted, const Scope& at) {
    switch (granted.kind) {
        case ScopeKind::cloud: return true;
        case ScopeKind::tenant:
            return (at.kind == ScopeKind::tenant || at.kind == ScopeKind::project) &&
                   granted.tenant == at.tenant;
        case ScopeKind::project:
        case ScopeKind::provider: return granted == at;
    }
    return false;
}

}  // namespace hostler
