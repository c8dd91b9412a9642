#include "api/codec_define.h"
#include "api/types_template.h"

HOSTLER_JSON(hostler::api::TemplateParameter)
HOSTLER_JSON(hostler::api::InstanceTemplate)
HOSTLER_JSON(hostler::api::GetTemplate)
HOSTLER_JSON(hostler::api::List<hostler::api::InstanceTemplate>)
