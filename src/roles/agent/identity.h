// Who this host is, and how it came to be that.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "roles/agent/messages_fwd.h"
#include "roles/agent/settings.h"
#include "wire/link.h"

namespace hostler::agent {

// "ht_<secret>.<SHA-256 of the authority's certificate, hex>"
struct JoinToken {
    std::string secret;       // The whole text before the dot: what the master knows the hash of.
    std::string fingerprint;  // Lower case.
};
Result<JoinToken> parse_join_token(std::string_view text);  // Errors: invalid.

struct Membership {
    std::string host;  // "h-…"
    std::string zone;
    std::shared_ptr<const Credentials> credentials;
};

// How long after its end a certificate can still be renewed.
inline constexpr hours renewable{180 * 24};

// In the journal: "identity"; and "joining" from before the token is spent until the answer is stored, so
// that a crash in between asks again with the same key, which the master knows.
class MemberBook {
public:
    MemberBook(const Settings& settings, const Ports& ports) : settings_(settings), ports_(ports) {}

    void load();
    bool joined() const { return member_.has_value(); }
    const Membership& member() const { return *member_; }

    // Spends the token. Tries for ever while nobody answers. Errors: cancelled; those which a person has to
    // solve: invalid, unauthenticated, forbidden, not_found, conflict.
    Task<> join();
    // A connection as what we are, to a checked access point.
    Task<StreamPtr> dial(std::string address);

    bool renewal_due() const;  // A third of the certificate's life is over.
    bool expired() const;
    // For so long that it is not renewed any more: the host has to join anew.
    bool beyond_renewal() const;
    // The present connection goes on; the next is made with the new certificate. `link`: to the master.
    Task<> renew(std::shared_ptr<wire::Link> link);
    // With a certificate that has expired nothing else is possible: a visit through this access point.
    Task<> renew_at(std::string address);

private:
    Task<Membership> join_at(std::string address);
    Task<KeyRequest> key_to_join();
    Result<uplink::Frame> renewal_request() const;
    Task<> renewed(uplink::Frame answer);
    // Whom to be towards the master whose authority is said to be this one.
    using Judge = std::function<Result<std::shared_ptr<const Credentials>>(const std::string& authority)>;
    // One question to the master, over a connection of its own, by who is not a host in good standing.
    Task<uplink::Frame> visit(StreamPtr stream, Judge judge, uplink::Frame question);
    Task<> store(Membership member);
    Task<StreamPtr> dial_as(std::shared_ptr<const Credentials> who, std::string expect, std::string address);

    const Settings& settings_;
    Ports ports_;
    std::optional<Membership> member_;
};

// Waits before the next try: longer each time, and each host differently.
class Backoff {
public:
    Backoff(const Settings& settings, Timers& timers, Random& random)
        : settings_(settings), timers_(timers), random_(random), next_(settings.backoff_min) {}
    Task<> wait();
    void reset() { next_ = settings_.backoff_min; }

private:
    const Settings& settings_;
    Timers& timers_;
    Random& random_;
    Duration next_;
};

}  // namespace hostler::agent
