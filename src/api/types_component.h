// The parts that a cloud consists of.
#pragma once

#include "api/types_common.h"

namespace hostler::api {

// clang-format off

enum class ComponentKind { master, gateway, access, store, series, authority };
BOOST_DESCRIBE_ENUM(ComponentKind, master, gateway, access, store, series, authority)

enum class ComponentState { leading, standby, up, behind, full, draining, drained, down, issuing, next };
BOOST_DESCRIBE_ENUM(ComponentState, leading, standby, up, behind, full, draining, drained, down, issuing, next)

struct Component {
    ComponentKind kind = ComponentKind::master;
    std::string id;
    ComponentState state = ComponentState::down;
    std::optional<std::string> zone{};
    std::optional<std::string> address{};
    std::optional<std::string> version{};
    std::optional<WallTime> since{};
    std::optional<WallTime> seen_at{};
    std::optional<WallTime> expires_at{};
    std::optional<std::int64_t> size_bytes{};
    std::optional<std::string> message{};
};
BOOST_DESCRIBE_STRUCT(Component, (), (kind, id, state, zone, address, version, since, seen_at, expires_at, size_bytes,
                                      message))
template <>
inline constexpr auto fields<Component> = std::to_array<Field>({
    {.member = "kind", .help = "Which part it is; access: an access point; authority: of certificates.",
     .example = "gateway"},
    {.member = "id", .help = "Its name or id, unique among those of its kind.", .example = "gw-1"},
    {.member = "state",
     .help = "leading, standby: of a master. up, down: whether it is connected, or was heard of within a minute. behind: "
             "the series store is slow, and hosts keep their samples. full: the store takes no changes. issuing, next: of an "
             "authority.", .example = "up"},
    {.member = "zone", .help = "Its zone; absent: it is in none.", .example = "nj"},
    {.member = "address", .help = "Where others reach it; of a master on standby, the address that it calls from.",
     .example = "https://apps.example.com:443"},
    {.member = "version", .help = "The release it runs; of the store, its schema. Absent: unknown.", .example = "0.1.0"},
    {.member = "since", .help = "When this state began, as far as the leading master knows."},
    {.member = "seen_at", .help = "When it was last heard of; absent: it is connected, or unknown."},
    {.member = "expires_at", .help = "End of its certificate; absent: unknown."},
    {.member = "size_bytes", .help = "Size on the disk; absent: unknown.", .example = "1073741824"},
    {.member = "message", .help = "Further facts about it.", .example = "epoch 4"},
});

}  // namespace hostler::api
