// What happened.
#pragma once

#include "api/operation.h"
#include "api/types_event.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<ListEvents, List<Event>> list_events{{
    .name = "listEvents", .path = "/v1/events", .permission = Permission::event_read,
    .help = "List the newest events; with order=-created, page by page on to the oldest.",
    .list = true, .pages = Pages::newest, .noun = "event", .verb = "list", .columns = "time kind id actor reason message",
    .example = "event list --kind host"}};

}  // namespace hostler::api::ops
