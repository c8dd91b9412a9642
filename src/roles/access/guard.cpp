#include "roles/access/guard.h"

#include <algorithm>

namespace hostler::access {

// nullptr: there is no room, and nobody can be forgotten yet.
Guard::Peer* Guard::peer(const std::string& name, Instant now) {
    if (const auto found = peers_.find(name); found != peers_.end()) return &found->second;
    // A flood of addresses may not buy CPU: all are looked through at most once in a second.
    if (peers_.size() >= limits_.peers_max && now >= next_look_) {
        next_look_ = now + std::chrono::seconds{1};
        sweep(now);
    }
    if (peers_.size() >= limits_.peers_max) return nullptr;
    return &peers_.emplace(name, Peer{Rate{limits_.faults}}).first->second;
}

bool Guard::fault(const std::string& name, Instant now, double weight) {
    Peer* const at = peer(name, now);
    if (!at || now < at->banned_until || at->faults.take(now, weight)) return false;
    at->banned_until = now + limits_.ban;
    at->faults = Rate{limits_.faults};
    return true;
}

void Guard::vouch(const std::string& name, Instant now) {
    Peer* const at = peer(name, now);
    if (!at) return;
    at->faults.give_back(now, 1);
    at->vouched_until = now + vouched_for;
}

bool Guard::banned(const std::string& name, Instant now) const {
    const auto at = peers_.find(name);
    return at != peers_.end() && now < at->second.banned_until;
}

bool Guard::vouched(const std::string& name, Instant now) const {
    const auto at = peers_.find(name);
    return at != peers_.end() && now < at->second.vouched_until;
}

std::size_t Guard::banned_now(Instant now) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(peers_, [&](const auto& row) { return now < row.second.banned_until; }));
}

void Guard::sweep(Instant now) {
    std::erase_if(peers_, [&](const auto& row) {
        return row.second.faults.full(now) && now >= row.second.banned_until &&
               now >= row.second.vouched_until;
    });
}

}  // namespace hostler::access
