// Permissions, and roles made of them.
#include <fmt/format.h>

#include "api/operations_role.h"
#include "roles/master/http/api.h"
#include "roles/master/role/grants.h"
#include "roles/master/state/near.h"
#include "roles/master/state/refuse.h"
#include "roles/master/state/views.h"

namespace hostler::master {

namespace {

std::vector<std::string> names_in(const Permissions& set) {
    std::vector<std::string> names;
    for (const PermissionRow& row : permissions)
        if (set.has(row.permission)) names.emplace_back(row.name);
    return names;
}

api::Role role_view(const BuiltInRoleRow& row) {
    return {.name = std::string{row.name},
            .description = std::string{row.help},
            .permissions = names_in(permissions_of(row.role)),
            .built_in = true};
}

api::Role role_view(const CustomRole& role) {
    return {.name = role.name,
            .tenant_id = role.tenant,
            .description = role.description,
            .permissions = role.permissions,
            .created_at = wall(role.created_at)};
}

Result<const CustomRole*> custom_role(const Desk& desk, const api::Call& call, const std::string& name,
                                      const std::optional<std::string>& tenant_id) {
    const std::string tenant = TRY(tenant_meant(call, tenant_id));
    std::vector<std::string_view> known;
    for (const BuiltInRoleRow& row : built_in_roles) known.push_back(row.name);
    for (const CustomRole* row : desk.estate.custom_roles.by().tenant.of(tenant)) known.push_back(row->name);
    Error absent{Code::not_found, no_such("role", name, known), "role_not_found"};
    const CustomRole* role = desk.estate.custom_roles.find(CustomRole::id_of(tenant, name));
    if (!role && built_in_role(name))
        return refuse(fmt::format("role {} is built in: it cannot be changed", name), "built_in_role",
                      "Define another: hostler role create");
    if (!role) return std::unexpected(std::move(absent));
    TRY(check(call, scope_of_tenant(role->tenant), std::move(absent)));
    return role;
}

// The permissions that these names mean, as a role of the tenant. Errors: invalid, with every wrong name;
// forbidden (role_exceeds).
Result<Permissions> set_of(const api::Call& call, const std::vector<std::string>& names,
                           const std::string& tenant) {
    std::vector<std::string_view> known;
    for (const PermissionRow& row : permissions) known.push_back(row.name);
    Error wrong{Code::invalid, "some permissions are wrong", "invalid"};
    Permissions set;
    const Scope scope = scope_of_tenant(tenant);
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::string field = fmt::format("permissions[{}]", i);
        const auto permission = permission_named(names[i]);
        if (!permission)
            wrong.fields.push_back({field, no_such("permission", names[i], known)});
        else if (Permissions one{*permission}; !fits(one, scope))
            wrong.fields.push_back({field, fmt::format("{} does not count within a tenant", names[i])});
        else
            set.add(*permission);
    }
    if (wrong.fields.size() == 1) wrong.message = "one field of the request is wrong";
    if (!wrong.fields.empty()) return std::unexpected(std::move(wrong));
    if (holds_all(call.caller.principal, set, scope)) return set;
    std::string lacking;
    for (const std::string& name : names_in(set))
        if (!may(call, *permission_named(name), scope)) lacking += (lacking.empty() ? "" : ", ") + name;
    Error error{Code::forbidden, fmt::format("you do not have all of these permissions: {}", lacking),
                "role_exceeds"};
    error.help = "A role has no more than the permissions of its maker.";
    return std::unexpected(std::move(error));
}

Result<api::Role> decide_create(Desk& desk, const api::Call& call, const api::CreateRole& request) {
    const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
    TRY(check_new(call, scope_of_tenant(tenant)));
    if (built_in_role(request.name) || desk.estate.custom_roles.find(CustomRole::id_of(tenant, request.name)))
        return refuse(fmt::format("there is a role {} already", request.name), "role_exists",
                      "Choose another name.");
    if (desk.estate.custom_roles.by().tenant.count(tenant) >= roles_tenant_max)
        return fail(Code::exhausted,
                    fmt::format("there are {} roles, which is the most (roles_tenant_max)", roles_tenant_max),
                    "quota_exceeded");
    const Permissions set = TRY(set_of(call, request.permissions, tenant));
    CustomRole role{.id = CustomRole::id_of(tenant, request.name),
                    .name = request.name,
                    .tenant = tenant,
                    .description = request.description,
                    .permissions = names_in(set),
                    .created_at = desk.estate.micros()};
    desk.estate.event("role", role.id, tenant, "created", fmt::format("Role {} was created.", role.name));
    return role_view(desk.estate.custom_roles.add(std::move(role)));
}

Result<api::Role> decide_update(Desk& desk, const api::Call& call, const api::UpdateRole& request) {
    const CustomRole before = *TRY(custom_role(desk, call, request.role, request.tenant_id));
    CustomRole now = before;
    if (request.description) now.description = *request.description;
    if (request.permissions) {
        const Permissions set = TRY(set_of(call, *request.permissions, before.tenant));
        now.permissions = names_in(set);
        Permissions had;
        for (const std::string& name : before.permissions)
            if (const auto permission = permission_named(name)) had.add(*permission);
        if (!set.has_all(had)) ++now.narrowed;
    }
    TRY(keeping_admins(desk, {before.tenant}, [&] {
        desk.estate.event("role", before.id, before.tenant, "updated",
                          fmt::format("Role {} was changed.", before.name));
        desk.estate.custom_roles.edit(before.id) = now;
    }));
    return role_view(desk.estate.custom_roles.at(before.id));
}

Result<api::Empty> decide_delete(Desk& desk, const api::Call& call, const api::NameRole& request) {
    const CustomRole role = *TRY(custom_role(desk, call, request.role, request.tenant_id));
    if (const std::size_t used = desk.estate.grants.by().role.count({role.tenant, role.name}); used > 0)
        return refuse(fmt::format("role {} is granted {} times", role.name, used), "role_in_use",
                      fmt::format("Delete these grants first: hostler grant list --role {}", role.name));
    desk.estate.event("role", role.id, role.tenant, "deleted",
                      fmt::format("Role {} was deleted.", role.name));
    desk.estate.custom_roles.erase(role.id);
    return api::Empty{};
}

}  // namespace

