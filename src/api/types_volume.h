// Volumes, and the networks that instances are in.
#pragma once

#include "api/types_common.h"

namespace hostler::api {

// clang-format off

enum class VolumeState { creating, available, attached, deleting, deleted, failed };
BOOST_DESCRIBE_ENUM(VolumeState, creating, available, attached, deleting, deleted, failed)

struct Volume {
    std::string id;
    std::string name;
    std::string tenant_id;
    std::string size;
    std::string wanted_size;
    VolumeState state = VolumeState::creating;
    std::string reason;
    std::string message;
    std::string zone;
    std::string host;
    std::vector<std::string> attached_to;
    WallTime created_at;
    std::optional<std::int64_t> used_bytes{};
    std::optional<std::int64_t> total_bytes{};
    std::optional<std::int64_t> used_inodes{};
    std::optional<std::int64_t> total_inodes{};
};
BOOST_DESCRIBE_STRUCT(Volume, (),
                      (id, name, tenant_id, size, wanted_size, state, reason, message, zone, host, attached_to,
                       created_at, used_bytes, total_bytes, used_inodes, total_inodes))
template <>
inline constexpr auto fields<Volume> = std::to_array<Field>({
    {.member = "id", .help = "Its id.", .example = "v-3hq8wz"},
    {.member = "name", .help = "Its name, unique in the tenant.", .example = "models"},
    {.member = "tenant_id", .help = "Owning tenant.", .example = "acme"},
    {.member = "size", .help = "Capacity, including the overhead of its file system.", .example = "10Gi"},
    {.member = "wanted_size", .help = "Size to which it grows; empty: it does not grow.", .example = "20Gi"},
    {.member = "state", .help = "Its state.", .example = "available"},
    {.member = "reason", .help = "Reason of the state, as a token."},
    {.member = "message", .help = "Reason of the state, in words."},
    {.member = "zone", .help = "The zone it is in; empty: where it is first used.", .example = "nj"},
    {.member = "host", .help = "Host that stores it; empty: none yet.", .example = "h-4f2a9c"},
    {.member = "attached_to", .help = "Ids of the instances that use it."},
    {.member = "created_at", .help = "When it was made."},
    {.member = "used_bytes", .help = "Bytes in use, including the overhead of its file system; absent: not known now.",
     .example = "3221225472", .unit = Unit::bytes},
    {.member = "total_bytes", .help = "Capacity of its file system in bytes.", .example = "10630463488",
     .unit = Unit::bytes},
    {.member = "used_inodes", .help = "Files and folders in it.", .example = "1200"},
    {.member = "total_inodes", .help = "Maximum number of files and folders.", .example = "5242880"},
});

struct CreateVolume {
    std::string name;
    std::string size;
    std::optional<std::string> zone{};
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(CreateVolume, (), (name, size, zone, tenant_id))
template <>
inline constexpr auto fields<CreateVolume> = std::to_array<Field>({
    {.member = "name", .help = "Its name, unique in the tenant.", .example = "models", .form = &forms::label},
    {.member = "size", .help = "Capacity; at least 300Mi.", .example = "10Gi", .form = &forms::quantity},
    {.member = "zone", .help = "The zone it is in; without it: where it is first used.", .example = "nj",
     .form = &forms::label},
    {.member = "tenant_id", .help = "Owning tenant; required with an operator's key.", .example = "acme",
     .form = &forms::id},
});

struct ListVolumes {
    std::optional<std::string> tenant_id{};
    std::optional<std::string> zone{};
    std::optional<VolumeState> state{};
};
BOOST_DESCRIBE_STRUCT(ListVolumes, (), (tenant_id, zone, state))
template <>
inline constexpr auto fields<ListVolumes> = std::to_array<Field>({
    {.member = "tenant_id", .help = "Only this tenant's.", .example = "acme", .form = &forms::id},
    {.member = "zone", .help = "Only those in this zone.", .example = "nj", .form = &forms::label},
    {.member = "state", .help = "Only those in this state."},
});

struct NameVolume {
    std::string volume;
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(NameVolume, (), (volume, tenant_id))
template <>
inline constexpr auto fields<NameVolume> = std::to_array<Field>({
    {.member = "volume", .help = "The volume's id or name.", .example = "models"},
    {.member = "tenant_id", .help = "Owning tenant; for an operator's key, when two tenants use the same name.",
     .example = "acme", .form = &forms::id},
});

struct ResizeVolume {
    std::string volume;
    std::string size;
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(ResizeVolume, (), (volume, size, tenant_id))
template <>
inline constexpr auto fields<ResizeVolume> = std::to_array<Field>({
    {.member = "volume", .help = "The volume's id or name.", .example = "models"},
    {.member = "size", .help = "New capacity; not below the present one.", .example = "20Gi",
     .form = &forms::quantity},
    {.member = "tenant_id", .help = "Owning tenant; for an operator's key, when two tenants use the same name.",
     .example = "acme", .form = &forms::id},
});

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
    std::vector<Subnet> subnets;
    WallTime created_at;
};
BOOST_DESCRIBE_STRUCT(Network, (), (id, name, tenant_id, subnets, created_at))
template <>
inline constexpr auto fields<Network> = std::to_array<Field>({
    {.member = "id", .help = "Its id.", .example = "n-8d1c4t"},
    {.member = "name", .help = "Its name, unique in the tenant; initially default.", .example = "default"},
    {.member = "tenant_id", .help = "Owning tenant; empty: the operator.", .example = "acme"},
    {.member = "subnets", .help = "Its address range on each host."},
    {.member = "created_at", .help = "When it was made."},
});

struct ListNetworks {
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(ListNetworks, (), (tenant_id))
template <>
inline constexpr auto fields<ListNetworks> = std::to_array<Field>({
    {.member = "tenant_id", .help = "Only this tenant's.", .example = "acme", .form = &forms::id},
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
