#include "roles/master/oidc/provider_calls.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base64.h"
#include "core/log.h"
#include "core/percent.h"
#include "core/safe_text.h"
#include "roles/master/oidc/oidc_state.h"

namespace hostler::master {

namespace {

constexpr int http_ok = 200;
constexpr std::string_view away_reason = "provider_away";

std::unexpected<Error> provider_away(const IdentityProvider& provider, std::string_view why) {
    Error error{Code::unavailable,
                fmt::format("identity provider {} does not answer as it should: {}", provider.name, why),
                std::string{away_reason}};
    error.help = "Try again later. Sessions are not affected.";
    return std::unexpected(std::move(error));
}

HttpCall call_to(const IdentityProvider& provider, std::string url, Duration deadline) {
    return {.method = "GET",
            .url = std::move(url),
            .headers = {{"Accept", "application/json"}},
            .authorities = provider.authorities,
            .reach = provider.tenant.empty() ? Reach::anywhere : Reach::outside,
            .deadline = deadline,
            .answer_bytes_max = document_bytes_max};
}

// Raises a mark and wakes those who wait for its end.
class Asking {
public:
    explicit Asking(Published& copy) : copy_(copy) { copy_.asking = true; }
    ~Asking() {
        copy_.asking = false;
        copy_.asked.notify_all();
    }
    Asking(const Asking&) = delete;
    Asking& operator=(const Asking&) = delete;

private:
    Published& copy_;
};

std::string status_words(const HttpAnswer& answer) {
    return fmt::format("it answered with status {}", answer.status);
}

void note_fetched(Term& term, const IdentityProvider& provider, Published& copy, Result<std::string> text) {
    const Instant now = term.ports().timers.now();
    if (text) {
        if (copy.failed) log_info("identity provider {} ({}) answers again", provider.name, provider.id);
        copy.failed.reset();
        copy.fetched = now;
        copy.text = std::move(*text);
        return;
    }
    ++oidc_of(term).count.away;
    if (!copy.failed)
        log_warn("identity provider {} ({}) is away: {}", provider.name, provider.id, text.error().message);
    copy.failed = now;
    copy.why = std::move(text.error());
}

using CheckText = Result<> (*)(const IdentityProvider&, std::string_view);

// `by` keeps `copy` alive.
Task<std::string> fetched(TermPtr term, IdentityProvider provider, std::shared_ptr<PublishedBy> by,
                          Published& copy, std::string url, Duration age_max, CheckText check) {
    while (copy.asking) {
        if (copy.text && age_max > Duration{0}) co_return *copy.text;
        CO_TRY(co_await copy.asked.wait());
        age_max = published_age_max;  // Somebody has just fetched it.
    }
    const Instant now = term->ports().timers.now();
    if (copy.text && now - copy.fetched < age_max) co_return *copy.text;
    const bool failed_lately = copy.failed && now - *copy.failed < published_wait;
    if (!failed_lately) {
        const Asking asking{copy};
        auto answer =
            co_await term->ports().outgoing.send(call_to(provider, std::move(url), published_deadline));
        if (!answer && answer.error().code == Code::cancelled) co_return std::unexpected(answer.error());
        Result<std::string> text = provider_away(provider, "");
        if (!answer)
            text = provider_away(provider, answer.error().message);
        else if (answer->status != http_ok)
            text = provider_away(provider, status_words(*answer));
        else if (const auto good = check(provider, answer->body); !good)
            text = provider_away(provider, good.error().message);
        else
            text = std::move(answer->body);
        note_fetched(*term, provider, copy, std::move(text));
    }
    if (copy.text) co_return *copy.text;
    co_return std::unexpected(copy.why);
}

Result<> check_discovery(const IdentityProvider& provider, std::string_view text) {
    const Discovery discovery = TRY(parse_discovery(text));
    const std::string wrong = wrong_discovery(discovery, provider.issuer);
    if (!wrong.empty()) return fail(Code::invalid, "discovery document: " + safe_line(wrong));
    return {};
}

Result<> check_keys(const IdentityProvider&, std::string_view text) {
    if (text.size() > TokenVerifier::keys_bytes_max || !text.contains("\"keys\""))
        return fail(Code::invalid, "it has no set of keys");
    return {};
}

Task<HttpAnswer> answer_of(TermPtr term, IdentityProvider provider, HttpCall call) {
    auto answer = co_await term->ports().outgoing.send(std::move(call));
    if (!answer && answer.error().code == Code::cancelled) co_return std::unexpected(answer.error());
    constexpr int too_many = 429, client_errors = 4;
    std::string why;
    if (!answer)
        why = answer.error().message;
    else if (answer->status == too_many ||
             (answer->status != http_ok && answer->status / 100 != client_errors))
        why = status_words(*answer);
    else
        co_return std::move(*answer);
    ++oidc_of(*term).count.away;
    log_warn("identity provider {} ({}) is away: {}", provider.name, provider.id, why);
    co_return provider_away(provider, why);
}

// A client proves itself by Basic unless the provider says that it cannot.
void prove_client(const IdentityProvider& provider, const Discovery& discovery, HttpCall& call,
                  FormFields& fields) {
    const auto& ways = discovery.client_auth;
    const bool basic = ways.empty() || std::ranges::count(ways, "client_secret_basic") > 0;
    if (provider.client_secret.empty() || !basic) fields.emplace_back("client_id", provider.client_id);
    if (provider.client_secret.empty()) return;
    if (!basic) return fields.emplace_back("client_secret", provider.client_secret), void();
    const std::string pair =
        percent_encode(provider.client_id) + ":" + percent_encode(provider.client_secret);
    call.headers.emplace_back("Authorization", "Basic " + base64(pair));
}

}  // namespace

bool is_away(const Error& error) { return error.reason == away_reason; }

Task<Discovery> discovery_of(TermPtr term, IdentityProvider provider) {
    const auto by = published_by(*term, provider);
    std::string url = discovery_url(provider.issuer);
    const std::string text = CO_TRY(co_await fetched(term, std::move(provider), by, by->discovery,
                                                     std::move(url), published_age_max, check_discovery));
    co_return parse_discovery(text);
}

Task<std::string> keys_of(TermPtr term, IdentityProvider provider, Discovery discovery, Duration age_max) {
    const auto by = published_by(*term, provider);
    co_return co_await fetched(term, std::move(provider), by, by->keys, std::move(discovery.jwks_uri),
                               age_max, check_keys);
}

Task<VerifiedToken> verified(TermPtr term, IdentityProvider provider, Discovery discovery,
                             std::string token) {
    const TokenVerifier* verifier = term->ports().tokens;
    if (!verifier) co_return fail(Code::unavailable, "this master verifies no tokens");
    std::string keys = CO_TRY(co_await keys_of(term, provider, discovery, published_age_max));
    auto done = verifier->verify(token, keys);
    if (done || done.error().code != Code::not_found) co_return done;
    const auto by = published_by(*term, provider);
    const Instant now = term->ports().timers.now();
    if (!by->key_asked || now - *by->key_asked >= key_wait) {
        by->key_asked = now;
        keys = CO_TRY(co_await keys_of(term, provider, std::move(discovery), Duration{0}));
        done = verifier->verify(token, keys);
    }
    if (!done) done.error().code = Code::unauthenticated;
    co_return done;
}

Task<ProviderTokens> redeem_at(TermPtr term, IdentityProvider provider, Discovery discovery,
                               CodeOfProvider code) {
    HttpCall call = call_to(provider, discovery.token_endpoint, provider_deadline);
    call.method = "POST";
    call.headers.emplace_back("Content-Type", "application/x-www-form-urlencoded");
    FormFields fields{{"grant_type", "authorization_code"},
                      {"code", code.code},
                      {"redirect_uri", code.redirect},
                      {"code_verifier", code.verifier}};
    prove_client(provider, discovery, call, fields);
    call.body = form_of(fields);
    const HttpAnswer answer = CO_TRY(co_await answer_of(term, std::move(provider), std::move(call)));
    if (answer.status != http_ok)
        co_return fail(Code::unauthenticated, "code_refused " + error_in(answer.body));
    auto tokens = parse_tokens(answer.body);
    if (!tokens) co_return fail(Code::unauthenticated, "no_id_token");
    co_return std::move(*tokens);
}

Task<Claims> userinfo_of(TermPtr term, IdentityProvider provider, Discovery discovery,
                         std::string access_token) {
    HttpCall call = call_to(provider, discovery.userinfo_endpoint, provider_deadline);
    call.headers.emplace_back("Authorization", "Bearer " + access_token);
    if (!check(call)) co_return fail(Code::unauthenticated, "odd_access_token");
    const std::string claim = provider.groups_claim;
    const HttpAnswer answer = CO_TRY(co_await answer_of(term, std::move(provider), std::move(call)));
    if (answer.status != http_ok) co_return fail(Code::unauthenticated, "userinfo_refused");
    auto claims = parse_claims(answer.body, claim);
    if (!claims) co_return fail(Code::unauthenticated, "odd_userinfo");
    co_return std::move(*claims);
}

}  // namespace hostler::master
