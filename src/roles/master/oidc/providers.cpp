#include "roles/master/oidc/providers.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/types_oidc.h"
#include "roles/master/http/gate.h"
#include "roles/master/oidc/flow.h"
#include "roles/master/oidc/provider_people.h"
#include "roles/master/role/grants.h"
#include "roles/master/state/near.h"
#include "roles/master/state/refuse.h"
#include "roles/master/state/views.h"
#include "roles/master/tenancy/tenancy.h"

namespace hostler::master {

namespace {

constexpr std::string_view pem_begin = "-----BEGIN CERTIFICATE-----";

GroupRole row_of_group(const api::GroupRole& from) {
    return {from.group, from.role, from.tenant_id.value_or(""), from.project.value_or("")};
}

api::GroupRole group_of_row(const GroupRole& from) {
    api::GroupRole shown{from.group, from.role};
    if (!from.tenant.empty()) shown.tenant_id = from.tenant;
    if (!from.project.empty()) shown.project = from.project;
    return shown;
}

std::vector<GroupRole> rows_of_groups(const std::vector<api::GroupRole>& from) {
    std::vector<GroupRole> rows;
    for (const api::GroupRole& one : from) rows.push_back(row_of_group(one));
    return rows;
}

bool is_scope_token(std::string_view text) {
    return !text.empty() && text.size() <= 128 &&
           std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f && c != '"' && c != '\\'; });
}

std::string wrong_place(const IdentityProvider& row, const GroupRole& mapped) {
    if (!row.tenant.empty() && !mapped.tenant.empty() && mapped.tenant != row.tenant)
        return fmt::format("must be {}: groups of a tenant's provider get roles of that tenant", row.tenant);
    if (row.tenant.empty() && mapped.tenant.empty() && !mapped.project.empty())
        return "is required with a project";
    return {};
}

Result<> check_provider_version(const IdentityProvider& row, const std::optional<std::int64_t>& version) {
    if (!version || *version == row.version) return {};
    return refuse(fmt::format("identity provider {} has version {}, not {}: it was changed", row.name,
                              row.version, *version),
                  "version_differs", "Look at it again.");
}

// All wrong fields that the schema does not know.
void add_wrong(const IdentityProvider& row, std::vector<FieldError>& wrong) {
    if (const std::string url = wrong_provider_url(row.issuer); !url.empty())
        wrong.push_back({"issuer", url});
    else if (row.issuer.contains('?'))
        wrong.push_back({"issuer", "must have no query"});
    for (std::size_t i = 0; i < row.scopes.size(); ++i)
        if (!is_scope_token(row.scopes[i]) || row.scopes[i] == "openid")
            wrong.push_back(
                {fmt::format("scopes[{}]", i), "must be a scope without spaces, other than openid"});
    for (std::size_t i = 0; i < row.group_roles.size(); ++i)
        if (std::string place = wrong_place(row, row.group_roles[i]); !place.empty())
            wrong.push_back({fmt::format("groupRoles[{}].tenantID", i), std::move(place)});
    if (!row.group_roles.empty() && row.groups_claim.empty())
        wrong.push_back({"groupsClaim", "is required with groupRoles"});
    if (!row.authorities.empty() && !row.authorities.contains(pem_begin))
        wrong.push_back({"authorities", "must be certificates in PEM"});
}

Result<> check_row(const IdentityProvider& row) {
    Error error{Code::invalid, "the request has wrong fields", "invalid"};
    add_wrong(row, error.fields);
    if (error.fields.empty()) return {};
    return std::unexpected(std::move(error));
}

// Nobody gives by a provider what they could not give by hand.
Result<> check_gives_all(const Desk& desk, const api::Call& call, const IdentityProvider& row) {
    const auto check_one = [&](const RoleAt& role, std::string field) -> Result<> {
        if (role.scope.kind == ScopeKind::project)
            if (auto there = check_project(desk, role.scope.tenant, role.scope.project); !there) return there;
        auto may_give = check_gives(desk, call, role.role, role.scope);
        if (!may_give)
            for (FieldError& one : may_give.error().fields) one.path = field;
        return may_give;
    };
    if (!row.default_role.empty()) TRY(check_one(default_role_of(row), "defaultRole"));
    for (std::size_t i = 0; i < row.group_roles.size(); ++i)
        TRY(check_one(role_of_group(row, row.group_roles[i]), fmt::format("groupRoles[{}].role", i)));
    return {};
}

Result<> check_name(const Desk& desk, const IdentityProvider& row) {
    for (const IdentityProvider* other : desk.estate.identity_providers.by().tenant.of(row.tenant))
        if (other->id != row.id && other->name == row.name)
            return refuse(fmt::format("identity provider {} exists", row.name), "identity_provider_exists",
                          fmt::format("Change it: `hostler idp edit {}`.", other->id));
    return {};
}

void end_sessions_by(Desk& desk, const std::string& provider) {
    std::vector<std::string> hashes;
    for (const Login* login : desk.estate.logins.by().provider.of(provider)) hashes.push_back(login->hash);
    for (const std::string& hash : hashes) desk.estate.logins.erase(std::string{hash});
}

void take_in(IdentityProvider& row, const api::UpdateIdentityProvider& request) {
    const auto take = [](auto& into, const auto& from) {
        if (from) into = *from;
    };
    take(row.name, request.name);
    take(row.client_id, request.client_id);
    take(row.client_secret, request.client_secret);
    take(row.scopes, request.scopes);
    take(row.groups_claim, request.groups_claim);
    if (request.group_roles) row.group_roles = rows_of_groups(*request.group_roles);
    take(row.default_role, request.default_role);
    take(row.creates_users, request.creates_users);
    take(row.trusted_second_factor, request.trusted_second_factor);
    take(row.authorities, request.authorities);
    take(row.listed, request.listed);
}

}  // namespace

