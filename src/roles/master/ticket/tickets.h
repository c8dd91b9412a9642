// One-time tickets with which a page opens a session in an instance: a browser lets a page set no header of a
// WebSocket, so that it cannot show its credential to a gateway. They are in memory alone: when another
// master leads, a ticket is unknown, and the page asks for another one.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "core/random.h"
#include "core/timers.h"
#include "ports/digest.h"
#include "roles/master/leader/term.h"

namespace hostler::master {

inline constexpr std::chrono::seconds ticket_life{60};  // Until it is used.
inline constexpr std::size_t tickets_max = 4'096;
inline constexpr std::size_t tickets_actor_max = 64;  // The oldest makes room,
inline constexpr std::size_t tickets_lane_max = 512;  // of a tenant's actors together, too.
inline constexpr std::size_t ticket_origin_max = 512;

struct Ticket {
    std::string actor;     // Who asked for it,
    std::string lane;      // of which tenant (api::Caller::lane),
    std::string mark;      // by what credential, or session of the console (mark_of in http/caller.h).
    std::string instance;  // Id.
    std::string kind;      // As in TunnelOpen: "exec".
    std::string origin;    // Of the page; empty: a program.
    std::string hash{};
    Instant until{};
};

class Tickets {
public:
    // The secret. Errors: exhausted (too_many_tickets).
    Result<std::string> add(Ticket like, Random& random, const Digest& digest, Instant now);
    // It is taken out, whatever it is then found to be for. nullopt: there is none, or its time is over.
    std::optional<Ticket> take(const std::string& secret, const Digest& digest, Instant now);
    std::size_t size() const { return tickets_.size(); }

private:
    void forget(Instant now);
    void make_room(std::size_t max, const std::function<bool(const Ticket&)>& counts);
    std::deque<Ticket> tickets_;  // The oldest in front: all live equally long.
};

Tickets& tickets_of(Term& term);

}  // namespace hostler::master
