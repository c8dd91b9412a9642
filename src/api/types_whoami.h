// Whom a key belongs to.
#pragma once

#include "api/types_role.h"

namespace hostler::api {

// clang-format off

// What the caller may do in one place. A permission of the cloud counts everywhere, one of a tenant in its projects.
struct WhoamiScope {
    GrantScope level = GrantScope::cloud;
    std::string tenant_id;
    std::string project;
    std::string provider;
    std::vector<std::string> permissions;
};
BOOST_DESCRIBE_STRUCT(WhoamiScope, (), (level, tenant_id, project, provider, permissions))
template <>
inline constexpr auto fields<WhoamiScope> = std::to_array<Field>({
    {.member = "level", .help = "cloud, provider, tenant or project."},
    {.member = "tenant_id", .help = "The tenant; empty: the cloud or a provider.", .example = "acme"},
    {.member = "project", .help = "The project; empty: not of one.", .example = "lab"},
    {.member = "provider", .help = "The provider; empty: not of one.", .example = "north"},
    {.member = "permissions", .help = "Permissions that count there, by name. Those that every caller has are left out.", .example = R"(["instance.read"])"},
});

struct Whoami {
    std::string actor;
    std::string name;
    bool is_operator = false;
    std::string tenant_id;
    std::optional<WallTime> expires_at{};
    std::string version;
    bool simulated = false;
    std::vector<WhoamiScope> scopes{};
    bool scopes_truncated = false;
};
BOOST_DESCRIBE_STRUCT(Whoami, (), (actor, name, is_operator, tenant_id, expires_at, version, simulated, scopes,
                                  scopes_truncated))
template <>
inline constexpr auto fields<Whoami> = std::to_array<Field>({
    {.member = "actor", .help = "How events name the caller.", .example = "key/k-9r4t1b"},
    {.member = "name", .help = "Purpose of the key.", .example = "ci"},
    {.member = "is_operator", .help = "The key may do everything."},
    {.member = "tenant_id", .help = "The tenant the key is bound to; empty: an operator's.",
     .example = "acme"},
    {.member = "expires_at", .help = "When the key ends; absent: never."},
    {.member = "version", .help = "The release that answers.", .example = "0.1.0"},
    {.member = "simulated", .help = "Some host has simulated GPUs: this is a demonstration."},
    {.member = "scopes", .help = "Scopes where the caller has permissions: the cloud, tenants, projects, providers; at most 200.", .max = 200},
    {.member = "scopes_truncated", .help = "The caller has permissions in further scopes."},
});

}  // namespace hostler::api
