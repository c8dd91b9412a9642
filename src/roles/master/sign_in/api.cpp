// Signing in and out, and sessions.
#include <fmt/format.h>

#include "api/operations_sign_in.h"
#include "domain/tenancy/credentials.h"
#include "roles/master/http/api.h"
#include "roles/master/http/caller.h"
#include "roles/master/sign_in/by_password.h"
#include "roles/master/sign_in/sign_in.h"
#include "roles/master/state/refuse.h"
#include "roles/master/state/views.h"
#include "roles/master/user/users.h"

namespace hostler::master {

namespace {

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

Subject subject_of(const Desk& desk, const api::Call& call, const api::NameSession& request) {
    const auto found = session_named(desk, call, request.session);
    if (!found) return {};
    return {"session/" + request.session, user_of(desk, **found).tenant,
            api::encode(view(desk, **found, call))};
}

// Of signOut and enrolTotp, which name nothing.
Subject subject_of(const Desk& desk, const api::Call& call, const api::Empty&) {
    if (const User* user = user_of_call(desk, call)) return subject_named(*user, "");
    if (call.caller.session.empty()) return {};
    return {"session/" + session_name(call.caller.session), call.caller.tenant};
}

void add_sign_in(Api& service) {
    namespace ops = api::ops;
    service.handlers().on<ops::sign_in>(
        [&service](api::Call call, api::SignIn request) -> Task<api::SignedIn> {
            const TermPtr term = CO_TRY(service.leader());
            auto check =
                CO_TRY(co_await check_password(term, request.login, request.password, call.caller.address));
            co_return co_await sign_in(service, std::move(call), std::move(request), std::move(check),
                                       Makes::session);
        });
    service.write<ops::sign_out>(
        [](Desk& desk, const api::Call& call, const api::Empty&) -> Result<api::SignedOut> {
            // Of two sign-outs at a time, the second finds nothing.
            if (desk.estate.sign_ins.find(call.caller.session))
                desk.estate.sign_ins.erase(call.caller.session);
            const bool by_key = !call.caller.session.empty() && !user_of_call(desk, call);
            if (by_key) return api::SignedOut{};
            const User& user = *TRY(own_user(desk, call));
            desk.estate.event("user", user.id, user.tenant, "signed_out",
                              fmt::format("User {} signed out.", user.login));
            const std::string hash = call.caller.credential.substr(login_mark.size());
            api::SignedOut answer;
            if (const Login* login = desk.estate.logins.find(hash); login && !login->end_url.empty())
                answer.end_session_url = login->end_url;
            desk.estate.logins.erase(std::string{hash});
            return answer;
        });
    service.write<ops::create_console_link>([&service](Desk& desk, const api::Call& call,
                                                       const api::Empty&) -> Result<api::ConsoleLink> {
        // A session ends with its time: one that makes others would not.
        if (!call.caller.session.empty())
            return refuse("a session of the console makes no links to it", "by_session",
                          "Sign in in the other browser, or make the link with a key: hostler console link.");
        const TermPtr term = TRY(service.leader());
        constexpr std::chrono::minutes life{10};
        const std::string code = make_code(*term, call.caller, std::string{console_route}, life);
        return api::ConsoleLink{.url = fmt::format("{}/sign-in/console?code={}", call.caller.origin, code),
                                .secret = code,
                                .expires_at = desk.estate.time() + life};
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
