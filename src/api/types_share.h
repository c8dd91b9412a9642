// Share links: one port of one instance, for whoever has the link, for a time.
#pragma once

#include "api/types_common.h"

namespace hostler::api {

// clang-format off

struct Share {
    std::string id;
    std::string instance_id;
    std::string tenant_id;
    std::string project;
    int port = 0;
    std::string made_by;
    WallTime created_at;
    WallTime expires_at;
    int opened = 0;
};
BOOST_DESCRIBE_STRUCT(Share, (), (id, instance_id, tenant_id, project, port, made_by, created_at, expires_at, opened))
template <>
inline constexpr auto fields<Share> = std::to_array<Field>({
    {.member = "id", .help = "Its id; not the secret.", .example = "sh-4t1b9r"},
    {.member = "instance_id", .help = "The instance that it opens.", .example = "notebook-1"},
    {.member = "tenant_id", .help = "Tenant that owns the instance.", .example = "acme"},
    {.member = "project", .help = "Project of the instance.", .example = "default"},
    {.member = "port", .help = "The port that it opens.", .example = "8080"},
    {.member = "made_by", .help = "Creator.", .example = "key/k-9r4t1b"},
    {.member = "created_at", .help = "When it was made."},
    {.member = "expires_at", .help = "When it ends, unless its instance ends before."},
    {.member = "opened", .help = "Number of times it was opened.", .example = "2"},
});

struct CreateShare {
    std::string instance;
    int port = 0;
    int for_seconds = 28'800;
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(CreateShare, (), (instance, port, for_seconds, tenant_id))
template <>
inline constexpr auto fields<CreateShare> = std::to_array<Field>({
    {.member = "instance", .help = "The instance's id or instanceID.", .example = "notebook-1", .min = 1,
     .max = 128},
    {.member = "port", .help = "One of its ports.", .example = "8080", .min = 1, .max = 65535},
    {.member = "for_seconds", .help = "Lifetime of the link.", .example = "28800", .min = 60,
     .max = 30 * 86400, .absent = Absent::fills, .unit = Unit::seconds},
    {.member = "tenant_id",
     .help = "Owning tenant; for an operator's key, when two tenants use the same instanceID.",
     .example = "acme", .form = &forms::id},
});

struct CreatedShare {
    std::string id;
    std::string url;
    std::string secret;
    WallTime expires_at;
};
BOOST_DESCRIBE_STRUCT(CreatedShare, (), (id, url, secret, expires_at))
template <>
inline constexpr auto fields<CreatedShare> = std::to_array<Field>({
    {.member = "id", .help = "Its id, for revoking it.", .example = "sh-4t1b9r"},
    {.member = "url", .help = "The link. It admits everyone who opens it."},
    {.member = "secret", .help = "The secret part of the link; shown only once."},
    {.member = "expires_at", .help = "When it ends, unless its instance ends before."},
});

struct ListShares {
    std::string instance;
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(ListShares, (), (instance, tenant_id))
template <>
inline constexpr auto fields<ListShares> = std::to_array<Field>({
    {.member = "instance", .help = "The instance's id or instanceID.", .example = "notebook-1", .min = 1,
     .max = 128},
    {.member = "tenant_id",
     .help = "Owning tenant; for an operator's key, when two tenants use the same instanceID.",
     .example = "acme", .form = &forms::id},
});

struct NameShare {
    std::string share;
};
BOOST_DESCRIBE_STRUCT(NameShare, (), (share))
template <>
inline constexpr auto fields<NameShare> = std::to_array<Field>({
    {.member = "share", .help = "The id of the link.", .example = "sh-4t1b9r", .min = 1, .max = 64},
});

}  // namespace hostler::api
