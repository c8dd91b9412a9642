// Tickets of pages.
#pragma once

#include "api/operation.h"
#include "api/types_ticket.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<CreateTicket, CreatedTicket> create_ticket{{
    .name = "createTicket", .method = Method::post, .path = "/v1/instances/{instance}/tickets",
    .permission = Permission::instance_enter,
    .help = "Create a one-time ticket with which a page opens a terminal or another session.",
    .status = 201, .noun = "instance", .verb = "ticket",
    .example = "instance ticket notebook-1 --kind exec"}};

}  // namespace hostler::api::ops
