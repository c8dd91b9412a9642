// People whom an identity provider vouches for, and the roles that their groups give them here.
#pragma once

#include <string>

#include "domain/oidc/claims.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

// The user of this identity, made if there is none and the provider makes users. A user is never found by an
// e-mail address or a login (decisions/0082). Errors: forbidden, with a token for logs as its message: the
// person may not sign in.
Result<const User*> person_of(Desk& desk, const IdentityProvider& provider, const Claims& claims);
// Gives and takes roles so that those which the provider has made are those of these groups. Roles that
// people gave stay as they are.
void sync_roles(Desk& desk, const IdentityProvider& provider, const std::string& user,
                const std::vector<std::string>& groups);
// All that the provider has made of this user's roles.
void take_roles_of(Desk& desk, const IdentityProvider& provider, const std::string& user);

}  // namespace hostler::master
