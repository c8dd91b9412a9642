// What one host says: TLS from end to end, inside its session at an access point. It is the certificate in
// there that says who speaks.
#pragma once

#include <memory>
#include <string>

#include "roles/master/leader/term.h"
#include "wire/channel.h"

namespace hostler::master {

// How long after its end a host's certificate can still be renewed.
inline constexpr std::chrono::hours renewable{180 * 24};
// Certificates are valid from so long before they are made: clocks differ.
inline constexpr std::chrono::hours clock_tolerance{1};

// Where it comes from.
struct HostSession {
    std::string access;
    std::uint64_t number = 0;
    std::string host;              // As the access point says; empty: it may only join, or renew.
    std::uint64_t channel = 0;     // That it was invited to,
    std::uint64_t invitation = 0;  // and when: it counts them (HostLimits).
};

// From its first byte to the end of `channel`: shakes hands, listens, obeys. Returns when that is over; why
// is logged where it matters.
Task<> serve_host(TermPtr term, HostSession session, std::shared_ptr<wire::Channel> channel);

}  // namespace hostler::master