static Subject role_subject(const Desk& desk, const api::Call& call, const std::string& name,
                            const std::optional<std::string>& tenant_id) {
    const auto tenant = tenant_meant(call, tenant_id);
    const CustomRole* role =
        tenant ? desk.estate.custom_roles.find(CustomRole::id_of(*tenant, name)) : nullptr;
    return role ? subject_named(*role, api::encode(role_view(*role))) : Subject{};
}

Subject subject_of(const Desk& desk, const api::Call& call, const api::CreateRole& request) {
    return role_subject(desk, call, request.name, request.tenant_id);
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::UpdateRole& request) {
    return role_subject(desk, call, request.role, request.tenant_id);
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::NameRole& request) {
    return role_subject(desk, call, request.role, request.tenant_id);
}

void add_roles(Api& service) {
    namespace ops = api::ops;
    service.read<ops::list_permissions>(
        [](const Desk&, const api::Call& call, const api::Empty&) -> Result<api::List<api::PermissionInfo>> {
            api::List<api::PermissionInfo> list;  // Few enough for one page.
            for (const PermissionRow& row : permissions) {
                api::PermissionInfo shown{std::string{row.name}, std::string{name_of(row.level)},
                                          std::string{row.help}};
                if (api::lets_through(call.query, shown)) list.items.push_back(std::move(shown));
            }
            return list;
        });
    service.write<ops::create_role>(decide_create);
    service.read<ops::list_roles>([](const Desk& desk, const api::Call& call,
                                     const api::ListRoles& request) -> Result<api::List<api::Role>> {
        const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
        auto list =
            TRY(rows_of<api::Role>(desk.estate.custom_roles, [&](const CustomRole& row) {
                    return may(call, scope_of_tenant(row.tenant)) && (tenant.empty() || row.tenant == tenant);
                }).page(call, [](const CustomRole& row) { return role_view(row); }));
        std::vector<api::Role> first;  // Older than all others.
        for (const BuiltInRoleRow& row : built_in_roles)
            if (api::Role shown = role_view(row); api::lets_through(call.query, shown))
                first.push_back(std::move(shown));
        if (list.total) *list.total += std::ssize(first);
        if (!call.newest_first && !call.after)
            list.items.insert(list.items.begin(), first.begin(), first.end());
        if (call.newest_first && !list.next_cursor)
            list.items.insert(list.items.end(), first.rbegin(), first.rend());
        return list;
    });
    service.read<ops::get_role>(
        [](const Desk& desk, const api::Call& call, const api::NameRole& request) -> Result<api::Role> {
            if (const BuiltInRoleRow* row = built_in_role(request.role)) return role_view(*row);
            return role_view(*TRY(custom_role(desk, call, request.role, request.tenant_id)));
        });
    service.write<ops::update_role>(decide_update);
    service.write<ops::delete_role>(decide_delete);
}

}  // namespace hostler::master
