// Identity providers, by which people sign in.
#pragma once

#include "api/operation.h"
#include "api/types_oidc.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<CreateIdentityProvider, IdentityProvider> create_identity_provider{{
    .name = "createIdentityProvider", .method = Method::post, .path = "/v1/identity-providers",
    .permission = Permission::idp_write,
    .help = "Create an identity provider (OpenID Connect), by which people of a tenant or of the operator sign in.",
    .status = 201, .noun = "idp", .verb = "create", .argument = "name",
    .example = "idp create 'Acme SSO' --issuer https://id.example.com --client hostler --tenant acme"}};
inline constexpr Typed<ListIdentityProviders, List<IdentityProvider>> list_identity_providers{{
    .name = "listIdentityProviders", .path = "/v1/identity-providers", .permission = Permission::idp_read,
    .help = "List identity providers.", .list = true, .noun = "idp", .verb = "list",
    .columns = "name id tenantID issuer disabled createsUsers groupsClaim defaultRole createdAt"}};
inline constexpr Typed<NameIdentityProvider, IdentityProvider> get_identity_provider{{
    .name = "getIdentityProvider", .path = "/v1/identity-providers/{identityProvider}",
    .permission = Permission::idp_read, .help = "Show an identity provider, with the URLs to register there.",
    .noun = "idp", .verb = "get"}};
inline constexpr Typed<UpdateIdentityProvider, IdentityProvider> update_identity_provider{{
    .name = "updateIdentityProvider", .method = Method::patch, .path = "/v1/identity-providers/{identityProvider}",
    .permission = Permission::idp_write, .help = "Change, disable or enable an identity provider.", .noun = "idp",
    .verb = "edit", .example = "idp edit 'Acme SSO' --group-role ml-team=member,project=lab"}};
inline constexpr Typed<NameIdentityProvider, Empty> delete_identity_provider{{
    .name = "deleteIdentityProvider", .method = Method::delete_, .path = "/v1/identity-providers/{identityProvider}",
    .permission = Permission::idp_write,
    .help = "Delete an identity provider; its sessions and the roles that it gave end, and its users stay.",
    .noun = "idp", .verb = "delete", .confirm = "All sessions by it and all roles that it gave end."}};
inline constexpr Typed<NameIdentityProvider, TestedIdentityProvider> test_identity_provider{{
    .name = "testIdentityProvider", .method = Method::post, .path = "/v1/identity-providers/{identityProvider}/test",
    .permission = Permission::idp_write,
    .help = "Fetch the discovery document and the keys of an identity provider, and report errors.", .noun = "idp",
    .verb = "test"}};

}  // namespace hostler::api::ops
