#include "roles/master/ticket/tickets.h"

#include <algorithm>

namespace hostler::master {

void Tickets::forget(Instant now) {
    while (!tickets_.empty() && tickets_.front().until <= now) tickets_.pop_front();
}

// The oldest of those that count goes when there are so many.
void Tickets::make_room(std::size_t max, const std::function<bool(const Ticket&)>& counts) {
    if (static_cast<std::size_t>(std::ranges::count_if(tickets_, counts)) >= max)
        tickets_.erase(std::ranges::find_if(tickets_, counts));
}

Result<std::string> Tickets::add(Ticket like, Random& random, const Digest& digest, Instant now) {
    forget(now);
    make_room(tickets_actor_max, [&](const Ticket& one) { return one.actor == like.actor; });
    make_room(tickets_lane_max, [&](const Ticket& one) { return one.lane == like.lane; });
    if (tickets_.size() >= tickets_max)
        return fail(Code::exhausted, "too many tickets wait to be used; try again in a moment",
                    "too_many_tickets");
    std::string secret = new_secret(random, "ht");
    like.hash = digest.sha256(secret);
    like.until = now + ticket_life;
    tickets_.push_back(std::move(like));
    return secret;
}

std::optional<Ticket> Tickets::take(const std::string& secret, const Digest& digest, Instant now) {
    constexpr std::size_t secret_max = 256;
    if (secret.size() > secret_max) return std::nullopt;
    forget(now);
    const auto found = std::ranges::find(tickets_, digest.sha256(secret), &Ticket::hash);
    if (found == tickets_.end()) return std::nullopt;
    Ticket taken = std::move(*found);
    tickets_.erase(found);
    return taken;
}

Tickets& tickets_of(Term& term) {
    return term.part<Tickets>([] { return std::make_shared<Tickets>(); });
}

}  // namespace hostler::master
