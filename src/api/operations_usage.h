// What GPUs and hosts do at this moment.
#pragma once

#include "api/operation.h"
#include "api/types_usage.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<ListGpuUsage, List<GpuUsage>> list_gpu_usage{{
    .name = "listGpuUsage", .path = "/v1/gpu-usage", .permission = Permission::gpu_usage,
    .help = "Show current GPU usage: with a tenant's key of its instances, with an operator's of all GPUs.",
    .list = true, .pages = Pages::own, .query = true, .noun = "gpu", .verb = "usage",
    .columns = "hostName index model state instanceID utilizationPercent memoryUsedBytes powerWatts "
               "temperatureCelsius tenantID sampledAt id"}};

inline constexpr Typed<ListHostUsage, List<HostUsage>> list_host_usage{{
    .name = "listHostUsage", .path = "/v1/host-usage",
    .permission = Permission::host_read, .help = "Show current host usage.", .list = true, .pages = Pages::own, .query = true, .noun = "host",
    .verb = "usage",
    .columns = "id name state gpus gpusUsed cpuPercent load memoryUsedBytes memoryTotalBytes sampledAt zone"}};

}  // namespace hostler::api::ops
