// Tickets for tunnels: a pair of one-time secrets for one host, one for the gateway's end, its twin for the
// agent's.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/random.h"
#include "core/timers.h"

namespace hostler::access {

enum class End { gateway, agent };

class Tickets {
public:
    struct Limits {
        std::size_t pending_max = 4096;          // Pairs not yet used up, in all
        std::size_t pending_per_host_max = 256;  // and of one host.
        Duration life = std::chrono::seconds{10};
    };
    struct Pair {
        std::uint64_t tunnel = 0;  // What both have in common.
        std::string gateway;
        std::string agent;
    };
    struct Taken {
        std::uint64_t tunnel = 0;
        End end = End::gateway;
        std::string host;
        Instant expires{};
    };

    explicit Tickets(Limits limits) : limits_(limits) {}

    // Errors: exhausted.
    Result<Pair> mint(const std::string& host, Random& random, Instant now);
    // Uses the ticket up. nullopt: unknown, used before, or too late.
    std::optional<Taken> take(std::string_view ticket, Instant now);
    void forget_tunnel(std::uint64_t tunnel);  // Both tickets of it.
    void forget_host(std::string_view host);
    void expire(Instant now);  // Forgets what is too late.

    std::size_t size() const { return pairs_.size(); }  // Pairs of which a ticket is still unused.

private:
    struct Pending {
        Pair pair;
        std::string host;
        Instant expires{};
    };

    Limits limits_;
    std::uint64_t last_ = 0;
    std::map<std::uint64_t, Pending> pairs_;  // By tunnel: in the order of minting, so of expiry too.
    std::map<std::string, std::pair<std::uint64_t, End>, std::less<>> secrets_;
    std::map<std::string, std::size_t, std::less<>> per_host_;
};

// "HOSTLER-TUNNEL/1 <ticket>\n", what each end says first.
inline constexpr std::string_view tunnel_greeting = "HOSTLER-TUNNEL/1 ";
inline constexpr std::string_view tunnel_answer = "OK\n";
inline constexpr std::size_t tunnel_line_max = 128;

// The ticket in `line` (without its end); nullopt: not such a line.
std::optional<std::string_view> ticket_of(std::string_view line);

}  // namespace hostler::access
