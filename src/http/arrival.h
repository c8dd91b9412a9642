// What stands between a connection and its first request: TLS.
#pragma once

#include <functional>
#include <memory>

#include "core/stream.h"
#include "http/places.h"

namespace hostler::http {

// How connections come to a listener.
struct Arrival {
    Net* net = nullptr;  // Where there is a certificate.
    // What the next handshake shows; never null. Empty: no TLS.
    std::function<std::shared_ptr<const Credentials>()> certificate{};
    Duration time = std::chrono::seconds{10};  // For all of it.
};

struct ArrivalCount {
    std::uint64_t plain = 0;   // Spoke HTTP where TLS is.
    std::uint64_t failed = 0;  // Handshakes.
};

// The stream behind TLS. Whoever speaks plain HTTP is told so. Errors: those of Net::secure; invalid (no
// TLS), timeout, unavailable.
Task<StreamPtr> arrive(StreamPtr stream, Timers& timers, const Arrival& how, Place& place,
                       ArrivalCount& count);

}  // namespace hostler::http
