#include "api/codec_define.h"
#include "api/types_usage.h"

HOSTLER_JSON(hostler::api::GpuShare)
HOSTLER_JSON(hostler::api::GpuUsage)
HOSTLER_JSON(hostler::api::ListGpuUsage)
HOSTLER_JSON(hostler::api::HostUsage)
HOSTLER_JSON(hostler::api::ListHostUsage)
HOSTLER_JSON(hostler::api::List<hostler::api::GpuUsage>)
HOSTLER_JSON(hostler::api::List<hostler::api::HostUsage>)
