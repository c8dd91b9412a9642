#include "roles/master/oidc/flow_parts.h"

#include <fmt/format.h>

#include "core/log.h"
#include "core/page.h"
#include "roles/master/http/denials.h"
#include "roles/master/http/people.h"
#include "roles/master/sign_in/own.h"
#include "roles/master/sign_in/sign_in.h"

namespace hostler::master {

namespace {

constexpr std::string_view failed_words =
    "Signing in by the identity provider did not succeed. Begin again; if it fails again, ask an admin.";
constexpr int code_tries_max = 5;

bool by_tls(const OidcFront& front) { return front.origin.starts_with("https://"); }

std::string code_page_of(std::string_view state, bool again) {
    return html_of(
        {.title = "Sign in",
         .body = fmt::format(
             R"({}<form method="post" action="{}"><input type="hidden" name="state" value="{}">)"
             R"(<label for="code">One-time code, or a recovery code</label>)"
             R"(<input id="code" name="code" autocomplete="one-time-code" maxlength="64" required autofocus>)"
             R"(<button>Sign in</button></form>)",
             again ? R"(<p class="alert" role="alert">This code is wrong, or was used.</p>)" : "",
             oidc_code_path, html_text(state))});
}

}  // namespace

std::string attempt_cookie_name(const OidcFront& front, std::string_view state) {
    constexpr std::size_t letters = 12;
    return fmt::format("{}hostler_oidc_{}", by_tls(front) ? "__Host-" : "", state.substr(0, letters));
}

std::string attempt_cookie(const OidcFront& front, std::string_view state, std::string_view secret) {
    const std::int64_t life = std::chrono::seconds{attempt_life}.count();
    return fmt::format("{}={}; Path=/; HttpOnly; SameSite=Lax; Max-Age={}{}",
                       attempt_cookie_name(front, state), secret, life, by_tls(front) ? "; Secure" : "");
}

Task<> refuse_sign_in(http::Exchange& exchange, TermPtr term, OidcFront front, std::string provider,
                      std::string reason) {
    constexpr int unauthenticated = 401;
    ++oidc_of(*term).count.refused;
    if (may_log(*term))
        log_info("a sign-in by identity provider {} from {} failed: {}", provider.empty() ? "?" : provider,
                 front.address, reason);
    if (!term->ended() && !term->read_only()) {
        audit_sign_in(term->desk("master"), provider.empty() ? "idp" : provider, front.address,
                      exchange.request.headers.find("User-Agent").value_or(""), SignInResult::failed, reason,
                      exchange.request_id());
        CO_TRY(co_await term->commit());
    }
    co_return co_await front.refused(exchange, unauthenticated, std::string{failed_words});
}

Task<> refuse_for(http::Exchange& exchange, TermPtr term, OidcFront front, IdentityProvider provider,
                  Error why) {
    constexpr int unavailable = 503;
    if (why.code == Code::cancelled) co_return std::unexpected(std::move(why));
    if (!is_away(why))
        co_return co_await refuse_sign_in(exchange, std::move(term), std::move(front), provider.id,
                                          why.message);
    co_return co_await front.refused(
        exchange, unavailable,
        fmt::format("The identity provider {} does not answer at present. Sessions are not affected; try to "
                    "sign in again later.",
                    provider.name));
}

Task<> ask_code(http::Exchange& exchange, std::string state, int status) {
    constexpr int ok = 200;
    http::Response response{.status = status, .body = code_page_of(state, status != ok)};
    response.headers.set("Content-Type", "text/html; charset=utf-8");
    response.headers.set("Cache-Control", "no-store");
    // Without form-action: the form's redirect may lead to a gateway.
    response.headers.set("Content-Security-Policy",
                         "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; "
                         "base-uri 'none'");
    response.headers.set("Referrer-Policy", "same-origin");
    response.headers.set("X-Content-Type-Options", "nosniff");
    co_return co_await exchange.respond(std::move(response));
}

Task<> take_code(http::Exchange& exchange, TermPtr term, OidcFront front) {
    constexpr std::size_t form_max = 4096, code_max = 64;
    constexpr int forbidden = 403;
    const std::string form = CO_TRY(co_await exchange.read_all(form_max));
    const std::string state = form_value(form, "state");
    const Ports& ports = term->ports();
    auto kept = oidc_of(*term).attempts.take(state, ports.timers.now());
    const std::string browser{exchange.request.headers.cookie(attempt_cookie_name(front, state))};
    if (!kept || !kept->signed_in || ports.digest.sha256(browser) != kept->browser)
        co_return co_await refuse_sign_in(exchange, term, front, kept ? kept->provider : "",
                                          "unknown_code_form");
    const std::string id = kept->signed_in->user;
    const auto may_enter_still = [&] {
        const User* user = term->look().estate.users.find(id);
        const IdentityProvider* by = term->look().estate.identity_providers.find(kept->provider);
        return user && user->disabled_at == 0 && by && by->disabled_at == 0;
    };
    if (!may_enter_still())
        co_return co_await refuse_sign_in(exchange, term, front, kept->provider, "user_disabled");
    const auto tried =
        co_await attempt(term, std::string{term->look().estate.users.at(id).login}, front.address);
    if (!tried) {
        oidc_of(*term).attempts.add(state, std::move(*kept), ports.timers.now());
        co_return std::unexpected(tried.error());
    }
    if (term->ended() || term->read_only() || !may_enter_still())
        co_return co_await refuse_sign_in(exchange, term, front, kept->provider, "ended_meanwhile");
    const auto used = use_code(term->desk(std::string{user_mark} + id), id,
                               form_value(form, "code").substr(0, code_max), ports.digest);
    if (!used && ++kept->tries >= code_tries_max)
        co_return co_await refuse_sign_in(exchange, term, front, kept->provider, "wrong_codes");
    if (!used) {
        oidc_of(*term).attempts.add(state, std::move(*kept), ports.timers.now());
        co_return co_await ask_code(exchange, state, forbidden);
    }
    attempt_succeeded(*term, *tried);
    CO_TRY(co_await term->commit());
    co_return co_await front.signed_in(exchange, term, std::move(*kept->signed_in));
}

}  // namespace hostler::master
