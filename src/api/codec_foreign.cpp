#include "api/codec_define.h"
#include "api/types_foreign.h"

HOSTLER_JSON(hostler::api::ForeignWorkload)
HOSTLER_JSON(hostler::api::ListForeignWorkloads)
HOSTLER_JSON(hostler::api::NameForeignWorkload)
HOSTLER_JSON(hostler::api::SettleForeignWorkload)
HOSTLER_JSON(hostler::api::List<hostler::api::ForeignWorkload>)
