// Networks of tenants.
#pragma once

#include "api/operation.h"
#include "api/types_network.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<ListNetworks, List<Network>> list_networks{{
    .name = "listNetworks", .path = "/v1/networks",
    .permission = Permission::network_read, .help = "List networks.",
    .list = true, .noun = "network", .verb = "list", .columns = "name id tenantID createdAt subnets"}};
inline constexpr Typed<GetNetwork, Network> get_network{{
    .name = "getNetwork", .path = "/v1/networks/{network}", .permission = Permission::network_read,
    .help = "Show a network.", .noun = "network", .verb = "get", .example = "network get default"}};
inline constexpr Typed<RenameNetwork, Network> rename_network{{
    .name = "renameNetwork", .method = Method::patch, .path = "/v1/networks/{network}",
    .permission = Permission::network_write, .help = "Rename a network. Its addresses stay.", .noun = "network",
    .verb = "rename", .argument = "name", .example = "network rename default lab"}};

}  // namespace hostler::api::ops
