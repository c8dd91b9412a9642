// Identity providers, by which people sign in.
#pragma once

#include "api/types_common.h"

namespace hostler::api {

// clang-format off

struct GroupRole {
    std::string group;
    std::string role;
    std::optional<std::string> tenant_id{};
    std::optional<std::string> project{};
    bool operator==(const GroupRole&) const = default;
};
BOOST_DESCRIBE_STRUCT(GroupRole, (), (group, role, tenant_id, project))
template <>
inline constexpr auto fields<GroupRole> = std::to_array<Field>({
    {.member = "group", .help = "Group, as the provider writes it in the groups claim.", .example = "ml-team", .min = 1,
     .max = 256, .form = &forms::one_line},
    {.member = "role", .help = "Role that its members get.", .example = "member", .min = 1, .max = 63, .form = &forms::one_line},
    {.member = "tenant_id", .help = "Tenant of the role, for a provider of the cloud. Default: the whole cloud, or the provider's tenant.",
     .example = "acme", .form = &forms::id},
    {.member = "project", .help = "Project of the role. Default: the whole tenant.", .example = "lab", .form = &forms::label},
});

struct IdentityProvider {
    std::string id;
    std::string name;
    std::string tenant_id;
    std::string issuer;
    std::string client_id;
    bool has_client_secret = false;
    std::vector<std::string> scopes;
    std::string groups_claim;
    std::vector<GroupRole> group_roles;
    std::string default_role;
    bool creates_users = false;
    bool trusted_second_factor = false;
    bool has_authorities = false;
    bool listed = false;
    bool disabled = false;
    std::string redirect_url;
    std::string logout_url;
    std::string signed_out_url;
    WallTime created_at;
    std::optional<WallTime> disabled_at{};
    std::int64_t version = 0;
};
BOOST_DESCRIBE_STRUCT(IdentityProvider, (),
                      (id, name, tenant_id, issuer, client_id, has_client_secret, scopes, groups_claim, group_roles,
                       default_role, creates_users, trusted_second_factor, has_authorities, listed, disabled, redirect_url,
                       logout_url, signed_out_url, created_at, disabled_at, version))
template <>
inline constexpr auto fields<IdentityProvider> = std::to_array<Field>({
    {.member = "id", .help = "Id of the identity provider.", .example = "idp-3hq8wz"},
    {.member = "name", .help = "Label of its button on the sign-in page.", .example = "Acme SSO"},
    {.member = "tenant_id", .help = "Tenant whose people sign in by it; empty: the operator's.", .example = "acme"},
    {.member = "issuer", .help = "Issuer URL.", .example = "https://id.example.com"},
    {.member = "client_id", .help = "Client id of Hostler at the provider.", .example = "hostler"},
    {.member = "has_client_secret", .help = "A client secret is set; no call returns it."},
    {.member = "scopes", .help = "Scopes that are requested in addition to openid."},
    {.member = "groups_claim", .help = "Claim with the groups of a person; empty: groups are not used.", .example = "groups"},
    {.member = "group_roles", .help = "Roles that members of groups get."},
    {.member = "default_role", .help = "Role of everyone who signs in by it; empty: none.", .example = "viewer"},
    {.member = "creates_users", .help = "A user is created at the first sign-in of a person."},
    {.member = "trusted_second_factor", .help = "The provider asks for a second factor; Hostler does not ask for another one."},
    {.member = "has_authorities", .help = "Its TLS certificate must lead to authorities that were given, not to the system's."},
    {.member = "listed", .help = "Its button is on all sign-in pages; one of the cloud is on all in any case."},
    {.member = "disabled", .help = "No sign-in by it works."},
    {.member = "redirect_url", .help = "Redirect URI to register at the provider; empty: the public URL is not set."},
    {.member = "logout_url", .help = "Back-channel logout URI to register at the provider; empty: the public URL is not set."},
    {.member = "signed_out_url", .help = "Post-logout redirect URI to register at the provider; empty: the public URL is not set."},
    {.member = "created_at", .help = "Creation time."},
    {.member = "disabled_at", .help = "Since when it is disabled."},
    {.member = "version", .help = "Increases with each change. For ifVersion and If-Match.", .example = "1"},
});

struct CreateIdentityProvider {
    std::string name;
    std::string issuer;
    std::string client_id;
    std::optional<std::string> client_secret{};
    std::optional<std::vector<std::string>> scopes{};
    std::optional<std::string> groups_claim{};
    std::optional<std::vector<GroupRole>> group_roles{};
    std::optional<std::string> default_role{};
    bool creates_users = false;
    bool trusted_second_factor = false;
    std::optional<std::string> authorities{};
    bool listed = false;
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(CreateIdentityProvider, (),
                      (name, issuer, client_id, client_secret, scopes, groups_claim, group_roles, default_role,
                       creates_users, trusted_second_factor, authorities, listed, tenant_id))
template <>
inline constexpr auto fields<CreateIdentityProvider> = std::to_array<Field>({
    {.member = "name", .help = "Label of its button on the sign-in page; unique in the tenant.", .example = "Acme SSO",
     .min = 1, .max = 64, .form = &forms::one_line},
    {.member = "issuer", .help = "Issuer URL, exactly as the provider writes it; it cannot be changed later.",
     .example = "https://id.example.com", .min = 1, .max = 2048},
    {.member = "client_id", .help = "Client id of Hostler at the provider.", .example = "hostler", .min = 1, .max = 256,
     .form = &forms::one_line},
    {.member = "client_secret", .help = "Client secret. Default: none, PKCE alone.", .min = 1, .max = 1024, .hidden = true},
    {.member = "scopes", .help = "Scopes to request in addition to openid. Default: profile and email.", .example = "[\"profile\"]",
     .max = 16, .form = &forms::one_line},
    {.member = "groups_claim", .help = "Claim with the groups, in the ID token or at the userinfo endpoint; dots lead into objects.",
     .example = "groups", .max = 128, .form = &forms::one_line},
    {.member = "group_roles", .help = "Roles that members of groups get. You must have each of them.", .max = 200},
    {.member = "default_role", .help = "Role of everyone who signs in by it. You must have it.", .example = "viewer",
     .max = 63, .form = &forms::one_line},
    {.member = "creates_users", .help = "Create a user at the first sign-in of a person.", .absent = Absent::fills},
    {.member = "trusted_second_factor", .help = "The provider asks for a second factor: Hostler does not ask for another one.",
     .absent = Absent::fills},
    {.member = "authorities", .help = "Certificates (PEM) that the provider's TLS certificate must lead to. Default: the system's.",
     .min = 1, .max = 65536},
    {.member = "listed", .help = "Show its button on all sign-in pages. Default: on those for instances of its tenant.",
     .absent = Absent::fills},
    {.member = "tenant_id", .help = "Tenant whose people sign in by it. Default: the caller's; an operator makes one of the cloud.",
     .example = "acme", .form = &forms::id},
});

struct ListIdentityProviders {
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(ListIdentityProviders, (), (tenant_id))
template <>
inline constexpr auto fields<ListIdentityProviders> = std::to_array<Field>({
    {.member = "tenant_id", .help = "Only those of this tenant.", .example = "acme", .form = &forms::id},
});

struct NameIdentityProvider {
    std::string identity_provider;
};
BOOST_DESCRIBE_STRUCT(NameIdentityProvider, (), (identity_provider))
template <>
inline constexpr auto fields<NameIdentityProvider> = std::to_array<Field>({
    {.member = "identity_provider", .help = "The identity provider's id or name.", .example = "idp-3hq8wz"},
});

// PATCH /v1/identity-providers/{identityProvider}. What is not given stays.
struct UpdateIdentityProvider {
    std::string identity_provider;
    std::optional<std::string> name{};
    std::optional<std::string> client_id{};
    std::optional<std::string> client_secret{};
    std::optional<std::vector<std::string>> scopes{};
    std::optional<std::string> groups_claim{};
    std::optional<std::vector<GroupRole>> group_roles{};
    std::optional<std::string> default_role{};
    std::optional<bool> creates_users{};
    std::optional<bool> trusted_second_factor{};
    std::optional<std::string> authorities{};
    std::optional<bool> listed{};
    std::optional<bool> disabled{};
    std::optional<std::int64_t> if_version{};
};
BOOST_DESCRIBE_STRUCT(UpdateIdentityProvider, (),
                      (identity_provider, name, client_id, client_secret, scopes, groups_claim, group_roles,
                       default_role, creates_users, trusted_second_factor, authorities, listed, disabled, if_version))
template <>
inline constexpr auto fields<UpdateIdentityProvider> = std::to_array<Field>({
    {.member = "identity_provider", .help = "The identity provider's id or name.", .example = "idp-3hq8wz"},
    {.member = "name", .help = "Label of its button on the sign-in page; unique in the tenant.", .example = "Acme SSO",
     .min = 1, .max = 64, .form = &forms::one_line},
    {.member = "client_id", .help = "Client id of Hostler at the provider.", .example = "hostler", .min = 1, .max = 256,
     .form = &forms::one_line},
    {.member = "client_secret", .help = "Client secret; empty: none.", .max = 1024, .hidden = true},
    {.member = "scopes", .help = "Scopes to request in addition to openid.", .example = "[\"profile\"]", .max = 16,
     .form = &forms::one_line},
    {.member = "groups_claim", .help = "Claim with the groups; empty: groups are not used.", .example = "groups", .max = 128,
     .form = &forms::one_line},
    {.member = "group_roles", .help = "All roles that members of groups get; they replace the present ones.", .max = 200},
    {.member = "default_role", .help = "Role of everyone who signs in by it; empty: none.", .example = "viewer", .max = 63,
     .form = &forms::one_line},
    {.member = "creates_users", .help = "Create a user at the first sign-in of a person."},
    {.member = "trusted_second_factor", .help = "The provider asks for a second factor: Hostler does not ask for another one."},
    {.member = "authorities", .help = "Certificates (PEM) for its TLS; empty: the system's.", .max = 65536},
    {.member = "listed", .help = "Show its button on all sign-in pages, not only on those for instances of its tenant."},
    {.member = "disabled", .help = "Disable it: no sign-in by it works, and all sessions that came by it end."},
    {.member = "if_version", .help = "Only if it has this version. Same as the header If-Match.", .example = "1", .min = 0},
});

struct TestedIdentityProvider {
    bool ok = false;
    std::vector<std::string> problems;
    std::string authorization_endpoint;
    std::string token_endpoint;
    std::string userinfo_endpoint;
    std::string end_session_endpoint;
    std::string keys_url;
};
BOOST_DESCRIBE_STRUCT(TestedIdentityProvider, (),
                      (ok, problems, authorization_endpoint, token_endpoint, userinfo_endpoint, end_session_endpoint,
                       keys_url))
template <>
inline constexpr auto fields<TestedIdentityProvider> = std::to_array<Field>({
    {.member = "ok", .help = "The discovery document and the keys were fetched, and nothing is wrong with them."},
    {.member = "problems", .help = "Errors and warnings, a sentence each."},
    {.member = "authorization_endpoint", .help = "Where browsers are sent.", .example = "https://id.example.com/authorize"},
    {.member = "token_endpoint", .help = "Where codes are redeemed.", .example = "https://id.example.com/token"},
    {.member = "userinfo_endpoint", .help = "Where further claims are; empty: it has none.", .example = "https://id.example.com/me"},
    {.member = "end_session_endpoint", .help = "Where browsers end the provider's session; empty: it has none.",
     .example = "https://id.example.com/logout"},
    {.member = "keys_url", .help = "Where its keys are.", .example = "https://id.example.com/jwks"},
});

}  // namespace hostler::api
