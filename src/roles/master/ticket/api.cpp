// Tickets of pages.
#include <fmt/format.h>

#include "api/operations_ticket.h"
#include "roles/master/http/api.h"
#include "roles/master/http/caller.h"
#include "roles/master/http/lookup.h"
#include "roles/master/state/views.h"
#include "roles/master/ticket/enter.h"
#include "roles/master/ticket/tickets.h"

namespace hostler::master {

namespace {

std::string name_of(api::TicketKind kind) { return boost::describe::enum_to_string(kind, "exec"); }

// "wss://gpu.example.com:8443/v1/instances/i-4t1b9r/exec"
std::string url_of(const Gateway& gateway, const Instance& instance, const std::string& kind) {
    std::string_view host = gateway.address;
    const bool by_tls = host.starts_with("https://");
    if (const auto scheme = host.find("://"); scheme != host.npos) host.remove_prefix(scheme + 3);
    while (host.ends_with('/')) host.remove_suffix(1);
    return fmt::format("{}://{}/v1/instances/{}/{}", by_tls ? "wss" : "ws", host, instance.id, kind);
}

Result<api::CreatedTicket> create_ticket(Term& term, Desk& desk, const api::Call& call,
                                         const api::CreateTicket& request) {
    const Instance& instance = *TRY(instance_named(desk, call, request.instance, request.tenant_id));
    if (!call.own_origin || call.origin.size() > ticket_origin_max)
        return fail(Code::forbidden, "a page of another origin asked for this", "other_origin");
    TRY(check_enterable(desk, call, instance));
    const auto& gateways = desk.estate.gateways.all();
    if (gateways.empty())
        return fail(Code::conflict, "there is no gateway so far, and sessions go through one", "no_gateway");
    const std::string kind = name_of(request.kind);
    api::CreatedTicket made{
        .url = url_of(gateways.begin()->second, instance, kind),
        .ticket = "",
        .expires_at = wall(desk.estate.micros() + std::chrono::microseconds{ticket_life}.count())};
    if (call.dry_run) return made;
    made.ticket =
        TRY(tickets_of(term).add({.actor = call.caller.actor,
                                  .lane = call.caller.lane(),
                                  .mark = mark_of(term, call.caller),
                                  .instance = instance.id,
                                  .kind = kind,
                                  .origin = call.origin},
                                 term.ports().random, term.ports().digest, term.ports().timers.now()));
    return made;
}

}  // namespace

Subject subject_of(const Desk& desk, const api::Call& call, const api::CreateTicket& request) {
    const auto found = instance_named(desk, call, request.instance, request.tenant_id);
    return found ? subject_named(**found, "") : Subject{};
}
Subject subject_after(const Desk& desk, const api::Call& call, const api::CreateTicket& request,
                      const api::CreatedTicket&) {
    Subject subject = subject_of(desk, call, request);
    subject.shown = fmt::format(R"({{"kind":"{}"}})", name_of(request.kind));
    return subject;
}

void add_tickets(Api& service) {
    namespace ops = api::ops;
    service.handlers().on<ops::create_ticket>(
        [&service](api::Call call, api::CreateTicket request) -> Task<api::CreatedTicket> {
            const TermPtr term = CO_TRY(service.leader());
            co_return co_await service.perform<std::remove_cvref_t<decltype(ops::create_ticket)>>(
                [&term](Desk& desk, const api::Call& asked, const api::CreateTicket& wanted) {
                    return create_ticket(*term, desk, asked, wanted);
                },
                std::move(call), std::move(request));
        });
}

}  // namespace hostler::master
