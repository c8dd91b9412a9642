#include "roles/master/server/browser_invitation.h"

#include <fmt/format.h>

#include "api/operations_user.h"
#include "core/client_address.h"
#include "roles/master/http/people.h"
#include "roles/master/server/browser_page.h"
#include "roles/master/server/browser_steps.h"
#include "roles/master/server/forward.h"
#include "roles/master/server/invitation_page.h"
#include "roles/master/server/sign_in_page.h"
#include "roles/master/user/invitations.h"

namespace hostler::master {

namespace {

// Parts that a request of this page has.
struct Asked {
    std::string body;  // Or the query.
    std::string api;
    api::Caller caller;
    std::string field(std::string_view name) const { return form_field(body, name); }
};

Task<> respond(http::Exchange& exchange, int status, std::string html) {
    co_return co_await exchange.respond(page_response(status, std::move(html)));
}

Task<> refuse(http::Exchange& exchange, int status, std::string_view complaint) {
    co_return co_await respond(exchange, status,
                               sign_in_notice("Invitation", sentence(complaint), NoticeTone::bad));
}

std::string inviter_of(const Desk& desk, const Invitation& invitation) {
    constexpr std::string_view of_account = "account/";
    const std::string_view made_by = invitation.made_by;
    if (made_by.starts_with(user_mark)) {
        const User* user = desk.estate.users.find(std::string{made_by.substr(user_mark.size())});
        if (user) return user->name.empty() ? user->login : fmt::format("{} ({})", user->name, user->login);
    }
    if (made_by.starts_with(of_account)) {
        const auto* account =
            desk.estate.service_accounts.find(std::string{made_by.substr(of_account.size())});
        if (account) return fmt::format("Service account {}", account->name);
    }
    return "An admin";
}

Result<const Invitation*> invitation_asked(const Term& term, const Asked& asked) {
    return invitation_of(term.look(), asked.field("secret"), term.ports().digest,
                         term.ports().timers.wall().time_since_epoch().count());
}

// `why`: nullptr: the form is new, and suggests the invitation's login.
Task<> show_form(http::Exchange& exchange, TermPtr term, const Asked& asked, const Error* why = nullptr) {
    const auto invitation = invitation_asked(*term, asked);
    if (!invitation)
        co_return co_await refuse(exchange, status_of_page(invitation.error()), invitation.error().message);
    const std::string inviter = inviter_of(term->look(), **invitation), secret = asked.field("secret");
    const std::string login = why ? asked.field("login") : (*invitation)->login, name = asked.field("name");
    std::string complaint;
    if (why && why->fields.empty()) complaint = fmt::format("{} {}", sentence(why->message), why->help);
    co_return co_await respond(
        exchange, why ? status_of_page(*why) : 200,
        invitation_page({.invitation = **invitation,
                         .inviter = inviter,
                         .secret = secret,
                         .api = asked.api,
                         .login = login,
                         .name = why ? std::string_view{name} : std::string_view{},
                         .wrong = why ? std::span{why->fields} : std::span<const FieldError>{},
                         .complaint = complaint}));
}

// As the API would take it. Errors: invalid, with every wrong field.
Result<api::AcceptInvitation> request_of(const Asked& asked, const Invitation& invitation) {
    api::AcceptInvitation typed{
        .secret = asked.field("secret"), .login = asked.field("login"), .password = asked.field("password")};
    if (std::string name = asked.field("name"); !name.empty()) typed.name = std::move(name);
    auto request = api::decode<api::AcceptInvitation>(api::encode(typed));
    const auto newcomer = check_newcomer(invitation, typed);
    if (request && newcomer) return request;
    Error wrong = !request ? request.error() : newcomer.error();
    if (!request && !newcomer)
        wrong.fields.insert(wrong.fields.end(), newcomer.error().fields.begin(),
                            newcomer.error().fields.end());
    return std::unexpected(std::move(wrong));
}

Task<> accept(http::Exchange& exchange, Api& service, TermPtr term, const Asked& asked) {
    const auto invitation = invitation_asked(*term, asked);
    if (!invitation) co_return co_await show_form(exchange, term, asked);
    auto request = request_of(asked, **invitation);
    if (!request) co_return co_await show_form(exchange, term, asked, &request.error());
    const api::Operation& operation = api::ops::accept_invitation;
    api::Call call{.caller = asked.caller, .operation = &operation, .permission = operation.permission};
    auto done = co_await accept_invitation(service, std::move(call), std::move(*request));
    if (done) {
        const User* user = term->look().estate.users.find(done->user_id);
        co_return co_await respond(
            exchange, 200,
            accepted_page(
                {.login = done->login, .api = asked.api, .enrols = user && needs_totp(term->look(), *user)}));
    }
    Error& why = done.error();
    if (why.code == Code::cancelled) co_return std::unexpected(why);
    if (term->ended())
        co_return co_await refuse(exchange, http_status(Code::unavailable),
                                  "This master leads no longer. Try again.");
    if (why.reason == "login_exists")
        why.fields.push_back({"login", "is taken: there is a user of this name. Choose another one"});
    co_return co_await show_form(exchange, term, asked, &why);
}

}  // namespace

Task<> answer_browser_invitation(http::Exchange& exchange, Api& api_service, std::string api) {
    const TermPtr term = CO_TRY(api_service.leader());
    const bool post = exchange.request.method == "POST";
    const std::string address{address_of(exchange)};
    while (api.ends_with('/')) api.pop_back();
    Asked asked{
        .api = std::move(api),
        .caller = {.actor = "stranger",
                   .address = address,
                   .client = safe_user_agent(exchange.request.headers.find("User-Agent").value_or(""))}};
    asked.body =
        post ? CO_TRY(co_await exchange.read_all(form_bytes_max)) : std::string{exchange.request.query()};
    if (term->ended())
        co_return co_await refuse(exchange, http_status(Code::unavailable),
                                  "This master leads no longer. Try again.");
    if (post && is_from_elsewhere(exchange, term->settings().public_url))
        co_return co_await refuse(exchange, http_status(Code::forbidden),
                                  "A page of another origin asked for this. Open the address again.");
    if (!post) co_return co_await show_form(exchange, term, asked);
    co_return co_await accept(exchange, api_service, term, asked);
}

}  // namespace hostler::master
