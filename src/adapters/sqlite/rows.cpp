// The statements of Tables: rows in, rows out.
#include <fmt/format.h>

#include <algorithm>

#include "adapters/sqlite/tables.h"

namespace hostler::sqlite {

namespace {

constexpr std::string_view columns =
    "kind, id, tenant, project, phase, generation, created, version, state, body";
constexpr std::uint64_t state_live = 0;
constexpr std::uint64_t state_ended = 1;

std::string_view table_of(std::string_view kind) { return kind == "command" ? "commands" : "objects"; }

std::int64_t micros(WallTime time) { return time.time_since_epoch().count(); }
WallTime wall_time(std::uint64_t micros) {
    return WallTime{std::chrono::microseconds{static_cast<std::int64_t>(micros)}};
}

Object object_of(const Row& row) {
    return {.kind = row.text(0),
            .id = row.text(1),
            .tenant = row.text(2),
            .project = row.text(3),
            .phase = row.text(4),
            .generation = row.number(5),
            .created = row.number(6),
            .version = row.number(7),
            .live = row.number(8) == state_live,
            .body = row.text(9)};
}

EventRecord event_of(const Row& row) {
    return {.time = wall_time(row.number(1)),
            .kind = row.text(2),
            .id = row.text(3),
            .tenant = row.text(4),
            .actor = row.text(5),
            .reason = row.text(6),
            .message = row.text(7),
            .number = row.number(0)};
}

}  // namespace

Result<> Tables::put(const Object& object, std::uint64_t number) {
    // What is there keeps the number of the commit that made it.
    constexpr std::string_view rest =
        " (kind, id, tenant, project, phase, generation, created, version, state, body) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT (kind, id) DO UPDATE SET tenant = "
        "excluded.tenant, "
        "project = excluded.project, phase = excluded.phase, generation = excluded.generation, "
        "version = excluded.version, state = excluded.state, body = excluded.body";
    const std::string sql = fmt::format("INSERT INTO {}{}", table_of(object.kind), rest);
    return database_->run(sql, {object.kind, object.id, object.tenant, object.project, object.phase,
                                object.generation, object.created == 0 ? number : object.created, number,
                                object.live ? state_live : state_ended, object.body});
}

Result<> Tables::erase(const std::string& kind, const std::string& id) {
    return database_->run(fmt::format("DELETE FROM {} WHERE kind = ?1 AND id = ?2", table_of(kind)),
                          {kind, id});
}

Result<> Tables::append_events(const Changes& changes) {
    int line = 0;
    for (const EventRecord& event : changes.events)
        TRY(database_->run(
            "INSERT INTO events (number, line, time, kind, id, tenant, actor, reason, message) "
            "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            {changes.number, line++, micros(event.time), event.kind, event.id, event.tenant, event.actor,
             event.reason, event.message}));
    return {};
}

Result<> Tables::append_ledger(const Changes& changes) {
    int line = 0;
    for (const LedgerLine& entry : changes.ledger)
        TRY(
            database_->run("INSERT INTO ledger (number, line, time, claim, host, tenant, use, body) "
                           "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                           {changes.number, line++, micros(entry.time), entry.claim, entry.host, entry.tenant,
                            entry.use, entry.body}));
    return {};
}

Result<> Tables::append_audit(const Changes& changes) {
    int line = 0;
    for (const AuditLine& entry : changes.audit)
        TRY(database_->run(
            "INSERT INTO audit (number, line, time, actor, address, operation, subject, tenant, status, "
            "body_before, body_after) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            {changes.number, line++, micros(entry.time), entry.actor, entry.address, entry.operation,
             entry.subject, entry.tenant, entry.status, entry.before, entry.after}));
    return {};
}

Result<Snapshot> Tables::load() {
    TRY(check_usable());
    Snapshot snapshot;
    snapshot.number = TRY(meta("number"));
    const std::string sql = fmt::format(
        "SELECT {0} FROM objects WHERE state = 0 UNION ALL SELECT {0} FROM commands WHERE state = 0 "
        "ORDER BY kind, created, id",
        columns);
    TRY(database_->run(sql, {}, [&](const Row& row) { snapshot.live.push_back(object_of(row)); }));
    return snapshot;
}

Result<Page> Tables::list(const ListQuery& query) {
    constexpr std::size_t page_max = 1000;
    TRY(check_usable());
    Page page;
    page.at = query.at == 0 ? TRY(meta("number")) : query.at;
    const std::size_t limit = std::clamp<std::size_t>(query.limit, 1, page_max);
    std::string sql =
        fmt::format("SELECT {} FROM {} WHERE kind = ?1 AND created <= ?2 AND (created, id) > (?3, ?4)",
                    columns, table_of(query.kind));
    sql += query.finished ? " AND state < 2" : " AND state = 0";
    if (query.tenant) sql += " AND tenant = ?6";
    if (query.project) sql += " AND project = ?7";
    if (query.phase) sql += " AND phase = ?8";
    sql += " ORDER BY created, id LIMIT ?5";
    // A parameter that the text does not name is bound to nothing, so the values stay in their places.
    std::vector<Value> values{query.kind, page.at, query.after_created, query.after_id, limit + 1};
    values.push_back(query.tenant ? Value{*query.tenant} : Value{0});
    values.push_back(query.project ? Value{*query.project} : Value{0});
    values.push_back(query.phase ? Value{*query.phase} : Value{0});
    TRY(database_->run(sql, values, [&](const Row& row) { page.objects.push_back(object_of(row)); }));
    page.more = page.objects.size() > limit;
    if (page.more) page.objects.pop_back();
    return page;
}

Result<Object> Tables::find(const std::string& kind, const std::string& id) {
    TRY(check_usable());
    std::optional<Object> found;
    TRY(database_->run(fmt::format("SELECT {} FROM {} WHERE kind = ?1 AND id = ?2", columns, table_of(kind)),
                       {kind, id}, [&](const Row& row) { found = object_of(row); }));
    if (!found) return fail(Code::not_found, fmt::format("there is no {} {}", kind, id));
    return std::move(*found);
}

Result<std::vector<EventRecord>> Tables::events(const EventQuery& query) {
    constexpr std::size_t events_max = 1000;
    TRY(check_usable());
    std::string sql =
        "SELECT number, time, kind, id, tenant, actor, reason, message FROM events WHERE number > ?1";
    if (!query.kind.empty()) sql += " AND kind = ?3";
    if (!query.id.empty()) sql += " AND id = ?4";
    if (query.tenant) sql += " AND tenant = ?5";
    sql += " ORDER BY number DESC, line DESC LIMIT ?2";
    const std::vector<Value> values{query.after, std::clamp<std::size_t>(query.limit, 1, events_max),
                                    query.kind, query.id, query.tenant ? Value{*query.tenant} : Value{0}};
    std::vector<EventRecord> events;
    TRY(database_->run(sql, values, [&](const Row& row) { events.push_back(event_of(row)); }));
    std::reverse(events.begin(), events.end());
    return events;
}

}  // namespace hostler::sqlite
