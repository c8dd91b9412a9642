#include "roles/master/http/caller.h"

#include <fmt/format.h>

#include "roles/master/share/shares.h"

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

// To the tenant's gateway it is as good as a key, but for this one route.
std::optional<Caller> caller_of_share(const Term& term, const std::string& id) {
    const Share* share = term.look().estate.shares.find(id);
    if (!share || !is_open(term.look(), *share) ||
        share->expires_at <= term.ports().timers.wall().time_since_epoch().count())
        return std::nullopt;
    return Caller{"share/" + share->id, "", "share", share->tenant, share->expires_at};
}

// Whoever has the link comes in, as often as they like, until it ends.
Result<std::string> redeem_share(Term& term, const std::string& secret, const std::string& route) {
    const std::string hash = term.ports().digest.sha256(secret);
    Desk& desk = term.desk("gateway");
    for (const Share* row : desk.estate.shares.by().hash.of(hash)) {
        const Share& share = *row;
        if (share.route != route || !is_open(desk, share)) continue;
        std::string session = new_secret(term.ports().random, "hs");
        desk.estate.sign_ins.add({.hash = term.ports().digest.sha256(session),
                                  .key = "share",
                                  .route = route,
                                  .expires_at = share.expires_at,
                                  .share = share.id});
        ++desk.estate.shares.edit(share.id).opened;
        desk.estate.event("instance", share.instance, share.tenant, "share_opened",
                          fmt::format("Share link {} to port {} was opened.", share.id, share.port));
        return session;
    }
    return fail(Code::unauthenticated,
                "this link has expired, was revoked, or its instance has ended; ask for another one",
                "share_unknown");
}

}  // namespace

std::optional<Caller> caller_of(const Term& term, const std::string& api_key) {
    if (api_key.size() > 256) return std::nullopt;
    const std::string hash = term.ports().digest.sha256(api_key);
    if (!term.settings().operator_key_hash.empty() && hash == term.settings().operator_key_hash)
        return Caller{"key/operator", "", "operator", "", 0};
    if (const ApiKey* key = term.look().estate.api_keys.by().hash.first(hash))
        return caller_of_key(term, *key);
    return std::nullopt;
}

std::optional<Caller> caller_of_sign_in(const Term& term, const std::string& session,
                                        const std::string& route) {
    const SignIn* sign_in = sign_in_of(term, session, route);
    if (!sign_in) return std::nullopt;
    std::optional<Caller> caller;
    if (!sign_in->share.empty())
        caller = caller_of_share(term, sign_in->share);
    else if (sign_in->key.empty())
        caller = Caller{"key/operator", "", "operator", "", 0};
    else if (const ApiKey* key = term.look().estate.api_keys.find(sign_in->key))
        caller = caller_of_key(term, *key);
    if (!caller) return caller;
    caller->session = sign_in->hash;
    if (caller->expires_at == 0 || sign_in->expires_at < caller->expires_at)
        caller->expires_at = sign_in->expires_at;
    return caller;
}

namespace {

constexpr std::string_view key_mark = "key/", session_mark = "session/", share_mark = "share/";

// The operator's own is no object; another one in its place is another mark.
std::string operator_mark(const Term& term) {
    return "key/operator/" + term.settings().operator_key_hash.substr(0, 16);
}

}  // namespace

std::vector<std::string> marks_of(const Term& term, const Caller& caller) {
    std::vector<std::string> marks{caller.actor == "key/operator" ? operator_mark(term) : caller.actor};
    if (!caller.session.empty()) marks.push_back(std::string{session_mark} + caller.session);
    return marks;
}

bool is_over(const Term& term, const std::string& mark) {
    const Estate& estate = term.look().estate;
    const auto id = [&](std::string_view prefix) { return mark.substr(prefix.size()); };
    if (mark == operator_mark(term)) return false;
    if (mark.starts_with(session_mark)) return !estate.sign_ins.find(id(session_mark));
    if (mark.starts_with(share_mark)) {
        const Share* share = estate.shares.find(id(share_mark));
        return !share || !is_open(term.look(), *share);
    }
    const ApiKey* key = mark.starts_with(key_mark) ? estate.api_keys.find(id(key_mark)) : nullptr;
    return !key || !caller_of_key(term, *key);
}

std::vector<std::string> ended_marks(const Term& term, std::span<const Touched> touched) {
    std::vector<std::string> ended;
    for (const Touched& one : touched) {
        std::string_view prefix;
        if (one.kind == Kind<ApiKey>::name) prefix = key_mark;
        if (one.kind == Kind<SignIn>::name) prefix = session_mark;
        if (one.kind == Kind<Share>::name) prefix = share_mark;
        if (prefix.empty()) continue;
        std::string mark = std::string{prefix} + one.id;
        if (is_over(term, mark)) ended.push_back(std::move(mark));
    }
    return ended;
}

Result<> still_known(const Term& term, const api::Caller& caller) {
    constexpr std::string_view prefix = "key/";
    if (caller.is_operator && caller.actor == "key/operator") return {};
    const ApiKey* key = caller.actor.starts_with(prefix)
                            ? term.look().estate.api_keys.find(caller.actor.substr(prefix.size()))
                            : nullptr;
    if (key && caller_of_key(term, *key)) return {};
    return fail(Code::unauthenticated, "this API key has expired, or was revoked");
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
    if (code.starts_with(share_prefix)) return redeem_share(term, code, route);
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
