// Second factors.
#include <fmt/format.h>

#include "api/operations_sign_in.h"
#include "api/types_user.h"
#include "core/percent.h"
#include "domain/tenancy/totp.h"
#include "roles/master/http/hashing.h"
#include "roles/master/sign_in/own.h"
#include "roles/master/sign_in/sign_in.h"
#include "roles/master/sign_in/throttle.h"
#include "roles/master/state/refuse.h"
#include "roles/master/user/roles.h"
#include "roles/master/user/users.h"

namespace hostler::master {

namespace {

constexpr std::string_view totp_issuer = "Hostler";

// As authenticator programs read it from a picture.
std::string otpauth_uri(std::string_view login, std::string_view secret) {
    return fmt::format("otpauth://totp/{0}:{1}?secret={2}&issuer={0}&algorithm=SHA1&digits={3}&period={4}",
                       totp_issuer, percent_encode(login), secret, totp_digits, totp_step_s);
}

Result<api::EnrolledTotp> decide_enrol(Desk& desk, const api::Call& call, const api::Empty&) {
    const User& user = *TRY(own_user(desk, call));
    if (has_totp(user))
        return refuse("you have a second factor already", "totp_exists",
                      "Remove it first: `hostler totp remove`.");
    const std::string id = user.id;
    api::EnrolledTotp answer{.secret = begin_totp(desk, id)};
    answer.uri = otpauth_uri(desk.estate.users.at(id).login, answer.secret);
    return answer;
}

Result<api::ConfirmedTotp> decide_confirm(Desk& desk, const api::Call& call, const api::ConfirmTotp& request,
                                          const Digest& digest) {
    const std::string id = TRY(own_user(desk, call))->id;
    return api::ConfirmedTotp{TRY(confirm_totp(desk, id, request.code, digest))};
}

Result<const User*> other_user(const Desk& desk, const api::Call& call, const std::string& name) {
    api::Call writing = call;
    writing.permission = Permission::user_write;
    return user_named(desk, writing, name);
}

Result<api::Empty> decide_remove(Desk& desk, const api::Call& call, const api::RemoveTotp& request,
                                 const Digest& digest) {
    const User* own = user_of_call(desk, call);
    const User* user = request.user ? TRY(other_user(desk, call, *request.user)) : TRY(own_user(desk, call));
    const std::string id = user->id;
    if (!has_totp(*user))
        return refuse(fmt::format("user {} has no second factor", user->login), "totp_absent", "");
    if (user != own) TRY(check_over(desk, call, *user));
    if (user == own) TRY(use_code(desk, id, request.code, digest));
    remove_totp(desk, id);
    return api::Empty{};
}

// Codes are tried no faster than passwords.
template <const auto& operation, class Request, class Decide>
Task<typename std::remove_cvref_t<decltype(operation)>::Response> slowly(Api& service, Decide decide,
                                                                         api::Call call, Request request) {
    const TermPtr term = CO_TRY(service.leader());
    std::optional<Attempt> tried;
    if (const User* user = user_of_call(term->look(), call))
        tried = CO_TRY(co_await attempt(term, std::string{user->login}, call.caller.address));
    const Digest& digest = term->ports().digest;
    auto answer = CO_TRY(co_await service.perform<std::remove_cvref_t<decltype(operation)>>(
        [&digest, decide](Desk& desk, const api::Call& asked, const Request& wanted) {
            return decide(desk, asked, wanted, digest);
        },
        std::move(call), std::move(request)));
    if (tried) attempt_succeeded(*term, *tried);
    co_return answer;
}

}  // namespace

Subject subject_of(const Desk& desk, const api::Call& call, const api::Empty&);
Subject subject_of(const Desk& desk, const api::Call& call, const api::ConfirmTotp&) {
    const User* user = user_of_call(desk, call);
    return user ? subject_named(*user, api::encode(view(*user))) : Subject{};
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::RemoveTotp& request) {
    const User* user = user_of_call(desk, call);
    if (request.user) user = other_user(desk, call, *request.user).value_or(nullptr);
    return user ? subject_named(*user, api::encode(view(*user))) : Subject{};
}

void add_second_factors(Api& service) {
    namespace ops = api::ops;
    service.write<ops::enrol_totp>(decide_enrol);
    service.handlers().on<ops::confirm_totp>(
        [&service](api::Call call, api::ConfirmTotp request) -> Task<api::ConfirmedTotp> {
            return slowly<ops::confirm_totp>(service, decide_confirm, std::move(call), std::move(request));
        });
    service.handlers().on<ops::remove_totp>(
        [&service](api::Call call, api::RemoveTotp request) -> Task<api::Empty> {
            return slowly<ops::remove_totp>(service, decide_remove, std::move(call), std::move(request));
        });
}

}  // namespace hostler::master
