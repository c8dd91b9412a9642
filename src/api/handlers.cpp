#include "api/handlers.h"

#include <algorithm>
#include <charconv>

#include "api/operation_list.h"
#include "api/problem.h"
#include "domain/tenancy/role.h"

namespace hostler::api {

namespace {

constexpr std::string_view name(Change change) {
    switch (change) {
        case Change::added: return "added";
        case Change::changed: return "changed";
        case Change::removed: return "removed";
        case Change::synced: return "synced";
    }
    broken("a change outside its enum", __FILE__, __LINE__);
}

Error totp_needed() {
    Error error{Code::forbidden, "a second factor is required here, and you have none yet", "totp_needed"};
    error.help = "Enrol one: `hostler totp enrol`, then `hostler totp confirm CODE`.";
    return error;
}

// What the path names: "host/h-4f2a".
std::string subject_in(const Match& match) {
    if (match.params.empty()) return {};
    return fmt::format("{}/{}", match.operation->noun, match.params.front().second);
}

Result<std::uint64_t> resume_point(std::string_view text) {
    std::uint64_t id = 0;
    if (text.empty()) return id;
    const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), id);
    if (error != std::errc{} || at != text.data() + text.size())
        return fail(Code::invalid, "Last-Event-ID: must be the id of an event of this stream");
    return id;
}

}  // namespace

std::string event_bytes(std::uint64_t id, Change change, std::string_view json) {
    return event_bytes(id == 0 ? "" : std::to_string(id), name(change), json);
}

std::string event_bytes(std::string_view id, std::string_view name, std::string_view json) {
    // Our JSON has no line breaks, so one data line holds it.
    const std::string head = id.empty() ? "" : fmt::format("id: {}\n", id);
    return fmt::format("{}event: {}\ndata: {}\n\n", head, name, json);
}

std::string Caller::lane() const {
    if (!tenant.empty()) return tenant;
    const auto in_cloud = [](const Held& held) { return held.scope.kind == ScopeKind::cloud; };
    return std::ranges::any_of(principal.held, in_cloud) ? "" : actor;
}

Caller Caller::of_operator(std::string actor) {
    Caller caller{.actor = std::move(actor)};
    caller.credential = caller.actor;
    caller.principal = {.kind = PrincipalKind::operator_,
                        .id = caller.actor,
                        .held = {{Scope::cloud(), permissions_of(BuiltInRole::operator_)}}};
    return caller;
}

Caller Caller::of_tenant(std::string actor, std::string tenant) {
    Caller caller{.actor = std::move(actor), .tenant = std::move(tenant)};
    caller.credential = caller.actor;
    caller.principal = {.kind = PrincipalKind::tenant_key,
                        .id = caller.actor,
                        .held = {{Scope::of_tenant(caller.tenant), tenant_key_permissions()}}};
    return caller;
}

std::unexpected<Error> permission_missing(Permission permission) {
    const PermissionLevel level = row_of(permission).level;
    Error error{Code::forbidden,
                fmt::format("this needs the permission {}, which you do not have here", name_of(permission)),
                "permission_missing"};
    error.help = level == PermissionLevel::cloud || level == PermissionLevel::provider
                     ? "An operator can grant a role that has it."
                 : level == PermissionLevel::project
                     ? "An admin of the project or the tenant, or an operator, can grant a role that has it."
                     : "An admin of the tenant, or an operator, can grant a role that has it.";
    return std::unexpected(std::move(error));
}

Reply reply_of(const Error& error, std::string_view request_id) {
    Problem problem = problem_of(error);
    if (!request_id.empty()) problem.request_id = request_id;
    Reply reply{.status = problem.status, .content_type = std::string(problem_type)};
    if (problem.status == 405) {
        reply.headers.emplace_back("Allow", problem.help.value_or(""));
        problem.help.reset();
    }
    if (problem.status == 401) reply.headers.emplace_back("WWW-Authenticate", "Bearer");
    if (problem.status == 429 || problem.status == 503) reply.headers.emplace_back("Retry-After", "1");
    reply.body = encode(problem);
    return reply;
}

void Handlers::install(const Operation& operation, Handler handler) {
    HOSTLER_ASSERT(!handlers_.contains(&operation));
    handlers_.emplace(&operation, std::move(handler));
}

