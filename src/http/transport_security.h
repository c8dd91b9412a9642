// HTTP Strict Transport Security, RFC 6797.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace hostler::http {

// The value of Strict-Transport-Security; empty for no time.
std::string transport_security(std::chrono::seconds time);
// Whether it may be sent to who asked for `host`, a name with or without a port: a browser that keeps to
// https for localhost does so on all ports of its machine, which are not ours.
bool may_keep_to_https(std::string_view host);

}  // namespace hostler::http
