// Who is refused for a while, because it misbehaves.
#pragma once

#include <map>
#include <string>

#include "core/rate.h"

namespace hostler::access {

// Each peer has a budget of faults that refills evenly; who has used it up is banned, and the ban has an end.
// What a peer does well gives faults back, so that many who share an address are not banned for one of them.
class Guard {
public:
    struct Limits {
        RateLimit faults;
        Duration ban;
        std::size_t peers_max = 10'000;  // Banned at once, and remembered for their faults.
    };
    explicit Guard(Limits limits) : limits_(limits) {}

    // true: from now on it is banned, and was not before.
    bool fault(const std::string& peer, Instant now, double weight = 1);
    void vouch(const std::string& peer, Instant now);  // It proved to be one of ours.
    bool banned(const std::string& peer, Instant now) const;
    // Somebody who proved to be one of ours has come from there, not long ago.
    bool vouched(const std::string& peer, Instant now) const;
    std::size_t banned_now(Instant now) const;
    std::size_t size() const { return peers_.size(); }
    void sweep(Instant now);  // Forgets what is over.

    static constexpr Duration vouched_for = std::chrono::hours{1};

private:
    struct Peer {
        Rate faults;
        Instant banned_until{};
        Instant vouched_until{};
    };
    Peer* peer(const std::string& name, Instant now);

    Limits limits_;
    std::map<std::string, Peer> peers_;
    Instant next_look_{};
};

}  // namespace hostler::access
