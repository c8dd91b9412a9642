// Secrets of tenants.
#pragma once

#include "api/operation.h"
#include "api/types_secret.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<CreateSecret, Secret> create_secret{{
    .name = "createSecret", .method = Method::post, .path = "/v1/secrets", .permission = Permission::secret_write,
    .help = "Create a secret for instances, or a registry login for image pulls.", .status = 201, .noun = "secret",
    .verb = "create", .argument = "name",
    .example = "secret create huggingface --value token=@token.txt"}};
inline constexpr Typed<ListSecrets, List<Secret>> list_secrets{{
    .name = "listSecrets", .path = "/v1/secrets", .permission = Permission::secret_read,
    .help = "List secrets, without their values.", .list = true, .noun = "secret", .verb = "list",
    .columns = "name kind server version updatedAt usedBy tenantID id"}};
inline constexpr Typed<NameSecret, Secret> get_secret{{
    .name = "getSecret", .path = "/v1/secrets/{secret}", .permission = Permission::secret_read,
    .help = "Show a secret without its values.", .noun = "secret", .verb = "get"}};
inline constexpr Typed<UpdateSecret, Secret> update_secret{{
    .name = "updateSecret", .method = Method::patch, .path = "/v1/secrets/{secret}",
    .permission = Permission::secret_write,
    .help = "Change the values of a secret. Instances get the new values at their next start.", .noun = "secret", .verb = "edit",
    .example = "secret edit huggingface --value token=@token.txt"}};
inline constexpr Typed<NameSecret, Empty> delete_secret{{
    .name = "deleteSecret", .method = Method::delete_, .path = "/v1/secrets/{secret}",
    .permission = Permission::secret_write,
    .help = "Delete a secret that no instance uses.", .noun = "secret", .verb = "delete"}};

}  // namespace hostler::api::ops
