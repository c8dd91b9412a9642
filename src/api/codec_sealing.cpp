#include "api/codec_define.h"
#include "api/types_sealing.h"

HOSTLER_JSON(hostler::api::SealingKey)
HOSTLER_JSON(hostler::api::SealingKeys)
HOSTLER_JSON(hostler::api::RotateSealingKey)
HOSTLER_JSON(hostler::api::NameSealingKey)
