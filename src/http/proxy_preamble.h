// The PROXY protocol, version 2: what a proxy says of its client before the client's own bytes.
// https://www.haproxy.org/download/2.8/doc/proxy-protocol.txt, section 2.2.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"

namespace hostler::http {

struct ProxyPreamble {
    std::size_t size = 0;  // Bytes that it takes.
    // "192.0.2.1:5000", "[2001:db8::1]:5000". Empty: the proxy speaks for itself, as health checks do, or its
    // client has no address of the internet.
    std::string client;
};

// What a preamble may have behind its addresses is read over; beyond so many bytes it is refused.
inline constexpr std::size_t proxy_preamble_bytes_max = 4096;

// nullopt: `bytes` are the beginning of one. Errors: invalid.
Result<std::optional<ProxyPreamble>> parse_proxy_preamble(std::string_view bytes);

}  // namespace hostler::http
