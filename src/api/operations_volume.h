// Data that outlives an instance.
#pragma once

#include "api/operation.h"
#include "api/types_long_operation.h"
#include "api/types_volume.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<CreateVolume, Volume> create_volume{{
    .name = "createVolume", .method = Method::post, .path = "/v1/volumes", .permission = Permission::volume_write,
    .help = "Create a volume.", .status = 201, .noun = "volume", .verb = "create", .argument = "name",
    .example = "volume create models --size 10Gi"}};
inline constexpr Typed<ListVolumes, List<Volume>> list_volumes{{
    .name = "listVolumes", .path = "/v1/volumes", .permission = Permission::volume_read, .help = "List volumes.",
    .list = true, .noun = "volume", .verb = "list",
    .columns = "name id tenantID size usedBytes usedInodes state createdAt attachedTo zone host"}};
inline constexpr Typed<NameVolume, Volume> get_volume{{
    .name = "getVolume", .path = "/v1/volumes/{volume}", .permission = Permission::volume_read,
    .help = "Show a volume.",
    .noun = "volume", .verb = "get"}};
inline constexpr Typed<NameVolume, Explanation> explain_volume{{
    .name = "explainVolume", .path = "/v1/volumes/{volume}/explain", .permission = Permission::volume_read,
    .help = "Show the place, the users and the usage of a volume, and why it waits.", .noun = "volume",
    .verb = "explain", .example = "volume explain models"}};
inline constexpr Typed<ResizeVolume, LongOperation> resize_volume{{
    .name = "resizeVolume", .method = Method::patch, .path = "/v1/volumes/{volume}",
    .permission = Permission::volume_write, .help = "Grow a volume, also while instances use it.", .status = 202,
    .noun = "volume", .verb = "resize", .example = "volume resize models --size 20Gi --wait"}};
inline constexpr Typed<NameVolume, LongOperation> delete_volume{{
    .name = "deleteVolume", .method = Method::delete_, .path = "/v1/volumes/{volume}",
    .permission = Permission::volume_write, .help = "Delete an unused volume and its contents.",
    .status = 202, .noun = "volume", .verb = "delete", .confirm = "Its contents are deleted permanently.",
    .example = "volume delete models --wait"}};

}  // namespace hostler::api::ops
