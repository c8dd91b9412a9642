#include "roles/master/role/subjects.h"

#include <fmt/format.h>

#include <algorithm>

#include "domain/tenancy/credentials.h"
#include "roles/master/http/gate.h"
#include "roles/master/state/near.h"
#include "roles/master/tenancy/principals.h"

namespace hostler::master {

Result<const User*> user_known(const Desk& desk, const api::Call& call, const std::string& tenant,
                               const std::string& name) {
    const User* user = desk.estate.users.find(name);
    if (!user) user = desk.estate.users.by().login.first(plain_login(name));
    if (user && may(call, Permission::user_read, scope_of_tenant(user->tenant))) return user;
    if (user && !tenant.empty() &&
        std::ranges::count(tenants_of(desk, std::string{user_subject} + user->id), tenant) > 0)
        return user;
    std::vector<std::string_view> known;
    for (const User* row : desk.estate.users.by().tenant.of(tenant, near_names_max))
        if (may(call, Permission::user_read, scope_of_tenant(tenant))) known.push_back(row->login);
    Error absent{Code::not_found, no_such("user", name, known), "user_not_found"};
    absent.help = "A person of another tenant gets a role by an invitation: hostler invitation create";
    return std::unexpected(std::move(absent));
}

Result<const Group*> group_named(const Desk& desk, const api::Call& call, const std::string& tenant,
                                 const std::string& name) {
    const Group* group = desk.estate.groups.find(name);
    for (const Group* row : desk.estate.groups.by().name.of(name))
        if (!group && row->tenant == tenant) group = row;
    std::vector<std::string_view> known;
    for (const Group* row : desk.estate.groups.by().tenant.of(tenant, near_names_max))
        if (may(call, Permission::group_read, scope_of_tenant(tenant))) known.push_back(row->name);
    Error absent{Code::not_found, no_such("group", name, known), "group_not_found"};
    if (!group) return std::unexpected(std::move(absent));
    if (!may(call, Permission::group_read, scope_of_tenant(group->tenant)))
        return std::unexpected(std::move(absent));
    return group;
}

Result<std::string> subject_named_by(const Desk& desk, const api::Call& call, const std::string& tenant,
                                     const std::string& text) {
    const auto name = [&](std::string_view prefix) { return text.substr(prefix.size()); };
    if (text.starts_with(user_subject))
        return std::string{user_subject} + TRY(user_known(desk, call, tenant, name(user_subject)))->id;
    if (text.starts_with(group_subject))
        return std::string{group_subject} + TRY(group_named(desk, call, tenant, name(group_subject)))->id;
    if (text.starts_with(account_subject)) {
        const std::string wanted = name(account_subject);
        const ServiceAccount* account = desk.estate.service_accounts.find(wanted);
        for (const ServiceAccount* row : desk.estate.service_accounts.by().name.of(wanted))
            if (!account && row->tenant == tenant) account = row;
        if (account && may(call, Permission::account_read, scope_of_tenant(account->tenant)))
            return std::string{account_subject} + account->id;
        return fail(Code::not_found, fmt::format("there is no service account {}", wanted),
                    "service_account_not_found");
    }
    Error wrong{Code::invalid, "one field of the request is wrong", "invalid"};
    wrong.fields.push_back({"subject", "must be user/LOGIN, group/NAME or account/NAME"});
    return std::unexpected(std::move(wrong));
}

std::string name_of_subject(const Desk& desk, const std::string& subject) {
    const auto id = [&](std::string_view prefix) { return subject.substr(prefix.size()); };
    if (subject.starts_with(user_subject))
        if (const User* row = desk.estate.users.find(id(user_subject))) return row->login;
    if (subject.starts_with(group_subject))
        if (const Group* row = desk.estate.groups.find(id(group_subject))) return row->name;
    if (subject.starts_with(account_subject))
        if (const auto* row = desk.estate.service_accounts.find(id(account_subject))) return row->name;
    return {};
}

}  // namespace hostler::master
