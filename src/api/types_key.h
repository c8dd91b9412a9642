// API keys.
#pragma once

#include "api/types_common.h"

namespace hostler::api {

// clang-format off

struct ApiKey {
    std::string id;
    std::string name;
    bool is_operator = false;
    std::string tenant_id;
    WallTime created_at;
    std::optional<WallTime> expires_at{};
    std::optional<WallTime> used_at{};
};
BOOST_DESCRIBE_STRUCT(ApiKey, (), (id, name, is_operator, tenant_id, created_at, expires_at, used_at))
template <>
inline constexpr auto fields<ApiKey> = std::to_array<Field>({
    {.member = "id", .help = "Its id; not the secret.", .example = "k-9r4t1b"},
    {.member = "name", .help = "Purpose of the key.", .example = "ci"},
    {.member = "is_operator", .help = "It may do everything."},
    {.member = "tenant_id", .help = "The tenant it is bound to; empty: an operator's.", .example = "acme"},
    {.member = "created_at", .help = "When it was made."},
    {.member = "expires_at", .help = "When it ends; absent: never."},
    {.member = "used_at", .help = "When it was last used, to the minute."},
});

struct CreateApiKey {
    std::string name;
    std::optional<std::string> tenant_id{};
    bool is_operator = false;
    std::optional<int> ttl_seconds{};
};
BOOST_DESCRIBE_STRUCT(CreateApiKey, (), (name, tenant_id, is_operator, ttl_seconds))
template <>
inline constexpr auto fields<CreateApiKey> = std::to_array<Field>({
    {.member = "name", .help = "Purpose of the key.", .example = "ci", .min = 1, .max = 128,
     .form = &forms::one_line},
    {.member = "tenant_id", .help = "The tenant it is bound to; either this or isOperator.",
     .example = "acme",
     .form = &forms::id},
    {.member = "is_operator", .help = "It may do everything; either this or tenantID.",
     .absent = Absent::fills},
    {.member = "ttl_seconds", .help = "Lifetime. Default: until it is deleted.",
     .example = "2592000", .min = 60, .max = 10 * 366 * 86400, .unit = Unit::seconds},
});

// Either an operator's or one tenant's.
template <>
struct Rules<CreateApiKey> {
    static void check(const CreateApiKey& request, Wrong& wrong);
};

struct CreatedApiKey {
    std::string id;
    std::string name;
    bool is_operator = false;
    std::string tenant_id;
    std::string secret;
    std::optional<WallTime> expires_at{};
};
BOOST_DESCRIBE_STRUCT(CreatedApiKey, (), (id, name, is_operator, tenant_id, secret, expires_at))
template <>
inline constexpr auto fields<CreatedApiKey> = std::to_array<Field>({
    {.member = "id", .help = "Its id; not the secret.", .example = "k-9r4t1b"},
    {.member = "name", .help = "Purpose of the key.", .example = "ci"},
    {.member = "is_operator", .help = "It may do everything."},
    {.member = "tenant_id", .help = "The tenant it is bound to; empty: an operator's.", .example = "acme"},
    {.member = "secret", .help = "The key itself, shown this once; send it as Authorization: Bearer."},
    {.member = "expires_at", .help = "When it ends; absent: never."},
});

struct ListApiKeys {
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(ListApiKeys, (), (tenant_id))
template <>
inline constexpr auto fields<ListApiKeys> = std::to_array<Field>({
    {.member = "tenant_id", .help = "Only this tenant's.", .example = "acme", .form = &forms::id},
});

struct NameApiKey {
    std::string api_key;
};
BOOST_DESCRIBE_STRUCT(NameApiKey, (), (api_key))
template <>
inline constexpr auto fields<NameApiKey> = std::to_array<Field>({
    {.member = "api_key", .help = "The key's id.", .example = "k-9r4t1b"},
});

}  // namespace hostler::api
