#include "roles/master/role/grants.h"

#include <fmt/format.h>

#include <algorithm>

#include "roles/master/state/near.h"
#include "roles/master/state/refuse.h"

namespace hostler::master {

namespace {

std::string words_of(const Scope& scope) {
    switch (scope.kind) {
        case ScopeKind::cloud: return "the cloud";
        case ScopeKind::tenant: return "tenant " + scope.tenant;
        case ScopeKind::project: return fmt::format("project {} of tenant {}", scope.project, scope.tenant);
        case ScopeKind::provider: return "provider " + scope.tenant;
    }
    return {};
}

Grant grant_at(const Scope& scope) {
    Grant grant{.at = scope.kind};
    (scope.kind == ScopeKind::provider ? grant.provider : grant.tenant) = scope.tenant;
    grant.project = scope.project;
    return grant;
}

}  // namespace

Result<Permissions> role_for(const Desk& desk, const std::string& role, const Scope& scope) {
    Error wrong{Code::invalid, "one field of the request is wrong", "invalid"};
    const std::string tenant = scope.kind == ScopeKind::provider ? "" : scope.tenant;
    const auto set = permissions_of_role(desk, tenant, role);
    if (!set) {
        std::vector<std::string_view> known;
        for (const BuiltInRoleRow& row : built_in_roles) known.push_back(row.name);
        for (const CustomRole* row : desk.estate.custom_roles.by().tenant.of(tenant))
            known.push_back(row->name);
        wrong.fields.push_back({"role", no_such("role", role, known)});
        return std::unexpected(std::move(wrong));
    }
    if (!fits(*set, scope)) {
        wrong.fields.push_back(
            {"role", fmt::format("role {} has permissions that do not count at {}; give it at a wider scope",
                                 role, words_of(scope))});
        return std::unexpected(std::move(wrong));
    }
    return *set;
}

Result<> check_gives(const Desk& desk, const api::Call& call, const std::string& role, const Scope& scope) {
    const Permissions set = TRY(role_for(desk, role, scope));
    if (holds_all(call.caller.principal, set, scope)) return {};
    Error error{Code::forbidden,
                fmt::format("role {} has permissions that you do not have at {}", role, words_of(scope)),
                "role_exceeds"};
    error.help = "Nobody gives more than they have: give a smaller role, or ask an admin.";
    return std::unexpected(std::move(error));
}

std::unexpected<Error> last_admin(const std::string& tenant) {
    return refuse(fmt::format("tenant {} would have no admin left", tenant), "last_admin",
                  "Give another user the role tenant-admin first.");
}

Result<const Grant*> give_role(Desk& desk, const std::string& subject, const std::string& role,
                               const Scope& scope, std::int64_t until, const std::string& made_by) {
    const auto of_subject = desk.estate.grants.by().subject.of(subject);
    for (const Grant* have : of_subject) {
        if (have->role != role || scope_of(*have) != scope) continue;
        if (have->until == 0 || (until != 0 && have->until >= until)) return have;
        desk.estate.grants.edit(have->id).until = until;
        return have;
    }
    if (of_subject.size() >= grants_subject_max)
        return fail(Code::exhausted,
                    fmt::format("{} has {} roles, which is the most (grants_subject_max)", subject,
                                grants_subject_max),
                    "quota_exceeded");
    Grant grant = grant_at(scope);
    if (desk.estate.grants.by().tenant.count(grant.tenant) >= grants_tenant_max)
        return fail(
            Code::exhausted,
            fmt::format("there are {} grants, which is the most (grants_tenant_max)", grants_tenant_max),
            "quota_exceeded");
    grant.id = new_id(desk.random, "gr");
    grant.subject = subject;
    grant.role = role;
    grant.until = until;
    grant.made_by = made_by;
    grant.created_at = desk.estate.micros();
    desk.estate.event("grant", grant.id, grant.tenant, "created",
                      fmt::format("{} got role {} at {}.", subject, role, words_of(scope)));
    return &desk.estate.grants.add(std::move(grant));
}

void take_role(Desk& desk, const std::string& id) {
    const Grant grant = desk.estate.grants.at(id);
    desk.estate.event(
        "grant", grant.id, grant.tenant, "deleted",
        fmt::format("{} lost role {} at {}.", grant.subject, grant.role, words_of(scope_of(grant))));
    desk.estate.grants.erase(grant.id);
}

void forget_roles(Desk& desk, const std::string& subject) {
    std::vector<std::string> grants, groups, quotas;
    for (const Grant* row : desk.estate.grants.by().subject.of(subject)) grants.push_back(row->id);
    for (const std::string& id : grants) take_role(desk, id);
    for (const Quota* row : desk.estate.quotas.by().subject.of(subject)) quotas.push_back(row->id);
    for (const std::string& id : quotas) desk.estate.quotas.erase(id);
    if (!subject.starts_with(user_subject)) return;
    const std::string user = subject.substr(user_subject.size());
    for (const Group* row : desk.estate.groups.by().member.of(user)) groups.push_back(row->id);
    for (const std::string& id : groups) {
        Group& group = desk.estate.groups.edit(id);
        std::erase(group.members, user);
        ++group.narrowed;
    }
}

void forget_ended_grants(Desk& desk) {
    constexpr std::size_t at_once = 64;
    std::vector<std::string> ended;
    for (const Grant* row : desk.estate.grants.by().until.between(0, desk.estate.micros(), at_once))
        ended.push_back(row->id);
    for (const std::string& id : ended) take_role(desk, id);
}

}  // namespace hostler::master
