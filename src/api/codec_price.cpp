#include "api/codec_define.h"
#include "api/types_price.h"

HOSTLER_JSON(hostler::api::Price)
HOSTLER_JSON(hostler::api::List<hostler::api::Price>)
HOSTLER_JSON(hostler::api::ListPrices)
HOSTLER_JSON(hostler::api::SetPrice)
HOSTLER_JSON(hostler::api::RemovePrice)
