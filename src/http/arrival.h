// What stands between a connection and its first request: the word of a proxy, and TLS.
#pragma once

#include <functional>
#include <memory>

#include "core/stream.h"
#include "http/places.h"
#include "http/trusted_proxies.h"

namespace hostler::http {

// How connections come to a listener.
struct Arrival {
    Net* net = nullptr;  // Where there is a certificate.
    // What the next handshake shows; never null. Empty: no TLS.
    std::function<std::shared_ptr<const Credentials>()> certificate{};
    Duration time = std::chrono::seconds{10};         // For the handshake; the same for a preamble.
    std::shared_ptr<const TrustedProxies> proxies{};  // Null: none is trusted.

    bool comes_by_proxy(const Stream& stream) const { return proxies && proxies->hold(stream.address()); }
    bool awaits_preamble(const Stream& stream) const {
        return comes_by_proxy(stream) && proxies->word() == ProxyWord::proxy_protocol;
    }
};

struct ArrivalCount {
    std::uint64_t plain = 0;        // Spoke HTTP where TLS is.
    std::uint64_t failed = 0;       // Handshakes.
    std::uint64_t unannounced = 0;  // Came from a trusted proxy without a good preamble.
};

// The stream behind the PROXY preamble, with the address that it names. Errors: invalid (no good preamble),
// timeout, unavailable.
Task<StreamPtr> read_preamble(StreamPtr stream, Timers& timers, const Arrival& how, Place& place,
                              ArrivalCount& count);

// The stream behind TLS. Whoever speaks plain HTTP is told so. Errors: those of Net::secure; invalid (no
// TLS), timeout, unavailable.
Task<StreamPtr> arrive(StreamPtr stream, Timers& timers, const Arrival& how, Place& place,
                       ArrivalCount& count);

}  // namespace hostler::http
