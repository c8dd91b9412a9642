// Who this host is, and how it came to be that.
#pragma once

#include <memory>
#include <optional>
#include <string>

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
    Task<> renew(
        wire::Link& link);  // The present connection goes on; the next is made with the new certificate.

private:
    Task<Membership> join_at(std::string address);
    Task<KeyRequest> key_to_join();
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
