// Keys that seal what is secret in the store.
#pragma once

#include "api/operation.h"
#include "api/types_sealing.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<Empty, SealingKeys> get_sealing_keys{{
    .name = "getSealingKeys", .path = "/v1/sealing-keys",
    .permission = Permission::sealing_read,
    .help = "Show the keys that seal the secrets in the store.", .noun = "seal",
    .verb = "keys", .example = "seal keys"}};
inline constexpr Typed<RotateSealingKey, SealingKeys> rotate_sealing_key{{
    .name = "rotateSealingKey", .method = Method::post, .path = "/v1/sealing-keys/rotate",
    .permission = Permission::sealing_write,
    .help = "Take one step in the rotation of the sealing key.", .noun = "seal",
    .verb = "rotate", .argument = "step", .example = "seal rotate begin"}};
inline constexpr Typed<NameSealingKey, SealingKeys> forget_sealing_key{{
    .name = "forgetSealingKey", .method = Method::post, .path = "/v1/sealing-keys/{sealingKey}/forget",
    .permission = Permission::sealing_write,
    .help = "Forget a sealing key that seals no secret. Backups sealed with it still need it.",
    .noun = "seal", .verb = "forget", .example = "seal forget 9f86d081884c7d65"}};

}  // namespace hostler::api::ops
