#include "roles/master/tenancy/principals.h"

#include <fmt/format.h>

#include <algorithm>

#include "roles/master/tenancy/tenancy.h"

namespace hostler::master {

namespace {

constexpr std::string_view grant_mark = "grant/", group_mark = "group/", role_mark = "role/";

bool holds_at(const Grant& grant, std::int64_t now) { return grant.until == 0 || grant.until > now; }

// Those of the subject itself and of its enabled groups.
template <class Visit>
void each_grant(const Desk& desk, const std::string& subject, std::int64_t now, Visit visit) {
    const auto of = [&](const std::string& one, const Group* group) {
        for (const Grant* grant : desk.estate.grants.by().subject.of(one))
            if (holds_at(*grant, now)) visit(*grant, group);
    };
    of(subject, nullptr);
    if (!subject.starts_with(user_subject)) return;
    for (const Group* group : desk.estate.groups.by().member.of(subject.substr(user_subject.size())))
        if (group->disabled_at == 0) of(std::string{group_subject} + group->id, group);
}

bool is_enabled(const Desk& desk, const std::string& subject) {
    if (subject.starts_with(user_subject)) {
        const User* user = desk.estate.users.find(subject.substr(user_subject.size()));
        return user && user->disabled_at == 0;
    }
    const ServiceAccount* account =
        subject.starts_with(account_subject)
            ? desk.estate.service_accounts.find(subject.substr(account_subject.size()))
            : nullptr;
    return account && account->disabled_at == 0;
}

std::string mark_of(const Group& group) {
    return fmt::format("{}{}@{}", group_mark, group.id, group.narrowed);
}
std::string mark_of(const CustomRole& role) {
    return fmt::format("{}{}@{}", role_mark, role.id, role.narrowed);
}

}  // namespace

std::optional<Permissions> permissions_of_role(const Desk& desk, const std::string& tenant,
                                               const std::string& name) {
    if (const BuiltInRoleRow* row = built_in_role(name)) return permissions_of(row->role);
    const CustomRole* role = desk.estate.custom_roles.find(CustomRole::id_of(tenant, name));
    if (!role) return std::nullopt;
    Permissions set;
    for (const std::string& one : role->permissions)
        if (const auto permission = permission_named(one)) set.add(*permission);
    return set;
}

std::vector<Held> held_by(const Desk& desk, const std::string& subject, std::int64_t now) {
    std::vector<Held> held;
    if (!is_enabled(desk, subject)) return held;
    each_grant(desk, subject, now, [&](const Grant& grant, const Group*) {
        if (!may_enter(desk, grant.tenant, grant.project)) return;
        if (const auto set = permissions_of_role(desk, grant.tenant, grant.role))
            held.push_back({scope_of(grant), *set});
    });
    return held;
}

std::vector<std::string> marks_held_by(const Desk& desk, const std::string& subject, std::int64_t now) {
    std::vector<std::string> marks;
    each_grant(desk, subject, now, [&](const Grant& grant, const Group* group) {
        marks.push_back(std::string{grant_mark} + grant.id);
        if (group) marks.push_back(mark_of(*group));
        if (const auto* role = desk.estate.custom_roles.find(CustomRole::id_of(grant.tenant, grant.role)))
            marks.push_back(mark_of(*role));
    });
    std::ranges::sort(marks);
    marks.erase(std::ranges::unique(marks).begin(), marks.end());
    return marks;
}

bool is_mark_held(std::string_view mark) {
    return mark.starts_with(grant_mark) || mark.starts_with(group_mark) || mark.starts_with(role_mark);
}

bool is_over_held(const Desk& desk, const std::string& mark, std::int64_t now) {
    const auto id = [&](std::string_view prefix) {
        return mark.substr(prefix.size(), mark.rfind('@') - prefix.size());
    };
    if (mark.starts_with(grant_mark)) {
        const Grant* grant = desk.estate.grants.find(mark.substr(grant_mark.size()));
        return !grant || !holds_at(*grant, now);
    }
    if (mark.starts_with(group_mark)) {
        const Group* group = desk.estate.groups.find(id(group_mark));
        return !group || mark_of(*group) != mark;
    }
    if (mark.starts_with(role_mark)) {
        const CustomRole* role = desk.estate.custom_roles.find(id(role_mark));
        return !role || mark_of(*role) != mark;
    }
    return false;
}

std::vector<std::string> marks_of_touched(const Desk& desk, const Touched& touched) {
    if (touched.kind == Kind<Grant>::name) return {std::string{grant_mark} + touched.id};
    // The mark before the last narrowing.
    if (touched.kind == Kind<Group>::name)
        if (const Group* group = desk.estate.groups.find(touched.id); group && group->narrowed > 0)
            return {fmt::format("{}{}@{}", group_mark, group->id, group->narrowed - 1)};
    if (touched.kind == Kind<CustomRole>::name)
        if (const CustomRole* role = desk.estate.custom_roles.find(touched.id); role && role->narrowed > 0)
            return {fmt::format("{}{}@{}", role_mark, role->id, role->narrowed - 1)};
    return {};
}

std::vector<std::string> tenants_of(const Desk& desk, const std::string& subject) {
    std::vector<std::string> tenants;
    each_grant(desk, subject, desk.estate.micros(), [&](const Grant& grant, const Group*) {
        if (!grant.tenant.empty()) tenants.push_back(grant.tenant);
    });
    std::ranges::sort(tenants);
    tenants.erase(std::ranges::unique(tenants).begin(), tenants.end());
    return tenants;
}

bool has_admin(const Desk& desk, const std::string& tenant) {
    const Permissions of_admins{Permission::user_write, Permission::grant_write};
    const auto is_admin = [&](const std::string& user) {
        const User* row = desk.estate.users.find(user);
        if (!row || row->disabled_at != 0) return false;
        Permissions set;
        each_grant(desk, std::string{user_subject} + user, desk.estate.micros(),
                   [&](const Grant& grant, const Group*) {
                       if (grant.at != ScopeKind::tenant || grant.tenant != tenant || grant.until != 0)
                           return;
                       if (const auto more = permissions_of_role(desk, tenant, grant.role)) set = set | *more;
                   });
        return set.has_all(of_admins);
    };
    for (const Grant* grant : desk.estate.grants.by().tenant.of(tenant)) {
        if (grant->at != ScopeKind::tenant || grant->until != 0) continue;
        const auto set = permissions_of_role(desk, tenant, grant->role);
        if (!set || (*set & of_admins).empty()) continue;
        if (grant->subject.starts_with(user_subject)) {
            if (is_admin(grant->subject.substr(user_subject.size()))) return true;
        } else if (grant->subject.starts_with(group_subject)) {
            const Group* group = desk.estate.groups.find(grant->subject.substr(group_subject.size()));
            if (group && group->disabled_at == 0 && std::ranges::any_of(group->members, is_admin))
                return true;
        }
    }
    return false;
}

}  // namespace hostler::master
