#include "roles/master/http/people.h"

#include <algorithm>

#include "roles/master/tenancy/principals.h"
#include "roles/master/tenancy/tenancy.h"

namespace hostler::master {

namespace {

std::int64_t wall_micros(const Term& term) { return term.ports().timers.wall().time_since_epoch().count(); }

// nullptr: it is over, or its user is.
const Login* good_login(const Term& term, const Login* login) {
    if (!login) return nullptr;
    const std::int64_t now = wall_micros(term);
    const std::int64_t idle = std::chrono::microseconds{term.settings().session_idle}.count();
    if (login->expires_at <= now || login->used_at + idle <= now) return nullptr;
    const User* user = term.look().estate.users.find(login->user);
    const bool may = user && user->disabled_at == 0 && may_enter(term.look(), user->tenant);
    return may ? login : nullptr;
}

}  // namespace

const Login* login_of_secret(const Term& term, const std::string& secret) {
    if (secret.size() > 256 || !secret.starts_with(login_prefix)) return nullptr;
    return good_login(term, term.look().estate.logins.find(term.ports().digest.sha256(secret)));
}

const Login* login_of_credential(const Term& term, const std::string& credential) {
    if (!credential.starts_with(login_mark)) return nullptr;
    return good_login(term, term.look().estate.logins.find(credential.substr(login_mark.size())));
}

const User& user_of(const Desk& desk, const Login& login) { return desk.estate.users.at(login.user); }

void note_use(Term& term, const std::string& credential) {
    const Login* login = login_of_credential(term, credential);
    if (!login || term.read_only()) return;
    constexpr std::int64_t minutes_5 = 300'000'000;
    const std::int64_t idle = std::chrono::microseconds{term.settings().session_idle}.count();
    const std::int64_t now = wall_micros(term);
    if (now - login->used_at < std::min(minutes_5, idle / 16)) return;
    term.desk(std::string{user_mark} + login->user).estate.logins.edit(std::string{login->hash}).used_at =
        now;
    term.commit_then([] {});
}

const User* user_of_call(const Desk& desk, const api::Call& call) {
    if (!call.caller.credential.starts_with(login_mark)) return nullptr;
    const Login* login = desk.estate.logins.find(call.caller.credential.substr(login_mark.size()));
    return login ? desk.estate.users.find(login->user) : nullptr;
}

bool needs_totp(const Desk& desk, const User& user, const Login* login) {
    if (has_totp(user)) return false;
    if (login && !login->provider.empty()) {
        const IdentityProvider* by = desk.estate.identity_providers.find(login->provider);
        if (by && by->trusted_second_factor) return false;
    }
    if (desk.settings.require_totp) return true;
    const auto asks = [&](const std::string& name) {
        const Tenant* tenant = desk.estate.tenants.find(name);
        return tenant && tenant->needs_totp;
    };
    return asks(user.tenant) || std::ranges::any_of(tenants_of(desk, std::string{user_mark} + user.id), asks);
}

const ServiceAccount* account_of(const Desk& desk, const ApiKey& key) {
    return key.account.empty() ? nullptr : desk.estate.service_accounts.find(key.account);
}

bool is_good(const Desk& desk, const ApiKey& key, std::int64_t now) {
    if (key.revoked_at != 0 || key.disabled_at != 0 || (key.expires_at != 0 && key.expires_at <= now))
        return false;
    if (!may_enter(desk, key.tenant)) return false;
    if (key.account.empty()) return true;
    const ServiceAccount* account = account_of(desk, key);
    return account && account->disabled_at == 0;
}

}  // namespace hostler::master
