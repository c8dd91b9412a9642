#include "roles/master/browser/sign_in.h"

#include <fmt/format.h>

#include "api/operations_sign_in.h"
#include "core/percent.h"
#include "roles/master/browser/console.h"
#include "roles/master/browser/page.h"
#include "roles/master/browser/sign_in_page.h"
#include "roles/master/browser/steps.h"
#include "roles/master/http/caller.h"
#include "roles/master/http/forward.h"
#include "roles/master/http/people.h"
#include "roles/master/sign_in/by_password.h"
#include "roles/master/tenancy/tenancy.h"

namespace hostler::master {

namespace {

// Parts that a request of a sign-in has.
struct Asked {
    api::Caller caller;  // A stranger.
    std::string body;
    Target to;
    std::string field(std::string_view name) const { return form_field(body, name); }
};

api::Call call_of(const Asked& asked) {
    const api::Operation& operation = api::ops::sign_in;
    return {.caller = asked.caller, .operation = &operation, .permission = operation.permission};
}

SignInPage page_of(const Asked& asked, std::span<const SignInChoice> choices) {
    return {.target = asked.to.text,
            .opens = asked.to.return_to,
            .device = asked.to.device ? &*asked.to.device : nullptr,
            .console = asked.to.is_console(),
            .choices = choices};
}

Task<> show_form(http::Exchange& exchange, TermPtr term, const Asked& asked, const Error* why = nullptr,
                 SignInWay way = SignInWay::password) {
    const auto choices = sign_in_choices(*term, asked.to.text);
    SignInPage page = page_of(asked, choices);
    const std::string complaint = why ? sentence(why->message) : "", login = asked.field("login");
    page.complaint = complaint;
    page.login = login;
    page.way = way;
    co_return co_await exchange.respond(
        page_response(why ? status_of_page(*why) : 200, sign_in_page(page), asked.to.origin));
}

Task<> show_code_form(http::Exchange& exchange, const Asked& asked, std::string step,
                      const Error* why = nullptr) {
    co_return co_await exchange.respond(page_response(why ? status_of_page(*why) : 200,
                                                      code_page(step, why ? sentence(why->message) : ""),
                                                      asked.to.origin));
}

// To the gateway of an instance, or to the console.
Task<> leave_to(http::Exchange& exchange, TermPtr term, const Target& to, api::Caller caller) {
    if (to.is_console()) {
        const std::string session = make_session(*term, caller, to.route);
        // A person's sign-in is in the audit already.
        if (caller.principal.kind != PrincipalKind::user) audit_console_session(exchange, *term, session);
        CO_TRY(co_await term->commit());
        co_return co_await exchange.respond(
            enter_console(exchange, is_by_tls(exchange, term->ports().arrival), session, to.path));
    }
    const std::string code = make_code(*term, caller, to.route);
    CO_TRY(co_await term->commit());
    http::Response response{.status = 303};
    response.headers.set("Location", fmt::format("{}/.hostler/session?code={}&to={}", to.origin, code,
                                                 percent_encode(to.path)));
    response.headers.set("Cache-Control", "no-store");
    response.headers.set("Referrer-Policy", "no-referrer");
    co_return co_await exchange.respond(std::move(response));
}

Task<> sign_in_with_key(http::Exchange& exchange, TermPtr term, const Asked& asked) {
    const auto caller = caller_of(*term, asked.field("key"), asked.caller.address);
    const Error unknown{Code::forbidden,
                        "this key is unknown: it was never created, has ended, or was revoked"};
    if (!caller) co_return co_await show_form(exchange, term, asked, &unknown, SignInWay::key);
    if (term->read_only()) co_return co_await refuse_browser(exchange, 503, term->read_only()->message);
    co_return co_await leave_to(exchange, term, asked.to, *caller);
}

Task<> sign_in_with_password(http::Exchange& exchange, Api& api, TermPtr term, const Asked& asked) {
    api::SignIn request{.login = asked.field("login"), .password = asked.field("password")};
    constexpr std::size_t login_max = 128, password_max = 256;
    Result<PasswordCheck> check = sign_in_failed();
    if (!request.login.empty() && request.login.size() <= login_max && !request.password.empty() &&
        request.password.size() <= password_max)
        check = co_await check_password(term, request.login, request.password, asked.caller.address);
    if (!check && check.error().code == Code::cancelled) co_return std::unexpected(check.error());
    if (!check) co_return co_await show_form(exchange, term, asked, &check.error());
    const auto done = co_await sign_in(api, call_of(asked), std::move(request), *check, Makes::nothing);
    if (done) co_return co_await finish_browser(exchange, term, done->user_id, asked.to.text);
    if (done.error().code == Code::cancelled) co_return std::unexpected(done.error());
    if (done.error().reason != "code_needed")
        co_return co_await show_form(exchange, term, asked, &done.error());
    const Ports& ports = term->ports();
    const std::string step = steps_of(*term).codes.keep({check->tried.login, check->checked, asked.to.text},
                                                        ports.random, ports.digest, ports.timers.now());
    co_return co_await show_code_form(exchange, asked, step);
}

// The second step, of a person whose password was right some minutes ago.
Task<> sign_in_with_code(http::Exchange& exchange, Api& api, TermPtr term, Asked asked) {
    const Ports& ports = term->ports();
    const std::string step = asked.field("step"), code = asked.field("code");
    auto& codes = steps_of(*term).codes;
    const CodeStep* found = codes.find(step, ports.digest, ports.timers.now());
    if (!found)
        co_return co_await refuse_browser(
            exchange, 403, "This sign-in took too long, or had too many wrong codes. Begin again.");
    const CodeStep kept = *found;
    auto to = co_await target_of(term, kept.target, asked.caller.address);
    if (!to) co_return co_await refuse_target(exchange, to.error());
    asked.to = std::move(*to);
    const auto tried = co_await attempt(term, kept.user, asked.caller.address);
    if (!tried && tried.error().code == Code::cancelled) co_return std::unexpected(tried.error());
    if (!tried) co_return co_await show_code_form(exchange, asked, step, &tried.error());
    constexpr std::size_t code_max = 64;
    api::SignIn request{.login = kept.user, .code = code.substr(0, code_max)};
    const auto done =
        co_await sign_in(api, call_of(asked), std::move(request), {*tried, kept.checked}, Makes::nothing);
    if (done) {
        codes.erase(step, ports.digest);
        co_return co_await finish_browser(exchange, term, done->user_id, kept.target);
    }
    if (done.error().code == Code::cancelled) co_return std::unexpected(done.error());
    if (CodeStep* wrong = codes.find(step, ports.digest, ports.timers.now()); wrong && --wrong->tries == 0)
        codes.erase(step, ports.digest);
    co_return co_await show_code_form(exchange, asked, step, &done.error());
}

// Allow or Deny.
Task<> decide_device(http::Exchange& exchange, TermPtr term, const Asked& asked) {
    const Ports& ports = term->ports();
    const Instant now = ports.timers.now();
    const std::string form = asked.field("form"), answer = asked.field("answer");
    auto& confirmations = steps_of(*term).confirmations;
    const ConfirmStep* found = confirmations.find(form, ports.digest, now);
    if (!found || (answer != "allow" && answer != "deny"))
        co_return co_await refuse_browser(exchange, 403, "This page was used, or is too old. Begin again.");
    const ConfirmStep step = *found;
    confirmations.erase(form, ports.digest);
    Device* device = devices_of(*term).waiting(step.letters, now);
    const User* user = term->look().estate.users.find(step.user);
    if (!device || !user || user->disabled_at != 0)
        co_return co_await refuse_browser(
            exchange, 404, "This code was used, or has expired. Begin again at the command line.");
    const bool allowed = answer == "allow";
    if (allowed) device->user = step.user, device->mark = step.mark;
    device->denied = !allowed;
    const std::string on =
        device->host.empty() ? device->address : fmt::format("{} ({})", device->host, device->address);
    if (!term->read_only()) {
        term->desk(std::string{user_mark} + step.user)
            .estate.event("user", user->id, user->tenant, allowed ? "device_allowed" : "device_denied",
                          fmt::format("User {} {} the sign-in of a command line on {}.", user->login,
                                      allowed ? "allowed" : "denied", on));
        CO_TRY(co_await term->commit());
    }
    co_return co_await exchange.respond(page_response(
        200, allowed
                 ? sign_in_notice("Signed in", "The command line is signed in. You can close this page.",
                                  NoticeTone::good)
                 : sign_in_notice("Denied",
                                  "The command line was not signed in. If you did not begin this, another "
                                  "person may have tried to use your account: tell an admin.",
                                  NoticeTone::good)));
}

// The command line that waits shows a code: it is typed here, or came with the link.
Task<> answer_device(http::Exchange& exchange, TermPtr term, Asked asked, bool post) {
    if (post) co_return co_await decide_device(exchange, term, asked);
    const std::string typed = asked.field("code");
    if (typed.empty()) co_return co_await exchange.respond(page_response(200, device_code_page("", "")));
    auto to = co_await target_of(term, std::string{device_target} + typed, asked.caller.address);
    if (!to && to.error().code == Code::cancelled) co_return std::unexpected(to.error());
    if (!to)
        co_return co_await exchange.respond(
            page_response(status_of_page(to.error()), device_code_page(typed, sentence(to.error().message))));
    asked.to = std::move(*to);
    co_return co_await show_form(exchange, term, asked);
}

Task<> answer_sign_in(http::Exchange& exchange, Api& api, TermPtr term, Asked asked, bool post) {
    if (post && !asked.field("step").empty())
        co_return co_await sign_in_with_code(exchange, api, term, std::move(asked));
    std::string target = asked.field("target");
    if (target.empty()) target = std::string{gateway_target} + asked.field("return");
    auto to = co_await target_of(term, std::move(target), asked.caller.address);
    if (!to) co_return co_await refuse_target(exchange, to.error());
    asked.to = std::move(*to);
    if (!post) co_return co_await show_form(exchange, term, asked);
    if (!asked.to.device && !asked.field("key").empty())
        co_return co_await sign_in_with_key(exchange, term, asked);
    co_return co_await sign_in_with_password(exchange, api, term, asked);
}

}  // namespace

Task<> answer_browser_sign_in(http::Exchange& exchange, Api& api) {
    const TermPtr term = CO_TRY(api.leader());
    const bool post = exchange.request.method == "POST";
    Asked asked{.caller = stranger_of(exchange)};
    asked.body =
        post ? CO_TRY(co_await exchange.read_all(form_bytes_max)) : std::string{exchange.request.query()};
    if (term->ended())
        co_return co_await refuse_browser(exchange, 503, "This master leads no longer. Try again.");
    if (post && is_from_elsewhere(exchange, term->settings().public_url))
        co_return co_await refuse_browser(exchange, 403,
                                          "A page of another origin asked for this. Open the address again.");
    if (exchange.request.path() == device_path)
        co_return co_await answer_device(exchange, term, std::move(asked), post);
    co_return co_await answer_sign_in(exchange, api, term, std::move(asked), post);
}

Task<> refuse_browser(http::Exchange& exchange, int status, std::string complaint) {
    co_return co_await exchange.respond(
        page_response(status, sign_in_notice("Sign in", sentence(complaint), NoticeTone::bad)));
}

Task<> finish_browser(http::Exchange& exchange, TermPtr term, std::string user_id, std::string target,
                      BrowserExtras extras) {
    const std::string address{address_of(exchange)};
    const auto to = co_await target_of(term, std::move(target), address);
    if (!to) co_return co_await refuse_target(exchange, to.error());
    if (term->read_only()) co_return co_await refuse_browser(exchange, 503, term->read_only()->message);
    const Ports& ports = term->ports();
    Desk& desk = term->desk(std::string{user_mark} + user_id);
    const User* user = desk.estate.users.find(user_id);
    if (!user || user->disabled_at != 0 || !may_enter(desk, user->tenant))
        co_return co_await refuse_browser(exchange, 403, "This user may not sign in at present.");
    if (to->device) {
        const std::string form =
            steps_of(*term).confirmations.keep({user_id, to->device->letters, std::move(extras.mark)},
                                               ports.random, ports.digest, ports.timers.now());
        co_return co_await exchange.respond(page_response(200, confirm_page(*to->device, *user, form)));
    }
    Login like;
    if (extras.mark) extras.mark(like);
    if (needs_totp(desk, *user, &like))
        co_return co_await refuse_browser(exchange, 403,
                                          "A second factor is required, and this user has none yet. Enrol it "
                                          "at a command line: hostler login, then hostler totp enrol.");
    const MadeLogin made =
        make_login(desk, user_id, {.address = address, .client = std::string{browser_client}}, ports.digest);
    if (extras.mark) extras.mark(desk.estate.logins.edit(std::string{made.login->hash}));
    const auto caller = caller_of(*term, made.secret, address);
    HOSTLER_ASSERT(caller);  // Its session was made a moment ago.
    co_return co_await leave_to(exchange, term, *to, *caller);
}

}  // namespace hostler::master
