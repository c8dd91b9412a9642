#include "api/codec_define.h"
#include "api/types_common.h"

HOSTLER_JSON(hostler::api::Empty)
HOSTLER_JSON(hostler::api::Problem)
HOSTLER_JSON(hostler::api::Explanation)
