#include "api/codec_define.h"
#include "api/types_secret.h"

HOSTLER_JSON(hostler::api::SecretValue)
HOSTLER_JSON(hostler::api::SecretKey)
HOSTLER_JSON(hostler::api::Secret)
HOSTLER_JSON(hostler::api::CreateSecret)
HOSTLER_JSON(hostler::api::UpdateSecret)
HOSTLER_JSON(hostler::api::ListSecrets)
HOSTLER_JSON(hostler::api::NameSecret)
HOSTLER_JSON(hostler::api::List<hostler::api::Secret>)
