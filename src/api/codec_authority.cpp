#include "api/codec_define.h"
#include "api/types_authority.h"

HOSTLER_JSON(hostler::api::Authority)
HOSTLER_JSON(hostler::api::CertificateHolder)
HOSTLER_JSON(hostler::api::Authorities)
HOSTLER_JSON(hostler::api::RotateAuthority)
