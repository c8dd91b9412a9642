#include "http/transport_security.h"

#include <fmt/format.h>

#include "http/message.h"

namespace hostler::http {

std::string transport_security(std::chrono::seconds time) {
    return time.count() > 0 ? fmt::format("max-age={}", time.count()) : "";
}

bool may_keep_to_https(std::string_view host) {
    constexpr std::string_view local = "localhost", below_local = ".localhost";
    host = host.substr(0, host.rfind(':'));
    if (host.ends_with('.')) host.remove_suffix(1);
    const bool below = host.size() > below_local.size() &&
                       same_name(host.substr(host.size() - below_local.size()), below_local);
    return !below && !same_name(host, local);
}

}  // namespace hostler::http
