#include "roles/master/oidc/oidc_state.h"

#include "domain/oidc/claims.h"

namespace hostler::master {

OidcState& oidc_of(Term& term) {
    return term.part<OidcState>([] { return std::make_shared<OidcState>(); });
}

bool may_log(Term& term) { return oidc_of(term).logged.take(term.ports().timers.now()); }

std::shared_ptr<PublishedBy> published_by(Term& term, const IdentityProvider& provider) {
    auto& published = oidc_of(term).published;
    if (!published.contains(provider.id))
        std::erase_if(published, [&](const auto& one) {
            return !term.look().estate.identity_providers.find(one.first);
        });
    auto& held = published[provider.id];
    if (!held || held->version != provider.version) {
        held = std::make_shared<PublishedBy>();
        held->version = provider.version;
    }
    return held;
}

void OidcAttempts::erase(const std::string& state) {
    const auto at = attempts_.find(state);
    if (at == attempts_.end()) return;
    const auto own = of_client_.find(at->second.client);
    if (own != of_client_.end()) {
        std::erase(own->second, state);
        if (own->second.empty()) of_client_.erase(own);
    }
    attempts_.erase(at);
}

void OidcAttempts::add(const std::string& state, OidcAttempt attempt, Instant now) {
    while (!order_.empty()) {
        const auto oldest = attempts_.find(order_.front());
        const bool gone = oldest == attempts_.end();
        if (!gone && oldest->second.until > now && attempts_.size() < attempts_max) break;
        erase(order_.front());
        order_.pop_front();
    }
    const std::string client = attempt.client;
    if (const auto own = of_client_.find(client);
        own != of_client_.end() && own->second.size() >= attempts_client_max)
        erase(std::string{own->second.front()});
    attempt.until = now + attempt_life;
    attempts_.insert_or_assign(state, std::move(attempt));
    order_.push_back(state);
    of_client_[client].push_back(state);
    // Of those that were taken, names stay behind one that waits.
    if (order_.size() > 2 * attempts_max)
        std::erase_if(order_, [&](const std::string& one) { return !attempts_.contains(one); });
}

std::optional<OidcAttempt> OidcAttempts::take(const std::string& state, Instant now) {
    const auto at = attempts_.find(state);
    if (at == attempts_.end()) return std::nullopt;
    OidcAttempt attempt = at->second;
    erase(state);
    return attempt.until > now ? std::optional{std::move(attempt)} : std::nullopt;
}

bool SeenTokens::add(const std::string& id, Instant now) {
    constexpr std::chrono::seconds life{logout_age_max_s + 2 * clock_skew_s};
    while (!order_.empty() && order_.front().first <= now) {
        ids_.erase(order_.front().second);
        order_.pop_front();
    }
    if (ids_.size() >= logouts_max || !ids_.insert(id).second) return false;
    order_.emplace_back(now + life, id);
    return true;
}

}  // namespace hostler::master
