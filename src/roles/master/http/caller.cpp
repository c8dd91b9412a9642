#include "roles/master/http/caller.h"

#include <fmt/format.h>

#include "roles/master/share/shares.h"

namespace hostler::master {

namespace {

// Codes are sign-ins that no browser has yet: their route begins with '?', and they live a minute.
constexpr std::int64_t code_life_us = 60'000'000;

constexpr std::string_view key_mark = "key/", session_mark = "session/", share_mark = "share/";
constexpr std::string_view operator_credential = "key/operator";

std::int64_t now_of(const Term& term) { return term.ports().timers.wall().time_since_epoch().count(); }

std::optional<WallTime> end_of(std::int64_t micros) {
    return micros == 0 ? std::nullopt : std::optional{WallTime{std::chrono::microseconds{micros}}};
}

std::optional<api::Caller> caller_of_key(const Term& term, const ApiKey& key) {
    if (key.revoked_at != 0 || (key.expires_at != 0 && key.expires_at <= now_of(term))) return std::nullopt;
    const std::string actor = std::string{key_mark} + key.id;
    api::Caller caller =
        key.tenant.empty() ? api::Caller::of_operator(actor) : api::Caller::of_tenant(actor, key.tenant);
    caller.name = key.name;
    caller.expires = end_of(key.expires_at);
    return caller;
}

api::Caller operator_of_settings() {
    api::Caller caller = api::Caller::of_operator(std::string{operator_credential});
    caller.name = "operator";
    return caller;
}

// nullptr: there is none for this route, or it is over.
const SignIn* sign_in_of(const Term& term, const std::string& session, const std::string& route) {
    if (session.size() > 256 || route.empty() || route.starts_with('?')) return nullptr;
    const SignIn* sign_in = term.look().estate.sign_ins.find(term.ports().digest.sha256(session));
    return sign_in && sign_in->route == route && sign_in->expires_at > now_of(term) ? sign_in : nullptr;
}

// To the tenant's gateway it is as good as a key, but for this one route.
std::optional<api::Caller> caller_of_share(const Term& term, const std::string& id) {
    const Share* share = term.look().estate.shares.find(id);
    if (!share || !is_open(term.look(), *share) || share->expires_at <= now_of(term)) return std::nullopt;
    api::Caller caller{.principal = {.kind = PrincipalKind::share, .id = share->id},
                       .actor = std::string{share_mark} + share->id,
                       .name = "share",
                       .tenant = share->tenant,
                       .expires = end_of(share->expires_at)};
    caller.credential = caller.actor;
    return caller;
}

// As marks name it.
std::optional<api::Caller> caller_of_credential(const Term& term, const std::string& credential) {
    const auto id = [&](std::string_view prefix) { return credential.substr(prefix.size()); };
    if (credential == operator_credential) return operator_of_settings();
    if (credential.starts_with(share_mark)) return caller_of_share(term, id(share_mark));
    const ApiKey* key =
        credential.starts_with(key_mark) ? term.look().estate.api_keys.find(id(key_mark)) : nullptr;
    return key ? caller_of_key(term, *key) : std::nullopt;
}

// Sign-ins of releases that wrote none have a key or a share.
std::string credential_of(const SignIn& sign_in) {
    if (!sign_in.share.empty()) return std::string{share_mark} + sign_in.share;
    if (!sign_in.credential.empty()) return sign_in.credential;
    return sign_in.key.empty() ? std::string{operator_credential} : std::string{key_mark} + sign_in.key;
}

// Releases that know no credentials read it.
std::string key_of(const std::string& credential) {
    if (credential == operator_credential) return {};
    return credential.starts_with(key_mark) ? credential.substr(key_mark.size()) : credential;
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

std::optional<api::Caller> caller_of(const Term& term, const std::string& secret) {
    if (secret.size() > 256) return std::nullopt;
    const std::string hash = term.ports().digest.sha256(secret);
    if (!term.settings().operator_key_hash.empty() && hash == term.settings().operator_key_hash)
        return operator_of_settings();
    if (const ApiKey* key = term.look().estate.api_keys.by().hash.first(hash))
        return caller_of_key(term, *key);
    return std::nullopt;
}

std::optional<SignedIn> caller_of_sign_in(const Term& term, const std::string& session,
                                          const std::string& route) {
    const SignIn* sign_in = sign_in_of(term, session, route);
    if (!sign_in) return std::nullopt;
    auto caller = caller_of_credential(term, credential_of(*sign_in));
    if (!caller) return std::nullopt;
    const auto end = end_of(sign_in->expires_at);
    if (!caller->expires || end < caller->expires) caller->expires = end;
    return SignedIn{std::move(*caller), sign_in->hash};
}

namespace {

// The operator's own is no object; another one in its place is another mark.
std::string operator_mark(const Term& term) {
    return "key/operator/" + term.settings().operator_key_hash.substr(0, 16);
}

}  // namespace

std::vector<std::string> marks_of(const Term& term, const api::Caller& caller, const std::string& session) {
    std::vector<std::string> marks{caller.credential == operator_credential ? operator_mark(term)
                                                                            : caller.credential};
    if (!session.empty()) marks.push_back(std::string{session_mark} + session);
    return marks;
}

bool is_over(const Term& term, const std::string& mark) {
    if (mark == operator_mark(term)) return false;
    if (mark.starts_with(session_mark))
        return !term.look().estate.sign_ins.find(mark.substr(session_mark.size()));
    return mark == operator_credential || !caller_of_credential(term, mark);
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

Result<> still_known(const Term& term, api::Caller& caller) {
    if (auto now = caller_of_credential(term, caller.credential)) {
        caller.principal = std::move(now->principal);
        return {};
    }
    return fail(Code::unauthenticated, "this API key has expired, or was revoked");
}

std::string make_code(Term& term, const api::Caller& caller, const std::string& route) {
    Desk& desk = term.desk(caller.actor);
    const std::string code = new_secret(term.ports().random, "hc");
    desk.estate.sign_ins.add({.hash = term.ports().digest.sha256(code),
                              .key = key_of(caller.credential),
                              .route = "?" + route,
                              .expires_at = desk.estate.micros() + code_life_us,
                              .credential = caller.credential});
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
    const std::string key = waiting->key, credential = credential_of(*waiting);
    desk.estate.sign_ins.erase(hash);
    desk.estate.sign_ins.add(
        {.hash = term.ports().digest.sha256(session),
         .key = key,
         .route = route,
         .expires_at = desk.estate.micros() + std::chrono::microseconds{term.settings().sign_in_life}.count(),
         .credential = credential});
    return session;
}

void sign_out(Term& term, const std::string& session, const std::string& route) {
    if (const SignIn* sign_in = sign_in_of(term, session, route))
        term.desk("gateway").estate.sign_ins.erase(std::string{sign_in->hash});
}

}  // namespace hostler::master
