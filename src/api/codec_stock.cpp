#include "api/codec_define.h"
#include "api/types_stock.h"

HOSTLER_JSON(hostler::api::CreateStocks)
HOSTLER_JSON(hostler::api::DeleteStocks)
HOSTLER_JSON(hostler::api::Spec)
HOSTLER_JSON(hostler::api::GetSpec)
HOSTLER_JSON(hostler::api::Stock)
HOSTLER_JSON(hostler::api::ListStocks)
HOSTLER_JSON(hostler::api::List<hostler::api::Spec>)
HOSTLER_JSON(hostler::api::List<hostler::api::Stock>)
