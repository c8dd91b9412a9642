// Changing and resetting passwords.
#include <fmt/format.h>

#include "api/operations_sign_in.h"
#include "domain/tenancy/credentials.h"
#include "roles/master/http/api.h"
#include "roles/master/sign_in/own.h"
#include "roles/master/sign_in/passwords.h"
#include "roles/master/sign_in/sign_in.h"
#include "roles/master/user/users.h"

namespace hostler::master {

namespace {

Result<> check_new_password(const std::string& password, const std::string& login) {
    std::string what = wrong_password(password, login);
    if (what.empty()) return {};
    Error wrong{Code::invalid, "one field of the request is wrong", "invalid"};
    wrong.fields.push_back({"newPassword", std::move(what)});
    return std::unexpected(std::move(wrong));
}

std::unexpected<Error> wrong_old_password() {
    Error wrong{Code::forbidden, "the old password is wrong", "password_wrong"};
    return std::unexpected(std::move(wrong));
}

// All other sessions end: whoever had the old password may have one.
void set_password(Desk& desk, const std::string& user, const std::string& hash, std::string_view but) {
    User& row = desk.estate.users.edit(user);
    row.password = hash;
    desk.estate.event("user", user, row.tenant, "password_changed",
                      fmt::format("The password of user {} was changed.", row.login));
    end_sessions(desk, user, but);
    forget_password_links(desk, user);
}

Task<api::Empty> change_password(Api& service, api::Call call, api::ChangePassword request) {
    const TermPtr term = CO_TRY(service.leader());
    const std::string id = CO_TRY(own_user(term->look(), call))->id;
    const std::string login = term->look().estate.users.at(id).login;
    CO_TRY(check_new_password(request.new_password, login));
    const Attempt tried = CO_TRY(co_await attempt(term, login, call.caller.address));
    const User* user = term->look().estate.users.find(id);
    const std::string old = user ? user->password : "";
    Passwords& passwords = term->ports().passwords;
    if (old.empty() || !CO_TRY(co_await passwords.verify(request.old_password, old)))
        co_return wrong_old_password();
    const std::string hash = CO_TRY(co_await passwords.hash(request.new_password));
    auto answer = CO_TRY(co_await service.perform<std::remove_cvref_t<decltype(api::ops::change_password)>>(
        [old, hash](Desk& desk, const api::Call& asked, const api::ChangePassword&) -> Result<api::Empty> {
            const User& row = *TRY(own_user(desk, asked));
            if (row.password != old) return wrong_old_password();  // It was changed meanwhile.
            const std::string session = asked.caller.credential.substr(login_mark.size());
            set_password(desk, std::string{row.id}, hash, session);
            return api::Empty{};
        },
        std::move(call), std::move(request)));
    attempt_succeeded(*term, tried);
    co_return answer;
}

// Errors: not_found (link_unknown), all alike.
Result<const User*> user_of_link(const Desk& desk, const std::string& hash, std::int64_t now) {
    const PasswordLink* link = desk.estate.password_links.find(hash);
    const User* user = link && link->expires_at > now ? desk.estate.users.find(link->user) : nullptr;
    if (user && user->disabled_at == 0) return user;
    return fail(Code::not_found,
                "this secret is not known: it was used, has ended or was replaced; ask for another one",
                "link_unknown");
}

Subject user_subject(const Desk& desk, const std::string& actor) {
    const User* user =
        actor.starts_with(user_mark) ? desk.estate.users.find(actor.substr(user_mark.size())) : nullptr;
    return user ? subject_named(*user, "") : Subject{};
}

}  // namespace

Result<const User*> user_of_password_link(const Term& term, const std::string& secret) {
    return user_of_link(term.look(), term.ports().digest.sha256(secret),
                        term.ports().timers.wall().time_since_epoch().count());
}

Task<api::Empty> reset_password(Api& service, api::Call call, api::ResetPassword request) {
    const TermPtr term = CO_TRY(service.leader());
    const User& user = *CO_TRY(user_of_password_link(*term, request.secret));
    CO_TRY(check_new_password(request.new_password, user.login));
    call.caller.actor = std::string{user_mark} + user.id;
    const std::string link = term->ports().digest.sha256(request.secret);
    const std::string hash = CO_TRY(co_await term->ports().passwords.hash(request.new_password));
    co_return co_await service.perform<std::remove_cvref_t<decltype(api::ops::reset_password)>>(
        [link, hash](Desk& desk, const api::Call&, const api::ResetPassword&) -> Result<api::Empty> {
            const std::string id = TRY(user_of_link(desk, link, desk.estate.micros()))->id;
            set_password(desk, id, hash, {});
            return api::Empty{};
        },
        std::move(call), std::move(request));
}

Subject subject_of(const Desk& desk, const api::Call& call, const api::ChangePassword&) {
    return user_subject(desk, call.caller.actor);
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::ResetPassword&) {
    return user_subject(desk, call.caller.actor);
}

void add_passwords(Api& service) {
    namespace ops = api::ops;
    service.handlers().on<ops::change_password>(
        [&service](api::Call call, api::ChangePassword request) -> Task<api::Empty> {
            return change_password(service, std::move(call), std::move(request));
        });
    service.handlers().on<ops::reset_password>(
        [&service](api::Call call, api::ResetPassword request) -> Task<api::Empty> {
            return reset_password(service, std::move(call), std::move(request));
        });
}

}  // namespace hostler::master
