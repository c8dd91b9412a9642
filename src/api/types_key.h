// API keys, who one is, and what happened.
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

struct Whoami {
    std::string actor;
    std::string name;
    bool is_operator = false;
    std::string tenant_id;
    std::optional<WallTime> expires_at{};
    std::string version;
    bool simulated = false;
};
BOOST_DESCRIBE_STRUCT(Whoami, (), (actor, name, is_operator, tenant_id, expires_at, version, simulated))
template <>
inline constexpr auto fields<Whoami> = std::to_array<Field>({
    {.member = "actor", .help = "How events name the caller.", .example = "key/k-9r4t1b"},
    {.member = "name", .help = "Purpose of the key.", .example = "ci"},
    {.member = "is_operator", .help = "The key may do everything."},
    {.member = "tenant_id", .help = "The tenant the key is bound to; empty: an operator's.",
     .example = "acme"},
    {.member = "expires_at", .help = "When the key ends; absent: never."},
    {.member = "version", .help = "The release that answers.", .example = "0.1.0"},
    {.member = "simulated", .help = "Some host has GPUs that are made up: this is a demonstration."},
});

struct Event {
    std::uint64_t number = 0;
    WallTime time;
    std::string kind;
    std::string id;
    std::string tenant_id;
    std::string actor;
    std::string reason;
    std::string message;
};
BOOST_DESCRIBE_STRUCT(Event, (), (number, time, kind, id, tenant_id, actor, reason, message))
template <>
inline constexpr auto fields<Event> = std::to_array<Field>({
    {.member = "number", .help = "Number of its commit; it never decreases.", .example = "4711"},
    {.member = "time", .help = "When it happened."},
    {.member = "kind", .help = "Kind of the object.", .example = "instance"},
    {.member = "id", .help = "The object's id.", .example = "i-7k2m9x"},
    {.member = "tenant_id", .help = "Owning tenant; empty: the operator.", .example = "acme"},
    {.member = "actor", .help = "Caller.", .example = "host/h-4f2a9c"},
    {.member = "reason", .help = "Event, as a token.", .example = "image_unavailable"},
    {.member = "message", .help = "Event, in words."},
});

struct ListEvents {
    std::optional<std::string> kind{};
    std::optional<std::string> id{};
    std::optional<std::string> tenant_id{};
    std::optional<std::int64_t> since{};
};
BOOST_DESCRIBE_STRUCT(ListEvents, (), (kind, id, tenant_id, since))
template <>
inline constexpr auto fields<ListEvents> = std::to_array<Field>({
    {.member = "kind", .help = "Only of this kind of object.", .example = "instance", .max = 64},
    {.member = "id", .help = "Only of the object with this id.", .example = "i-7k2m9x", .max = 128},
    {.member = "tenant_id", .help = "Only this tenant's.", .example = "acme", .form = &forms::id},
    {.member = "since", .help = "Only events of the last N seconds.", .example = "3600", .min = 1,
     .max = std::int64_t{100} * 366 * 86400, .unit = Unit::seconds},
});

}  // namespace hostler::api
