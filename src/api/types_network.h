// Networks that instances are in.
#pragma once

#include "api/types_common.h"

namespace hostler::api {

// clang-format off

struct Subnet {
    std::string host;
    std::string cidr;
    int addresses_used = 0;
};
BOOST_DESCRIBE_STRUCT(Subnet, (), (host, cidr, addresses_used))
template <>
inline constexpr auto fields<Subnet> = std::to_array<Field>({
    {.member = "host", .help = "The host.", .example = "h-4f2a9c"},
    {.member = "cidr", .help = "Its part of the network.", .example = "10.64.0.0/28"},
    {.member = "addresses_used", .help = "Number of used addresses.", .example = "2"},
});

struct Network {
    std::string id;
    std::string name;
    std::string tenant_id;
    std::string project;
    std::vector<Subnet> subnets;
    WallTime created_at;
};
BOOST_DESCRIBE_STRUCT(Network, (), (id, name, tenant_id, project, subnets, created_at))
template <>
inline constexpr auto fields<Network> = std::to_array<Field>({
    {.member = "id", .help = "Its id.", .example = "n-8d1c4t"},
    {.member = "name", .help = "Its name, unique in the tenant; initially that of its project.", .example = "default"},
    {.member = "tenant_id", .help = "Owning tenant; empty: the operator.", .example = "acme"},
    {.member = "project", .help = "Project of the tenant.", .example = "default"},
    {.member = "subnets", .help = "Its address range on each host."},
    {.member = "created_at", .help = "When it was made."},
});

struct ListNetworks {
    std::optional<std::string> tenant_id{};
    std::optional<std::string> project{};
};
BOOST_DESCRIBE_STRUCT(ListNetworks, (), (tenant_id, project))
template <>
inline constexpr auto fields<ListNetworks> = std::to_array<Field>({
    {.member = "tenant_id", .help = "Only this tenant's.", .example = "acme", .form = &forms::id},
    {.member = "project", .help = "Only those in this project.", .example = "lab", .form = &forms::label},
});

struct GetNetwork {
    std::string network;
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(GetNetwork, (), (network, tenant_id))
template <>
inline constexpr auto fields<GetNetwork> = std::to_array<Field>({
    {.member = "network", .help = "The network's id or name.", .example = "default", .min = 1, .max = 128},
    {.member = "tenant_id", .help = "Owning tenant; for an operator's key, when two tenants use the same name.",
     .example = "acme", .form = &forms::id},
});

// PATCH /v1/networks/{network}.
struct RenameNetwork {
    std::string network;
    std::optional<std::string> tenant_id{};
    std::string name;
};
BOOST_DESCRIBE_STRUCT(RenameNetwork, (), (network, tenant_id, name))
template <>
inline constexpr auto fields<RenameNetwork> = std::to_array<Field>({
    {.member = "network", .help = "The network's id or name.", .example = "default", .min = 1, .max = 128},
    {.member = "tenant_id", .help = "Owning tenant; for an operator's key, when two tenants use the same name.",
     .example = "acme", .form = &forms::id},
    {.member = "name", .help = "Its new name, unique in the tenant.", .example = "lab", .form = &forms::label},
});

}  // namespace hostler::api
