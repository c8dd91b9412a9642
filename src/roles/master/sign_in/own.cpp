#include "roles/master/sign_in/own.h"

#include "core/ip_address.h"
#include "roles/master/sign_in/throttle.h"
#include "roles/master/state/refuse.h"
#include "roles/master/user/users.h"

namespace hostler::master {

namespace {

bool has_session_from(const Desk& desk, const std::string& login, const std::string& address) {
    const User* user = find_login(desk, login);
    const auto from = ip_in(address);
    if (!user || !from) return false;
    for (const Login* one : desk.estate.logins.by().user.of(user->id))
        if (const auto its = ip_in(one->address); its && *its == *from) return true;
    return false;
}

}  // namespace

Result<const User*> own_user(const Desk& desk, const api::Call& call) {
    if (const User* user = user_of_call(desk, call)) return user;
    return refuse("this is for people who have signed in, and the call has a key", "not_a_person",
                  "Sign in: `hostler login`.");
}

Throttle& throttle_of(Term& term) {
    return term.part<Throttle>([&] { return std::make_shared<Throttle>(term.settings().sign_in); });
}

Task<Attempt> attempt(TermPtr term, std::string login, std::string address) {
    Attempt made{std::move(login), std::move(address)};
    made.known = has_session_from(term->look(), made.login, made.address);
    co_return co_await attempt(std::move(term), std::move(made));
}

Task<Attempt> attempt(TermPtr term, Attempt made) {
    Throttle& throttle = throttle_of(*term);
    Timers& timers = term->ports().timers;
    const Duration wait = CO_TRY(throttle.enter(made.login, made.address, made.known, timers.now()));
    if (wait > Duration{0}) {
        const Throttle::Waiting waiting{throttle};
        CO_TRY(co_await sleep(timers, wait));
    }
    co_return made;
}

void attempt_succeeded(Term& term, const Attempt& attempt) {
    throttle_of(term).succeeded(attempt.login, attempt.address, attempt.known, term.ports().timers.now());
}

}  // namespace hostler::master
