#include "api/codec_define.h"
#include "api/types_share.h"

HOSTLER_JSON(hostler::api::Share)
HOSTLER_JSON(hostler::api::CreateShare)
HOSTLER_JSON(hostler::api::CreatedShare)
HOSTLER_JSON(hostler::api::ListShares)
HOSTLER_JSON(hostler::api::NameShare)
HOSTLER_JSON(hostler::api::List<hostler::api::Share>)
