// What happened.
#pragma once

#include "api/types_common.h"

namespace hostler::api {

// clang-format off

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
