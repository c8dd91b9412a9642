// An identity provider as a server: the documents that it publishes, kept for a while, and calls to it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/signal.h"
#include "ports/token_verifier.h"
#include "roles/master/leader/term.h"
#include "roles/master/oidc/documents.h"

namespace hostler::master {

inline constexpr std::chrono::minutes published_age_max{10};  // Then a document is fetched again.
inline constexpr std::chrono::seconds published_wait{5};      // Between two tries, while a provider is away,
inline constexpr std::chrono::seconds key_wait{30};           // and for a key that is not in the set.
inline constexpr std::chrono::seconds published_deadline{5};  // Of fetching a document,
inline constexpr std::chrono::seconds provider_deadline{10};  // and of another call.

// A document as it was fetched last. An old one is good as long as there is no newer.
struct Published {
    std::optional<std::string> text;
    Instant fetched{};
    std::optional<Instant> failed;  // Since when there is no newer one; nullopt: it is not so.
    Error why;
    bool asking = false;  // It is being fetched: others wait, or take the old one.
    Signal asked;
};
struct PublishedBy {
    std::int64_t version = 0;  // Of the provider's row.
    Published discovery, keys;
    std::optional<Instant> key_asked;  // When a key that was not known was asked for last.
};

// Errors of all of these: unavailable (provider_away: it does not answer, or not as a provider does),
// unauthenticated (it refuses; what it says is not to be believed), cancelled.
Task<Discovery> discovery_of(TermPtr term, IdentityProvider provider);
// `discovery`: as above. Fetches the keys again, at most once in key_wait, for a key that is not known.
Task<VerifiedToken> verified(TermPtr term, IdentityProvider provider, Discovery discovery, std::string token);
Task<std::string> keys_of(TermPtr term, IdentityProvider provider, Discovery discovery, Duration age_max);

struct CodeOfProvider {
    std::string code, redirect, verifier;
};
Task<ProviderTokens> redeem_at(TermPtr term, IdentityProvider provider, Discovery discovery,
                               CodeOfProvider code);
Task<Claims> userinfo_of(TermPtr term, IdentityProvider provider, Discovery discovery,
                         std::string access_token);

bool is_away(const Error& error);

}  // namespace hostler::master
