#include "roles/master/oidc/provider_people.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/log.h"
#include "domain/tenancy/credentials.h"
#include "roles/master/role/grants.h"
#include "roles/master/tenancy/tenancy.h"
#include "roles/master/user/users.h"

namespace hostler::master {

namespace {

std::unexpected<Error> not_let_in(std::string why) { return fail(Code::forbidden, std::move(why)); }

std::string made_by(const IdentityProvider& provider) {
    return std::string{identity_provider_mark} + provider.id;
}

// "ann", else "ann-2" …; empty: there is no room.
std::string free_login(Desk& desk, const Claims& claims) {
    constexpr int tries = 20;
    const std::string wanted = login_of_claims(claims);
    if (wanted.empty()) return new_id(desk.random, "user");
    if (!find_login(desk, wanted)) return wanted;
    const auto at = wanted.find('@');
    for (int i = 2; i < tries; ++i) {
        std::string next = wanted;
        next.insert(at == wanted.npos ? wanted.size() : at, fmt::format("-{}", i));
        if (wrong_login(next).empty() && !find_login(desk, next)) return next;
    }
    return new_id(desk.random, "user");
}

Result<> give_checked(Desk& desk, const std::string& subject, const RoleAt& role, const std::string& maker) {
    TRY(role_for(desk, role.role, role.scope));
    TRY(give_role(desk, subject, role.role, role.scope, 0, maker));
    return {};
}

Result<const User*> make_person(Desk& desk, const IdentityProvider& provider, const Claims& claims) {
    if (!provider.creates_users) return not_let_in("user_unknown");
    if (!provider.tenant.empty() && !check_tenant(desk, provider.tenant)) return not_let_in("tenant_refused");
    const bool has_email = claims.email_verified && wrong_email(claims.email).empty();
    const auto made = make_user(desk, {.login = free_login(desk, claims),
                                       .name = claims.name,
                                       .email = has_email ? claims.email : "",
                                       .tenant = provider.tenant});
    if (!made) return not_let_in(made.error().reason);
    const std::string id = (*made)->id;
    desk.estate.users.edit(id).identities.push_back({provider.id, claims.subject});
    if (!provider.tenant.empty()) ensure_tenant(desk, provider.tenant);
    return &desk.estate.users.at(id);
}

}  // namespace

Result<const User*> person_of(Desk& desk, const IdentityProvider& provider, const Claims& claims) {
    const User* user = desk.estate.users.by().identity.first({provider.id, claims.subject});
    if (!user) user = TRY(make_person(desk, provider, claims));
    if (user->disabled_at != 0) return not_let_in("user_disabled");
    if (user->tenant != provider.tenant) return not_let_in("user_elsewhere");
    if (!may_enter(desk, user->tenant)) return not_let_in("tenant_disabled");
    return user;
}

void sync_roles(Desk& desk, const IdentityProvider& provider, const std::string& user,
                const std::vector<std::string>& groups) {
    const std::string subject = std::string{user_subject} + user, maker = made_by(provider);
    std::vector<RoleAt> wanted = roles_of_groups(provider, groups);
    std::vector<std::string> over;
    for (const Grant* grant : desk.estate.grants.by().subject.of(subject)) {
        const RoleAt has{grant->role, scope_of(*grant)};
        const bool own = grant->made_by == maker;
        if (own && std::ranges::count(wanted, has) == 0) over.push_back(grant->id);
        // One that a person gave stays as it is, with its end.
        else
            std::erase(wanted, has);
    }
    for (const std::string& id : over) take_role(desk, id);
    for (const RoleAt& role : wanted) {
        const auto given = give_checked(desk, subject, role, maker);
        if (!given)
            log_warn("identity provider {}: role {} is not given to user {}: {}", provider.id, role.role,
                     user, given.error().message);
    }
}

void take_roles_of(Desk& desk, const IdentityProvider& provider, const std::string& user) {
    IdentityProvider none = provider;
    none.default_role.clear();
    none.group_roles.clear();
    sync_roles(desk, none, user, {});
}

}  // namespace hostler::master
