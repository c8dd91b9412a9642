#include "api/codec_define.h"
#include "api/types_consolidation.h"

HOSTLER_JSON(hostler::api::ConsolidationMove)
HOSTLER_JSON(hostler::api::FreedHost)
HOSTLER_JSON(hostler::api::Consolidation)
HOSTLER_JSON(hostler::api::WantedMove)
HOSTLER_JSON(hostler::api::CreateConsolidation)
HOSTLER_JSON(hostler::api::GetConsolidation)
HOSTLER_JSON(hostler::api::List<hostler::api::Consolidation>)
HOSTLER_JSON(hostler::api::List<hostler::api::ConsolidationMove>)
