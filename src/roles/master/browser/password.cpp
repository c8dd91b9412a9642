#include "roles/master/browser/password.h"

#include <fmt/format.h>

#include "api/operations_sign_in.h"
#include "core/page.h"
#include "domain/tenancy/credentials.h"
#include "roles/master/browser/invitation_page.h"
#include "roles/master/browser/link.h"
#include "roles/master/browser/page.h"
#include "roles/master/browser/steps.h"
#include "roles/master/http/people.h"
#include "roles/master/sign_in/passwords.h"
#include "roles/master/user/users.h"

namespace hostler::master {

namespace {

Task<> show_form(http::Exchange& exchange, TermPtr term, const LinkRequest& asked);
Task<> set_password(http::Exchange& exchange, Api& service, TermPtr term, const LinkRequest& asked);

constexpr LinkPage password_page{.title = "Password", .show = show_form, .take = set_password};

// The login is there for what keeps passwords in the browser.
std::string form_page(const User& user, const LinkRequest& asked, const Error* why) {
    const std::span<const FieldError> wrong = why ? std::span{why->fields} : std::span<const FieldError>{};
    const std::string label =
        fmt::format("New password, {} to {} bytes", password_size_min, password_size_max);
    std::string inputs = form_input({.name = "login",
                                     .label = "Login",
                                     .type = "text",
                                     .complete = "username",
                                     .value = user.login,
                                     .more = " readonly",
                                     .title = "The login"},
                                    wrong);
    inputs += form_input({.name = "newPassword",
                          .label = label,
                          .type = "password",
                          .complete = "new-password",
                          .more = " required autofocus",
                          .title = "The password"},
                         wrong);
    const std::string complaint =
        why && why->fields.empty() ? fmt::format("{} {}", sentence(why->message), why->help) : "";
    return html_of(
        {.title = "Set a password",
         .body = fmt::format(
             "<p>Choose a password for the GPU cloud <code>{}</code>. It ends all sessions of this "
             "user.</p>{}<form method=\"post\" action=\"{}\">{}{}<button id=\"set\">Set the "
             "password</button></form>",
             html_text(asked.api), alert_of(complaint), password_page_path,
             hidden_field("secret", asked.field("secret")), inputs)});
}

Task<> show(http::Exchange& exchange, TermPtr term, const LinkRequest& asked, const Error* why) {
    const auto user = user_of_password_link(*term, asked.field("secret"));
    if (!user)
        co_return co_await refuse_link(exchange, password_page, status_of_page(user.error()),
                                       user.error().message);
    co_return co_await respond_page(exchange, why ? status_of_page(*why) : 200,
                                    form_page(**user, asked, why));
}

Task<> show_form(http::Exchange& exchange, TermPtr term, const LinkRequest& asked) {
    co_return co_await show(exchange, std::move(term), asked, nullptr);
}

Task<> set_password(http::Exchange& exchange, Api& service, TermPtr term, const LinkRequest& asked) {
    const auto user = user_of_password_link(*term, asked.field("secret"));
    if (!user) co_return co_await show(exchange, term, asked, nullptr);
    const std::string id = (*user)->id;
    auto request = api::decode<api::ResetPassword>(api::encode(
        api::ResetPassword{.secret = asked.field("secret"), .new_password = asked.field("newPassword")}));
    if (!request) co_return co_await show(exchange, term, asked, &request.error());
    const api::Operation& operation = api::ops::reset_password;
    api::Call call{.caller = asked.caller, .operation = &operation, .permission = operation.permission};
    const auto done = co_await reset_password(service, std::move(call), std::move(*request));
    const User* now = done ? term->look().estate.users.find(id) : nullptr;
    if (now) {
        const std::string login = html_text(now->login);
        const bool enrols = needs_totp(term->look(), *now);
        co_return co_await respond_page(
            exchange, 200,
            html_of({.title = "Your password is set",
                     .body = fmt::format("<p class=\"detail\">User {} signs in with it from now on. You can "
                                         "close this page.</p>{}",
                                         login, next_part(asked.api, enrols))}));
    }
    if (!done && done.error().code == Code::cancelled) co_return std::unexpected(done.error());
    if (term->ended()) co_return co_await refuse_link_without_leader(exchange, password_page);
    co_return co_await show(exchange, term, asked, done ? nullptr : &done.error());
}

}  // namespace

Task<> answer_browser_password(http::Exchange& exchange, Api& api_service, std::string api) {
    return answer_link(exchange, api_service, std::move(api), password_page);
}

}  // namespace hostler::master
