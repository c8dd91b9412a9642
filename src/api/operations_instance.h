// Instances, what they are made of, and what runs and is not in the store.
#pragma once

#include "api/operation.h"
#include "api/types_common.h"
#include "api/types_foreign.h"
#include "api/types_instance.h"
#include "api/types_key.h"
#include "api/types_share.h"
#include "api/types_template.h"
#include "api/types_volume.h"

namespace hostler::api::ops {

// clang-format off

// Calls of the source, at their paths and with their fields.
inline constexpr Typed<CreateInstance, Empty> create_instance{{
    .name = "createInstance", .method = Method::post, .path = "/gpu-instances", .permission = "instance.write",
    .help = "Create a GPU instance and start it, from stock if a slot is ready.", .noun = "instance",
    .verb = "create",
    .argument = "instanceID",
    .example = "instance create notebook-1 --spec h100-1 --image docker.io/library/nginx:1.27 "
               "--port 80,public,probe --wait"}};
inline constexpr Typed<NameInstance, Empty> delete_instance{{
    .name = "deleteInstance", .method = Method::delete_, .path = "/gpu-instances/{instanceID}",
    .permission = "instance.write",
    .help = "End an instance permanently. Its volumes stay; its name is free once it has ended.",
    .noun = "instance",
    .verb = "delete", .example = "instance delete notebook-1"}};
inline constexpr Typed<NameInstance, InstanceStateAnswer> get_instance_state{{
    .name = "getInstanceState", .path = "/gpu-instances/{instanceID}", .permission = "instance.read",
    .help = "Show the state of an instance in one word.", .noun = "instance", .verb = "state",
    .example = "instance state notebook-1"}};

inline constexpr Typed<ListInstances, List<Instance>> list_instances{{
    .name = "listInstances", .path = "/v1/instances", .permission = "instance.read",
    .help = "List instances, or watch them.", .list = true, .watch = true, .noun = "instance", .verb = "list",
    .columns = "instanceID state reason urls stopsAt specName tenantID createdAt phase zone host labels",
    .example = "instance list --watch"}};
inline constexpr Typed<GetInstance, Instance> get_instance{{
    .name = "getInstance", .path = "/v1/instances/{instance}", .permission = "instance.read",
    .help = "Show an instance.", .noun = "instance", .verb = "get"}};
inline constexpr Typed<StopInstance, Instance> stop_instance{{
    .name = "stopInstance", .method = Method::post, .path = "/v1/instances/{instance}/stop",
    .permission = "instance.write",
    .help = "Stop an instance temporarily. It releases its GPUs; its name, URLs, volumes and written files stay.",
    .noun = "instance", .verb = "stop", .example = "instance stop notebook-1 --wait"}};
inline constexpr Typed<GetInstance, Instance> start_instance{{
    .name = "startInstance", .method = Method::post, .path = "/v1/instances/{instance}/start",
    .permission = "instance.write", .help = "Start a stopped instance again.", .noun = "instance",
    .verb = "start", .example = "instance start notebook-1 --wait"}};
inline constexpr Typed<GetInstance, Instance> restart_instance{{
    .name = "restartInstance", .method = Method::post, .path = "/v1/instances/{instance}/restart",
    .permission = "instance.write", .help = "Give an instance a new container in its present place.",
    .noun = "instance", .verb = "restart", .example = "instance restart notebook-1 --wait"}};
inline constexpr Typed<GetInstance, Instance> retry_instance{{
    .name = "retryInstance", .method = Method::post, .path = "/v1/instances/{instance}/retry",
    .permission = "instance.write",
    .help = "Start a failed instance, or one with an ended program, once more.", .noun = "instance",
    .verb = "retry", .example = "instance retry notebook-1 --wait"}};
inline constexpr Typed<KeepAlive, Instance> keep_instance_alive{{
    .name = "keepInstanceAlive", .method = Method::post, .path = "/v1/instances/{instance}/keep-alive",
    .permission = "instance.write", .help = "Keep an instance from being stopped by rules for a while.", .noun = "instance",
    .verb = "keep-alive", .example = "instance keep-alive notebook-1 --for 4h"}};
inline constexpr Typed<UpdateInstance, Instance> update_instance{{
    .name = "updateInstance", .method = Method::patch, .path = "/v1/instances/{instance}",
    .permission = "instance.write", .help = "Change an instance's labels, its stop rules, or the program of a "
                                            "stopped or failed instance.",
    .noun = "instance", .verb = "update",
    .example = "instance update notebook-1 --inactivity-timeout 2h --max-run off"}};
inline constexpr Typed<GetLogs, Logs> get_instance_logs{{
    .name = "getInstanceLogs", .path = "/v1/instances/{instance}/logs", .permission = "instance.read",
    .help = "Show the last lines of an instance's output.", .noun = "instance", .verb = "logs",
    .example = "instance logs notebook-1 --since 10m --follow"}};
inline constexpr Typed<GetInstance, List<Event>> list_instance_events{{
    .name = "listInstanceEvents", .path = "/v1/instances/{instance}/events", .permission = "instance.read",
    .help = "List the events of an instance.", .list = true, .noun = "instance", .verb = "events",
    .columns = "time actor reason message"}};
inline constexpr Typed<GetInstance, Explanation> explain_instance{{
    .name = "explainInstance", .path = "/v1/instances/{instance}/explain", .permission = "instance.read",
    .help = "Explain why an instance is in its state, and what would help.", .noun = "instance",
    .verb = "explain"}};

inline constexpr Typed<Empty, List<InstanceTemplate>> list_templates{{
    .name = "listTemplates", .path = "/v1/templates", .permission = "template.read",
    .help = "List the templates.", .list = true, .noun = "template", .verb = "list",
    .columns = "name title help image"}};
inline constexpr Typed<GetTemplate, InstanceTemplate> get_template{{
    .name = "getTemplate", .path = "/v1/templates/{template}", .permission = "template.read",
    .help = "Show a template and its parameters.",
    .noun = "template", .verb = "get", .example = "template get jupyter"}};

inline constexpr Typed<CreateShare, CreatedShare> create_share{{
    .name = "createShare", .method = Method::post, .path = "/v1/instances/{instance}/shares",
    .permission = "instance.share", .help = "Create a link that opens one port in a browser, without a key.",
    .status = 201, .noun = "instance", .verb = "share", .argument = "port",
    .example = "instance share notebook-1 8080 --for 8h"}};
inline constexpr Typed<ListShares, List<Share>> list_shares{{
    .name = "listShares", .path = "/v1/instances/{instance}/shares", .permission = "instance.read",
    .help = "List the share links of an instance.", .list = true, .noun = "instance", .verb = "shares",
    .columns = "id port expiresAt opened madeBy createdAt"}};
inline constexpr Typed<NameShare, Empty> delete_share{{
    .name = "deleteShare", .method = Method::delete_, .path = "/v1/shares/{share}",
    .permission = "instance.share", .help = "Revoke a share link, also for people who have opened it.",
    .noun = "instance", .verb = "unshare", .example = "instance unshare sh-4t1b9r"}};

inline constexpr Typed<CreateVolume, Volume> create_volume{{
    .name = "createVolume", .method = Method::post, .path = "/v1/volumes", .permission = "volume.write",
    .help = "Create a volume.", .status = 201, .noun = "volume", .verb = "create", .argument = "name",
    .example = "volume create models --size 10Gi"}};
inline constexpr Typed<ListVolumes, List<Volume>> list_volumes{{
    .name = "listVolumes", .path = "/v1/volumes", .permission = "volume.read", .help = "List volumes.",
    .list = true, .noun = "volume", .verb = "list",
    .columns = "name id tenantID size usedBytes usedInodes state createdAt attachedTo zone host"}};
inline constexpr Typed<NameVolume, Volume> get_volume{{
    .name = "getVolume", .path = "/v1/volumes/{volume}", .permission = "volume.read",
    .help = "Show a volume.",
    .noun = "volume", .verb = "get"}};
inline constexpr Typed<NameVolume, Explanation> explain_volume{{
    .name = "explainVolume", .path = "/v1/volumes/{volume}/explain", .permission = "volume.read",
    .help = "Show the place, the users and the usage of a volume, and why it waits.", .noun = "volume",
    .verb = "explain", .example = "volume explain models"}};
inline constexpr Typed<ResizeVolume, LongOperation> resize_volume{{
    .name = "resizeVolume", .method = Method::patch, .path = "/v1/volumes/{volume}",
    .permission = "volume.write", .help = "Grow a volume, also while instances use it.", .status = 202,
    .noun = "volume", .verb = "resize", .example = "volume resize models --size 20Gi --wait"}};
inline constexpr Typed<NameVolume, LongOperation> delete_volume{{
    .name = "deleteVolume", .method = Method::delete_, .path = "/v1/volumes/{volume}",
    .permission = "volume.write", .help = "Delete an unused volume and its contents.",
    .status = 202, .noun = "volume", .verb = "delete", .confirm = "Its contents are deleted permanently.",
    .example = "volume delete models --wait"}};

inline constexpr Typed<ListNetworks, List<Network>> list_networks{{
    .name = "listNetworks", .path = "/v1/networks", .permission = "network.read", .help = "List networks.",
    .list = true, .noun = "network", .verb = "list", .columns = "name id tenantID createdAt subnets"}};
inline constexpr Typed<GetNetwork, Network> get_network{{
    .name = "getNetwork", .path = "/v1/networks/{network}", .permission = "network.read",
    .help = "Show a network.", .noun = "network", .verb = "get", .example = "network get default"}};
inline constexpr Typed<RenameNetwork, Network> rename_network{{
    .name = "renameNetwork", .method = Method::patch, .path = "/v1/networks/{network}",
    .permission = "network.write", .help = "Rename a network. Its addresses stay.", .noun = "network",
    .verb = "rename", .argument = "name", .example = "network rename default lab"}};

inline constexpr Typed<ListOperations, List<LongOperation>> list_operations{{
    .name = "listOperations", .path = "/v1/operations", .permission = "operation.read",
    .help = "List long-running operations.", .list = true, .noun = "operation", .verb = "list",
    .columns = "id kind subject state createdAt endedAt message"}};
inline constexpr Typed<GetOperation, LongOperation> get_operation{{
    .name = "getOperation", .path = "/v1/operations/{operation}", .permission = "operation.read",
    .help = "Show the progress of an operation.", .noun = "operation", .verb = "get"}};

inline constexpr Typed<ListForeignWorkloads, List<ForeignWorkload>> list_foreign_workloads{{
    .name = "listForeignWorkloads", .path = "/v1/foreign-workloads", .permission = "foreign.read",
    .scope = Scope::operator_only, .help = "List unmanaged workloads: they run on hosts and are not in the store.", .list = true,
    .noun = "reconcile", .verb = "review",
    .columns = "id host tenantID name state decision gpus image seenSince message why",
    .example = "reconcile review --decision open"}};
inline constexpr Typed<NameForeignWorkload, Instance> adopt_foreign_workload{{
    .name = "adoptForeignWorkload", .method = Method::post, .path = "/v1/foreign-workloads/{workload}/adopt",
    .permission = "foreign.write", .scope = Scope::operator_only,
    .help = "Adopt an unmanaged workload as an instance of its tenant, as it runs.", .noun = "reconcile", .verb = "adopt",
    .example = "reconcile adopt i-7k2m9x"}};
inline constexpr Typed<SettleForeignWorkload, ForeignWorkload> keep_foreign_workload{{
    .name = "keepForeignWorkload", .method = Method::post, .path = "/v1/foreign-workloads/{workload}/keep",
    .permission = "foreign.write", .scope = Scope::operator_only,
    .help = "Leave an unmanaged workload running: it holds its place until it ends.", .noun = "reconcile", .verb = "keep",
    .example = "reconcile keep i-7k2m9x --why 'the lab looks after it'"}};
inline constexpr Typed<SettleForeignWorkload, ForeignWorkload> remove_foreign_workload{{
    .name = "removeForeignWorkload", .method = Method::post, .path = "/v1/foreign-workloads/{workload}/remove",
    .permission = "foreign.write", .scope = Scope::operator_only, .help = "Stop and remove an unmanaged workload.",
    .noun = "reconcile", .verb = "remove", .confirm = "It is stopped for good; volumes stay on its host.",
    .example = "reconcile remove i-7k2m9x"}};

}  // namespace hostler::api::ops
