#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_usage.h"

HOSTLER_JSON(hostler::api::GpuShare)
HOSTLER_JSON(hostler::api::GpuUsage)
HOSTLER_JSON(hostler::api::ListGpuUsage)
HOSTLER_JSON(hostler::api::HostUsage)
HOSTLER_JSON(hostler::api::ListHostUsage)
HOSTLER_JSON(hostler::api::List<hostler::api::GpuUsage>)
HOSTLER_JSON(hostler::api::List<hostler::api::HostUsage>)

namespace hostler::api {

ApiArea usage_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &list_gpu_usage,
        &list_host_usage,
    });
    return {operations, {}};
}

}  // namespace hostler::api