void Handlers::install_watch(const Operation& operation, WatchHandler handler) {
    HOSTLER_ASSERT(!watches_.contains(&operation));
    watches_.emplace(&operation, std::move(handler));
}

std::vector<std::string_view> Handlers::missing() const {
    std::vector<std::string_view> names;
    for (const Operation* operation : operations())
        if ((!operation->stream && !handlers_.contains(operation)) ||
            ((operation->watch || operation->stream) && !watches_.contains(operation)))
            names.push_back(operation->name);
    return names;
}

Result<> Handlers::go_on(Call& call, std::string_view request) {
    std::string asked{request};
    if (call.newest_first) asked += "\n-created";  // A place in one order is none in the other.
    if (!call.query_text.empty()) asked += "\n?" + call.query_text;
    call.list = list_mark(*call.operation, call.caller.tenant, asked);
    if (!call.after || call.after->list == call.list) return {};
    Error error{Code::invalid, fmt::format("cursor: {}", foreign_cursor)};
    error.fields.push_back({"cursor", std::string{foreign_cursor}});
    error.help = "Send it with the same query as the page that it came with, or begin without it.";
    return std::unexpected(std::move(error));
}

void Handlers::add_fields(Error& to, const Error& from) {
    to.fields.insert(to.fields.end(), from.fields.begin(), from.fields.end());
    if (to.fields.size() > 1) to.message = fmt::format("{} fields are wrong", to.fields.size());
}

Task<Reply> Handlers::answer(Inquiry inquiry, Result<Caller> who, EventSink* sink) const {
    const std::string request = inquiry.request_id;
    auto matched = match(inquiry.method, inquiry.target);
    if (!matched) co_return reply_of(matched.error(), request);
    if (!who) co_return reply_of(who.error(), request);
    const Operation& operation = *matched->operation;
    const std::string subject = subject_in(*matched);
    if (who->needs_totp && row_of(operation.permission).level != PermissionLevel::anyone)
        co_return refuse(*who, operation, subject, totp_needed(), request);
    if (!operation.open && !authorize_anywhere(who->principal, operation.permission))
        co_return refuse(*who, operation, subject, permission_missing(operation.permission).error(), request);
    auto reply = co_await perform(std::move(*matched), std::move(inquiry), *who, sink);
    if (!reply) co_return refuse(*who, operation, subject, reply.error(), request);
    co_return std::move(*reply);
}

Reply Handlers::refuse(const Caller& caller, const Operation& operation, std::string_view subject,
                       const Error& error, std::string_view request_id) const {
    if (error.code == Code::forbidden && refused_) refused_(caller, operation, subject, error);
    return reply_of(error, request_id);
}

Task<Reply> Handlers::perform(Match match, Inquiry inquiry, Caller caller, EventSink* sink) const {
    const Operation& operation = *match.operation;
    Assembled in = CO_TRY(assemble(match, inquiry.body, inquiry.idempotency_key, inquiry.if_match));
    Call call{.caller = std::move(caller),
              .operation = &operation,
              .permission = operation.permission,
              .dry_run = in.dry_run,
              .idempotency_key = in.idempotency_key,
              .limit = in.limit,
              .newest_first = in.newest_first,
              .total = in.total,
              .query = std::move(in.query),
              .query_text = std::move(in.query_text),
              .after = in.cursor,
              .origin = std::move(inquiry.origin),
              .own_origin = inquiry.own_origin};
    if (!keeps_answer(operation)) call.idempotency_key.clear();
    if (in.watch || operation.stream) {
        const auto watch = watches_.find(&operation);
        if (watch == watches_.end() || !sink)
            co_return fail(Code::unavailable, fmt::format("{} cannot be watched here", operation.name));
        if (operation.stream)
            call.last_event_id = std::move(inquiry.last_event_id);
        else
            call.resume = CO_TRY(resume_point(inquiry.last_event_id));
        bool begun = false;
        auto watched = co_await watch->second(std::move(call), std::move(in), *sink, begun);
        if (!watched && !begun) co_return std::unexpected(std::move(watched).error());
        co_return Reply{.streamed = true};
    }
    const auto handler = handlers_.find(&operation);
    if (handler == handlers_.end())
        co_return fail(Code::unavailable, fmt::format("{} has no handler here", operation.name));
    auto body = CO_TRY(co_await handler->second(std::move(call), std::move(in)));
    co_return Reply{.status = operation.status, .body = std::move(body)};
}

}  // namespace hostler::api