api::IdentityProvider view(const IdentityProvider& row, std::string_view origin) {
    while (origin.ends_with('/')) origin.remove_suffix(1);
    const auto url = [&](std::string_view path) {
        return origin.empty() ? "" : std::string{origin} + std::string{path};
    };
    api::IdentityProvider shown{.id = row.id,
                                .name = row.name,
                                .tenant_id = row.tenant,
                                .issuer = row.issuer,
                                .client_id = row.client_id,
                                .has_client_secret = !row.client_secret.empty(),
                                .scopes = row.scopes,
                                .groups_claim = row.groups_claim,
                                .default_role = row.default_role,
                                .creates_users = row.creates_users,
                                .trusted_second_factor = row.trusted_second_factor,
                                .has_authorities = !row.authorities.empty(),
                                .listed = row.listed,
                                .disabled = row.disabled_at != 0,
                                .redirect_url = url(fmt::format("{}callback", oidc_path)),
                                .logout_url = url(fmt::format("{}{}/logout", oidc_path, row.id)),
                                .signed_out_url = url("/"),
                                .created_at = wall(row.created_at),
                                .disabled_at = wall_if(row.disabled_at),
                                .version = row.version};
    for (const GroupRole& one : row.group_roles) shown.group_roles.push_back(group_of_row(one));
    return shown;
}

Result<const IdentityProvider*> identity_provider_named(const Desk& desk, const api::Call& call,
                                                        const std::string& name) {
    const IdentityProvider* row = desk.estate.identity_providers.find(name);
    std::vector<std::string_view> known;
    if (!row)
        for (const auto& [id, one] : desk.estate.identity_providers.all()) {
            if (!may(call, Permission::idp_read, scope_of(one))) continue;
            if (known.size() < near_names_max) known.push_back(one.name);
            if (one.name != name) continue;
            if (row)
                return refuse(fmt::format("there are several identity providers {}", name), "ambiguous",
                              "Name it by its id.");
            row = &one;
        }
    Error absent{Code::not_found, no_such("identity provider", name, known), "identity_provider_not_found"};
    if (!row) return std::unexpected(std::move(absent));
    TRY(check(call, scope_of(*row), std::move(absent)));
    return row;
}

Result<const IdentityProvider*> create_identity_provider(Desk& desk, const api::Call& call,
                                                         const api::CreateIdentityProvider& request,
                                                         const std::string& tenant) {
    IdentityProvider made{
        .name = request.name,
        .tenant = tenant,
        .issuer = request.issuer,
        .client_id = request.client_id,
        .client_secret = request.client_secret.value_or(""),
        .scopes = request.scopes.value_or(std::vector<std::string>{"profile", "email"}),
        .groups_claim = request.groups_claim.value_or(""),
        .group_roles = rows_of_groups(request.group_roles.value_or(std::vector<api::GroupRole>{})),
        .default_role = request.default_role.value_or(""),
        .creates_users = request.creates_users,
        .trusted_second_factor = request.trusted_second_factor,
        .authorities = request.authorities.value_or(""),
        .listed = request.listed};
    TRY(check_row(made));
    TRY(check_gives_all(desk, call, made));
    TRY(check_name(desk, made));
    if (desk.estate.identity_providers.by().tenant.count(tenant) >= identity_providers_tenant_max)
        return fail(Code::exhausted,
                    fmt::format("there are {} identity providers, which is the most that a tenant may have "
                                "(identity_providers_tenant_max)",
                                identity_providers_tenant_max),
                    "quota_exceeded");
    made.id = new_id(desk.random, "idp");
    made.created_at = desk.estate.micros();
    desk.estate.event("identity_provider", made.id, tenant, "created",
                      fmt::format("Identity provider {} was created.", made.name));
    return &desk.estate.identity_providers.add(std::move(made));
}

Result<> update_identity_provider(Desk& desk, const api::Call& call, const std::string& id,
                                  const api::UpdateIdentityProvider& request) {
    IdentityProvider wanted = desk.estate.identity_providers.at(id);
    TRY(check_provider_version(wanted, request.if_version));
    const bool was_disabled = wanted.disabled_at != 0;
    const bool disabled = request.disabled.value_or(was_disabled);
    take_in(wanted, request);
    TRY(check_row(wanted));
    // Whoever has a hand in how people sign in has one in all that it gives.
    if (!disabled) TRY(check_gives_all(desk, call, wanted));
    TRY(check_name(desk, wanted));
    if (disabled != was_disabled) wanted.disabled_at = disabled ? desk.estate.micros() : 0;
    ++wanted.version;
    const std::string_view what = disabled == was_disabled ? "changed" : disabled ? "disabled" : "enabled";
    desk.estate.event("identity_provider", id, wanted.tenant, std::string{what},
                      fmt::format("Identity provider {} was {}.", wanted.name, what));
    desk.estate.identity_providers.edit(id) = std::move(wanted);
    if (disabled) end_sessions_by(desk, id);
    return {};
}

void delete_identity_provider(Desk& desk, const std::string& id) {
    const IdentityProvider row = desk.estate.identity_providers.at(id);
    end_sessions_by(desk, id);
    std::vector<std::string> people;
    for (const User* user : desk.estate.users.by().provider.of(id)) people.push_back(user->id);
    for (const std::string& user : people) {
        take_roles_of(desk, row, user);
        std::erase_if(desk.estate.users.edit(user).identities,
                      [&](const UserIdentity& one) { return one.provider == id; });
    }
    desk.estate.event("identity_provider", id, row.tenant, "deleted",
                      fmt::format("Identity provider {} was deleted.", row.name));
    desk.estate.identity_providers.erase(id);
}

}  // namespace hostler::master
