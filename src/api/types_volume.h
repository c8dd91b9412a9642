// Volumes.
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
    std::string project;
    std::string size;
    std::string wanted_size;
    VolumeState state = VolumeState::creating;
    std::string reason;
    std::string message;
    std::string zone;
    std::string host;
    std::vector<std::string> attached_to;
    WallTime created_at;
    std::string created_by;
    std::optional<std::int64_t> used_bytes{};
    std::optional<std::int64_t> total_bytes{};
    std::optional<std::int64_t> used_inodes{};
    std::optional<std::int64_t> total_inodes{};
};
BOOST_DESCRIBE_STRUCT(Volume, (),
                      (id, name, tenant_id, project, size, wanted_size, state, reason, message, zone, host, attached_to,
                       created_at, created_by, used_bytes, total_bytes, used_inodes, total_inodes))
template <>
inline constexpr auto fields<Volume> = std::to_array<Field>({
    {.member = "id", .help = "Its id.", .example = "v-3hq8wz"},
    {.member = "name", .help = "Its name, unique in the tenant.", .example = "models"},
    {.member = "tenant_id", .help = "Owning tenant.", .example = "acme"},
    {.member = "project", .help = "Project of the tenant.", .example = "default"},
    {.member = "size", .help = "Capacity, including the overhead of its file system.", .example = "10Gi"},
    {.member = "wanted_size", .help = "Size to which it grows; empty: it does not grow.", .example = "20Gi"},
    {.member = "state", .help = "Its state.", .example = "available"},
    {.member = "reason", .help = "Reason of the state, as a token."},
    {.member = "message", .help = "Reason of the state, in words."},
    {.member = "zone", .help = "The zone it is in; empty: where it is first used.", .example = "nj"},
    {.member = "host", .help = "Host that stores it; empty: none yet.", .example = "h-4f2a9c"},
    {.member = "attached_to", .help = "Ids of the instances that use it."},
    {.member = "created_at", .help = "When it was made."},
    {.member = "created_by", .help = "Who made it: a user, a service account or an API key; empty: not known.",
     .example = "user/u-3hq8wz"},
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
    std::optional<std::string> project{};
};
BOOST_DESCRIBE_STRUCT(CreateVolume, (), (name, size, zone, tenant_id, project))
template <>
inline constexpr auto fields<CreateVolume> = std::to_array<Field>({
    {.member = "name", .help = "Its name, unique in the tenant.", .example = "models", .form = &forms::label},
    {.member = "size", .help = "Capacity; at least 300Mi.", .example = "10Gi", .form = &forms::quantity},
    {.member = "zone", .help = "The zone it is in; without it: where it is first used.", .example = "nj",
     .form = &forms::label},
    {.member = "tenant_id", .help = "Owning tenant; required with an operator's key.", .example = "acme",
     .form = &forms::id},
    {.member = "project", .help = "Project of the tenant. Default: `default`.", .example = "lab", .form = &forms::label},
});

struct ListVolumes {
    std::optional<std::string> tenant_id{};
    std::optional<std::string> project{};
    std::optional<std::string> zone{};
    std::optional<VolumeState> state{};
};
BOOST_DESCRIBE_STRUCT(ListVolumes, (), (tenant_id, project, zone, state))
template <>
inline constexpr auto fields<ListVolumes> = std::to_array<Field>({
    {.member = "tenant_id", .help = "Only this tenant's.", .example = "acme", .form = &forms::id},
    {.member = "project", .help = "Only those in this project.", .example = "lab", .form = &forms::label},
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

}  // namespace hostler::api
