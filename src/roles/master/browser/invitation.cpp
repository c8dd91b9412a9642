#include "roles/master/browser/invitation.h"

#include <fmt/format.h>

#include "api/operations_user.h"
#include "roles/master/browser/invitation_page.h"
#include "roles/master/browser/link.h"
#include "roles/master/browser/steps.h"
#include "roles/master/http/people.h"
#include "roles/master/user/invitations.h"

namespace hostler::master {

namespace {

Task<> show_invitation(http::Exchange& exchange, TermPtr term, const LinkRequest& asked);
Task<> accept(http::Exchange& exchange, Api& service, TermPtr term, const LinkRequest& asked);

constexpr LinkPage shown_invitation{.title = "Invitation", .show = show_invitation, .take = accept};

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

Result<const Invitation*> invitation_asked(const Term& term, const LinkRequest& asked) {
    return invitation_of(term.look(), asked.field("secret"), term.ports().digest,
                         term.ports().timers.wall().time_since_epoch().count());
}

// `why`: nullptr: the form is new, and suggests the invitation's login.
Task<> show_form(http::Exchange& exchange, TermPtr term, const LinkRequest& asked, const Error* why) {
    const auto invitation = invitation_asked(*term, asked);
    if (!invitation)
        co_return co_await refuse_link(exchange, shown_invitation, status_of_page(invitation.error()),
                                       invitation.error().message);
    const std::string inviter = inviter_of(term->look(), **invitation), secret = asked.field("secret");
    const std::string login = why ? asked.field("login") : (*invitation)->login, name = asked.field("name");
    std::string complaint;
    if (why && why->fields.empty()) complaint = fmt::format("{} {}", sentence(why->message), why->help);
    co_return co_await respond_page(
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
Result<api::AcceptInvitation> request_of(const LinkRequest& asked, const Invitation& invitation) {
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

Task<> show_invitation(http::Exchange& exchange, TermPtr term, const LinkRequest& asked) {
    co_return co_await show_form(exchange, std::move(term), asked, nullptr);
}

Task<> accept(http::Exchange& exchange, Api& service, TermPtr term, const LinkRequest& asked) {
    const auto invitation = invitation_asked(*term, asked);
    if (!invitation) co_return co_await show_form(exchange, term, asked, nullptr);
    auto request = request_of(asked, **invitation);
    if (!request) co_return co_await show_form(exchange, term, asked, &request.error());
    const api::Operation& operation = api::ops::accept_invitation;
    api::Call call{.caller = asked.caller, .operation = &operation, .permission = operation.permission};
    auto done = co_await accept_invitation(service, std::move(call), std::move(*request));
    if (done) {
        const User* user = term->look().estate.users.find(done->user_id);
        co_return co_await respond_page(
            exchange, 200,
            accepted_page(
                {.login = done->login, .api = asked.api, .enrols = user && needs_totp(term->look(), *user)}));
    }
    Error& why = done.error();
    if (why.code == Code::cancelled) co_return std::unexpected(why);
    if (term->ended()) co_return co_await refuse_link_without_leader(exchange, shown_invitation);
    if (why.reason == "login_exists")
        why.fields.push_back({"login", "is taken: there is a user of this name. Choose another one"});
    co_return co_await show_form(exchange, term, asked, &why);
}

}  // namespace

Task<> answer_browser_invitation(http::Exchange& exchange, Api& api_service, std::string api) {
    return answer_link(exchange, api_service, std::move(api), shown_invitation);
}

}  // namespace hostler::master
