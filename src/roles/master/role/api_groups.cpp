// Groups of users.
#include <fmt/format.h>

#include <algorithm>

#include "api/operations_role.h"
#include "roles/master/http/api.h"
#include "roles/master/role/grants.h"
#include "roles/master/role/subjects.h"
#include "roles/master/state/refuse.h"
#include "roles/master/state/views.h"

namespace hostler::master {

namespace {

api::Group group_view(const Desk& desk, const Group& group) {
    api::Group shown{.id = group.id,
                     .name = group.name,
                     .tenant_id = group.tenant,
                     .state = group.disabled_at != 0 ? api::GroupState::disabled : api::GroupState::enabled,
                     .created_at = wall(group.created_at)};
    for (const std::string& user : group.members)
        if (const User* row = desk.estate.users.find(user)) shown.members.push_back(row->login);
    return shown;
}

// With the operation's permission.
Result<const Group*> group_for(const Desk& desk, const api::Call& call, const std::string& name,
                               const std::optional<std::string>& tenant_id) {
    const std::string tenant = TRY(tenant_meant(call, tenant_id));
    const Group* group = TRY(group_named(desk, call, tenant, name));
    TRY(check_new(call, scope_of_tenant(group->tenant)));
    return group;
}

// A member gets the roles of the group: whoever adds one gives them.
Result<> check_gives_all_of(const Desk& desk, const api::Call& call, const Group& group) {
    for (const Grant* grant : desk.estate.grants.by().subject.of(std::string{group_subject} + group.id))
        TRY(check_gives(desk, call, grant->role, scope_of(*grant)));
    return {};
}

// Tenants in which the group has roles.
std::vector<std::string> tenants_of_group(const Desk& desk, const std::string& id) {
    return tenants_of(desk, std::string{group_subject} + id);
}

Result<api::Group> decide_make(Desk& desk, const api::Call& call, const api::CreateGroup& request) {
    const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
    TRY(check_new(call, scope_of_tenant(tenant)));
    for (const Group* row : desk.estate.groups.by().name.of(request.name))
        if (row->tenant == tenant)
            return refuse(fmt::format("there is a group {} already", request.name), "group_exists",
                          "Choose another name.");
    if (desk.estate.groups.by().tenant.count(tenant) >= groups_tenant_max)
        return fail(
            Code::exhausted,
            fmt::format("there are {} groups, which is the most (groups_tenant_max)", groups_tenant_max),
            "quota_exceeded");
    Group group{.id = new_id(desk.random, "g"),
                .name = request.name,
                .tenant = tenant,
                .created_at = desk.estate.micros()};
    desk.estate.event("group", group.id, tenant, "created", fmt::format("Group {} was created.", group.name));
    return group_view(desk, desk.estate.groups.add(std::move(group)));
}

Result<api::Group> decide_add(Desk& desk, const api::Call& call, const api::GroupMember& request) {
    const Group& group = *TRY(group_for(desk, call, request.group, request.tenant_id));
    const User& user = *TRY(user_known(desk, call, group.tenant, request.user));
    if (std::ranges::count(group.members, user.id) > 0) return group_view(desk, group);
    TRY(check_gives_all_of(desk, call, group));
    if (group.members.size() >= members_group_max ||
        desk.estate.groups.by().member.count(user.id) >= groups_user_max)
        return fail(Code::exhausted,
                    fmt::format("a group has at most {} members and a user at most {} groups "
                                "(members_group_max, groups_user_max)",
                                members_group_max, groups_user_max),
                    "quota_exceeded");
    desk.estate.event("group", group.id, group.tenant, "member_added",
                      fmt::format("User {} was added to group {}.", user.login, group.name));
    desk.estate.groups.edit(group.id).members.push_back(user.id);
    return group_view(desk, group);
}

Result<api::Group> decide_drop(Desk& desk, const api::Call& call, const api::GroupMember& request) {
    const Group& group = *TRY(group_for(desk, call, request.group, request.tenant_id));
    const User& user = *TRY(user_known(desk, call, group.tenant, request.user));
    if (std::ranges::count(group.members, user.id) == 0)
        return fail(Code::not_found, fmt::format("user {} is not in group {}", user.login, group.name),
                    "member_not_found");
    const std::string id = group.id, member = user.id;
    TRY(keeping_admins(desk, tenants_of_group(desk, id), [&] {
        Group& row = desk.estate.groups.edit(id);
        std::erase(row.members, member);
        ++row.narrowed;
        desk.estate.event("group", id, row.tenant, "member_removed",
                          fmt::format("User {} was removed from group {}.", user.login, row.name));
    }));
    return group_view(desk, group);
}

Result<api::Group> decide_disable(Desk& desk, const api::Call& call, const api::NameGroup& request) {
    const Group& group = *TRY(group_for(desk, call, request.group, request.tenant_id));
    if (group.disabled_at != 0) return group_view(desk, group);
    const std::string id = group.id;
    TRY(keeping_admins(desk, tenants_of_group(desk, id), [&] {
        Group& row = desk.estate.groups.edit(id);
        row.disabled_at = desk.estate.micros();
        ++row.narrowed;
        desk.estate.event("group", id, row.tenant, "disabled",
                          fmt::format("Group {} was disabled.", row.name));
    }));
    return group_view(desk, group);
}

Result<api::Group> decide_enable(Desk& desk, const api::Call& call, const api::NameGroup& request) {
    const Group& group = *TRY(group_for(desk, call, request.group, request.tenant_id));
    if (group.disabled_at == 0) return group_view(desk, group);
    TRY(check_gives_all_of(desk, call, group));
    desk.estate.groups.edit(group.id).disabled_at = 0;
    desk.estate.event("group", group.id, group.tenant, "enabled",
                      fmt::format("Group {} was enabled.", group.name));
    return group_view(desk, group);
}

Result<api::Empty> decide_end(Desk& desk, const api::Call& call, const api::NameGroup& request) {
    const Group group = *TRY(group_for(desk, call, request.group, request.tenant_id));
    TRY(keeping_admins(desk, tenants_of_group(desk, group.id), [&] {
        forget_roles(desk, std::string{group_subject} + group.id);
        desk.estate.event("group", group.id, group.tenant, "deleted",
                          fmt::format("Group {} was deleted.", group.name));
        desk.estate.groups.erase(group.id);
    }));
    return api::Empty{};
}

}  // namespace

static Subject group_subject_of(const Desk& desk, const api::Call& call, const std::string& name,
                                const std::optional<std::string>& tenant_id) {
    const auto group = group_named(desk, call, tenant_meant(call, tenant_id).value_or(""), name);
    return group ? subject_named(**group, api::encode(group_view(desk, **group))) : Subject{};
}

Subject subject_of(const Desk& desk, const api::Call& call, const api::CreateGroup& request) {
    return group_subject_of(desk, call, request.name, request.tenant_id);
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::NameGroup& request) {
    return group_subject_of(desk, call, request.group, request.tenant_id);
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::GroupMember& request) {
    return group_subject_of(desk, call, request.group, request.tenant_id);
}

void add_groups(Api& service) {
    namespace ops = api::ops;
    service.write<ops::create_group>(decide_make);
    service.read<ops::list_groups>([](const Desk& desk, const api::Call& call,
                                      const api::ListGroups& request) -> Result<api::List<api::Group>> {
        const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
        return rows_of<api::Group>(desk.estate.groups,
                                   [&](const Group& row) {
                                       return may(call, scope_of_tenant(row.tenant)) &&
                                              (tenant.empty() || row.tenant == tenant);
                                   })
            .page(call, [&](const Group& row) { return group_view(desk, row); });
    });
    service.read<ops::get_group>(
        [](const Desk& desk, const api::Call& call, const api::NameGroup& request) -> Result<api::Group> {
            return group_view(desk, *TRY(group_for(desk, call, request.group, request.tenant_id)));
        });
    service.write<ops::add_group_member>(decide_add);
    service.write<ops::remove_group_member>(decide_drop);
    service.write<ops::disable_group>(decide_disable);
    service.write<ops::enable_group>(decide_enable);
    service.write<ops::delete_group>(decide_end);
}

}  // namespace hostler::master
