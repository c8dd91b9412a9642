// Rules of identity providers as objects of the API.
#pragma once

#include <string>

#include "api/handlers.h"
#include "domain/oidc/provider.h"
#include "roles/master/state/desk.h"

namespace hostler::api {
struct CreateIdentityProvider;
struct IdentityProvider;
struct UpdateIdentityProvider;
}  // namespace hostler::api

namespace hostler::master {

// `origin`: as browsers reach the API; empty: it is not set, and the URLs for the provider are not shown.
api::IdentityProvider view(const IdentityProvider& provider, std::string_view origin);
// By id, or by name in a tenant of the caller. Errors: not_found (identity_provider_not_found), forbidden.
Result<const IdentityProvider*> identity_provider_named(const Desk& desk, const api::Call& call,
                                                        const std::string& name);

// Errors: invalid (every wrong field), conflict (identity_provider_exists), exhausted (quota_exceeded),
// forbidden (role_exceeds: it would give more than the caller has).
Result<const IdentityProvider*> create_identity_provider(Desk& desk, const api::Call& call,
                                                         const api::CreateIdentityProvider& request,
                                                         const std::string& tenant);
// Disabling it ends all sessions that came by it. Errors: those, conflict (version_differs).
Result<> update_identity_provider(Desk& desk, const api::Call& call, const std::string& id,
                                  const api::UpdateIdentityProvider& request);
// Its people stay, without the roles that it made and without a way in by it.
void delete_identity_provider(Desk& desk, const std::string& id);

}  // namespace hostler::master
