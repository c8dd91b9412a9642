// What a term knows of sign-ins by providers that are under way. It is lost with the term: people begin
// again.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "core/rate.h"
#include "core/timers.h"
#include "roles/master/oidc/flow.h"
#include "roles/master/oidc/provider_calls.h"

namespace hostler::master {

inline constexpr std::chrono::minutes attempt_life{10};
inline constexpr std::size_t attempts_max = 20'000;      // At once; the oldest makes room,
inline constexpr std::size_t attempts_client_max = 100;  // and so it does among those of one address.
inline constexpr std::size_t logouts_max = 50'000;       // Logout tokens that are remembered.

// A browser that was sent to a provider, or that is asked for our second factor.
struct OidcAttempt {
    std::string provider;
    std::string browser;  // The hash of its cookie.
    std::string client;   // The client that began it, as client_of() writes it.
    std::string nonce, verifier, redirect, origin, target;
    std::optional<ProviderSignIn> signed_in;  // The provider has vouched: a code is missing.
    int tries = 0;                            // Of codes.
    Instant until{};
};

// By a state, which is good once.
class OidcAttempts {
public:
    void add(const std::string& state, OidcAttempt attempt, Instant now);
    std::optional<OidcAttempt> take(const std::string& state, Instant now);
    std::size_t size() const { return attempts_.size(); }

private:
    void erase(const std::string& state);
    std::map<std::string, OidcAttempt> attempts_;
    std::deque<std::string> order_;                             // Oldest first; some are gone already.
    std::map<std::string, std::deque<std::string>> of_client_;  // The same of each client.
};

// Ids of logout tokens, for as long as such a token is good.
class SeenTokens {
public:
    // false: it was seen, or there is no room for it.
    bool add(const std::string& id, Instant now);

private:
    std::set<std::string> ids_;
    std::deque<std::pair<Instant, std::string>> order_;
};

struct OidcCount {
    std::uint64_t signed_in = 0, refused = 0, logged_out = 0, away = 0;
};

struct OidcState {
    OidcAttempts attempts;
    SeenTokens seen;
    std::map<std::string, std::shared_ptr<PublishedBy>> published;  // By provider.
    OidcCount count;
    Rate logged{{.per_second = 0.5, .burst = 20}};  // Strangers decide how much fails.
};
OidcState& oidc_of(Term& term);
// Whether another refusal may be in the log.
bool may_log(Term& term);
// Of the provider as it is now: another version begins without any.
std::shared_ptr<PublishedBy> published_by(Term& term, const IdentityProvider& provider);

}  // namespace hostler::master
