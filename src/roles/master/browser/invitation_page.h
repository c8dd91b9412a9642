// The pages where an invited person becomes a user.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/result.h"
#include "domain/tenancy/user.h"

namespace hostler::master {

struct InvitationPage {
    const Invitation& invitation;
    std::string_view inviter;  // "Ann Bell (ann@example.com)"
    std::string_view secret;
    std::string_view api;                 // How people reach it.
    std::string_view login, name{};       // As they were typed; at first the invitation's.
    std::span<const FieldError> wrong{};  // Of the fields login, name and password.
    std::string_view complaint{};         // Of none of them.
};
std::string invitation_page(const InvitationPage& page);

// The end of it. `enrols`: a second factor is required first.
struct AcceptedPage {
    std::string_view login;
    std::string_view api;
    bool enrols = false;
};
std::string accepted_page(const AcceptedPage& page);
// How to sign in now.
std::string next_part(std::string_view api, bool enrols);

// "Join tenant acme as member of project lab"
std::string aim_of(const Invitation& invitation);

}  // namespace hostler::master
