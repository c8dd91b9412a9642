// Zones, access points, and tokens with which hosts join.
#pragma once

#include "api/operation.h"
#include "api/types_zone.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<Empty, List<Zone>> list_zones{{
    .name = "listZones", .path = "/v1/zones", .permission = Permission::zone_read, .help = "List the zones.",
    .list = true,
    .noun = "zone", .verb = "list", .columns = "name location accessPoints hosts gpus gpusFree createdAt"}};
inline constexpr Typed<CreateZone, Zone> create_zone{{
    .name = "createZone", .method = Method::post, .path = "/v1/zones",
    .permission = Permission::zone_write, .help = "Create a zone.", .status = 201, .noun = "zone", .verb = "create",
    .argument = "name", .example = "zone create nj --location 'New Jersey, US'"}};
inline constexpr Typed<NameZone, Zone> get_zone{{
    .name = "getZone", .path = "/v1/zones/{zone}", .permission = Permission::zone_read, .help = "Show a zone.",
    .noun = "zone", .verb = "get"}};
inline constexpr Typed<UpdateZone, Zone> update_zone{{
    .name = "updateZone", .method = Method::patch, .path = "/v1/zones/{zone}",
    .permission = Permission::zone_write, .help = "Set the location of a zone.", .noun = "zone", .verb = "edit",
    .example = "zone edit nj --coordinates 40.73,-74.17"}};
inline constexpr Typed<NameZone, Empty> delete_zone{{
    .name = "deleteZone", .method = Method::delete_, .path = "/v1/zones/{zone}",
    .permission = Permission::zone_write, .help = "Delete a zone that has no hosts, stock or access points left.",
    .noun = "zone", .verb = "delete"}};

inline constexpr Typed<ListAccessPoints, List<AccessPoint>> list_access_points{{
    .name = "listAccessPoints", .path = "/v1/access-points",
    .permission = Permission::access_read, .help = "List the access points.", .list = true, .noun = "access",
    .verb = "list", .columns = "id zone state address hosts standbys loadPercent tunnels version seenAt"}};
inline constexpr Typed<GetAccessPoint, AccessPoint> get_access_point{{
    .name = "getAccessPoint", .path = "/v1/access-points/{accessPoint}",
    .permission = Permission::access_read, .help = "Show an access point.", .noun = "access", .verb = "get"}};
inline constexpr Typed<DrainAccessPoint, AccessPoint> drain_access_point{{
    .name = "drainAccessPoint", .method = Method::post, .path = "/v1/access-points/{accessPoint}/drain",
    .permission = Permission::access_write,
    .help = "Move the hosts of an access point to others, and accept no new ones.", .noun = "access",
    .verb = "drain"}};
inline constexpr Typed<GetAccessPoint, AccessPoint> undrain_access_point{{
    .name = "undrainAccessPoint", .method = Method::post, .path = "/v1/access-points/{accessPoint}/undrain",
    .permission = Permission::access_write, .help = "Let an access point accept hosts again.",
    .noun = "access", .verb = "undrain"}};

inline constexpr Typed<CreateHostToken, CreatedHostToken> create_host_token{{
    .name = "createHostToken", .method = Method::post, .path = "/v1/host-tokens",
    .permission = Permission::host_write, .help = "Create a token that lets one host join.", .status = 201,
    .noun = "host token", .verb = "create", .example = "host token create --zone nj"}};
inline constexpr Typed<Empty, List<HostToken>> list_host_tokens{{
    .name = "listHostTokens", .path = "/v1/host-tokens",
    .permission = Permission::host_read, .help = "List the tokens for joining hosts.", .list = true,
    .noun = "host token", .verb = "list", .columns = "id zone provider createdAt expiresAt usedAt host"}};
inline constexpr Typed<NameHostToken, Empty> delete_host_token{{
    .name = "deleteHostToken", .method = Method::delete_, .path = "/v1/host-tokens/{hostToken}",
    .permission = Permission::host_write, .help = "Revoke a token.",
    .noun = "host token", .verb = "delete"}};

}  // namespace hostler::api::ops
