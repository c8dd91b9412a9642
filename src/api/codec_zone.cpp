#include "api/codec_define.h"
#include "api/types_zone.h"

HOSTLER_JSON(hostler::api::Zone)
HOSTLER_JSON(hostler::api::CreateZone)
HOSTLER_JSON(hostler::api::UpdateZone)
HOSTLER_JSON(hostler::api::NameZone)
HOSTLER_JSON(hostler::api::AccessPoint)
HOSTLER_JSON(hostler::api::ListAccessPoints)
HOSTLER_JSON(hostler::api::GetAccessPoint)
HOSTLER_JSON(hostler::api::DrainAccessPoint)
HOSTLER_JSON(hostler::api::HostToken)
HOSTLER_JSON(hostler::api::CreateHostToken)
HOSTLER_JSON(hostler::api::CreatedHostToken)
HOSTLER_JSON(hostler::api::NameHostToken)
HOSTLER_JSON(hostler::api::List<hostler::api::Zone>)
HOSTLER_JSON(hostler::api::List<hostler::api::AccessPoint>)
HOSTLER_JSON(hostler::api::List<hostler::api::HostToken>)
