#include "api/codec_define.h"
#include "api/types_host.h"

HOSTLER_JSON(hostler::api::Host)
HOSTLER_JSON(hostler::api::ListHosts)
HOSTLER_JSON(hostler::api::NameHost)
HOSTLER_JSON(hostler::api::RemoveHost)
HOSTLER_JSON(hostler::api::Gpu)
HOSTLER_JSON(hostler::api::ListGpus)
HOSTLER_JSON(hostler::api::GetGpu)
HOSTLER_JSON(hostler::api::GpuEvidence)
HOSTLER_JSON(hostler::api::GpuExplanation)
HOSTLER_JSON(hostler::api::List<hostler::api::Host>)
HOSTLER_JSON(hostler::api::List<hostler::api::Gpu>)
