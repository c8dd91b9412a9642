// Hosts with their GPUs.
#pragma once

#include "api/operation.h"
#include "api/types_host.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<ListHosts, List<Host>> list_hosts{{
    .name = "listHosts", .path = "/v1/hosts", .permission = Permission::host_read,
    .help = "List the hosts.", .list = true, .noun = "host", .verb = "list",
    .columns = "id name zone state reason gpus gpusFree gpuModels simulated instances seenAt cpus memoryBytes"}};
inline constexpr Typed<NameHost, Host> get_host{{
    .name = "getHost", .path = "/v1/hosts/{host}", .permission = Permission::host_read,
    .help = "Show a host.", .noun = "host", .verb = "get"}};
inline constexpr Typed<UpdateHost, Host> update_host{{
    .name = "updateHost", .method = Method::patch, .path = "/v1/hosts/{host}",
    .permission = Permission::host_admit, .help = "Set a host's rack, labels and trust.",
    .noun = "host", .verb = "edit", .example = "host edit gpu-07 --rack nj-r12 --label disk=nvme --trust trusted"}};
inline constexpr Typed<NameHost, Host> cordon_host{{
    .name = "cordonHost", .method = Method::post, .path = "/v1/hosts/{host}/cordon",
    .permission = Permission::host_write,
    .help = "Place nothing new on a host.", .noun = "host", .verb = "cordon"}};
inline constexpr Typed<NameHost, Host> uncordon_host{{
    .name = "uncordonHost", .method = Method::post, .path = "/v1/hosts/{host}/uncordon",
    .permission = Permission::host_write, .help = "Let a host take work again.",
    .noun = "host", .verb = "uncordon"}};
inline constexpr Typed<DrainHost, Host> drain_host{{
    .name = "drainHost", .method = Method::post, .path = "/v1/hosts/{host}/drain",
    .permission = Permission::host_write,
    .help = "Drain a host: it takes nothing new, its tenants get a notice, and at its end the remaining instances "
            "are stopped.",
    .noun = "host", .verb = "drain", .example = "host drain gpu-07 --notice-seconds 1800 --reason 'new memory'"}};
inline constexpr Typed<NameHost, Host> undrain_host{{
    .name = "undrainHost", .method = Method::post, .path = "/v1/hosts/{host}/undrain",
    .permission = Permission::host_write, .help = "End the drain of a host: it takes work again.", .noun = "host",
    .verb = "undrain"}};
inline constexpr Typed<NameHost, Host> release_host{{
    .name = "releaseHost", .method = Method::post, .path = "/v1/hosts/{host}/release",
    .permission = Permission::host_admit,
    .help = "Lift a host's quarantine: the next machine that connects with its key is the host.",
    .noun = "host", .verb = "release"}};
inline constexpr Typed<NameHost, Host> measure_host{{
    .name = "measureHost", .method = Method::post, .path = "/v1/hosts/{host}/measure",
    .permission = Permission::host_write,
    .help = "Measure a host again once its GPUs are unused, and withdraw an operator's admission.",
    .noun = "host", .verb = "measure"}};
inline constexpr Typed<NameHost, Host> admit_host{{
    .name = "admitHost", .method = Method::post, .path = "/v1/hosts/{host}/admit",
    .permission = Permission::host_admit,
    .help = "Admit a host with its present GPUs, regardless of its measurements.", .noun = "host",
    .verb = "admit"}};
inline constexpr Typed<NameHost, Explanation> explain_host{{
    .name = "explainHost", .path = "/v1/hosts/{host}/explain",
    .permission = Permission::host_read, .help = "Explain why a host is in its state.", .noun = "host",
    .verb = "explain"}};
inline constexpr Typed<RemoveHost, Empty> remove_host{{
    .name = "removeHost", .method = Method::delete_, .path = "/v1/hosts/{host}",
    .permission = Permission::host_write,
    .help = "Remove a host permanently. It is disconnected at once.", .noun = "host",
    .verb = "remove", .confirm = "It can join again only with a new token.",
    .example = "host remove h-4f2a9c"}};

inline constexpr Typed<ListGpus, List<Gpu>> list_gpus{{
    .name = "listGpus", .path = "/v1/gpus", .permission = Permission::gpu_read,
    .help = "List the GPUs.", .list = true, .pages = Pages::own, .query = true, .noun = "gpu", .verb = "list",
    .columns = "hostName index id state remedy use holder model simulated utilizationPercent temperatureCelsius "
               "powerWatts memoryBytes zone"}};
inline constexpr Typed<GetGpu, Gpu> get_gpu{{
    .name = "getGpu", .path = "/v1/gpus/{gpu}", .permission = Permission::gpu_read,
    .help = "Show a GPU.", .noun = "gpu", .verb = "get"}};
inline constexpr Typed<GetGpu, GpuExplanation> explain_gpu{{
    .name = "explainGpu", .path = "/v1/gpus/{gpu}/explain",
    .permission = Permission::gpu_read,
    .help = "Show the health of a GPU, the reason, and the remedy.", .noun = "gpu",
    .verb = "explain"}};
inline constexpr Typed<GetGpu, GpuExplanation> return_gpu{{
    .name = "returnGpu", .method = Method::post, .path = "/v1/gpus/{gpu}/return",
    .permission = Permission::host_admit,
    .help = "Test a repaired GPU. If it is well, it takes work again; a GPU that is gone is forgotten.",
    .noun = "gpu", .verb = "return"}};

}  // namespace hostler::api::ops
