// Zones, their access points, and what joins hosts to them.
#pragma once

#include "api/types_placement.h"

namespace hostler::api {

// clang-format off

struct Zone {
    std::string name;
    std::string location;
    int access_points = 0;
    int hosts = 0;
    int gpus = 0;
    int gpus_free = 0;
    WallTime created_at;
    std::optional<std::string> coordinates{};
};
BOOST_DESCRIBE_STRUCT(Zone, (), (name, location, access_points, hosts, gpus, gpus_free, created_at, coordinates))
template <>
inline constexpr auto fields<Zone> = std::to_array<Field>({
    {.member = "name", .help = "Its name.", .example = "nj"},
    {.member = "location", .help = "Where it is, for people.", .example = "New Jersey, US"},
    {.member = "access_points", .help = "Access points that are up.", .example = "1"},
    {.member = "hosts", .help = "Hosts, in whatever state.", .example = "2"},
    {.member = "gpus", .help = "GPUs of its hosts.", .example = "16"},
    {.member = "gpus_free", .help = "Unclaimed GPUs on hosts that take work.", .example = "12"},
    {.member = "created_at", .help = "When it was made."},
    {.member = "coordinates", .help = "Where that is on earth: degrees north and east.", .example = "40.73,-74.17"},
});

struct CreateZone {
    std::string name;
    std::string location;
    std::optional<std::string> coordinates{};
};
BOOST_DESCRIBE_STRUCT(CreateZone, (), (name, location, coordinates))
template <>
inline constexpr auto fields<CreateZone> = std::to_array<Field>({
    {.member = "name", .help = "Its name, unique in this cloud.", .example = "nj", .form = &forms::label},
    {.member = "location", .help = "Where it is, for people.", .example = "New Jersey, US", .max = 256,
     .form = &forms::one_line, .absent = Absent::fills},
    {.member = "coordinates", .help = "Where that is on earth: degrees north and east.", .example = "40.73,-74.17",
     .form = &forms::spot},
});

// PATCH /v1/zones/{zone}. What is not given stays.
struct UpdateZone {
    std::string zone;
    std::optional<std::string> location{};
    std::optional<std::string> coordinates{};
};
BOOST_DESCRIBE_STRUCT(UpdateZone, (), (zone, location, coordinates))
template <>
inline constexpr auto fields<UpdateZone> = std::to_array<Field>({
    {.member = "zone", .help = "The zone's name.", .example = "nj", .form = &forms::label},
    {.member = "location", .help = "Where it is, for people.", .example = "New Jersey, US", .max = 256,
     .form = &forms::one_line},
    {.member = "coordinates", .help = "Where that is on earth: degrees north and east.", .example = "40.73,-74.17",
     .form = &forms::spot},
});

struct NameZone {
    std::string zone;
};
BOOST_DESCRIBE_STRUCT(NameZone, (), (zone))
template <>
inline constexpr auto fields<NameZone> = std::to_array<Field>({
    {.member = "zone", .help = "The zone's name.", .example = "nj", .form = &forms::label},
});

enum class AccessState { up, down, draining, drained };
BOOST_DESCRIBE_ENUM(AccessState, up, down, draining, drained)

struct AccessPoint {
    std::string id;
    std::string zone;
    std::string address;
    AccessState state = AccessState::down;
    int hosts = 0;
    int standbys = 0;
    int load_percent = 0;
    int tunnels = 0;
    int banned = 0;
    std::string version;
    std::optional<WallTime> seen_at{};
};
BOOST_DESCRIBE_STRUCT(AccessPoint, (),
                      (id, zone, address, state, hosts, standbys, load_percent, tunnels, banned, version,
                       seen_at))
template <>
inline constexpr auto fields<AccessPoint> = std::to_array<Field>({
    {.member = "id", .help = "Its id.", .example = "access-nj-1"},
    {.member = "zone", .help = "Its zone.", .example = "nj"},
    {.member = "address", .help = "Address that agents dial.", .example = "198.51.100.7:7443"},
    {.member = "state", .help = "Whether it is connected to the master, and whether it is drained.",
     .example = "up"},
    {.member = "hosts", .help = "Hosts connected through it.", .example = "2"},
    {.member = "standbys", .help = "Hosts connected to it as a standby.",
     .example = "3"},
    {.member = "load_percent", .help = "Connected hosts, in percent of its limit.", .example = "12"},
    {.member = "tunnels", .help = "Open tunnels through it.", .example = "40"},
    {.member = "banned", .help = "Temporarily banned addresses and hosts.", .example = "0"},
    {.member = "version", .help = "The release it runs.", .example = "0.1.0"},
    {.member = "seen_at", .help = "When it was last heard of; absent: it is connected, or unknown."},
});

struct ListAccessPoints {
    std::optional<std::string> zone{};
};
BOOST_DESCRIBE_STRUCT(ListAccessPoints, (), (zone))
template <>
inline constexpr auto fields<ListAccessPoints> = std::to_array<Field>({
    {.member = "zone", .help = "Only those of this zone.", .example = "nj", .form = &forms::label},
});

struct DrainAccessPoint {
    std::string access_point;
    bool force = false;
};
BOOST_DESCRIBE_STRUCT(DrainAccessPoint, (), (access_point, force))
template <>
inline constexpr auto fields<DrainAccessPoint> = std::to_array<Field>({
    {.member = "access_point", .help = "The access point's id.", .example = "access-nj-1"},
    {.member = "force", .help = "Even if no other access point takes its hosts.", .absent = Absent::fills},
});

struct GetAccessPoint {
    std::string access_point;
};
BOOST_DESCRIBE_STRUCT(GetAccessPoint, (), (access_point))
template <>
inline constexpr auto fields<GetAccessPoint> = std::to_array<Field>({
    {.member = "access_point", .help = "The access point's id.", .example = "access-nj-1"},
});

struct HostToken {
    std::string id;
    std::string zone;
    std::string provider;
    WallTime created_at;
    WallTime expires_at;
    std::optional<WallTime> used_at{};
    std::optional<std::string> host{};
};
BOOST_DESCRIBE_STRUCT(HostToken, (), (id, zone, provider, created_at, expires_at, used_at, host))
template <>
inline constexpr auto fields<HostToken> = std::to_array<Field>({
    {.member = "id", .help = "Its id; not the secret.", .example = "ht-5w8e2k"},
    {.member = "zone", .help = "The zone the host will be in.", .example = "nj"},
    {.member = "provider", .help = "Owner of the host; empty: the operator.", .example = "rackhouse"},
    {.member = "created_at", .help = "When it was made."},
    {.member = "expires_at", .help = "When it expires."},
    {.member = "used_at", .help = "When a host joined with it."},
    {.member = "host", .help = "The host that joined with it.", .example = "h-4f2a9c"},
});

struct CreateHostToken {
    std::string zone;
    std::string provider;
    int ttl_seconds = 3600;
};
BOOST_DESCRIBE_STRUCT(CreateHostToken, (), (zone, provider, ttl_seconds))
template <>
inline constexpr auto fields<CreateHostToken> = std::to_array<Field>({
    {.member = "zone", .help = "The zone the host will be in.", .example = "nj", .form = &forms::label},
    {.member = "provider", .help = "Owner of the host. Default: the operator.", .example = "rackhouse",
     .max = 128, .form = &forms::one_line, .absent = Absent::fills},
    {.member = "ttl_seconds", .help = "Lifetime. The token is valid once.", .example = "3600", .min = 60,
     .max = 30 * 86400, .absent = Absent::fills, .unit = Unit::seconds},
});

struct CreatedHostToken {
    std::string id;
    std::string token;
    std::string zone;
    std::string provider;
    WallTime expires_at;
    std::string command;
};
BOOST_DESCRIBE_STRUCT(CreatedHostToken, (), (id, token, zone, provider, expires_at, command))
template <>
inline constexpr auto fields<CreatedHostToken> = std::to_array<Field>({
    {.member = "id", .help = "Its id; not the secret.", .example = "ht-5w8e2k"},
    {.member = "token", .help = "The secret, shown only once."},
    {.member = "zone", .help = "The zone the host will be in.", .example = "nj"},
    {.member = "provider", .help = "Owner of the host; empty: the operator.", .example = "rackhouse"},
    {.member = "expires_at", .help = "When it expires."},
    {.member = "command", .help = "Command to run on the host."},
});

struct NameHostToken {
    std::string host_token;
};
BOOST_DESCRIBE_STRUCT(NameHostToken, (), (host_token))
template <>
inline constexpr auto fields<NameHostToken> = std::to_array<Field>({
    {.member = "host_token", .help = "The token's id.", .example = "ht-5w8e2k"},
});

}  // namespace hostler::api
