#include "api/codec_define.h"
#include "api/types_volume.h"

HOSTLER_JSON(hostler::api::Volume)
HOSTLER_JSON(hostler::api::CreateVolume)
HOSTLER_JSON(hostler::api::ListVolumes)
HOSTLER_JSON(hostler::api::NameVolume)
HOSTLER_JSON(hostler::api::ResizeVolume)
HOSTLER_JSON(hostler::api::Network)
HOSTLER_JSON(hostler::api::ListNetworks)
HOSTLER_JSON(hostler::api::GetNetwork)
HOSTLER_JSON(hostler::api::RenameNetwork)
HOSTLER_JSON(hostler::api::List<hostler::api::Volume>)
HOSTLER_JSON(hostler::api::List<hostler::api::Network>)
