// Back-channel logout (OpenID Connect Back-Channel Logout 1.0).
#include <fmt/format.h>

#include <algorithm>

#include "core/log.h"
#include "http/message.h"
#include "roles/master/oidc/flow_parts.h"
#include "roles/master/sign_in/indexes.h"

namespace hostler::master {

namespace {

constexpr int logout_done = 200, logout_refused = 400;

Task<> answer_logout(http::Exchange& exchange, int status) {
    http::Response response{.status = status};
    response.headers.set("Cache-Control", "no-store");
    if (status != logout_done) {
        response.headers.set("Content-Type", "application/json");
        response.body = R"({"error":"invalid_request"})";
    }
    co_return co_await exchange.respond(std::move(response));
}

Task<> refuse_logout(http::Exchange& exchange, TermPtr term, std::string provider, std::string why) {
    if (may_log(*term)) log_info("a logout by identity provider {} was refused: {}", provider, why);
    co_return co_await answer_logout(exchange, logout_refused);
}

std::vector<std::string> sessions_meant(const Desk& desk, const std::string& provider, const Claims& claims) {
    const auto& by = desk.estate.logins.by();
    std::vector<std::string> hashes;
    const auto rows =
        claims.sid.empty() ? by.identity.of({provider, claims.subject}) : by.sid.of({provider, claims.sid});
    for (const Login* login : rows)
        if (claims.subject.empty() || login->subject == claims.subject) hashes.push_back(login->hash);
    return hashes;
}

bool is_logout_type(std::string_view type) {
    return type.empty() || http::same_name(type, "logout+jwt") || http::same_name(type, "jwt");
}

}  // namespace

Task<> answer_back_channel(http::Exchange& exchange, TermPtr term, std::string id) {
    constexpr std::size_t form_max = 2 * TokenVerifier::token_bytes_max;
    auto form = co_await exchange.read_all(form_max);
    if (!form && form.error().code != Code::invalid) co_return std::unexpected(form.error());
    const IdentityProvider* row = term->look().estate.identity_providers.find(id);
    if (!row) co_return co_await refuse_logout(exchange, term, "?", "unknown provider");
    if (!form) co_return co_await refuse_logout(exchange, term, id, form.error().message);
    const IdentityProvider provider = *row;
    const auto discovery = co_await discovery_of(term, provider);
    if (!discovery && discovery.error().code == Code::cancelled) co_return std::unexpected(discovery.error());
    if (!discovery) co_return co_await refuse_logout(exchange, term, id, discovery.error().message);
    const auto token = co_await verified(term, provider, *discovery, form_value(*form, "logout_token"));
    if (!token && token.error().code == Code::cancelled) co_return std::unexpected(token.error());
    if (!token) co_return co_await refuse_logout(exchange, term, id, token.error().message);
    const auto claims = parse_claims(token->claims, "");
    if (!claims || !is_logout_type(token->type))
        co_return co_await refuse_logout(exchange, term, id, "odd token");
    const std::int64_t now_s =
        std::chrono::floor<std::chrono::seconds>(term->ports().timers.wall()).time_since_epoch().count();
    const std::string_view wrong = wrong_logout_token(
        *claims, {.issuer = provider.issuer, .client_id = provider.client_id, .nonce = {}, .now_s = now_s});
    if (!wrong.empty()) co_return co_await refuse_logout(exchange, term, id, std::string{wrong});
    if (term->ended() || term->read_only()) co_return co_await refuse_logout(exchange, term, id, "no leader");
    if (!oidc_of(*term).seen.add(id + "/" + claims->id, term->ports().timers.now()))
        co_return co_await refuse_logout(exchange, term, id, "replayed");
    Desk& desk = term->desk(std::string{identity_provider_mark} + id);
    for (const std::string& hash : sessions_meant(desk, id, *claims)) {
        const Login& login = desk.estate.logins.at(hash);
        const User& user = desk.estate.users.at(login.user);
        desk.estate.event("user", user.id, user.tenant, "session_ended",
                          fmt::format("Session {} of user {} was ended by identity provider {}.",
                                      session_id(login), user.login, provider.name));
        desk.estate.logins.erase(std::string{hash});
        ++oidc_of(*term).count.logged_out;
    }
    CO_TRY(co_await term->commit());
    co_return co_await answer_logout(exchange, logout_done);
}

}  // namespace hostler::master
