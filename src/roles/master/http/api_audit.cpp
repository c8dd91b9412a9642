// The audit, as it is read.
#include <charconv>

#include "api/operations_audit.h"
#include "roles/master/http/api.h"

namespace hostler::master {

namespace {

// A cursor's `at` and `created` are the time and the commit of the last line, its `id` the line within it.
std::string audit_cursor(const api::Call& call, const AuditPlace& place) {
    return api::to_string({call.list, static_cast<std::uint64_t>(place.time.time_since_epoch().count()),
                           place.number, std::to_string(place.line)});
}

AuditPlace audit_place(const api::Cursor& cursor) {
    AuditPlace place{WallTime{std::chrono::microseconds{static_cast<std::int64_t>(cursor.at)}},
                     cursor.created, 0};
    std::from_chars(cursor.id.data(), cursor.id.data() + cursor.id.size(), place.line);
    return place;
}

// What a tenant may know of whoever changed a thing of its own: where an operator sits is none of it.
bool may_locate(const Desk& desk, const api::Call& call, const std::string& tenant,
                const std::string& actor) {
    constexpr std::string_view prefix = "key/";
    if (may_everywhere(call)) return true;
    const ApiKey* key =
        actor.starts_with(prefix) ? desk.estate.api_keys.find(actor.substr(prefix.size())) : nullptr;
    return key && key->tenant == tenant;
}

api::AuditEntry entry_of(AuditLine line, bool located) {
    return {.time = line.time,
            .actor = std::move(line.actor),
            .operation = std::move(line.operation),
            .subject = std::move(line.subject),
            .tenant_id = std::move(line.tenant),
            .status = line.status,
            .address = located ? std::move(line.address) : "",
            .client = located ? std::move(line.client) : "",
            .number = line.number,
            .before = std::move(line.before),
            .after = std::move(line.after)};
}

}  // namespace

void add_audit(Api& service) {
    namespace ops = api::ops;
    service.handlers().on<ops::list_audit>(
        [&service](api::Call call, api::ListAudit request) -> Task<api::List<api::AuditEntry>> {
            constexpr int reads_max = 16;  // Of the store for one page, which may so be short, or empty.
            const TermPtr term = CO_TRY(service.leader());
            const std::string tenant = CO_TRY(tenant_meant(call, request.tenant_id));
            AuditQuery query{.actor = request.actor.value_or(""),
                             .operation = request.operation.value_or(""),
                             .subject = request.subject.value_or("")};
            if (!tenant.empty()) query.tenant = tenant;
            const WallTime now = term->ports().timers.wall();
            if (request.since) query.since = now - std::chrono::seconds{*request.since};
            if (request.until) query.until = now - std::chrono::seconds{*request.until};
            if (call.after) query.after = audit_place(*call.after);
            CO_TRY(co_await term->settled());
            api::List<api::AuditEntry> list;
            for (int reads = 0; reads < reads_max; ++reads) {
                query.limit = static_cast<std::size_t>(call.limit) - list.items.size();
                AuditPage page = CO_TRY(co_await term->ports().store.audit(query));
                for (AuditLine& line : page.lines) {
                    const bool located = may_locate(term->look(), call, tenant, line.actor);
                    list.items.push_back(entry_of(std::move(line), located));
                }
                if (!page.next) co_return list;
                query.after = page.next;
                if (static_cast<int>(list.items.size()) >= call.limit) break;
            }
            list.next_cursor = audit_cursor(call, *query.after);
            co_return list;
        });
}

}  // namespace hostler::master
