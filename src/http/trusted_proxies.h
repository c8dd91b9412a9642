// Proxies in front of a listener whose word about the client is taken.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/ip_address.h"
#include "core/result.h"
#include "http/head.h"

namespace hostler::http {

// How a proxy tells whom it speaks for. Exactly one way is believed: what a proxy does not set itself it
// passes on as the client sent it.
enum class ProxyWord {
    x_forwarded_for,  // X-Forwarded-For and X-Forwarded-Proto.
    forwarded,        // Forwarded: RFC 7239.
    proxy_protocol,   // The PROXY protocol, version 2, before anything else on the connection.
};

// Whom a request comes from, by the word of a proxy.
struct Origin {
    std::string address;      // "192.0.2.1", "[2001:db8::1]"; the proxy's own where it names nobody.
    std::string_view scheme;  // "http" or "https"; empty: not told.
};

class TrustedProxies {
public:
    // `networks`: as of parse_ip_range(). Errors: invalid, which names each that is wrong.
    static Result<TrustedProxies> parse(const std::vector<std::string>& networks, ProxyWord word);

    ProxyWord word() const { return word_; }
    // `address`: of a stream, with its port.
    bool hold(std::string_view address) const;
    // The client is the last hop that is not one of these. `proxy`: the address of the connection.
    Origin origin_of(const Head& head, std::string_view proxy) const;

private:
    explicit TrustedProxies(ProxyWord word) : word_(word) {}
    bool hold(const IpAddress& address) const;

    ProxyWord word_;
    std::vector<IpRange> networks_;
};

}  // namespace hostler::http
