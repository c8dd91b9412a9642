// How an invited person becomes a user with a browser: the page that the link of an invitation opens.
#pragma once

#include <string>

#include "http/server.h"
#include "roles/master/http/api.h"

namespace hostler::master {

// Answers invitation_path. `api`: how people reach it.
Task<> answer_browser_invitation(http::Exchange& exchange, Api& api_service, std::string api);

}  // namespace hostler::master
