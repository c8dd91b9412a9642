#include "roles/master/sign_in/by_password.h"

#include "api/operations_sign_in.h"
#include "domain/tenancy/credentials.h"
#include "roles/master/http/denials.h"
#include "roles/master/sign_in/sign_in.h"
#include "roles/master/state/views.h"
#include "roles/master/tenancy/tenancy.h"
#include "roles/master/user/users.h"

namespace hostler::master {

namespace {

Result<api::SignedIn> decide_sign_in(Desk& desk, const api::Call& call, const api::SignIn& request,
                                     const Digest& digest, const std::string& checked, Makes makes) {
    const User* user = find_login(desk, request.login);
    if (!user || checked.empty() || user->password != checked || user->disabled_at != 0 ||
        !may_enter(desk, user->tenant))
        return sign_in_failed();
    TRY(use_code(desk, user->id, request.code, digest));
    if (makes == Makes::nothing) return signed_in(desk, *user);
    return session_made(desk, make_login(desk, user->id, call.caller, digest));
}

}  // namespace

Subject subject_of(const Desk&, const api::Call&, const api::SignIn&) { return {}; }
Subject subject_after(const Desk& desk, const api::Call&, const api::SignIn&, const api::SignedIn& made) {
    const User* user = desk.estate.users.find(made.user_id);
    return user ? subject_named(*user, "") : Subject{};
}

Task<PasswordCheck> check_password(TermPtr term, std::string login, std::string password,
                                   std::string address) {
    PasswordCheck check{.tried = CO_TRY(co_await attempt(term, plain_login(login), std::move(address)))};
    if (const User* user = find_login(term->look(), check.tried.login); user && user->disabled_at == 0)
        check.checked = user->password;
    Passwords& passwords = term->ports().passwords;
    if (check.checked.empty())  // It takes as long.
        CO_TRY(co_await passwords.hash(password));
    else if (!CO_TRY(co_await passwords.verify(password, check.checked)))
        check.checked.clear();
    co_return check;
}

Task<api::SignedIn> sign_in(Api& service, api::Call call, api::SignIn request, PasswordCheck check,
                            Makes makes) {
    const TermPtr term = CO_TRY(service.leader());
    const User* user = find_login(term->look(), check.tried.login);
    if (user && !check.checked.empty()) call.caller.actor = std::string{user_mark} + user->id;
    const Digest& digest = term->ports().digest;
    const std::string address = call.caller.address, client = call.caller.client,
                      request_id = call.caller.request_id;
    auto answer = co_await service.perform<std::remove_cvref_t<decltype(api::ops::sign_in)>>(
        [&digest, checked = check.checked, makes](Desk& desk, const api::Call& asked,
                                                  const api::SignIn& wanted) {
            return decide_sign_in(desk, asked, wanted, digest, checked, makes);
        },
        std::move(call), std::move(request));
    if (answer) {
        attempt_succeeded(*term, check.tried);
        co_return answer;
    }
    if (answer.error().code == Code::unauthenticated && !term->read_only()) {
        audit_sign_in(term->desk("master"), check.tried.login, address, client, SignInResult::failed,
                      answer.error().reason, request_id);
        CO_TRY(co_await term->commit());
    }
    co_return answer;
}

api::SignedIn signed_in(const Desk& desk, const User& user) {
    return {.user_id = user.id,
            .login = user.login,
            .tenant_id = user.tenant,
            .idle_seconds = desk.settings.session_idle.count(),
            .needs_totp = needs_totp(desk, user)};
}

api::SignedIn session_made(const Desk& desk, const MadeLogin& made) {
    api::SignedIn answer = signed_in(desk, user_of(desk, *made.login));
    answer.needs_totp = needs_totp(desk, user_of(desk, *made.login), made.login);
    answer.secret = made.secret;
    answer.expires_at = wall(made.login->expires_at);
    return answer;
}

}  // namespace hostler::master
