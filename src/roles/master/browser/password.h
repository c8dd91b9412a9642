// The page that a password link opens in a browser.
#pragma once

#include <string>

#include "http/server.h"
#include "roles/master/http/api.h"

namespace hostler::master {

// Answers password_page_path. `api`: how people reach it.
Task<> answer_browser_password(http::Exchange& exchange, Api& api_service, std::string api);

}  // namespace hostler::master
