// Tickets: with one of them a page opens a session in an instance at the gateway, once.
#pragma once

#include "api/types_common.h"

namespace hostler::api {

// clang-format off

enum class TicketKind { exec, port, get, put, look };
BOOST_DESCRIBE_ENUM(TicketKind, exec, port, get, put, look)

struct CreateTicket {
    std::string instance;
    TicketKind kind = TicketKind::exec;
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(CreateTicket, (), (instance, kind, tenant_id))
template <>
inline constexpr auto fields<CreateTicket> = std::to_array<Field>({
    {.member = "instance", .help = "The instance's id or instanceID.", .example = "notebook-1", .min = 1,
     .max = 128},
    {.member = "kind", .help = "Kind of the session.", .example = "exec", .absent = Absent::fills},
    {.member = "tenant_id",
     .help = "Owning tenant; for an operator's key, when two tenants use the same instanceID.",
     .example = "acme", .form = &forms::id},
});

struct CreatedTicket {
    std::string url;
    std::string ticket;
    WallTime expires_at;
};
BOOST_DESCRIBE_STRUCT(CreatedTicket, (), (url, ticket, expires_at))
template <>
inline constexpr auto fields<CreatedTicket> = std::to_array<Field>({
    {.member = "url", .help = "WebSocket of the session at the gateway, without the query.",
     .example = "wss://gpu.example.com/v1/instances/i-4t1b9r/exec"},
    {.member = "ticket",
     .help = "Secret that opens one connection. The page offers it as the WebSocket protocol hostler.ticket.TICKET."},
    {.member = "expires_at", .help = "The ticket is valid until this time."},
});

}  // namespace hostler::api
