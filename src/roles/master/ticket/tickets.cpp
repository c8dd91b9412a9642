#include "roles/master/ticket/tickets.h"

#include <algorithm>

namespace hostler::master {

void Tickets::forget(Instant now) {
    while (!tickets_.empty() && tickets_.front().until <= now) tickets_.pop_front();
}

Result<std::string> Tickets::add(Ticket like, Random& random, const Digest& digest, Instant now) {
    forget(now);
    const auto is_theirs = [&](const Ticket& one) { return one.actor == like.actor; };
    if (static_cast<std::size_t>(std::ranges::count_if(tickets_, is_theirs)) >= tickets_actor_max)
        tickets_.erase(std::ranges::find_if(tickets_, is_theirs));
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
