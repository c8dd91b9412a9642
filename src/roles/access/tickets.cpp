#include "roles/access/tickets.h"

#include <fmt/format.h>
#include <algorithm>

namespace hostler::access {

Result<Tickets::Pair> Tickets::mint(const std::string& host, Random& random, Instant now) {
    expire(now);
    if (pairs_.size() >= limits_.pending_max)
        return fail(Code::exhausted,
                    "too many tunnels are being opened through this access point; try again");
    auto& of_host = per_host_[host];
    if (of_host >= limits_.pending_per_host_max)
        return fail(Code::exhausted,
                    fmt::format("too many tunnels to host {} are being opened; try again", host));
    ++of_host;
    Pair pair{++last_, new_secret(random, "tg"), new_secret(random, "ta")};
    secrets_.emplace(pair.gateway, std::pair{pair.tunnel, End::gateway});
    secrets_.emplace(pair.agent, std::pair{pair.tunnel, End::agent});
    pairs_.emplace(pair.tunnel, Pending{pair, host, now + limits_.life});
    return pair;
}

std::optional<Tickets::Taken> Tickets::take(std::string_view ticket, Instant now) {
    expire(now);
    const auto secret = secrets_.find(ticket);
    if (secret == secrets_.end()) return std::nullopt;
    const auto [tunnel, end] = secret->second;
    const Pending& pending = pairs_.at(tunnel);
    Taken taken{tunnel, end, pending.host, pending.expires};
    secrets_.erase(secret);
    const bool both_used =
        !secrets_.contains(end == End::gateway ? pending.pair.agent : pending.pair.gateway);
    if (both_used) forget_tunnel(tunnel);
    return taken;
}

void Tickets::forget_tunnel(std::uint64_t tunnel) {
    const auto found = pairs_.find(tunnel);
    if (found == pairs_.end()) return;
    const Pending& pending = found->second;
    secrets_.erase(pending.pair.gateway);
    secrets_.erase(pending.pair.agent);
    if (const auto of_host = per_host_.find(pending.host); --of_host->second == 0) per_host_.erase(of_host);
    pairs_.erase(found);
}

void Tickets::forget_host(std::string_view host) {
    for (auto pair = pairs_.begin(); pair != pairs_.end();) {
        const auto next = std::next(pair);
        if (pair->second.host == host) forget_tunnel(pair->first);
        pair = next;
    }
}

void Tickets::expire(Instant now) {
    while (!pairs_.empty() && pairs_.begin()->second.expires <= now) forget_tunnel(pairs_.begin()->first);
}

std::optional<std::string_view> ticket_of(std::string_view line) {
    if (!line.starts_with(tunnel_greeting)) return std::nullopt;
    const auto ticket = line.substr(tunnel_greeting.size());
    const auto fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
               c == '_';
    };
    if (ticket.empty() || !std::all_of(ticket.begin(), ticket.end(), fits)) return std::nullopt;
    return ticket;
}

}  // namespace hostler::access
