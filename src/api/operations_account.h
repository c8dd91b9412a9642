// Service accounts and their keys.
#pragma once

#include "api/operation.h"
#include "api/types_account.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<CreateServiceAccount, ServiceAccount> create_service_account{{
    .name = "createServiceAccount", .method = Method::post, .path = "/v1/service-accounts",
    .permission = Permission::account_write, .help = "Create a service account, for programs.", .status = 201,
    .noun = "account", .verb = "create", .argument = "name", .example = "account create ci --tenant acme"}};
inline constexpr Typed<ListServiceAccounts, List<ServiceAccount>> list_service_accounts{{
    .name = "listServiceAccounts", .path = "/v1/service-accounts", .permission = Permission::account_read,
    .help = "List service accounts.", .list = true, .noun = "account", .verb = "list",
    .columns = "name state tenantID createdAt id"}};
inline constexpr Typed<NameServiceAccount, ServiceAccount> get_service_account{{
    .name = "getServiceAccount", .path = "/v1/service-accounts/{account}", .permission = Permission::account_read,
    .help = "Show a service account.", .noun = "account", .verb = "get"}};
inline constexpr Typed<UpdateServiceAccount, ServiceAccount> update_service_account{{
    .name = "updateServiceAccount", .method = Method::patch, .path = "/v1/service-accounts/{account}",
    .permission = Permission::account_write, .help = "Rename a service account.", .noun = "account", .verb = "edit",
    .example = "account edit ci --name ci-west"}};
inline constexpr Typed<NameServiceAccount, ServiceAccount> disable_service_account{{
    .name = "disableServiceAccount", .method = Method::post, .path = "/v1/service-accounts/{account}/disable",
    .permission = Permission::account_write, .help = "Disable a service account: none of its keys works.",
    .noun = "account", .verb = "disable", .confirm = "No key of the service account works any longer."}};
inline constexpr Typed<NameServiceAccount, ServiceAccount> enable_service_account{{
    .name = "enableServiceAccount", .method = Method::post, .path = "/v1/service-accounts/{account}/enable",
    .permission = Permission::account_write, .help = "Enable a disabled service account and its keys.",
    .noun = "account", .verb = "enable"}};
inline constexpr Typed<NameServiceAccount, Empty> delete_service_account{{
    .name = "deleteServiceAccount", .method = Method::delete_, .path = "/v1/service-accounts/{account}",
    .permission = Permission::account_write, .help = "Delete a service account, with all keys and roles.",
    .noun = "account", .verb = "delete", .confirm = "The service account, all keys and all roles are removed."}};
inline constexpr Typed<CreateAccountKey, CreatedAccountKey> create_account_key{{
    .name = "createAccountKey", .method = Method::post, .path = "/v1/service-accounts/{account}/keys",
    .permission = Permission::account_write,
    .help = "Create a key of a service account, narrowed if wanted; its secret is shown this once.", .status = 201,
    .noun = "account", .verb = "create-key", .argument = "name",
    .example = "account create-key ci deploy --permission instance.read --address 203.0.113.0/24"}};
inline constexpr Typed<NameServiceAccount, List<AccountKey>> list_account_keys{{
    .name = "listAccountKeys", .path = "/v1/service-accounts/{account}/keys",
    .permission = Permission::account_read, .help = "List the keys of a service account.", .list = true,
    .noun = "account", .verb = "keys", .columns = "id name state expiresAt permissions projects addresses createdAt"}};
inline constexpr Typed<RotateKey, RotatedKey> rotate_key{{
    .name = "rotateKey", .method = Method::post, .path = "/v1/api-keys/{apiKey}/rotate",
    .permission = Permission::account_write,
    .help = "Replace a key by a new one with the same limits; the old one ends after a grace period.", .status = 201,
    .noun = "key", .verb = "rotate", .example = "key rotate k-9r4t1b --grace 1h"}};
inline constexpr Typed<NameKey, AccountKey> disable_key{{
    .name = "disableKey", .method = Method::post, .path = "/v1/api-keys/{apiKey}/disable",
    .permission = Permission::account_write, .help = "Disable a key at once; it can be enabled again.", .noun = "key",
    .verb = "disable"}};
inline constexpr Typed<NameKey, AccountKey> enable_key{{
    .name = "enableKey", .method = Method::post, .path = "/v1/api-keys/{apiKey}/enable",
    .permission = Permission::account_write, .help = "Enable a disabled key.", .noun = "key", .verb = "enable"}};

}  // namespace hostler::api::ops
