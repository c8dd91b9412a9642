#include "roles/master/user/users.h"

#include <fmt/format.h>

#include "api/types_user.h"
#include "domain/tenancy/credentials.h"
#include "roles/master/http/gate.h"
#include "roles/master/role/grants.h"
#include "roles/master/state/near.h"
#include "roles/master/state/refuse.h"
#include "roles/master/state/views.h"

namespace hostler::master {

namespace {

Error no_user(const Desk& desk, const api::Call& call, std::string_view name) {
    // Only logins of those whom the caller may see are told.
    std::vector<std::string_view> known;
    for (const User* row : desk.estate.users.by().tenant.of(call.caller.tenant, near_names_max))
        if (may(call, Permission::user_read, scope_of(*row))) known.push_back(row->login);
    return {Code::not_found, no_such("user", name, known), "user_not_found"};
}

void forget_rows(auto& table, const auto& rows, auto id) {
    std::vector<std::string> ids;
    for (const auto* row : rows) ids.push_back(id(*row));
    for (const std::string& one : ids) table.erase(one);
}

}  // namespace

api::User view(const User& user) {
    return {.id = user.id,
            .login = user.login,
            .name = user.name,
            .email = user.email,
            .tenant_id = user.tenant,
            .state = user.disabled_at != 0 ? api::UserState::disabled : api::UserState::enabled,
            .has_password = !user.password.empty(),
            .has_totp = has_totp(user),
            .recovery_codes_left = static_cast<int>(user.recovery.size()),
            .created_at = wall(user.created_at),
            .disabled_at = wall_if(user.disabled_at)};
}

const User* find_login(const Desk& desk, std::string_view login) {
    return desk.estate.users.by().login.first(plain_login(login));
}

Result<const User*> user_named(const Desk& desk, const api::Call& call, const std::string& name) {
    const User* user = desk.estate.users.find(name);
    if (!user) user = find_login(desk, name);
    if (user && may(call, scope_of(*user))) return user;
    Error absent = no_user(desk, call, name);
    if (!user) return std::unexpected(std::move(absent));
    return std::unexpected(check(call, scope_of(*user), std::move(absent)).error());
}

Result<const User*> make_user(Desk& desk, NewUser wanted) {
    User made{.login = plain_login(wanted.login),
              .name = std::move(wanted.name),
              .email = std::move(wanted.email),
              .tenant = std::move(wanted.tenant),
              .password = std::move(wanted.password)};
    if (find_login(desk, made.login))
        return refuse(fmt::format("there is a user {} already", made.login), "login_exists",
                      "Choose another login.");
    if (desk.estate.users.by().tenant.count(made.tenant) >= users_tenant_max)
        return fail(Code::exhausted,
                    fmt::format("there are {} users already, which is the most that a tenant may have "
                                "(users_tenant_max)",
                                users_tenant_max),
                    "quota_exceeded");
    made.id = new_id(desk.random, "u");
    made.created_at = desk.estate.micros();
    desk.estate.event("user", made.id, made.tenant, "created",
                      fmt::format("User {} was created.", made.login));
    return &desk.estate.users.add(std::move(made));
}

void end_sessions(Desk& desk, const std::string& user, std::string_view but) {
    std::vector<const Login*> rows;
    for (const Login* login : desk.estate.logins.by().user.of(user))
        if (login->hash != but) rows.push_back(login);
    forget_rows(desk.estate.logins, rows, [](const Login& row) { return row.hash; });
}

void forget_password_links(Desk& desk, const std::string& user) {
    forget_rows(desk.estate.password_links, desk.estate.password_links.by().user.of(user),
                [](const PasswordLink& row) { return row.hash; });
}

void disable_user(Desk& desk, const std::string& id) {
    User& user = desk.estate.users.edit(id);
    if (user.disabled_at != 0) return;
    user.disabled_at = desk.estate.micros();
    desk.estate.event("user", user.id, user.tenant, "disabled",
                      fmt::format("User {} was disabled.", user.login));
    end_sessions(desk, id);
    forget_password_links(desk, id);
}

void enable_user(Desk& desk, const std::string& id) {
    User& user = desk.estate.users.edit(id);
    if (user.disabled_at == 0) return;
    user.disabled_at = 0;
    desk.estate.event("user", user.id, user.tenant, "enabled",
                      fmt::format("User {} was enabled.", user.login));
}

void remove_user(Desk& desk, const std::string& id) {
    const User& user = desk.estate.users.at(id);
    desk.estate.event("user", user.id, user.tenant, "removed",
                      fmt::format("User {} was removed.", user.login));
    end_sessions(desk, id);
    forget_password_links(desk, id);
    forget_roles(desk, std::string{user_subject} + id);
    desk.estate.users.erase(std::string{id});
}

std::string make_password_link(Desk& desk, const std::string& user, const Digest& digest) {
    const auto links = desk.estate.password_links.by().user.of(user);
    const PasswordLink* oldest = nullptr;
    for (const PasswordLink* link : links)
        if (!oldest || link->expires_at < oldest->expires_at) oldest = link;
    if (links.size() >= password_links_user_max) desk.estate.password_links.erase(std::string{oldest->hash});
    std::string secret = new_secret(desk.random, "hp");
    desk.estate.password_links.add({.hash = digest.sha256(secret),
                                    .user = user,
                                    .expires_at = desk.estate.micros() + password_link_life_us});
    return secret;
}

std::optional<std::string> link_to(const Settings& settings, std::string_view page, std::string_view secret) {
    if (settings.public_url.empty() || settings.public_url_guessed) return std::nullopt;
    std::string_view origin = settings.public_url;
    while (origin.ends_with('/')) origin.remove_suffix(1);
    return fmt::format("{}{}?secret={}", origin, page, secret);
}

}  // namespace hostler::master
