#include "roles/master/ticket/enter.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "api/operations_instance.h"
#include "core/client_address.h"
#include "proto/uplink.pb.h"
#include "roles/master/http/audit.h"
#include "roles/master/http/caller.h"
#include "roles/master/http/lookup.h"
#include "roles/master/instance/explain.h"
#include "roles/master/instance/owner.h"
#include "roles/master/instance/view.h"
#include "roles/master/run/stop_start.h"
#include "roles/master/share/shares.h"
#include "roles/master/tenancy/tenancy.h"
#include "roles/master/ticket/tickets.h"
#include "roles/master/zone/access_points.h"

namespace hostler::master {

namespace {

constexpr std::size_t detail_bytes_max = 1024;

// As the audit shows it. What is typed into a session is nobody's to know.
std::string shown(const std::string& kind, const std::string& detail, const std::string& session) {
    return boost::json::serialize(boost::json::object{
        {"kind", kind}, {"what", detail.substr(0, detail_bytes_max)}, {"session", session.substr(0, 8)}});
}

std::string_view what_it_is(const std::string& kind) {
    if (kind == "port") return "a connection to port";
    if (kind == "get") return "files taken from";
    if (kind == "put") return "files put into";
    return "a command:";
}

// A page's words: how it is, what it waits for, and what would help.
std::string page_words(const Desk& desk, const Instance& instance) {
    const api::Explanation why = explain_instance(desk, instance);
    std::string words = why.sentence;
    for (const api::Blocker& block : why.blocking)
        words += fmt::format("\nHost {}: {}.", block.host, block.reason);
    if (why.would_help) words += "\n\n" + *why.would_help;
    return words;
}

struct Entering {
    api::Caller caller;
    bool by_address = false;  // The credential is for some addresses.
    std::string mark{};       // With a ticket: of the credential by which it was asked for.
};

// A ticket that was shown for something else is used up all the same: its page does not show it so.
Result<Entering> who_shows_ticket(Term& term, const uplink::EnterRequest& request) {
    const auto unknown = fail(
        Code::unauthenticated,
        "this ticket was used, has expired, or is for something else; ask for another one", "ticket_unknown");
    const Ports& ports = term.ports();
    const auto ticket = tickets_of(term).take(request.credential(), ports.digest, ports.timers.now());
    if (!ticket || ticket->kind != request.kind() || ticket->instance != request.instance() ||
        ticket->origin != request.origin())
        return unknown;
    auto caller = caller_of_mark(term, ticket->mark, request.address());
    if (!caller) return unknown;
    return Entering{std::move(*caller), is_mark_for_some_addresses(term, ticket->mark), ticket->mark};
}

Result<Entering> who_enters(Term& term, const uplink::EnterRequest& request) {
    if (request.ticket()) return who_shows_ticket(term, request);
    auto caller = caller_of(term, request.credential(), request.address());
    if (!caller)
        return fail(Code::unauthenticated, "this key is not known here, or no longer", "key_unknown");
    return Entering{std::move(*caller), is_for_some_addresses(term, request.credential())};
}

}  // namespace

bool is_of_page(const uplink::EnterRequest& request) {
    return request.kind() == "explain" || request.kind() == "start";
}

Result<> answer_page(Term& term, const uplink::EnterRequest& request, uplink::EnterAnswer& into) {
    std::optional<api::Caller> caller;
    if (request.detail().empty())
        caller = caller_of(term, request.credential(), request.address());
    else if (auto signed_in = caller_of_sign_in(term, request.credential(), request.detail()))
        caller = std::move(signed_in->caller);
    if (!caller)
        return fail(Code::unauthenticated, "this key or session is not known here, or no longer",
                    "key_unknown");
    Desk& desk = term.desk(caller->actor);
    api::Call call;
    const bool starts = request.kind() == "start";
    call.operation = &api::ops::start_instance;
    call.permission = starts ? Permission::instance_write : Permission::instance_read;
    call.caller = std::move(*caller);
    call.caller.address = request.address();
    call.caller.client = safe_user_agent(request.client());
    const api::GetInstance asked{request.instance(), request.tenant().empty()
                                                         ? std::nullopt
                                                         : std::optional<std::string>{request.tenant()}};
    const auto opens_alone =
        fail(Code::forbidden, "this session opens a port; it may ask and change nothing else", "forbidden");
    if (call.caller.principal.kind == PrincipalKind::share) return opens_alone;
    const Instance& instance = *TRY(instance_named(desk, call, asked.instance, asked.tenant_id));
    const auto leads_there = [&](const InstancePort& port) {
        return route_name(instance, port.port) == request.detail();
    };
    if (!request.detail().empty() && !std::ranges::any_of(instance.spec.ports, leads_there))
        return opens_alone;
    if (starts) {
        if (term.read_only()) return std::unexpected(*term.read_only());
        TRY(check_owner(instance, *call.operation));
        Subject before = subject_of(desk, call, asked);
        TRY(check_project(desk, instance.tenant, instance.project));
        TRY(wake_instance(desk, instance.id));
        audit(desk, call, std::move(before), subject_of(desk, call, asked));
    }
    const Instance& now = desk.estate.instances.at(instance.id);
    into.mutable_route()->set_tenant(now.tenant);
    into.mutable_route()->set_project(now.project);
    into.mutable_route()->set_instance(now.id);
    into.mutable_route()->set_state(std::string{state_of(now.phase)});
    into.mutable_route()->set_detail(page_words(desk, now));
    into.mutable_route()->set_shown_as(now.caller_id);
    into.set_principal(call.caller.actor);
    return {};
}

Result<> check_enterable(const Desk& desk, const api::Call& call, const Instance& instance) {
    if (!may(call, Scope::cloud()) && !may_enter(desk, instance.tenant, instance.project))
        return fail(Code::forbidden,
                    fmt::format("tenant {} or its project {} is disabled", instance.tenant, instance.project),
                    "disabled");
    const bool is_over = is_final(instance.phase) || instance.phase == InstancePhase::stopping;
    const bool rests = instance.phase == InstancePhase::halting || instance.phase == InstancePhase::resting;
    if (!is_over && !rests && !instance.host.empty() && instance.phase != InstancePhase::placed) return {};
    Error error{
        Code::conflict,
        fmt::format("instance {} is not running: it is {}", instance.caller_id, text_of(instance.phase)),
        "not_running"};
    error.help =
        rests     ? fmt::format("It can be started again: `hostler instance start {}`.", instance.caller_id)
        : is_over ? fmt::format("Start another one; `hostler explain {}` tells why this one ended.",
                                instance.caller_id)
                  : fmt::format("Wait until it runs: `hostler instance get {}` shows how far it is.",
                                instance.caller_id);
    error.message += fmt::format(". {}", error.help);
    return std::unexpected(std::move(error));
}

Result<> enter_instance(Term& term, const uplink::EnterRequest& request, uplink::EnterAnswer& into) {
    Entering who = TRY(who_enters(term, request));
    Desk& desk = term.desk(who.caller.actor);
    api::Call call;
    call.permission = Permission::instance_enter;
    call.caller = std::move(who.caller);
    call.caller.address = request.address();
    call.caller.client = safe_user_agent(request.client());
    const Instance& instance = *TRY(instance_named(
        desk, call, request.instance(),
        request.tenant().empty() ? std::nullopt : std::optional<std::string>{request.tenant()}));
    TRY(check_enterable(desk, call, instance));
    uplink::Route& route = *into.mutable_route();
    route.set_tenant(instance.tenant);
    route.set_project(instance.project);
    route.set_instance(instance.id);
    route.set_generation(instance.run_generation);
    route.set_state(std::string{state_of(instance.phase)});
    route.set_detail(instance.message);
    route.set_host(instance.host);
    write_ways(desk, instance.host, route);
    route.set_shown_as(instance.caller_id);
    into.set_principal(call.caller.actor);
    into.set_by_address(who.by_address);
    into.set_mark(who.mark);
    desk.estate.audit({.time = desk.estate.time(),
                       .actor = call.caller.actor,
                       .address = request.address(),
                       .operation = request.resume() ? "resumeSession" : "openSession",
                       .subject = "instance/" + instance.id,
                       .tenant = instance.tenant,
                       .status = 101,
                       .before = "",
                       .after = shown(request.kind(), request.detail(), request.session()),
                       .client = call.caller.client,
                       .zone = instance.zone,
                       .service = "instance"});
    // Its people see who came in; each connection of a forwarded port would drown the rest.
    if (!request.resume() && request.kind() != "port" && request.kind() != "look")
        desk.estate.event("instance", instance.id, instance.tenant, "entered",
                          fmt::format("{} opened {} {}", call.caller.actor, what_it_is(request.kind()),
                                      request.detail().substr(0, detail_bytes_max)));
    return {};
}

void note_entered(Term& term, const uplink::EnterEnded& ended) {
    Desk& desk = term.desk(ended.principal());
    const Instance* instance = desk.estate.instances.find(ended.instance());
    desk.estate.audit({.time = desk.estate.time(),
                       .actor = ended.principal(),
                       .address = ended.address(),
                       .operation = "closeSession",
                       .subject = "instance/" + ended.instance(),
                       .tenant = ended.tenant(),
                       .status = 200,
                       .before = shown(ended.kind(), ended.detail(), ended.session()),
                       .after = fmt::format(R"({{"durationMs":{},"bytesIn":{},"bytesOut":{}}})",
                                            ended.duration_ms(), ended.bytes_in(), ended.bytes_out()),
                       .client = safe_user_agent(ended.client()),
                       .zone = instance ? instance->zone : "",
                       .service = "instance"});
}

}  // namespace hostler::master
