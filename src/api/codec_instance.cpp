#include "api/codec_define.h"
#include "api/types_instance.h"

namespace hostler::api {
@@RULES@@
}  // namespace hostler::api

HOSTLER_JSON(hostler::api::StartInstance)
HOSTLER_JSON(hostler::api::NameInstance)
HOSTLER_JSON(hostler::api::InstanceStateAnswer)
HOSTLER_JSON(hostler::api::Instance)
HOSTLER_JSON(hostler::api::GetInstance)
HOSTLER_JSON(hostler::api::ListInstances)
HOSTLER_JSON(hostler::api::GetLogs)
HOSTLER_JSON(hostler::api::Logs)
HOSTLER_JSON(hostler::api::List<hostler::api::Instance>)
