// Slows down whoever tries passwords, by login and by address. Nobody is locked out: an attempt that has to
// wait too long is refused and costs nothing, so the next one waits less.
#pragma once

#include <map>
#include <string>

#include "core/rate.h"
#include "roles/master/state/settings.h"

namespace hostler::master {

class Throttle {
public:
    explicit Throttle(const SignInLimits& limits);

    // How long an attempt is to wait before it is looked at. `known`: the login has a session from this
    // address, so strangers who try it elsewhere do not slow it down. Errors: exhausted (too_many_sign_ins).
    Result<Duration> enter(const std::string& login, const std::string& address, bool known, Instant now);
    // It was the right password: it is not counted.
    void succeeded(const std::string& login, const std::string& address, bool known, Instant now);

    // One that waits.
    class Waiting {
    public:
        explicit Waiting(Throttle& throttle) : throttle_(throttle) { ++throttle_.waiting_; }
        ~Waiting() { --throttle_.waiting_; }
        Waiting(const Waiting&) = delete;
        Waiting& operator=(const Waiting&) = delete;

    private:
        Throttle& throttle_;
    };

    std::size_t peers() const { return logins_.peers.size() + known_.peers.size() + addresses_.peers.size(); }

private:
    struct Peers {
        RateLimit limit;
        std::map<std::string, Rate> peers{};
        Rate others{limit};  // Of all that find no room.
        Instant next_look{};
    };
    Rate& rate_of(Peers& of, const std::string& peer, Instant now) const;

    const SignInLimits limits_;
    Peers logins_, known_, addresses_;
    std::size_t waiting_ = 0;
};

}  // namespace hostler::master
