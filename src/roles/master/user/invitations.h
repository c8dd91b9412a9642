// Rules of invitations: each is good once, until it ends, and as long as its maker is.
#pragma once

#include "api/handlers.h"
#include "domain/tenancy/scope.h"
#include "ports/digest.h"
#include "roles/master/state/desk.h"

namespace hostler::api {
struct CreateInvitation;
struct Invitation;
}  // namespace hostler::api

namespace hostler::master {

api::Invitation view(const Invitation& invitation);
Scope scope_of_invitation(const Invitation& invitation);

struct MadeInvitation {
    const Invitation* invitation;
    std::string secret;
};
// Errors: invalid (an unknown role), forbidden (it exceeds its maker's), exhausted (quota_exceeded).
Result<MadeInvitation> make_invitation(Desk& desk, const api::Call& call,
                                       const api::CreateInvitation& request, const std::string& tenant,
                                       const Digest& digest);

// Errors: not_found (invitation_unknown), all alike: it was never made, was accepted or revoked, has ended,
// or its maker is disabled or gone.
Result<const Invitation*> invitation_of(const Desk& desk, const std::string& secret, const Digest& digest,
                                        std::int64_t now);

}  // namespace hostler::master
