// The audit, as it is read.
#include <fmt/format.h>

#include <charconv>

#include "api/operations_audit.h"
#include "roles/master/http/api.h"
#include "roles/master/http/audit_seals.h"

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

api::AuditResult result_of(const AuditLine& line) {
    if (line.result == audit_denied) return api::AuditResult::denied;
    return line.result == audit_failed ? api::AuditResult::failed : api::AuditResult::ok;
}

std::string_view word_of(api::AuditResult result) {
    switch (result) {
        case api::AuditResult::ok: return audit_ok;
        case api::AuditResult::denied: return audit_denied;
        case api::AuditResult::failed: return audit_failed;
    }
    broken("a result outside its enum", __FILE__, __LINE__);
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
            .after = std::move(line.after),
            .result = result_of(line),
            .reason = std::move(line.reason),
            .project = std::move(line.project),
            .zone = std::move(line.zone),
            .service = std::move(line.service),
            .line = line.line,
            .position = line.chain.position,
            .previous = std::move(line.previous),
            .hash = std::move(line.chain.hash),
            .withheld = !located,
            .request_id = std::move(line.request)};
}

api::AuditSeal seal_shown(const AuditSeal& seal) {
    return {.position = seal.head.position,
            .hash = seal.head.hash,
            .time = seal.time,
            .epoch = seal.epoch,
            .authority = seal.authority,
            .certificate = seal.certificate,
            .signature = seal.signature};
}

// Where a verification goes on: behind this record, with what the chain is there.
struct VerifiedTo {
    AuditPlace place;
    AuditHead last;
};
std::string text_of_place(const VerifiedTo& to) {
    return fmt::format("{}.{}.{}.{}", to.place.number, to.place.line, to.last.position, to.last.hash);
}
Result<VerifiedTo> verified_to(std::string_view text) {
    const auto wrong = [] {
        Error error{Code::invalid, "after: must be `next` of an earlier answer"};
        error.fields.push_back({"after", "must be `next` of an earlier answer"});
        return std::unexpected(std::move(error));
    };
    VerifiedTo to;
    for (std::uint64_t* number : {&to.place.number, &to.place.line, &to.last.position}) {
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
        if (error != std::errc{} || end == text.data() + text.size() || *end != '.') return wrong();
        text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
    }
    to.last.hash = text;
    return to;
}

// A part of the audit, behind `from`; nullopt: from its beginning.
Task<api::AuditVerification> verify_part(TermPtr term, std::optional<VerifiedTo> from) {
    constexpr std::size_t records_max = 1000, seals_max = 1000;
    Store& store = term->ports().store;
    const std::uint64_t sealed_after =
        from ? from->last.position : CO_TRY(co_await store.audit_anchors(0, 1)).base.position;
    // The anchors before the records: those that come meanwhile are behind the last of these.
    AuditAnchors anchors =
        CO_TRY(co_await store.audit_anchors(sealed_after == 0 ? 0 : sealed_after - 1, seals_max));
    AuditQuery query{.limit = records_max, .order = AuditOrder::written};
    if (from) query.after = from->place;
    const AuditPage page = CO_TRY(co_await store.audit(query));
    // What was there is deleted by now, because of its age.
    const bool is_pruned = !from || anchors.base.position > from->last.position;
    ChainCheck check{term->ports().digest, is_pruned ? anchors.base : from->last};
    check.expect_head(anchors.head);
    std::uint64_t last = 0;
    for (const AuditLine& line : page.lines) last = std::max(last, line.chain.position);
    const SealCheck good = seal_check(term->look(), term->ports());
    for (const AuditSeal& seal : anchors.seals)
        if (!page.next || seal.head.position <= last) check.add_seal(seal, good);
    for (const AuditLine& line : page.lines) check.add(line);
    if (page.next)
        check.end_part();
    else
        check.end();
    api::AuditVerification found{.records = check.lines(),
                                 .chained = check.chained(),
                                 .before_chain = check.unchained(),
                                 .seals = check.seals(),
                                 .last_position = check.last().position,
                                 .wrong = check.found()};
    if (check.first()) found.first_position = check.first()->position;
    for (const ChainFinding& one : check.findings())
        found.findings.push_back({one.position, one.number, one.line, one.text});
    if (page.next) found.next = text_of_place({*page.next, check.last()});
    co_return found;
}

}  // namespace

void add_audit(Api& service) {
    namespace ops = api::ops;
    service.handlers().on<ops::list_audit>(
        [&service](api::Call call, api::ListAudit request) -> Task<api::List<api::AuditEntry>> {
            constexpr int reads_max = 16;  // Of the store for one page, which may so be short, or empty.
            const TermPtr term = CO_TRY(service.leader());
            const std::string tenant = CO_TRY(tenant_meant(call, request.tenant_id));
            AuditQuery query{
                .actor = request.actor.value_or(""),
                .operation = request.operation.value_or(""),
                .subject = request.subject.value_or(""),
                .project = request.project.value_or(""),
                .order = request.sort == api::AuditSort::written ? AuditOrder::written : AuditOrder::newest};
            if (request.result) query.result = word_of(*request.result);
            query.request = request.request_id.value_or("");
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
    service.handlers().on<ops::verify_audit>(
        [&service](api::Call call, api::VerifyAudit request) -> Task<api::AuditVerification> {
            CO_TRY(check_new(call, Scope::cloud()));
            const TermPtr term = CO_TRY(service.leader());
            std::optional<VerifiedTo> from;
            if (request.after) from = CO_TRY(verified_to(*request.after));
            CO_TRY(co_await term->settled());
            co_return co_await verify_part(term, std::move(from));
        });
    service.handlers().on<ops::get_audit_chain>(
        [&service](api::Call call, api::Empty) -> Task<api::AuditChain> {
            CO_TRY(check_new(call, Scope::cloud()));
            const TermPtr term = CO_TRY(service.leader());
            CO_TRY(co_await term->settled());
            const AuditAnchors anchors = CO_TRY(co_await term->ports().store.audit_anchors(0, 1));
            co_return api::AuditChain{.base_position = anchors.base.position,
                                      .base_hash = anchors.base.hash,
                                      .head_position = anchors.head.position,
                                      .head_hash = anchors.head.hash};
        });
    service.handlers().on<ops::list_audit_seals>(
        [&service](api::Call call, api::Empty) -> Task<api::List<api::AuditSeal>> {
            CO_TRY(check_new(call, Scope::cloud()));
            const TermPtr term = CO_TRY(service.leader());
            CO_TRY(co_await term->settled());
            const AuditAnchors anchors = CO_TRY(co_await term->ports().store.audit_anchors(
                call.after ? call.after->created : 0, static_cast<std::size_t>(call.limit)));
            api::List<api::AuditSeal> list;
            for (const AuditSeal& seal : anchors.seals) list.items.push_back(seal_shown(seal));
            if (anchors.more)
                list.next_cursor = api::to_string({call.list, 0, anchors.seals.back().head.position, "seal"});
            co_return list;
        });
}

}  // namespace hostler::master
