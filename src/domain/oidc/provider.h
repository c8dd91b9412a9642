// Identity providers (OpenID Connect): where people of the cloud or of a tenant sign in.
#pragma once

#include <boost/describe.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "domain/object.h"
#include "domain/tenancy/scope.h"

namespace hostler {

// Members of a group of the provider have a role here.
struct GroupRole {
    std::string group;
    std::string role;
    std::string tenant;   // Of a provider of the cloud; empty: the whole cloud. Else the provider's.
    std::string project;  // Empty: the whole tenant.
    bool operator==(const GroupRole&) const = default;
};
BOOST_DESCRIBE_STRUCT(GroupRole, (), (group, role, tenant, project))

struct IdentityProvider {
    std::string id;                   // "idp-…"
    std::string name;                 // As its button says.
    std::string tenant;               // Whose people these are; empty: the operator's.
    std::string issuer;               // It never changes: subjects are the issuer's.
    std::string client_id;            // Our name there,
    std::string client_secret;        // and password; empty: PKCE alone.
    std::vector<std::string> scopes;  // Beside `openid`.
    std::string groups_claim;         // Empty: groups count for nothing.
    std::vector<GroupRole> group_roles;
    std::string default_role;            // Of all its people; empty: none.
    bool creates_users = false;          // Of people whom it vouches for and who are not known.
    bool trusted_second_factor = false;  // It asks for one; ours is not asked for.
    std::string authorities;             // PEM; empty: the system's.
    std::int64_t created_at = 0;
    std::int64_t disabled_at = 0;  // 0: enabled.
    std::int64_t version = 1;      // Rises with each change.
    bool listed = false;           // Of a tenant's: its button is on all sign-in pages, not only the tenant's.
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(IdentityProvider, (),
                      (id, name, tenant, issuer, client_id, client_secret, scopes, groups_claim, group_roles,
                       default_role, creates_users, trusted_second_factor, authorities, created_at,
                       disabled_at, version, listed))

inline constexpr std::size_t identity_providers_tenant_max = 16;  // Also of the cloud.
inline constexpr std::size_t group_roles_max = 200;               // Of one provider.
inline constexpr std::size_t groups_person_max = 1000;            // That a provider tells; more are left out.
inline constexpr std::string_view identity_provider_mark = "idp/";  // Of grants that one made, before its id.

// What is wrong with the URL of a provider; empty: nothing. It is https, or http at this machine's own
// loopback.
std::string wrong_provider_url(std::string_view url);
bool is_loopback_url(std::string_view url);

// A role that groups give.
struct RoleAt {
    std::string role;
    Scope scope;
    auto operator<=>(const RoleAt&) const = default;
};
// Where the provider's roles count: its own default role, and that of a group.
RoleAt default_role_of(const IdentityProvider& provider);
RoleAt role_of_group(const IdentityProvider& provider, const GroupRole& mapped);
// Each once, in order. A tenant's provider gives nothing beyond its tenant, whatever its rows say.
std::vector<RoleAt> roles_of_groups(const IdentityProvider& provider, const std::vector<std::string>& groups);

}  // namespace hostler
