// Instances.
#pragma once

#include "api/operation.h"
#include "api/types_event.h"
#include "api/types_instance.h"

namespace hostler::api::ops {

// clang-format off

// Calls of the source, at their paths and with their fields.
inline constexpr Typed<CreateInstance, CreatedInstance> create_instance{{
    .name = "createInstance", .method = Method::post, .path = "/gpu-instances",
    .permission = Permission::instance_write,
    .help = "Create a GPU instance and start it, from stock if a slot is ready. A dry run shows where it would go and what it "
            "would cost, or why it cannot start now.",
    .noun = "instance",
    .verb = "create",
    .argument = "instanceID",
    .example = "instance create notebook-1 --spec h100-1 --image docker.io/library/nginx:1.27 "
               "--port 80,public,probe --wait"}};
inline constexpr Typed<NameInstance, Empty> delete_instance{{
    .name = "deleteInstance", .method = Method::delete_, .path = "/gpu-instances/{instanceID}",
    .permission = Permission::instance_write,
    .help = "End an instance permanently. Its volumes stay; its name is free once it has ended.",
    .noun = "instance",
    .verb = "delete", .example = "instance delete notebook-1"}};
inline constexpr Typed<NameInstance, InstanceStateAnswer> get_instance_state{{
    .name = "getInstanceState", .path = "/gpu-instances/{instanceID}", .permission = Permission::instance_read,
    .help = "Show the state of an instance in one word.", .noun = "instance", .verb = "state",
    .example = "instance state notebook-1"}};

inline constexpr Typed<ListInstances, List<Instance>> list_instances{{
    .name = "listInstances", .path = "/v1/instances", .permission = Permission::instance_read,
    .help = "List instances, or watch them.", .list = true, .watch = true, .noun = "instance", .verb = "list",
    .columns = "instanceID state reason urls stopsAt specName tenantID project createdAt phase zone host labels owner",
    .example = "instance list --watch"}};
inline constexpr Typed<GetInstance, Instance> get_instance{{
    .name = "getInstance", .path = "/v1/instances/{instance}", .permission = Permission::instance_read,
    .help = "Show an instance.", .noun = "instance", .verb = "get"}};
inline constexpr Typed<StopInstance, Instance> stop_instance{{
    .name = "stopInstance", .method = Method::post, .path = "/v1/instances/{instance}/stop",
    .permission = Permission::instance_write,
    .help = "Stop an instance temporarily. It releases its GPUs; its name, URLs, volumes and written files stay.",
    .noun = "instance", .verb = "stop", .example = "instance stop notebook-1 --wait"}};
inline constexpr Typed<GetInstance, Instance> start_instance{{
    .name = "startInstance", .method = Method::post, .path = "/v1/instances/{instance}/start",
    .permission = Permission::instance_write, .help = "Start a stopped instance again.", .noun = "instance",
    .verb = "start", .example = "instance start notebook-1 --wait"}};
inline constexpr Typed<GetInstance, Instance> restart_instance{{
    .name = "restartInstance", .method = Method::post, .path = "/v1/instances/{instance}/restart",
    .permission = Permission::instance_write, .help = "Give an instance a new container in its present place.",
    .noun = "instance", .verb = "restart", .example = "instance restart notebook-1 --wait"}};
inline constexpr Typed<GetInstance, Instance> retry_instance{{
    .name = "retryInstance", .method = Method::post, .path = "/v1/instances/{instance}/retry",
    .permission = Permission::instance_write,
    .help = "Start a failed instance, or one with an ended program, once more.", .noun = "instance",
    .verb = "retry", .example = "instance retry notebook-1 --wait"}};
inline constexpr Typed<KeepAlive, Instance> keep_instance_alive{{
    .name = "keepInstanceAlive", .method = Method::post, .path = "/v1/instances/{instance}/keep-alive",
    .permission = Permission::instance_write,
    .help = "Keep an instance from being stopped by rules for a while.", .noun = "instance",
    .verb = "keep-alive", .example = "instance keep-alive notebook-1 --for 4h"}};
inline constexpr Typed<UpdateInstance, Instance> update_instance{{
    .name = "updateInstance", .method = Method::patch, .path = "/v1/instances/{instance}",
    .permission = Permission::instance_write,
    .help = "Change an instance's labels, its stop rules, or the program of a "
                                            "stopped or failed instance.",
    .noun = "instance", .verb = "update",
    .example = "instance update notebook-1 --inactivity-timeout 2h --max-run off"}};
inline constexpr Typed<GetLogs, Logs> get_instance_logs{{
    .name = "getInstanceLogs", .path = "/v1/instances/{instance}/logs", .permission = Permission::instance_logs,
    .help = "Show the last lines of an instance's output.", .noun = "instance", .verb = "logs",
    .example = "instance logs notebook-1 --since 10m --follow"}};
inline constexpr Typed<GetInstance, List<Event>> list_instance_events{{
    .name = "listInstanceEvents", .path = "/v1/instances/{instance}/events",
    .permission = Permission::instance_read,
    .help = "List the newest events of an instance; with order=-created, page by page on to the oldest.", .list = true, .pages = Pages::newest, .noun = "instance", .verb = "events",
    .columns = "time actor reason message"}};
inline constexpr Typed<GetInstance, Explanation> explain_instance{{
    .name = "explainInstance", .path = "/v1/instances/{instance}/explain", .permission = Permission::instance_read,
    .help = "Explain why an instance is in its state, and what would help.", .noun = "instance",
    .verb = "explain"}};

}  // namespace hostler::api::ops
