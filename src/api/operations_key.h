// API keys.
#pragma once

#include "api/operation.h"
#include "api/types_key.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<CreateApiKey, CreatedApiKey> create_api_key{{
    .name = "createApiKey", .method = Method::post, .path = "/v1/api-keys",
    .permission = Permission::key_create, .help = "Create an API key; its secret is shown this once.", .status = 201,
    .noun = "key", .verb = "create", .argument = "name", .example = "key create ci --tenant acme"}};
inline constexpr Typed<ListApiKeys, List<ApiKey>> list_api_keys{{
    .name = "listApiKeys", .path = "/v1/api-keys", .permission = Permission::key_read, .help = "List API keys.",
    .list = true, .noun = "key", .verb = "list",
    .columns = "id name isOperator tenantID createdAt expiresAt usedAt"}};
inline constexpr Typed<NameApiKey, Empty> delete_api_key{{
    .name = "deleteApiKey", .method = Method::delete_, .path = "/v1/api-keys/{apiKey}",
    .permission = Permission::key_write,
    .help = "Revoke an API key at once. A tenant's key may revoke itself alone; an operator's key may revoke any.",
    .noun = "key", .verb = "delete", .example = "key delete k-9r4t1b"}};

}  // namespace hostler::api::ops
