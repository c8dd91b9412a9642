// Signing in and out, and sessions.
#include <fmt/format.h>

#include "api/operations_sign_in.h"
#include "api/types_user.h"
#include "domain/tenancy/credentials.h"
#include "roles/master/http/api.h"
#include "roles/master/http/denials.h"
#include "roles/master/sign_in/own.h"
#include "roles/master/sign_in/sign_in.h"
#include "roles/master/state/refuse.h"
#include "roles/master/state/views.h"
#include "roles/master/tenancy/tenancy.h"
#include "roles/master/user/users.h"

namespace hostler::master {

namespace {

// `checked`: the user's hash that the password was found to be of; empty: it is wrong, or there is no user.
Result<api::SignedIn> decide_sign_in(Desk& desk, const api::Call& call, const api::SignIn& request,
                                     const Digest& digest, const std::string& checked) {
    const User* user = find_login(desk, request.login);
    if (!user || checked.empty() || user->password != checked || user->disabled_at != 0 ||
        !may_enter(desk, user->tenant))
        return sign_in_failed();
    TRY(use_code(desk, user->id, request.code, digest));
    const MadeLogin made = make_login(desk, user->id, call.caller, digest);
    return api::SignedIn{.secret = made.secret,
                         .user_id = user->id,
                         .login = user->login,
                         .tenant_id = user->tenant,
                         .expires_at = wall(made.login->expires_at),
                         .idle_seconds = desk.settings.session_idle.count(),
                         .needs_totp = needs_totp(desk, *user)};
}

Task<api::SignedIn> sign_in(Api& service, api::Call call, api::SignIn request) {
    const TermPtr term = CO_TRY(service.leader());
    const Attempt tried = CO_TRY(co_await attempt(term, plain_login(request.login), call.caller.address));
    std::string checked;
    if (const User* user = find_login(term->look(), tried.login); user && user->disabled_at == 0)
        checked = user->password;
    Passwords& passwords = term->ports().passwords;
    if (checked.empty())  // It takes as long.
        CO_TRY(co_await passwords.hash(request.password));
    else if (!CO_TRY(co_await passwords.verify(request.password, checked)))
        checked.clear();
    if (const User* user = find_login(term->look(), tried.login); user && !checked.empty())
        call.caller.actor = std::string{user_mark} + user->id;
    const Digest& digest = term->ports().digest;
    const std::string address = call.caller.address, client = call.caller.client;
    auto answer = co_await service.perform<std::remove_cvref_t<decltype(api::ops::sign_in)>>(
        [&digest, checked](Desk& desk, const api::Call& asked, const api::SignIn& wanted) {
            return decide_sign_in(desk, asked, wanted, digest, checked);
        },
        std::move(call), std::move(request));
    if (answer) {
        attempt_succeeded(*term, tried);
        co_return answer;
    }
    if (answer.error().code == Code::unauthenticated && !term->read_only()) {
        audit_sign_in(term->desk("master"), tried.login, address, client, SignInResult::failed,
                      answer.error().reason);
        CO_TRY(co_await term->commit());
    }
    co_return answer;
}

// Errors: not_found (session_not_found).
Result<const Login*> session_named(const Desk& desk, const api::Call& call, const std::string& id) {
    for (const Login* login : desk.estate.logins.by().session.of(id)) {
        const User* user = desk.estate.users.find(login->user);
        if (!user) continue;
        if (user_of_call(desk, call) == user || may(call, Permission::user_write, scope_of(*user)))
            return login;
        if (may(call, Permission::user_read, scope_of(*user)))
            return api::permission_missing(Permission::user_write);
    }
    return fail(Code::not_found, fmt::format("there is no session {}", id), "session_not_found");
}

// The user whose sessions are listed; nullptr: the caller is a key, which has no sessions.
Result<const User*> user_meant(const Desk& desk, const api::Call& call,
                               const std::optional<std::string>& name) {
    const User* own = user_of_call(desk, call);
    if (!name) return own;
    if (own && (own->id == *name || own->login == plain_login(*name))) return own;
    api::Call reading = call;
    reading.permission = Permission::user_read;
    return user_named(desk, reading, *name);
}

}  // namespace

Subject subject_of(const Desk&, const api::Call&, const api::SignIn&) { return {}; }
Subject subject_after(const Desk& desk, const api::Call&, const api::SignIn&, const api::SignedIn& made) {
    const User* user = desk.estate.users.find(made.user_id);
    return user ? subject_named(*user, "") : Subject{};
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::NameSession& request) {
    const auto found = session_named(desk, call, request.session);
    if (!found) return {};
    return {"session/" + request.session, user_of(desk, **found).tenant,
            api::encode(view(desk, **found, call))};
}

// Of signOut and enrolTotp, which name nothing.
Subject subject_of(const Desk& desk, const api::Call& call, const api::Empty&) {
    const User* user = user_of_call(desk, call);
    return user ? subject_named(*user, "") : Subject{};
}

void add_sign_in(Api& service) {
    namespace ops = api::ops;
    service.handlers().on<ops::sign_in>(
        [&service](api::Call call, api::SignIn request) -> Task<api::SignedIn> {
            return sign_in(service, std::move(call), std::move(request));
        });
    service.write<ops::sign_out>(
        [](Desk& desk, const api::Call& call, const api::Empty&) -> Result<api::Empty> {
            const User& user = *TRY(own_user(desk, call));
            desk.estate.event("user", user.id, user.tenant, "signed_out",
                              fmt::format("User {} signed out.", user.login));
            desk.estate.logins.erase(call.caller.credential.substr(login_mark.size()));
            return api::Empty{};
        });
    service.read<ops::list_sessions>([](const Desk& desk, const api::Call& call,
                                        const api::ListSessions& request) -> Result<api::List<api::Session>> {
        const User* user = TRY(user_meant(desk, call, request.user));
        Paging<Login, api::Session> paging;
        if (user) paging.rows = desk.estate.logins.by().user.of(user->id);
        return paging.page(call, [&](const Login& row) { return view(desk, row, call); });
    });
    service.write<ops::revoke_session>(
        [](Desk& desk, const api::Call& call, const api::NameSession& request) -> Result<api::Empty> {
            const Login& login = *TRY(session_named(desk, call, request.session));
            const User& user = user_of(desk, login);
            desk.estate.event("user", user.id, user.tenant, "session_ended",
                              fmt::format("Session {} of user {} was ended.", request.session, user.login));
            desk.estate.logins.erase(std::string{login.hash});
            return api::Empty{};
        });
}

}  // namespace hostler::master
