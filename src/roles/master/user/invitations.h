// Rules of invitations: each is good once, until it ends, and as long as its maker is.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/handlers.h"
#include "domain/tenancy/scope.h"
#include "ports/digest.h"
#include "roles/master/state/desk.h"

namespace hostler::api {
struct AcceptInvitation;
struct AcceptedInvitation;
struct CreateInvitation;
struct Invitation;
}  // namespace hostler::api

namespace hostler::master {

class Api;

// The page where a person accepts an invitation.
inline constexpr std::string_view invitation_path = "/sign-in/invitation";

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

// nullopt: masters were not told how people reach them.
std::optional<std::string> invitation_link(const Settings& settings, std::string_view secret);

// The login of who is to be a user. Errors: invalid, with every wrong field.
Result<std::string> check_newcomer(const Invitation& invitation, const api::AcceptInvitation& request);
// As operation acceptInvitation, for the API and for the page. A password is hashed only for an invitation
// that is good. Errors: those of invitation_of(), check_newcomer(), make_user(); conflict (not_a_person).
Task<api::AcceptedInvitation> accept_invitation(Api& service, api::Call call, api::AcceptInvitation request);

}  // namespace hostler::master
