#include "roles/master/oidc/flow.h"

#include <fmt/format.h>

#include "core/client_address.h"
#include "core/safe_text.h"
#include "roles/master/http/denials.h"
#include "roles/master/http/people.h"
#include "roles/master/oidc/flow_parts.h"
#include "roles/master/oidc/provider_people.h"
#include "roles/master/tenancy/tenancy.h"

namespace hostler::master {

namespace {

constexpr int see_other = 303, not_found_page = 404, not_allowed = 405, unavailable_page = 503, fine = 200;
constexpr std::string_view callback = "callback", logout_step = "/logout";

// nullptr: it is unknown, or nobody may sign in by it.
const IdentityProvider* open_provider(const Desk& desk, const std::string& id) {
    const IdentityProvider* row = desk.estate.identity_providers.find(id);
    return row && row->disabled_at == 0 && may_enter(desk, row->tenant) ? row : nullptr;
}

http::Response redirect(std::string to) {
    http::Response response{.status = see_other};
    response.headers.set("Location", std::move(to));
    response.headers.set("Cache-Control", "no-store");
    response.headers.set("Referrer-Policy", "no-referrer");
    return response;
}

Task<> begin_sign_in(http::Exchange& exchange, TermPtr term, OidcFront front, std::string id) {
    const IdentityProvider* row = open_provider(term->look(), id);
    const std::string target = form_value(exchange.request.query(), "target");
    if (!row || target.size() > target_max)
        co_return co_await front.refused(exchange, not_found_page,
                                         "This identity provider is unknown, or is disabled.");
    if (term->read_only())
        co_return co_await front.refused(exchange, unavailable_page, term->read_only()->message);
    const IdentityProvider provider = *row;
    const auto discovery = co_await discovery_of(term, provider);
    if (!discovery) co_return co_await refuse_for(exchange, term, front, provider, discovery.error());
    const Ports& ports = term->ports();
    const std::string state = new_secret(ports.random, "os"), browser = new_secret(ports.random, "ob");
    OidcAttempt attempt{.provider = provider.id,
                        .browser = ports.digest.sha256(browser),
                        .client = client_of(front.address),
                        .nonce = new_secret(ports.random, "on"),
                        .verifier = new_secret(ports.random, "ov"),
                        .redirect = fmt::format("{}{}{}", front.origin, oidc_path, callback),
                        .origin = front.origin,
                        .target = target};
    http::Response response =
        redirect(authorization_url({.endpoint = discovery->authorization_endpoint,
                                    .client_id = provider.client_id,
                                    .redirect = attempt.redirect,
                                    .state = state,
                                    .nonce = attempt.nonce,
                                    .challenge = pkce_challenge(ports.digest, attempt.verifier),
                                    .scopes = provider.scopes}));
    response.headers.add("Set-Cookie", attempt_cookie(front, state, browser));
    oidc_of(*term).attempts.add(state, std::move(attempt), ports.timers.now());
    co_return co_await exchange.respond(std::move(response));
}

// Whether `claims` of the ID token lack something that the userinfo endpoint may have.
bool wants_userinfo(const IdentityProvider& provider, const Discovery& discovery, const Claims& claims,
                    const ProviderTokens& tokens) {
    if (discovery.userinfo_endpoint.empty() || tokens.access_token.empty()) return false;
    const bool nameless = claims.login.empty() && claims.email.empty();
    return (!provider.groups_claim.empty() && !claims.groups) || (provider.creates_users && nameless);
}

void take_userinfo(Claims& claims, Claims more) {
    if (!claims.groups) claims.groups = std::move(more.groups);
    if (claims.login.empty()) claims.login = std::move(more.login);
    if (claims.email.empty()) {
        claims.email = std::move(more.email);
        claims.email_verified = more.email_verified;
    }
    if (claims.name.empty()) claims.name = std::move(more.name);
}

struct Vouched {
    Claims claims;
    Discovery discovery;
};

// Errors: those of provider_calls.h, with a token for the audit as message.
Task<Vouched> vouched(TermPtr term, IdentityProvider provider, OidcAttempt attempt, std::string query) {
    const Discovery discovery = CO_TRY(co_await discovery_of(term, provider));
    const std::string issuer = form_value(query, "iss"), code = form_value(query, "code");
    if ((!issuer.empty() || discovery.names_issuer) && issuer != provider.issuer)
        co_return fail(Code::unauthenticated, "wrong_issuer_in_answer");
    const ProviderTokens tokens =
        CO_TRY(co_await redeem_at(term, provider, discovery, {code, attempt.redirect, attempt.verifier}));
    const auto token = co_await verified(term, provider, discovery, tokens.id_token);
    if (!token && (is_away(token.error()) || token.error().code == Code::cancelled))
        co_return std::unexpected(token.error());
    if (!token) co_return fail(Code::unauthenticated, "token_refused: " + token.error().message);
    auto claims = parse_claims(token->claims, provider.groups_claim);
    if (!claims) co_return fail(Code::unauthenticated, "odd_claims");
    const std::int64_t now_s =
        std::chrono::floor<std::chrono::seconds>(term->ports().timers.wall()).time_since_epoch().count();
    const std::string_view wrong = wrong_id_token(
        *claims,
        {.issuer = provider.issuer, .client_id = provider.client_id, .nonce = attempt.nonce, .now_s = now_s});
    if (!wrong.empty()) co_return fail(Code::unauthenticated, std::string{wrong});
    if (wants_userinfo(provider, discovery, *claims, tokens)) {
        Claims more = CO_TRY(co_await userinfo_of(term, provider, discovery, tokens.access_token));
        if (more.subject != claims->subject)
            co_return fail(Code::unauthenticated, "wrong_subject_of_userinfo");
        take_userinfo(*claims, std::move(more));
    }
    co_return Vouched{std::move(*claims), discovery};
}

// Decides at once, on the estate as it is now. Errors: a token for the audit as message.
Result<ProviderSignIn> let_in(Term& term, const IdentityProvider& asked, const OidcAttempt& attempt,
                              const Vouched& vouched) {
    const IdentityProvider* row = open_provider(term.look(), asked.id);
    if (!row || row->version != asked.version) return fail(Code::forbidden, "provider_changed");
    Desk& desk = term.desk(std::string{identity_provider_mark} + row->id);
    const std::string user = TRY(person_of(desk, *row, vouched.claims))->id;
    sync_roles(desk, *row, user, vouched.claims.groups.value_or(std::vector<std::string>{}));
    return ProviderSignIn{
        .user = user,
        .target = attempt.target,
        .source = {.provider = row->id,
                   .sid = vouched.claims.sid,
                   .subject = vouched.claims.subject,
                   .end_url = end_session_url(vouched.discovery, row->client_id, attempt.origin + "/")}};
}

Task<> finish_sign_in(http::Exchange& exchange, TermPtr term, OidcFront front) {
    const Ports& ports = term->ports();
    const std::string query{exchange.request.query()}, state = form_value(query, "state");
    auto attempt = oidc_of(*term).attempts.take(state, ports.timers.now());
    const std::string browser{exchange.request.headers.cookie(attempt_cookie_name(front, state))};
    if (!attempt || attempt->signed_in)
        co_return co_await refuse_sign_in(exchange, term, front, "", "unknown_state");
    if (browser.empty() || ports.digest.sha256(browser) != attempt->browser)
        co_return co_await refuse_sign_in(exchange, term, front, attempt->provider, "other_browser");
    const IdentityProvider* row = open_provider(term->look(), attempt->provider);
    if (!row)
        co_return co_await refuse_sign_in(exchange, term, front, attempt->provider, "provider_disabled");
    const IdentityProvider provider = *row;
    constexpr std::size_t error_max = 64;
    if (const std::string error = form_value(query, "error"); !error.empty())
        co_return co_await refuse_sign_in(exchange, term, front, provider.id,
                                          "provider_says " + safe_line(error.substr(0, error_max)));
    const auto vouched_for = co_await vouched(term, provider, *attempt, query);
    if (!vouched_for) co_return co_await refuse_for(exchange, term, front, provider, vouched_for.error());
    if (term->ended() || term->read_only())
        co_return co_await front.refused(exchange, unavailable_page,
                                         "This master leads no longer. Try again.");
    auto in = let_in(*term, provider, *attempt, *vouched_for);
    if (!in) co_return co_await refuse_sign_in(exchange, term, front, provider.id, in.error().message);
    const User& user = term->look().estate.users.at(in->user);
    audit_sign_in(term->desk(std::string{user_mark} + user.id), user.login, front.address,
                  exchange.request.headers.find("User-Agent").value_or(""), SignInResult::ok, provider.id,
                  exchange.request_id());
    const bool needs_code = has_totp(user) && !provider.trusted_second_factor;
    ++oidc_of(*term).count.signed_in;
    CO_TRY(co_await term->commit());
    if (!needs_code) co_return co_await front.signed_in(exchange, term, std::move(*in));
    // The cookie is of this state: the code's form has the same.
    attempt->signed_in = std::move(*in);
    oidc_of(*term).attempts.add(state, std::move(*attempt), ports.timers.now());
    co_return co_await ask_code(exchange, state, fine);
}

}  // namespace

std::vector<ProviderChoice> provider_choices(const Desk& desk, const std::string& tenant) {
    constexpr std::size_t choices_max = 20;
    std::vector<ProviderChoice> choices;
    const auto add = [&](const IdentityProvider& row) {
        if (choices.size() < choices_max && open_provider(desk, row.id))
            choices.push_back({row.name, std::string{oidc_path} + row.id});
    };
    const auto& by = desk.estate.identity_providers.by();
    for (const IdentityProvider* row : by.listed.of(true, choices_max)) add(*row);
    if (!tenant.empty())
        for (const IdentityProvider* row : by.tenant.of(tenant))
            if (!row->listed) add(*row);
    return choices;
}

Task<> answer_oidc(http::Exchange& exchange, TermPtr term, OidcFront front) {
    std::string step{exchange.request.path().substr(oidc_path.size())};
    const bool posts = exchange.request.method == "POST";
    if (step.ends_with(logout_step)) {
        step.resize(step.size() - logout_step.size());
        if (posts) co_return co_await answer_back_channel(exchange, std::move(term), std::move(step));
        co_return co_await front.refused(exchange, not_allowed, "This address takes POST alone.");
    }
    if (posts && exchange.request.path() == oidc_code_path)
        co_return co_await take_code(exchange, std::move(term), std::move(front));
    if (exchange.request.method != "GET")
        co_return co_await front.refused(exchange, not_allowed, "This address takes GET alone.");
    if (step == callback) co_return co_await finish_sign_in(exchange, std::move(term), std::move(front));
    co_return co_await begin_sign_in(exchange, std::move(term), std::move(front), std::move(step));
}

}  // namespace hostler::master
