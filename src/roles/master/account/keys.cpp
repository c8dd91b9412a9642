#include "roles/master/account/keys.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/field.h"
#include "api/types_account.h"
#include "core/ip_address.h"
#include "domain/tenancy/key_limits.h"
#include "domain/tenancy/role.h"
#include "roles/master/http/gate.h"
#include "roles/master/state/near.h"
#include "roles/master/state/refuse.h"
#include "roles/master/state/views.h"
#include "roles/master/tenancy/principals.h"

namespace hostler::master {

namespace {

std::vector<std::string_view> names_of_permissions() {
    std::vector<std::string_view> names;
    for (const PermissionRow& row : permissions) names.push_back(row.name);
    return names;
}

Result<> check_limits(const api::CreateAccountKey& request) {
    Error wrong{Code::invalid, "", "invalid"};
    const auto each = [&](std::string_view field, const std::vector<std::string>& texts, auto what) {
        for (std::size_t i = 0; i < texts.size(); ++i)
            if (std::string found = what(texts[i]); !found.empty())
                wrong.fields.push_back({fmt::format("{}[{}]", field, i), std::move(found)});
    };
    each("permissions", request.permissions, [](const std::string& name) {
        return permission_named(name) ? "" : no_such("permission", name, names_of_permissions());
    });
    each("projects", request.projects, [](const std::string& name) { return api::forms::label.check(name); });
    each("addresses", request.addresses, [](const std::string& text) {
        const auto range = parse_ip_range(text);
        return range ? "" : range.error().message;
    });
    if (wrong.fields.empty()) return {};
    wrong.message = wrong.fields.size() == 1 ? "one field of the request is wrong"
                                             : fmt::format("{} fields are wrong", wrong.fields.size());
    return std::unexpected(std::move(wrong));
}

bool is_over(const ApiKey& key, std::int64_t now) {
    return key.revoked_at != 0 || (key.expires_at != 0 && key.expires_at <= now);
}

Result<> check_room(const Desk& desk, const std::string& account) {
    std::size_t count = 0;
    for (const ApiKey* key : desk.estate.api_keys.by().account.of(account))
        if (!is_over(*key, desk.estate.micros())) ++count;
    if (count < keys_account_max) return {};
    return fail(Code::exhausted,
                fmt::format("the service account has {} keys, which is as many as one may have "
                            "(keys_account_max); delete those that nothing uses",
                            count),
                "quota_exceeded");
}

MadeKey add_key(Desk& desk, ApiKey made, const Digest& digest) {
    std::string secret = new_secret(desk.random, "hk");
    made.id = new_id(desk.random, "k");
    made.hash = digest.sha256(secret);
    made.created_at = desk.estate.micros();
    return {&desk.estate.api_keys.add(std::move(made)), std::move(secret)};
}

}  // namespace

api::AccountKey account_key_view(const ApiKey& key) {
    return {.id = key.id,
            .name = key.name,
            .account_id = key.account,
            .tenant_id = key.tenant,
            .state = key.disabled_at != 0 ? api::AccountState::disabled : api::AccountState::enabled,
            .permissions = key.permissions,
            .projects = key.projects,
            .addresses = key.addresses,
            .created_at = wall(key.created_at),
            .expires_at = wall_if(key.expires_at),
            .disabled_at = wall_if(key.disabled_at)};
}

Result<> check_within(const Desk& desk, const api::Call& call, const ApiKey& key) {
    std::vector<Held> held{
        {scope_of(key), key.tenant.empty() ? narrowed(key) : narrowed(key) & tenant_key_permissions()}};
    if (!key.account.empty())
        held = narrowed(held_by(desk, std::string{account_subject} + key.account, desk.estate.micros()), key);
    if (std::ranges::all_of(held, [&](const Held& one) {
            return holds_all(call.caller.principal, one.permissions, one.scope);
        }))
        return {};
    Error error{Code::forbidden, "the key may do more than you may, and so you cannot have its secret",
                "key_exceeds"};
    error.help = "Narrow it to permissions that you have.";
    return std::unexpected(std::move(error));
}

Result<MadeKey> make_account_key(Desk& desk, const api::Call& call, const ServiceAccount& account,
                                 const api::CreateAccountKey& request, const Digest& digest) {
    TRY(check_limits(request));
    TRY(check_room(desk, account.id));
    ApiKey key{.name = request.name,
               .tenant = account.tenant,
               .account = account.id,
               .permissions = request.permissions,
               .projects = request.projects,
               .addresses = request.addresses};
    TRY(check_within(desk, call, key));
    if (request.ttl_seconds)
        key.expires_at = desk.estate.micros() + *request.ttl_seconds * std::int64_t{1'000'000};
    const MadeKey made = add_key(desk, std::move(key), digest);
    desk.estate.event("api_key", made.key->id, account.tenant, "created",
                      fmt::format("Key {} of service account {} was created.", made.key->name, account.name));
    return made;
}

Result<MadeKey> rotate_key(Desk& desk, const api::Call& call, const std::string& id, std::int64_t grace_s,
                           const Digest& digest) {
    const ApiKey& old = desk.estate.api_keys.at(id);
    if (old.disabled_at != 0)
        return refuse(fmt::format("key {} is disabled", id), "key_disabled", "Enable it first.");
    TRY(check_within(desk, call, old));
    if (!old.account.empty()) TRY(check_room(desk, old.account));
    ApiKey next = old;
    next.meta = {};
    const std::int64_t now = desk.estate.micros();
    // It lives as long as the old one did.
    if (old.expires_at != 0) next.expires_at = now + (old.expires_at - old.created_at);
    const MadeKey made = add_key(desk, std::move(next), digest);
    const std::int64_t end = now + grace_s * 1'000'000;
    ApiKey& ending = desk.estate.api_keys.edit(id);
    if (ending.expires_at == 0 || ending.expires_at > end) ending.expires_at = end;
    if (grace_s == 0) ending.revoked_at = now;
    desk.estate.event("api_key", id, ending.tenant, "rotated",
                      fmt::format("Key {} was replaced by {}.", id, made.key->id));
    return made;
}

void disable_key(Desk& desk, const std::string& id) {
    ApiKey& key = desk.estate.api_keys.edit(id);
    if (key.disabled_at != 0) return;
    key.disabled_at = desk.estate.micros();
    desk.estate.event("api_key", id, key.tenant, "disabled",
                      fmt::format("API key {} was disabled.", key.name));
}

void enable_key(Desk& desk, const std::string& id) {
    ApiKey& key = desk.estate.api_keys.edit(id);
    if (key.disabled_at == 0) return;
    key.disabled_at = 0;
    desk.estate.event("api_key", id, key.tenant, "enabled", fmt::format("API key {} was enabled.", key.name));
}

}  // namespace hostler::master
