// How much a peer may do: a budget that refills evenly.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <string>

#include "core/timers.h"

namespace hostler {

struct RateLimit {
    double per_second = 0;
    double burst = 0;  // At most so much at once.
};

class Rate {
public:
    explicit Rate(RateLimit limit) : limit_(limit), left_(limit.burst) {}

    // Takes `amount` when it is there.
    bool take(Instant now, double amount = 1) {
        refill(now);
        if (left_ < amount) return false;
        left_ -= amount;
        return true;
    }
    // Takes `amount` in any case, and says how long to rest until the budget is even again.
    Duration owe(Instant now, double amount = 1) {
        refill(now);
        left_ -= amount;
        if (left_ >= 0) return Duration{0};
        return std::chrono::duration_cast<Duration>(
            std::chrono::duration<double>{-left_ / limit_.per_second});
    }
    void give_back(Instant now, double amount) {
        refill(now);
        left_ = std::min(limit_.burst, left_ + amount);
    }
    bool full(Instant now) const {
        const double since = std::chrono::duration<double>{now - last_}.count();
        return !begun_ || left_ + limit_.per_second * since >= limit_.burst;
    }

private:
    void refill(Instant now) {
        if (begun_)
            left_ = std::min(limit_.burst,
                             left_ + limit_.per_second * std::chrono::duration<double>{now - last_}.count());
        begun_ = true;
        last_ = now;
    }

    RateLimit limit_;
    double left_;
    bool begun_ = false;
    Instant last_{};
};

// A rate for each of many peers. When there are more than `peers_max`, those with a full budget are
// forgotten; when none is, newcomers are refused.
class Rates {
public:
    Rates(RateLimit limit, std::size_t peers_max) : limit_(limit), peers_max_(peers_max) {}

    bool take(const std::string& peer, Instant now, double amount = 1) {
        auto found = peers_.find(peer);
        if (found == peers_.end()) {
            if (peers_.size() >= peers_max_ && !make_room(now)) return false;
            found = peers_.emplace(peer, Rate{limit_}).first;
        }
        return found->second.take(now, amount);
    }
    std::size_t size() const { return peers_.size(); }

private:
    // Looks through all of them at most once in a second: a flood of addresses may not buy CPU with it.
    bool make_room(Instant now) {
        if (now < next_look_) return false;
        next_look_ = now + std::chrono::seconds{1};
        std::erase_if(peers_, [&](const auto& peer) { return peer.second.full(now); });
        return peers_.size() < peers_max_;
    }

    RateLimit limit_;
    std::size_t peers_max_;
    std::map<std::string, Rate> peers_;
    Instant next_look_{};
};

}  // namespace hostler
