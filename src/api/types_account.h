// Service accounts and their keys.
#pragma once

#include "api/types_common.h"

namespace hostler::api {

// clang-format off

enum class AccountState { enabled, disabled };
BOOST_DESCRIBE_ENUM(AccountState, enabled, disabled)

struct ServiceAccount {
    std::string id;
    std::string name;
    std::string tenant_id;
    AccountState state = AccountState::enabled;
    WallTime created_at;
    std::optional<WallTime> disabled_at{};
};
BOOST_DESCRIBE_STRUCT(ServiceAccount, (), (id, name, tenant_id, state, created_at, disabled_at))
template <>
inline constexpr auto fields<ServiceAccount> = std::to_array<Field>({
    {.member = "id", .help = "Id of the service account.", .example = "sa-3hq8wz"},
    {.member = "name", .help = "Name, unique in the tenant.", .example = "ci"},
    {.member = "tenant_id", .help = "Tenant that owns it.", .example = "acme"},
    {.member = "state", .help = "`enabled`, or `disabled`: none of its keys works."},
    {.member = "created_at", .help = "Creation time."},
    {.member = "disabled_at", .help = "Since when it is disabled."},
});

struct CreateServiceAccount {
    std::string name;
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(CreateServiceAccount, (), (name, tenant_id))
template <>
inline constexpr auto fields<CreateServiceAccount> = std::to_array<Field>({
    {.member = "name", .help = "Name, unique in the tenant.", .example = "ci", .form = &forms::label},
    {.member = "tenant_id", .help = "Owning tenant; required for an operator.", .example = "acme", .form = &forms::id},
});

struct ListServiceAccounts {
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(ListServiceAccounts, (), (tenant_id))
template <>
inline constexpr auto fields<ListServiceAccounts> = std::to_array<Field>({
    {.member = "tenant_id", .help = "Only this tenant's.", .example = "acme", .form = &forms::id},
});

struct NameServiceAccount {
    std::string account;
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(NameServiceAccount, (), (account, tenant_id))
template <>
inline constexpr auto fields<NameServiceAccount> = std::to_array<Field>({
    {.member = "account", .help = "The service account's id or name.", .example = "ci"},
    {.member = "tenant_id", .help = "Owning tenant; for an operator, when two tenants use the same name.", .example = "acme",
     .form = &forms::id},
});

struct UpdateServiceAccount {
    std::string account;
    std::optional<std::string> tenant_id{};
    std::string name;
};
BOOST_DESCRIBE_STRUCT(UpdateServiceAccount, (), (account, tenant_id, name))
template <>
inline constexpr auto fields<UpdateServiceAccount> = std::to_array<Field>({
    {.member = "account", .help = "The service account's id or name.", .example = "ci"},
    {.member = "tenant_id", .help = "Owning tenant; for an operator, when two tenants use the same name.", .example = "acme",
     .form = &forms::id},
    {.member = "name", .help = "New name, unique in the tenant.", .example = "ci-west", .form = &forms::label},
});

struct AccountKey {
    std::string id;
    std::string name;
    std::string account_id;
    std::string tenant_id;
    AccountState state = AccountState::enabled;
    std::vector<std::string> permissions;
    std::vector<std::string> projects;
    std::vector<std::string> addresses;
    WallTime created_at;
    std::optional<WallTime> expires_at{};
    std::optional<WallTime> disabled_at{};
};
BOOST_DESCRIBE_STRUCT(AccountKey, (),
                      (id, name, account_id, tenant_id, state, permissions, projects, addresses, created_at, expires_at,
                       disabled_at))
template <>
inline constexpr auto fields<AccountKey> = std::to_array<Field>({
    {.member = "id", .help = "Id of the key; not the secret.", .example = "k-9r4t1b"},
    {.member = "name", .help = "Purpose of the key.", .example = "deploy"},
    {.member = "account_id", .help = "Id of the service account; empty: a key of the tenant or the operator.",
     .example = "sa-3hq8wz"},
    {.member = "tenant_id", .help = "Tenant of the key; empty: an operator's.", .example = "acme"},
    {.member = "state", .help = "`enabled`, or `disabled`: it does not work."},
    {.member = "permissions", .help = "The key has these permissions only, of those of its account; empty: all of them.",
     .example = "[\"instance.read\"]"},
    {.member = "projects", .help = "It works in these projects only; empty: in all.", .example = "[\"default\"]"},
    {.member = "addresses", .help = "It works from these address ranges only; empty: from anywhere.",
     .example = "[\"203.0.113.0/24\"]"},
    {.member = "created_at", .help = "Creation time."},
    {.member = "expires_at", .help = "When it ends; absent: never."},
    {.member = "disabled_at", .help = "Since when it is disabled."},
});

struct CreateAccountKey {
    std::string account;
    std::optional<std::string> tenant_id{};
    std::string name;
    std::vector<std::string> permissions{};
    std::vector<std::string> projects{};
    std::vector<std::string> addresses{};
    std::optional<int> ttl_seconds{};
};
BOOST_DESCRIBE_STRUCT(CreateAccountKey, (),
                      (account, tenant_id, name, permissions, projects, addresses, ttl_seconds))
template <>
inline constexpr auto fields<CreateAccountKey> = std::to_array<Field>({
    {.member = "account", .help = "The service account's id or name.", .example = "ci"},
    {.member = "tenant_id", .help = "Owning tenant; for an operator, when two tenants use the same name.", .example = "acme",
     .form = &forms::id},
    {.member = "name", .help = "Purpose of the key.", .example = "deploy", .min = 1, .max = 128, .form = &forms::one_line},
    {.member = "permissions", .help = "Narrow the key to these permissions. Default: all of the account.",
     .example = "[\"instance.read\"]", .max = 128, .absent = Absent::fills},
    {.member = "projects", .help = "Narrow it to these projects. Default: all.", .example = "[\"default\"]", .max = 64,
     .absent = Absent::fills},
    {.member = "addresses", .help = "Narrow it to callers from these address ranges. Default: any.",
     .example = "[\"203.0.113.0/24\"]", .max = 64, .absent = Absent::fills},
    {.member = "ttl_seconds", .help = "Lifetime. Default: until it is deleted.", .example = "2592000", .min = 60,
     .max = 10 * 366 * 86400, .unit = Unit::seconds},
});

struct CreatedAccountKey {
    std::string id;
    std::string name;
    std::string account_id;
    std::string tenant_id;
    std::string secret;
    std::optional<WallTime> expires_at{};
};
BOOST_DESCRIBE_STRUCT(CreatedAccountKey, (), (id, name, account_id, tenant_id, secret, expires_at))
template <>
inline constexpr auto fields<CreatedAccountKey> = std::to_array<Field>({
    {.member = "id", .help = "Id of the key; not the secret.", .example = "k-9r4t1b"},
    {.member = "name", .help = "Purpose of the key.", .example = "deploy"},
    {.member = "account_id", .help = "Id of the service account.", .example = "sa-3hq8wz"},
    {.member = "tenant_id", .help = "Tenant of the key.", .example = "acme"},
    {.member = "secret", .help = "The key itself, shown this once; send it as Authorization: Bearer."},
    {.member = "expires_at", .help = "When it ends; absent: never."},
});

struct NameKey {
    std::string api_key;
};
BOOST_DESCRIBE_STRUCT(NameKey, (), (api_key))
template <>
inline constexpr auto fields<NameKey> = std::to_array<Field>({
    {.member = "api_key", .help = "The key's id.", .example = "k-9r4t1b"},
});

struct RotateKey {
    std::string api_key;
    int grace_seconds = 3600;
};
BOOST_DESCRIBE_STRUCT(RotateKey, (), (api_key, grace_seconds))
template <>
inline constexpr auto fields<RotateKey> = std::to_array<Field>({
    {.member = "api_key", .help = "Id of the key to replace.", .example = "k-9r4t1b"},
    {.member = "grace_seconds", .help = "How long the old key still works.", .example = "3600", .min = 0,
     .max = 86400, .absent = Absent::fills, .unit = Unit::seconds},
});

struct RotatedKey {
    std::string id;
    std::string name;
    std::string secret;
    std::string replaces;
    WallTime replaced_ends_at;
    std::optional<WallTime> expires_at{};
};
BOOST_DESCRIBE_STRUCT(RotatedKey, (), (id, name, secret, replaces, replaced_ends_at, expires_at))
template <>
inline constexpr auto fields<RotatedKey> = std::to_array<Field>({
    {.member = "id", .help = "Id of the new key.", .example = "k-2m8x0c"},
    {.member = "name", .help = "Purpose of the key.", .example = "deploy"},
    {.member = "secret", .help = "The new key itself, shown this once; send it as Authorization: Bearer."},
    {.member = "replaces", .help = "Id of the old key.", .example = "k-9r4t1b"},
    {.member = "replaced_ends_at", .help = "When the old key ends."},
    {.member = "expires_at", .help = "When the new key ends; absent: never."},
});

}  // namespace hostler::api
