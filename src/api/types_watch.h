// Changes of objects of all kinds, as they happen.
#pragma once

#include "api/types_common.h"

namespace hostler::api {

// clang-format off

struct WatchChanges {
    std::optional<std::string> kinds{};
    std::optional<std::string> from{};
};
BOOST_DESCRIBE_STRUCT(WatchChanges, (), (kinds, from))
template <>
inline constexpr auto fields<WatchChanges> = std::to_array<Field>({
    {.member = "kinds", .help = "Only of these kinds, with commas in between; without it, of all.",
     .example = "instance,volume", .max = 1024, .form = &forms::one_line},
    {.member = "from", .help = "Continue after the event with this id, as Last-Event-ID, which precedes it.",
     .example = "7-4711", .max = 64, .form = &forms::one_line},
});

enum class ChangeMade { added, changed, removed };
BOOST_DESCRIBE_ENUM(ChangeMade, added, changed, removed)

struct ObjectChange {
    std::string kind;
    std::string id;
    std::optional<std::string> name{};
    std::optional<std::string> tenant_id{};
    std::optional<std::string> project{};
    std::optional<std::string> provider{};
    ChangeMade change = ChangeMade::changed;
};
BOOST_DESCRIBE_STRUCT(ObjectChange, (), (kind, id, name, tenant_id, project, provider, change))
template <>
inline constexpr auto fields<ObjectChange> = std::to_array<Field>({
    {.member = "kind", .help = "Kind of the object.", .example = "instance"},
    {.member = "id", .help = "The object's id; of kind gpu its host's, of kind stock its spec's, of kind event its tenant's or cloud.",
     .example = "i-7k2m9x"},
    {.member = "name", .help = "As people call it; absent: its kind has no names.", .example = "notebook-1"},
    {.member = "tenant_id", .help = "Owning tenant; absent: the operator.", .example = "acme"},
    {.member = "project", .help = "Its project; absent: it is in none.", .example = "default"},
    {.member = "provider", .help = "Provider of the host; absent: the operator, or it has no host.",
     .example = "farm"},
    {.member = "change", .help = "The kind of change; removed: it was deleted, or it has ended and has left the master's memory.",
     .example = "changed"},
});

}  // namespace hostler::api
