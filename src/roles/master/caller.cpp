#include "roles/master/caller.h"

#include <fmt/format.h>

namespace hostler::master {

namespace {

// Codes are sign-ins that no browser has yet: their route begins with '?', and they live a minute.
constexpr std::int64_t code_life_us = 60'000'000;

std::optional<Caller> caller_of_key(const Term& term, const ApiKey& key) {
    const std::int64_t now = term.ports().timers.wall().time_since_epoch().count();
    if (key.revoked_at != 0 || (key.expires_at != 0 && key.expires_at <= now)) return std::nullopt;
    return Caller{"key/" + key.id, key.id, key.name, key.tenant, key.expires_at};
}

// nullptr: there is none for this route, or it is over.
const SignIn* sign_in_of(const Term& term, const std::string& session, const std::string& route) {
    if (session.size() > 256 || route.empty() || route.starts_with('?')) return nullptr;
    const SignIn* sign_in = term.look().estate.sign_ins.find(term.ports().digest.sha256(session));
    return sign_in && sign_in->route == route &&
                   sign_in->expires_at > term.ports().timers.wall().time_since_epoch().count()
               ? sign_in
               : nullptr;
}

}  // namespace

std::optional<Caller> caller_of(const Term& term, const std::string& api_key) {
    if (api_key.size() > 256) return std::nullopt;
    const std::string hash = term.ports().digest.sha256(api_key);
    if (!term.settings().operator_key_hash.empty() && hash == term.settings().operator_key_hash)
        return Caller{"key/operator", "", "operator", "", 0};
    for (const auto& [id, key] : term.look().estate.api_keys.all())
        if (key.hash == hash) return caller_of_key(term, key);
    return std::nullopt;
}

std::optional<Caller> caller_of_sign_in(const Term& term, const std::string& session,
                                        const std::string& route) {
    const SignIn* sign_in = sign_in_of(term, session, route);
    if (!sign_in) return std::nullopt;
    if (sign_in->key.empty()) return Caller{"key/operator", "", "operator", "", 0};
    const ApiKey* key = term.look().estate.api_keys.find(sign_in->key);
    return key ? caller_of_key(term, *key) : std::nullopt;
}

std::string make_code(Term& term, const Caller& caller, const std::string& route) {
    Desk& desk = term.desk(caller.actor);
    const std::string code = new_secret(term.ports().random, "hc");
    desk.estate.sign_ins.add({.hash = term.ports().digest.sha256(code),
                              .key = caller.key,
                              .route = "?" + route,
                              .expires_at = desk.estate.micros() + code_life_us});
    return code;
}

Result<std::string> redeem_code(Term& term, const std::string& code, const std::string& route) {
    const std::string hash = term.ports().digest.sha256(code);
    Desk& desk = term.desk("gateway");
    const SignIn* waiting = desk.estate.sign_ins.find(hash);
    if (!waiting || waiting->route != "?" + route || waiting->expires_at <= desk.estate.micros())
        return fail(Code::unauthenticated,
                    "this sign-in code was used, has expired, or is for another address; sign in again",
                    "code_unknown");
    std::string session = new_secret(term.ports().random, "hs");
    const std::string key = waiting->key;
    desk.estate.sign_ins.erase(hash);
    desk.estate.sign_ins.add({.hash = term.ports().digest.sha256(session),
                              .key = key,
                              .route = route,
                              .expires_at = desk.estate.micros() +
                                            std::chrono::microseconds{term.settings().sign_in_life}.count()});
    return session;
}

void sign_out(Term& term, const std::string& session, const std::string& route) {
    if (const SignIn* sign_in = sign_in_of(term, session, route))
        term.desk("gateway").estate.sign_ins.erase(std::string{sign_in->hash});
}

}  // namespace hostler::master
