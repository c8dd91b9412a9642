#include "roles/master/account/accounts.h"

#include <fmt/format.h>

#include "api/types_account.h"
#include "roles/master/http/gate.h"
#include "roles/master/state/near.h"
#include "roles/master/state/refuse.h"
#include "roles/master/state/views.h"

namespace hostler::master {

namespace {

const ServiceAccount* of_name(const Desk& desk, const std::string& tenant, const std::string& name) {
    for (const ServiceAccount* row : desk.estate.service_accounts.by().name.of(name))
        if (row->tenant == tenant) return row;
    return nullptr;
}

Error no_account(const Desk& desk, const api::Call& call, const std::string& tenant, std::string_view name) {
    std::vector<std::string_view> known;
    for (const ServiceAccount* row : desk.estate.service_accounts.by().tenant.of(tenant, near_names_max))
        if (may(call, Permission::account_read, scope_of(*row))) known.push_back(row->name);
    return {Code::not_found, no_such("service account", name, known), "account_not_found"};
}

std::unexpected<Error> name_taken(std::string_view name) {
    return refuse(fmt::format("there is a service account {} already", name), "account_exists",
                  "Choose another name.");
}

}  // namespace

api::ServiceAccount view(const ServiceAccount& account) {
    return {.id = account.id,
            .name = account.name,
            .tenant_id = account.tenant,
            .state = account.disabled_at != 0 ? api::AccountState::disabled : api::AccountState::enabled,
            .created_at = wall(account.created_at),
            .disabled_at = wall_if(account.disabled_at)};
}

Result<const ServiceAccount*> account_named(const Desk& desk, const api::Call& call, const std::string& name,
                                            const std::optional<std::string>& tenant) {
    const std::string meant = TRY(tenant_meant(call, tenant));
    const ServiceAccount* found = desk.estate.service_accounts.find(name);
    if (found && !meant.empty() && found->tenant != meant) found = nullptr;
    if (!found)
        for (const ServiceAccount* row : desk.estate.service_accounts.by().name.of(name)) {
            if (!meant.empty() && row->tenant != meant) continue;
            if (found)
                return refuse(fmt::format("more than one tenant has a service account {}", name), "ambiguous",
                              "Name the owning tenant with tenantID, or use its id.");
            found = row;
        }
    if (found && may(call, scope_of(*found))) return found;
    Error absent = no_account(desk, call, meant, name);
    if (!found) return std::unexpected(std::move(absent));
    return std::unexpected(check(call, scope_of(*found), std::move(absent)).error());
}

Result<const ServiceAccount*> make_account(Desk& desk, const std::string& name, const std::string& tenant) {
    if (of_name(desk, tenant, name)) return name_taken(name);
    if (desk.estate.service_accounts.by().tenant.count(tenant) >= accounts_tenant_max)
        return fail(Code::exhausted,
                    fmt::format("tenant {} has {} service accounts, which is as many as one may have "
                                "(accounts_tenant_max)",
                                tenant, accounts_tenant_max),
                    "quota_exceeded");
    ServiceAccount made{
        .id = new_id(desk.random, "sa"), .name = name, .tenant = tenant, .created_at = desk.estate.micros()};
    desk.estate.event("service_account", made.id, tenant, "created",
                      fmt::format("Service account {} was created.", name));
    return &desk.estate.service_accounts.add(std::move(made));
}

Result<> rename_account(Desk& desk, const std::string& id, const std::string& name) {
    const ServiceAccount& now = desk.estate.service_accounts.at(id);
    if (now.name == name) return {};
    if (of_name(desk, now.tenant, name)) return name_taken(name);
    desk.estate.event("service_account", id, now.tenant, "renamed",
                      fmt::format("Service account {} is called {}.", now.name, name));
    desk.estate.service_accounts.edit(id).name = name;
    return {};
}

void disable_account(Desk& desk, const std::string& id) {
    ServiceAccount& account = desk.estate.service_accounts.edit(id);
    if (account.disabled_at != 0) return;
    account.disabled_at = desk.estate.micros();
    desk.estate.event("service_account", id, account.tenant, "disabled",
                      fmt::format("Service account {} was disabled.", account.name));
}

void enable_account(Desk& desk, const std::string& id) {
    ServiceAccount& account = desk.estate.service_accounts.edit(id);
    if (account.disabled_at == 0) return;
    account.disabled_at = 0;
    desk.estate.event("service_account", id, account.tenant, "enabled",
                      fmt::format("Service account {} was enabled.", account.name));
}

void delete_account(Desk& desk, const std::string& id) {
    const ServiceAccount& account = desk.estate.service_accounts.at(id);
    std::vector<std::string> keys;
    for (const ApiKey* key : desk.estate.api_keys.by().account.of(id))
        if (key->revoked_at == 0) keys.push_back(key->id);
    for (const std::string& key : keys) desk.estate.api_keys.edit(key).revoked_at = desk.estate.micros();
    desk.estate.event("service_account", id, account.tenant, "deleted",
                      fmt::format("Service account {} was deleted.", account.name));
    desk.estate.service_accounts.erase(std::string{id});
}

}  // namespace hostler::master
