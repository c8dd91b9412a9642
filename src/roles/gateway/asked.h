// One request at the gateway, and what was found out about it.
#pragma once

#include "roles/gateway/credentials.h"
#include "roles/gateway/front.h"

namespace hostler::gateway {

struct Front::Asked {
    http::Inlet& inlet;
    const HostPort& host;
    RoutePtr route;
    std::uint16_t own_port = 0;
    const std::string& client;
    std::string_view scheme;  // As the client sees it.
    bool keeps_to_https = false;
    const http::Rewrite& forwarding;
    Shown shown{};
    bool by_cookie = false;        // It was a cookie that opened.
    std::optional<Question> by{};  // What opened; nullopt: nothing was needed.

    const http::RequestHead& head() const { return inlet.head(); }
    Reader reader() const { return reader_of(head().method, head().find("Accept")); }
};

}  // namespace hostler::gateway
