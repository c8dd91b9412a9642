// API keys, who signs certificates, what seals secrets, and who changed what.
#pragma once

#include "api/operation.h"
#include "api/types_audit.h"
#include "api/types_authority.h"
#include "api/types_common.h"
#include "api/types_key.h"
#include "api/types_sealing.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<Empty, Authorities> get_authorities{{
    .name = "getAuthorities", .path = "/v1/authorities", .permission = "authority.read",
    .scope = Scope::operator_only, .help = "Show the certificate authorities, and the holders of certificates of an "
                                           "older one.",
    .noun = "ca", .verb = "show", .example = "ca show"}};
inline constexpr Typed<RotateAuthority, Authorities> rotate_authority{{
    .name = "rotateAuthority", .method = Method::post, .path = "/v1/authorities/rotate",
    .permission = "authority.write", .scope = Scope::operator_only,
    .help = "Take one step in the rotation of the certificate authority.", .noun = "ca", .verb = "rotate",
    .argument = "step", .example = "ca rotate begin"}};
inline constexpr Typed<AdmitKey, Authorities> admit_key{{
    .name = "admitKey", .method = Method::post, .path = "/v1/authorities/admit",
    .permission = "authority.write", .scope = Scope::operator_only,
    .help = "Let a new authority certify this key of an access point or gateway, too.", .noun = "ca",
    .verb = "admit", .argument = "name",
    .example = "ca admit gateway/gw-1 --key-fingerprint "
               "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}};

inline constexpr Typed<Empty, SealingKeys> get_sealing_keys{{
    .name = "getSealingKeys", .path = "/v1/sealing-keys", .permission = "sealing.read",
    .scope = Scope::operator_only, .help = "Show the keys that seal the secrets in the store.", .noun = "seal",
    .verb = "keys", .example = "seal keys"}};
inline constexpr Typed<RotateSealingKey, SealingKeys> rotate_sealing_key{{
    .name = "rotateSealingKey", .method = Method::post, .path = "/v1/sealing-keys/rotate",
    .permission = "sealing.write", .scope = Scope::operator_only,
    .help = "Take one step in the rotation of the sealing key.", .noun = "seal",
    .verb = "rotate", .argument = "step", .example = "seal rotate begin"}};
inline constexpr Typed<NameSealingKey, SealingKeys> forget_sealing_key{{
    .name = "forgetSealingKey", .method = Method::post, .path = "/v1/sealing-keys/{sealingKey}/forget",
    .permission = "sealing.write", .scope = Scope::operator_only,
    .help = "Forget a sealing key that seals no secret. Backups sealed with it still need it.",
    .noun = "seal", .verb = "forget", .example = "seal forget 9f86d081884c7d65"}};

inline constexpr Typed<CreateApiKey, CreatedApiKey> create_api_key{{
    .name = "createApiKey", .method = Method::post, .path = "/v1/api-keys", .permission = "key.write",
    .scope = Scope::operator_only, .help = "Create an API key; its secret is shown this once.", .status = 201,
    .noun = "key", .verb = "create", .argument = "name", .example = "key create ci --tenant acme"}};
inline constexpr Typed<ListApiKeys, List<ApiKey>> list_api_keys{{
    .name = "listApiKeys", .path = "/v1/api-keys", .permission = "key.read", .help = "List API keys.",
    .list = true, .noun = "key", .verb = "list",
    .columns = "id name isOperator tenantID createdAt expiresAt usedAt"}};
inline constexpr Typed<NameApiKey, Empty> delete_api_key{{
    .name = "deleteApiKey", .method = Method::delete_, .path = "/v1/api-keys/{apiKey}",
    .permission = "key.write", .help = "Revoke an API key at once. A tenant's key may revoke itself alone; an operator's key may revoke any.",
    .noun = "key", .verb = "delete", .example = "key delete k-9r4t1b"}};

inline constexpr Typed<ListAudit, List<AuditEntry>> list_audit{{
    .name = "listAudit", .path = "/v1/audit", .permission = "audit.read",
    .help = "List audit records, newest first: with a tenant's key those of the tenant, with an operator's all. A "
            "page may be short and still have a next one.",
    .list = true, .noun = "audit", .verb = "list",
    .columns = "time actor operation subject status tenantID address client",
    .example = "audit list --subject volume/v-3hq8 --since 24h"}};

inline constexpr Typed<Empty, Whoami> whoami{{
    .name = "whoami", .path = "/v1/whoami", .permission = "self.read", .scope = Scope::anyone,
    .help = "Show the caller of this key.", .noun = "whoami", .verb = ""}};

}  // namespace hostler::api::ops
