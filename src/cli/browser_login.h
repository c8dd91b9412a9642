// Signing in through a browser: this program gets a code, and a person confirms it there.
#pragma once

#include "api/types_sign_in.h"
#include "cli/config.h"

namespace hostler::cli {

// Errors: timeout (it was not confirmed in time), forbidden (access_denied), cancelled (a signal came), those
// of the API.
Task<api::SignedIn> sign_in_by_browser(CliWorld& world, Connection to);

// A web address that is safe to show and to give to another program.
bool is_web_address(std::string_view url);

}  // namespace hostler::cli
