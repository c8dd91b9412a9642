#include "roles/master/http/caller.h"

#include <fmt/format.h>

#include <algorithm>

#include "domain/tenancy/key_limits.h"
#include "roles/master/http/people.h"
#include "roles/master/share/shares.h"
#include "roles/master/tenancy/principals.h"
#include "roles/master/tenancy/tenancy.h"

namespace hostler::master {

namespace {

// Codes are sign-ins that no browser has yet: their route begins with '?'.
constexpr std::string_view key_mark = "key/", session_mark = "session/", share_mark = "share/",
                           place_mark = "place/";
constexpr std::string_view operator_credential = "key/operator";

std::int64_t now_of(const Term& term) { return term.ports().timers.wall().time_since_epoch().count(); }

std::optional<WallTime> end_of(std::int64_t micros) {
    return micros == 0 ? std::nullopt : std::optional{WallTime{std::chrono::microseconds{micros}}};
}

// A tenant that can say who somebody is does not get by that to more than what is its own.
std::vector<Held> held_by_login(const Term& term, const Login& login, const std::string& subject) {
    std::vector<Held> held = held_by(term.look(), subject, now_of(term));
    if (login.provider.empty()) return held;
    const IdentityProvider* by = term.look().estate.identity_providers.find(login.provider);
    if (!by || by->disabled_at != 0) return {};
    std::erase_if(held, [&](const Held& one) {
        return !by->tenant.empty() && !reaches(Scope::of_tenant(by->tenant), one.scope);
    });
    return held;
}

api::Caller caller_of_login(const Term& term, const Login& login) {
    const User& user = user_of(term.look(), login);
    const std::string subject = std::string{user_mark} + user.id;
    std::string lane = user.tenant;
    if (lane.empty())
        if (const auto tenants = tenants_of(term.look(), subject); !tenants.empty()) lane = tenants.front();
    // Without a required second factor a person holds nothing, at gateways either.
    const bool lacks_totp = needs_totp(term.look(), user, &login);
    return {.principal = {.kind = PrincipalKind::user,
                          .id = user.id,
                          .held = lacks_totp ? std::vector<Held>{} : held_by_login(term, login, subject)},
            .actor = subject,
            .credential = std::string{login_mark} + login.hash,
            .name = user.name.empty() ? user.login : user.name,
            .tenant = std::move(lane),
            .expires = end_of(login.expires_at),
            .needs_totp = lacks_totp};
}

std::optional<api::Caller> caller_of_key(const Term& term, const ApiKey& key) {
    const Desk& desk = term.look();
    if (!is_good(desk, key, now_of(term))) return std::nullopt;
    const std::string actor = std::string{key_mark} + key.id;
    if (const ServiceAccount* account = account_of(desk, key)) {
        const std::string subject = fmt::format("account/{}", account->id);
        return api::Caller{.principal = {.kind = PrincipalKind::service_account,
                                         .id = account->id,
                                         .held = narrowed(held_by(desk, subject, now_of(term)), key)},
                           .actor = subject,
                           .credential = actor,
                           .name = account->name,
                           .tenant = account->tenant,
                           .expires = end_of(key.expires_at)};
    }
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

// The operator's own is no object; another one in its place is another mark.
std::string operator_mark(const Term& term) {
    return "key/operator/" + term.settings().operator_key_hash.substr(0, 16);
}

bool is_operators(const Term& term, const std::string& mark) {
    return !term.settings().operator_key_hash.empty() && mark == operator_mark(term);
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
    if (!are_allowed(term.look(), share->tenant)) return std::nullopt;
    if (!may_enter(term.look(), share->tenant, share->project)) return std::nullopt;
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
    if (credential == operator_credential || is_operators(term, credential)) return operator_of_settings();
    if (credential.starts_with(share_mark)) return caller_of_share(term, id(share_mark));
    if (credential.starts_with(login_mark)) {
        const Login* login = login_of_credential(term, credential);
        return login ? std::optional{caller_of_login(term, *login)} : std::nullopt;
    }
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

// It ends with its session, if not before.
void note_end(api::Caller& caller, const SignIn& sign_in) {
    const auto end = end_of(sign_in.expires_at);
    if (!caller.expires || end < caller.expires) caller.expires = end;
}

// Releases that know no credentials read it.
std::string key_of(const std::string& credential) {
    if (credential.starts_with(operator_credential)) return {};
    return credential.starts_with(key_mark) ? credential.substr(key_mark.size()) : credential;
}

// What a session stands on, with the operator's key of today: it ends when another one takes its place.
std::string credential_kept(const Term& term, const api::Caller& caller) {
    return caller.credential == operator_credential ? operator_mark(term) : caller.credential;
}

// Ends the oldest row of `credential` at the bound. The rows of a route live equally long.
void make_room(Desk& desk, const std::string& credential, const std::string& route, std::size_t most) {
    const auto rows = desk.estate.sign_ins.by().credential_route.of({credential, route});
    if (rows.size() < most) return;
    desk.estate.sign_ins.erase(std::string{(*std::ranges::min_element(rows, {}, &SignIn::expires_at))->hash});
}

std::string add_session(Term& term, Desk& desk, SignIn sign_in, std::chrono::seconds life) {
    std::string session = new_secret(term.ports().random, "hs");
    sign_in.hash = term.ports().digest.sha256(session);
    sign_in.expires_at = desk.estate.micros() + std::chrono::microseconds{life}.count();
    desk.estate.sign_ins.add(std::move(sign_in));
    return session;
}

std::string add_session(Term& term, Desk& desk, SignIn sign_in) {
    if (sign_in.route == console_route)
        make_room(desk, sign_in.credential, sign_in.route, console_sessions_max);
    return add_session(term, desk, std::move(sign_in), term.settings().sign_in_life);
}

// Whoever has the link comes in, as often as they like, until it ends.
Result<std::string> redeem_share(Term& term, const std::string& secret, const std::string& route) {
    const std::string hash = term.ports().digest.sha256(secret);
    Desk& desk = term.desk("gateway");
    for (const Share* row : desk.estate.shares.by().hash.of(hash)) {
        const Share& share = *row;
        if (share.route != route || !is_open(desk, share)) continue;
        if (!are_allowed(desk, share.tenant))
            return fail(Code::unauthenticated,
                        "a policy forbids share links at present; ask for another way in", "share_forbidden");
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

std::optional<api::Caller> caller_of(const Term& term, const std::string& secret, std::string_view address) {
    if (secret.size() > 256) return std::nullopt;
    const std::string hash = term.ports().digest.sha256(secret);
    if (!term.settings().operator_key_hash.empty() && hash == term.settings().operator_key_hash)
        return operator_of_settings();
    if (const Login* login = login_of_secret(term, secret)) return caller_of_login(term, *login);
    if (const ApiKey* key = term.look().estate.api_keys.by().hash.first(hash);
        key && is_for_address(*key, address))
        return caller_of_key(term, *key);
    return std::nullopt;
}

bool is_for_some_addresses(const Term& term, const std::string& secret) {
    if (secret.size() > 256) return false;
    const ApiKey* key = term.look().estate.api_keys.by().hash.first(term.ports().digest.sha256(secret));
    return key && !key->addresses.empty();
}

std::optional<SignedIn> caller_of_sign_in(const Term& term, const std::string& session,
                                          const std::string& route) {
    const SignIn* sign_in = sign_in_of(term, session, route);
    if (!sign_in) return std::nullopt;
    auto caller = caller_of_credential(term, credential_of(*sign_in));
    if (!caller) return std::nullopt;
    note_end(*caller, *sign_in);
    return SignedIn{std::move(*caller), sign_in->hash};
}

namespace {

// Of a browser's session that `mark` names; nullptr: it names none, or the session is over.
const SignIn* sign_in_of_mark(const Term& term, const std::string& mark) {
    if (!mark.starts_with(session_mark)) return nullptr;
    const SignIn* found = term.look().estate.sign_ins.find(mark.substr(session_mark.size()));
    return found && found->expires_at > now_of(term) ? found : nullptr;
}

const ApiKey* key_of_mark(const Term& term, const std::string& mark) {
    if (const SignIn* session = sign_in_of_mark(term, mark))
        return key_of_mark(term, credential_of(*session));
    return mark.starts_with(key_mark) ? term.look().estate.api_keys.find(mark.substr(key_mark.size()))
                                      : nullptr;
}

}  // namespace

std::string mark_of(const Term& term, const api::Caller& caller) {
    if (!caller.session.empty()) return std::string{session_mark} + caller.session;
    return caller.credential == operator_credential ? operator_mark(term) : caller.credential;
}

std::optional<api::Caller> caller_of_mark(const Term& term, const std::string& mark,
                                          std::string_view address) {
    if (is_operators(term, mark)) return operator_of_settings();
    if (const SignIn* session = sign_in_of_mark(term, mark)) {
        auto caller = caller_of_mark(term, credential_of(*session), address);
        if (!caller) return std::nullopt;
        caller->session = session->hash;
        note_end(*caller, *session);
        return caller;
    }
    if (mark == operator_credential || mark.starts_with(share_mark)) return std::nullopt;
    if (const ApiKey* key = key_of_mark(term, mark); key && !is_for_address(*key, address))
        return std::nullopt;
    return caller_of_credential(term, mark);
}

std::optional<api::Caller> caller_of_console(const Term& term, const std::string& session,
                                             std::string_view address) {
    const SignIn* sign_in = sign_in_of(term, session, std::string{console_route});
    return sign_in ? caller_of_mark(term, std::string{session_mark} + sign_in->hash, address) : std::nullopt;
}

std::string session_name(std::string_view hash) {
    constexpr std::size_t digits = 16;
    return fmt::format("s-{}", hash.substr(0, digits));
}

bool is_mark_for_some_addresses(const Term& term, const std::string& mark) {
    const ApiKey* key = key_of_mark(term, mark);
    return key && !key->addresses.empty();
}

std::vector<std::string> marks_of(const Term& term, const api::Caller& caller, const std::string& session) {
    std::vector<std::string> marks{caller.credential == operator_credential ? operator_mark(term)
                                                                            : caller.credential};
    if (!session.empty()) marks.push_back(std::string{session_mark} + session);
    for (std::string& mark : marks_held_by(term.look(), caller.actor, now_of(term)))
        marks.push_back(std::move(mark));
    return marks;
}

std::vector<std::string> marks_of_place(const std::string& tenant, const std::string& project) {
    std::vector<std::string> marks{fmt::format("{}{}", place_mark, tenant)};
    if (!project.empty()) marks.push_back(fmt::format("{}{}/{}", place_mark, tenant, project));
    return marks;
}

bool is_over(const Term& term, const std::string& mark) {
    if (mark.starts_with(place_mark)) {
        const std::string place = mark.substr(place_mark.size());
        const auto slash = place.find('/');
        return !may_enter(term.look(), place.substr(0, slash),
                          slash == place.npos ? "" : place.substr(slash + 1));
    }
    if (mark == operator_mark(term)) return false;
    if (mark.starts_with(session_mark)) return !sign_in_of_mark(term, mark);
    if (is_mark_held(mark)) return is_over_held(term.look(), mark, now_of(term));
    return mark == operator_credential || !caller_of_credential(term, mark);
}

std::vector<std::string> ended_marks(const Term& term, std::span<const Touched> touched) {
    std::vector<std::string> ended;
    const auto look = [&](std::string mark) {
        if (is_over(term, mark)) ended.push_back(std::move(mark));
    };
    for (const Touched& one : touched) {
        std::string_view prefix;
        if (one.kind == Kind<ApiKey>::name) prefix = key_mark;
        if (one.kind == Kind<SignIn>::name) prefix = session_mark;
        if (one.kind == Kind<Share>::name) prefix = share_mark;
        if (one.kind == Kind<Login>::name) prefix = login_mark;
        if (one.kind == Kind<Tenant>::name || one.kind == Kind<Project>::name) prefix = place_mark;
        if (!prefix.empty()) look(std::string{prefix} + one.id);
        if (one.kind == Kind<Policy>::name)
            for (const std::string& id : shares_under(term.look(), one.id))
                look(std::string{share_mark} + id);
        if (one.kind == Kind<ServiceAccount>::name)
            for (const ApiKey* key : term.look().estate.api_keys.by().account.of(one.id))
                look(std::string{key_mark} + key->id);
        for (std::string& mark : marks_of_touched(term.look(), one)) look(std::move(mark));
    }
    return ended;
}

Result<> still_known(const Term& term, api::Caller& caller) {
    const bool signed_out =
        !caller.session.empty() && !sign_in_of_mark(term, std::string{session_mark} + caller.session);
    if (auto now = caller_of_credential(term, caller.credential); now && !signed_out) {
        caller.principal = std::move(now->principal);
        return {};
    }
    return fail(Code::unauthenticated, "this credential has expired, or was revoked");
}

std::string make_code(Term& term, const api::Caller& caller, const std::string& route,
                      std::chrono::seconds life) {
    Desk& desk = term.desk(caller.actor);
    const std::string credential = credential_kept(term, caller);
    if (route == console_route) make_room(desk, credential, "?" + route, console_links_max);
    const std::string code = new_secret(term.ports().random, "hc");
    desk.estate.sign_ins.add({.hash = term.ports().digest.sha256(code),
                              .key = key_of(caller.credential),
                              .route = "?" + route,
                              .expires_at = desk.estate.micros() + std::chrono::microseconds{life}.count(),
                              .credential = credential});
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
    const std::string key = waiting->key, credential = credential_of(*waiting);
    desk.estate.sign_ins.erase(hash);
    return add_session(term, desk, {.key = key, .route = route, .credential = credential});
}

std::string make_session(Term& term, const api::Caller& caller, const std::string& route) {
    return add_session(
        term, term.desk(caller.actor),
        {.key = key_of(caller.credential), .route = route, .credential = credential_kept(term, caller)});
}

std::string make_token(Term& term, const api::Caller& caller, const std::string& route,
                       std::chrono::seconds life, std::size_t most) {
    Desk& desk = term.desk(caller.actor);
    const std::string credential = credential_kept(term, caller);
    make_room(desk, credential, route, most);
    return add_session(term, desk,
                       {.key = key_of(caller.credential), .route = route, .credential = credential}, life);
}

void sign_out(Term& term, const std::string& session, const std::string& route) {
    const SignIn* sign_in = sign_in_of(term, session, route);
    if (!sign_in) return;
    Estate& estate = term.desk("gateway").estate;
    const std::string hash = sign_in->hash, credential = credential_of(*sign_in);
    // A session that the sign-in page made has no other use.
    const Login* login = login_of_credential(term, credential);
    if (login && login->client == browser_client) estate.logins.erase(std::string{login->hash});
    estate.sign_ins.erase(hash);
}

}  // namespace hostler::master
