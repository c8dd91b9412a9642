#include "sql/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <set>

#include "core/log.h"
#include "sql/checksum.h"
#include "sql/migrations.h"
#include "sql/object_row.h"

namespace hostler::sql {

namespace {

// Releases that know the schema so far may use what this one makes of it: later migrations only added tables,
// and columns with a default. One that does more raises it (decisions/0027).
constexpr std::uint64_t schema_floor = 1;

// What a release that knows less would misread: the floor rises in the commit that writes the first of it
// (decisions/0047).
struct Raise {
    std::string_view kind;
    std::uint64_t floor;
    std::string_view except{};  // Ids that end so raise nothing; empty: all do.
    bool raised_by(const Object& object) const {
        return object.kind == kind && (except.empty() || !object.id.ends_with(except));
    }
};
constexpr std::array raises{
    Raise{"sealing_key", 3},       Raise{"secret", 6},  Raise{"project", 10, "/default"},
    Raise{"service_account", 10},  Raise{"policy", 10}, Raise{"quota", 10},
    Raise{"identity_provider", 10}};

constexpr std::string_view head_name = "head", base_name = "base";  // In audit_chain.

std::string_view table_of(std::string_view kind) { return kind == "command" ? "commands" : "objects"; }

std::int64_t micros(WallTime time) { return time.time_since_epoch().count(); }
WallTime wall_time(std::uint64_t micros) {
    return WallTime{std::chrono::microseconds{static_cast<std::int64_t>(micros)}};
}

// A line of a log, and its checksum behind its values.
Result<> append(Connection& connection, std::string_view sql, std::initializer_list<Value> values) {
    std::vector<Value> all{values};
    all.emplace_back(checksum(values));
    return connection.run(sql, all);
}

}  // namespace

Result<std::uint64_t> Rows::meta(std::string_view name) {
    std::uint64_t value = 0;
    TRY(connection_.run("SELECT value FROM meta WHERE name = ?1", {name},
                        [&](const Row& row) { value = row.number(0); }));
    return value;
}

Result<> Rows::set_meta(std::string_view name, std::uint64_t value) {
    return connection_.run(
        "INSERT INTO meta (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = "
        "excluded.value",
        {name, value});
}

Result<Rows::LeaseRow> Rows::lease() {
    LeaseRow lease;
    TRY(connection_.run("SELECT name, address, epoch, ends, server FROM lease WHERE one = 1", {},
                        [&](const Row& row) {
                            lease = {.who = {row.text(0), row.text(1)},
                                     .epoch = row.number(2),
                                     .ends = static_cast<std::int64_t>(row.number(3)),
                                     .server = static_cast<std::int64_t>(row.number(4))};
                        }));
    return lease;
}

Result<> Rows::set_lease(const LeaseRow& lease) {
    return connection_.run(
        "UPDATE lease SET name = ?1, address = ?2, epoch = ?3, ends = ?4, server = ?5 WHERE one = 1",
        {lease.who.name, lease.who.address, lease.epoch, lease.ends, lease.server});
}

std::uint64_t newest_schema() { return static_cast<std::uint64_t>(migrations().back().number); }

Result<> Rows::check_schema(std::string_view store) {
    const std::uint64_t known = newest_schema();
    const std::uint64_t present = TRY(meta("schema"));
    const std::uint64_t floor = TRY(meta("schema_floor"));
    if (present <= known || (floor != 0 && floor <= known)) return {};
    return fail(Code::unavailable,
                fmt::format("the store {} has schema {} of a newer release, this one knows {}; upgrade",
                            store, present, known),
                "store_too_new");
}

Result<> Rows::migrate(bool made, std::string_view store, std::uint64_t up_to) {
    if (made) TRY(check_schema(store));
    const std::uint64_t present = made ? TRY(meta("schema")) : 0;
    for (const Migration& migration : migrations())
        if (static_cast<std::uint64_t>(migration.number) > present &&
            static_cast<std::uint64_t>(migration.number) <= up_to)
            TRY(connection_.script(migration.sql));
    // Even when there was nothing to do this is a write, so that a second master is met here and not later.
    if (present <= up_to) {
        const std::uint64_t floor = TRY(meta("schema_floor"));
        TRY(set_meta("schema_floor", std::max(floor, schema_floor)));
    }
    return set_meta("schema", std::max(present, up_to));
}

Result<> Rows::check_number(std::string_view store) {
    const std::uint64_t number = TRY(meta("number"));
    for (const std::string_view table : {"events", "ledger", "audit"}) {
        std::uint64_t last = 0;
        TRY(connection_.run(fmt::format("SELECT coalesce(max(number), 0) FROM {}", table), {},
                            [&](const Row& row) { last = row.number(0); }));
        if (last > number)
            return fail(
                Code::unavailable,
                fmt::format(
                    "the store {} is damaged: its last commit is {}, and its {} are of commit {}; put a "
                    "backup in its place",
                    store, number, table, last),
                "store_damaged");
    }
    return {};
}

Result<> admit(const Changes& changes, std::uint64_t epoch, std::uint64_t number) {
    if (changes.epoch != epoch)
        return fail(Code::conflict,
                    fmt::format("commit {} is of epoch {}, the store is at {}: another master leads",
                                changes.number, changes.epoch, epoch),
                    "not_leader");
    if (changes.number <= number)
        return fail(
            Code::conflict,
            fmt::format("commit {} comes after commit {}: another master leads", changes.number, number),
            "not_leader");
    return {};
}

LeaseIs lease_is(const Rows::LeaseRow& lease, std::int64_t now, std::int64_t server, std::int64_t length) {
    if (lease.ends == 0) return LeaseIs::free;
    // No lease ends so late, even if its holder's is somewhat longer.
    if (lease.server != server || lease.ends - now > 2 * length) return LeaseIs::unclear;
    return lease.ends > now ? LeaseIs::held : LeaseIs::free;
}

Result<std::uint64_t> epoch_after(std::uint64_t present, std::uint64_t above) {
    constexpr std::uint64_t epoch_max = std::numeric_limits<std::int64_t>::max() - 1;
    if (above >= epoch_max) return fail(Code::invalid, fmt::format("no epoch is higher than {}", above));
    return std::max(present, above) + 1;
}

Result<> Rows::write(const Changes& changes) {
    for (const auto& [kind, id] : changes.erase) TRY(erase(kind, id));
    for (const Object& object : changes.put) {
        TRY(put(object, changes.number));
        for (const Raise& raise : raises)
            if (raise.raised_by(object))
                TRY(connection_.run("UPDATE meta SET value = ?1 WHERE name = 'schema_floor' AND value < ?1",
                                    {raise.floor}));
    }
    TRY(append_events(changes));
    TRY(append_ledger(changes));
    TRY(append_audit(changes));
    return append_seals(changes);
}

Result<> Rows::put(const Object& object, std::uint64_t number) {
    // What is there keeps the number of the commit that made it.
    constexpr std::string_view rest =
        " (kind, id, tenant, project, phase, generation, created, version, state, body, checksum, checked) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?8) ON CONFLICT (kind, id) DO UPDATE SET "
        "tenant = "
        "excluded.tenant, "
        "project = excluded.project, phase = excluded.phase, generation = excluded.generation, "
        "version = excluded.version, state = excluded.state, body = excluded.body, "
        "checksum = excluded.checksum, checked = excluded.checked";
    const std::string sql = fmt::format("INSERT INTO {}{}", table_of(object.kind), rest);
    return connection_.run(
        sql, {object.kind, object.id, object.tenant, object.project, object.phase, object.generation,
              object.created == 0 ? number : object.created, number, object.live ? state_live : state_ended,
              object.body, checksum_of(object, number)});
}

Result<> Rows::erase(const std::string& kind, const std::string& id) {
    return connection_.run(fmt::format("DELETE FROM {} WHERE kind = ?1 AND id = ?2", table_of(kind)),
                           {kind, id});
}

Result<> Rows::append_events(const Changes& changes) {
    int line = 0;
    for (const EventRecord& event : changes.events)
        TRY(append(
            connection_,
            "INSERT INTO events (number, line, time, kind, id, tenant, actor, reason, message, checksum) "
            "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            {changes.number, line++, micros(event.time), event.kind, event.id, event.tenant, event.actor,
             event.reason, event.message}));
    return {};
}

Result<> Rows::append_ledger(const Changes& changes) {
    int line = 0;
    for (const LedgerLine& entry : changes.ledger)
        TRY(append(connection_,
                   "INSERT INTO ledger (number, line, time, claim, host, tenant, use, body, checksum) "
                   "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                   {changes.number, line++, micros(entry.time), entry.claim, entry.host, entry.tenant,
                    entry.use, entry.body}));
    return {};
}

Result<> Rows::append_audit(const Changes& changes) {
    AuditHead head;
    for (std::uint64_t number = 0; const AuditLine& entry : changes.audit) {
        const std::uint64_t line = number++;
        std::vector<Value> all{
            changes.number, line,         micros(entry.time), entry.actor,  entry.address, entry.operation,
            entry.subject,  entry.tenant, entry.status,       entry.before, entry.after};
        all.emplace_back(checksum(all));
        // One that has nothing of what later releases brought is written as releases do that know none of
        // it: a store that was left by one of them has no such columns until it is migrated.
        const bool has_more = entry.chain.position != 0 || !entry.service.empty() || !entry.result.empty() ||
                              !entry.project.empty() || !entry.zone.empty() || !entry.reason.empty() ||
                              !entry.request.empty();
        std::string_view into = older_audit_columns;
        if (!entry.client.empty() || has_more) {
            into = client_audit_columns;
            all.emplace_back(entry.client);
            all.emplace_back(client_checksum(changes.number, line, entry.client));
        }
        if (has_more) {
            into = chained_audit_columns;
            for (const Value& value :
                 {Value{entry.project}, Value{entry.zone}, Value{entry.service}, Value{entry.result},
                  Value{entry.reason}, Value{entry.chain.position}, Value{entry.previous},
                  Value{entry.chain.hash}, Value{more_checksum(changes.number, line, entry)}})
                all.push_back(value);
        }
        if (!entry.request.empty()) {
            into = audit_columns;
            all.emplace_back(entry.request);
            all.emplace_back(request_checksum(changes.number, line, entry.request));
        }
        std::string places = "?1";
        for (std::size_t place = 2; place <= all.size(); ++place) places += fmt::format(", ?{}", place);
        TRY(connection_.run(fmt::format("INSERT INTO audit ({}) VALUES ({})", into, places), all));
        if (entry.chain.position != 0) head = entry.chain;
    }
    return head.position == 0 ? Result<>{} : set_head(head_name, head);
}

Result<> Rows::append_seals(const Changes& changes) {
    for (const AuditSeal& seal : changes.seals)
        TRY(append(
            connection_,
            fmt::format("INSERT INTO audit_seals ({}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT "
                        "(position) DO NOTHING",
                        seal_columns),
            {seal.head.position, seal.head.hash, micros(seal.time), seal.epoch, seal.authority,
             seal.certificate, seal.signature}));
    return {};
}

Result<> Rows::set_head(std::string_view name, const AuditHead& head) {
    return append(
        connection_,
        fmt::format("INSERT INTO audit_chain ({}) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (name) DO UPDATE "
                    "SET position = excluded.position, hash = excluded.hash, checksum = "
                    "excluded.checksum",
                    head_columns),
        {name, head.position, head.hash});
}

Result<std::optional<AuditHead>> Rows::head_row(std::string_view name) {
    std::optional<AuditHead> head = AuditHead{};  // Without a row there is none yet.
    TRY(connection_.run(fmt::format("SELECT {} FROM audit_chain WHERE name = ?1", head_columns), {name},
                        [&](const Row& row) {
                            if (line_is_whole(row, head_texts))
                                head = {row.number(1), row.text(2)};
                            else
                                head.reset();
                        }));
    if (!head && connection_.first_time(fmt::format("audit_chain/{}", name)))
        log_error(
            "the store {}: the row {} of the table audit_chain cannot be read; see `hostler store check`",
            connection_.name(), name);
    return head;
}

// What the last line says, where its own row cannot be read.
Result<AuditHead> Rows::audit_head() {
    if (auto head = TRY(head_row(head_name))) return *std::move(head);
    AuditHead head;
    TRY(
        connection_.run("SELECT position, hash FROM audit WHERE position > 0 ORDER BY number DESC, line DESC "
                        "LIMIT 1",
                        {}, [&](const Row& row) { head = {row.number(0), row.text(1)}; }));
    return head;
}

Result<> Rows::note_audit(Snapshot& into) {
    constexpr int looked_at_max = 4;  // One that is damaged is passed over.
    into.audit = TRY(audit_head());
    return connection_.run(
        fmt::format("SELECT {} FROM audit_seals ORDER BY position DESC LIMIT ?1", seal_columns),
        {looked_at_max}, [&](const Row& row) {
            if (into.sealed.position == 0 && line_is_whole(row, seal_texts)) into.sealed = seal_of(row).head;
        });
}

Result<AuditAnchors> Rows::audit_anchors(std::uint64_t after, std::size_t limit) {
    constexpr std::size_t seals_max = 1000;
    limit = std::clamp<std::size_t>(limit, 1, seals_max);
    AuditAnchors anchors;
    anchors.base = TRY(head_row(base_name)).value_or(AuditHead{});
    anchors.head = TRY(audit_head());
    TRY(connection_.run(
        fmt::format("SELECT {} FROM audit_seals WHERE position > ?1 ORDER BY position LIMIT ?2",
                    seal_columns),
        {after, limit + 1}, [&](const Row& row) {
            if (anchors.seals.size() < limit)
                anchors.seals.push_back(seal_of(row));
            else
                anchors.more = true;
        }));
    return anchors;
}

Result<Snapshot> Rows::load() {
    Snapshot snapshot;
    snapshot.number = TRY(meta("number"));
    const std::string sql = fmt::format(
        "SELECT {0} FROM objects WHERE state = 0 UNION ALL SELECT {0} FROM commands WHERE state = 0 "
        "ORDER BY kind, created, id",
        columns);
    TRY(connection_.run(sql, {}, [&](const Row& row) { take(row, snapshot); }));
    TRY(note_audit(snapshot));
    return snapshot;
}

Result<> Rows::note_changed(const Changes& changes) {
    // A copy that is further behind is loaded whole, which costs less by then.
    constexpr std::uint64_t commits_kept = 20'000, pruned_each = 256;
    constexpr std::string_view insert =
        "INSERT INTO changed (number, kind, id) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
    for (const Object& object : changes.put)
        TRY(connection_.run(insert, {changes.number, object.kind, object.id}));
    for (const auto& [kind, id] : changes.erase) TRY(connection_.run(insert, {changes.number, kind, id}));
    if (changes.put.empty() && changes.erase.empty())
        TRY(connection_.run(insert, {changes.number, std::string_view{}, std::string_view{}}));
    if (changes.number % pruned_each == 0 && changes.number > commits_kept)
        TRY(connection_.run("DELETE FROM changed WHERE number <= ?1", {changes.number - commits_kept}));
    return {};
}

Result<Snapshot> Rows::load_since(std::uint64_t number) {
    Snapshot snapshot{.whole = false};
    snapshot.number = TRY(meta("number"));
    TRY(note_audit(snapshot));
    if (snapshot.number == number) return snapshot;
    std::uint64_t noted = 0;
    TRY(connection_.run("SELECT count(DISTINCT number) FROM changed WHERE number > ?1", {number},
                        [&](const Row& row) { noted = row.number(0); }));
    if (snapshot.number < number || noted != snapshot.number - number) return load();
    std::set<std::pair<std::string, std::string>> changed;
    TRY(connection_.run("SELECT DISTINCT kind, id FROM changed WHERE number > ?1 AND kind <> ''", {number},
                        [&](const Row& row) { changed.emplace(row.text(0), row.text(1)); }));
    for (const std::string_view table : {"objects", "commands"})
        TRY(connection_.run(
            fmt::format("SELECT {} FROM {} WHERE (kind, id) IN (SELECT kind, id FROM changed WHERE "
                        "number > ?1) ORDER BY kind, created, id",
                        columns, table),
            {number}, [&](const Row& row) {
                Object object = object_of(row);
                changed.erase({object.kind, object.id});
                if (object.live)
                    take(row, snapshot);
                else
                    snapshot.live.push_back(std::move(object));  // That it ended is all that counts.
            }));
    snapshot.gone.assign(changed.begin(), changed.end());
    return snapshot;
}

bool Rows::believes(const Row& row, const Object& object, std::string* why) {
    auto damage = damage_of(row, object);
    if (!damage) return true;
    if (connection_.first_time(fmt::format("{}/{}", object.kind, object.id)))
        log_error("the store {}: {} {} cannot be read: {}; see `hostler store check`", connection_.name(),
                  object.kind, object.id, *damage);
    if (why) *why = *std::move(damage);
    return false;
}

void Rows::take(const Row& row, Snapshot& into) {
    Object object = object_of(row);
    std::string why;
    if (believes(row, object, &why))
        into.live.push_back(std::move(object));
    else
        into.unreadable.push_back({object.kind, object.id, std::move(why)});
}

Result<Page> Rows::list(const ListQuery& query) {
    // A page of nothing but rows that cannot be read would have no end to go on behind.
    ListQuery next = query;
    while (true) {
        Page page = TRY(list_some(next));
        if (!page.objects.empty() || !page.more) return page;
    }
}

// Moves `query` behind the last row that it looked at.
Result<Page> Rows::list_some(ListQuery& query) {
    constexpr std::size_t page_max = 1000;
    Page page;
    page.at = query.at == 0 ? TRY(meta("number")) : query.at;
    const std::size_t limit = std::clamp<std::size_t>(query.limit, 1, page_max);
    std::vector<Value> values{query.kind, page.at, query.after_created, query.after_id};
    std::string sql =
        fmt::format("SELECT {} FROM {} WHERE kind = ?1 AND created <= ?2 AND (created, id) > (?3, ?4)",
                    columns, table_of(query.kind));
    sql += query.finished ? " AND state < 2" : " AND state = 0";
    const auto where = [&](std::string_view column, const std::optional<std::string>& is) {
        if (!is) return;
        values.push_back(*is);
        sql += fmt::format(" AND {} = ?{}", column, values.size());
    };
    where("tenant", query.tenant);
    where("project", query.project);
    where("phase", query.phase);
    values.push_back(limit + 1);
    sql += fmt::format(" ORDER BY created, id LIMIT ?{}", values.size());
    std::uint64_t created = query.after_created;
    std::string id = query.after_id;
    std::size_t seen = 0;
    TRY(connection_.run(sql, values, [&](const Row& row) {
        if (++seen > limit) return;
        Object object = object_of(row);
        created = object.created;
        id = object.id;
        if (believes(row, object)) page.objects.push_back(std::move(object));
    }));
    page.more = seen > limit;
    query.at = page.at;
    query.after_created = created;
    query.after_id = std::move(id);
    return page;
}

Result<Object> Rows::find(const std::string& kind, const std::string& id) {
    std::optional<Object> found;
    std::string damage;
    TRY(connection_.run(fmt::format("SELECT {} FROM {} WHERE kind = ?1 AND id = ?2", columns, table_of(kind)),
                        {kind, id}, [&](const Row& row) {
                            Object object = object_of(row);
                            if (believes(row, object, &damage)) found = std::move(object);
                        }));
    if (!damage.empty())
        return fail(Code::internal,
                    fmt::format("{} {} in the store cannot be read: {}; an operator can look with "
                                "`hostler store check`",
                                kind, id, damage),
                    "row_damaged");
    if (!found) return fail(Code::not_found, fmt::format("there is no {} {}", kind, id));
    return std::move(*found);
}

// Adds up to `limit` events to `into`, the newest first, and moves `query.before` behind what it looked at.
// Says whether there may be more.
Result<bool> Rows::add_events(EventQuery& query, std::size_t limit, std::vector<EventRecord>& into) {
    std::vector<Value> values{query.after};
    std::string sql = fmt::format("SELECT {} FROM events WHERE number > ?1", event_columns);
    const auto where = [&](std::string_view column, std::string_view is) {
        values.push_back(is);
        sql += fmt::format(" AND {} = ?{}", column, values.size());
    };
    if (!query.kind.empty()) where("kind", query.kind);
    if (!query.id.empty()) where("id", query.id);
    if (query.tenant) where("tenant", *query.tenant);
    if (query.before) {
        values.push_back(query.before->number);
        values.push_back(query.before->line);
        sql += fmt::format(" AND (number, line) < (?{}, ?{})", values.size() - 1, values.size());
    }
    values.push_back(limit);
    sql += fmt::format(" ORDER BY number DESC, line DESC LIMIT ?{}", values.size());
    std::size_t seen = 0;
    TRY(connection_.run(sql, values, [&](const Row& row) {
        ++seen;
        query.before = EventPlace{row.number(0), row.number(1)};
        if (line_is_whole(row, event_texts))
            into.push_back(event_of(row));
        else
            tell_damaged("events", row);
    }));
    return seen == limit;
}

Result<std::vector<EventRecord>> Rows::events(EventQuery query) {
    constexpr int reads_max = 16;  // Beyond damaged ones.
    const std::size_t limit = std::clamp<std::size_t>(query.limit, 1, events_max);
    std::vector<EventRecord> events;
    for (int reads = 0; reads < reads_max && events.size() < limit; ++reads)
        if (!TRY(add_events(query, limit - events.size(), events))) break;
    std::reverse(events.begin(), events.end());
    return events;
}

// Where the part of the audit ends that one call looks at; nullopt: it is all that is left.
Result<std::optional<AuditPlace>> Rows::audit_part_end(std::string_view where, std::vector<Value> values) {
    constexpr std::size_t looked_at_max = 2000;  // A page of the index or a few; commits wait for it.
    values.emplace_back(looked_at_max - 1);
    std::optional<AuditPlace> end;
    TRY(connection_.run(
        fmt::format("SELECT time, number, line FROM audit WHERE {} ORDER BY time DESC, number DESC, "
                    "line DESC LIMIT 1 OFFSET ?{}",
                    where, values.size()),
        values, [&](const Row& row) { end = {wall_time(row.number(0)), row.number(1), row.number(2)}; }));
    return end;
}

namespace {

constexpr std::size_t audit_lines_max = 1000, audit_bytes_max = std::size_t{4} << 20;

bool is_asked_for(const AuditQuery& query, const AuditLine& line) {
    const auto is = [](const std::string& wanted, const std::string& text) {
        return wanted.empty() || wanted == text;
    };
    return (!query.tenant || *query.tenant == line.tenant) && line.time >= query.since &&
           line.time <= query.until && is(query.actor, line.actor) && is(query.operation, line.operation) &&
           is(query.subject, line.subject) && is(query.project, line.project) &&
           is(query.request, line.request) &&
           // Lines of older releases are of what was done.
           (is(query.result, line.result) || (query.result == audit_ok && line.result.empty()));
}

}  // namespace

Result<AuditPage> Rows::audit(const AuditQuery& query) {
    switch (query.order) {
        case AuditOrder::newest: return audit_by_time(query);
        case AuditOrder::written: return audit_as_written(query);
    }
    broken("an order outside its enum", __FILE__, __LINE__);
}

Result<AuditPage> Rows::audit_as_written(const AuditQuery& query) {
    const std::size_t limit = std::clamp<std::size_t>(query.limit, 1, audit_lines_max);
    const AuditPlace after = query.after.value_or(AuditPlace{});
    AuditPage page;
    AuditPlace last;
    std::size_t looked_at = 0, bytes = 0;
    bool is_full = false;
    TRY(connection_.run(
        fmt::format("SELECT {} FROM audit WHERE (number, line) > (?1, ?2) ORDER BY number, line LIMIT ?3",
                    audit_columns),
        // Before the first there is none with a lower number than 0; its line is.
        {after.number, query.after ? static_cast<std::int64_t>(after.line) : std::int64_t{-1}, limit + 1},
        [&](const Row& row) {
            if (!is_full && (looked_at == limit || bytes >= audit_bytes_max)) {
                is_full = true;
                page.next = last;
            }
            if (is_full) return;
            ++looked_at;
            AuditLine line = audit_line_of(row);
            last = {line.time, line.number, line.line};
            if (!is_asked_for(query, line)) return;
            bytes += line.before.size() + line.after.size();
            if (line.chain.position != 0 || audit_line_is_whole(row))
                page.lines.push_back(std::move(line));
            else
                tell_damaged("audit", row);
        }));
    return page;
}

Result<AuditPage> Rows::audit_by_time(const AuditQuery& query) {
    const std::size_t limit = std::clamp<std::size_t>(query.limit, 1, audit_lines_max);
    constexpr std::uint64_t highest = std::numeric_limits<std::int64_t>::max();
    const AuditPlace after = query.after.value_or(AuditPlace{WallTime::max(), highest, highest});
    // The first two bound what is looked at in the index; SQLite takes no bound from the rows' places.
    std::vector<Value> values{micros(query.since), micros(std::min(query.until, after.time)),
                              micros(after.time), after.number, after.line};
    std::string where = "time >= ?1 AND time <= ?2 AND (time, number, line) < (?3, ?4, ?5)";
    const auto is = [&](std::string_view column, std::string_view text) {
        values.push_back(text);
        where += fmt::format(" AND {} = ?{}", column, values.size());
    };
    if (query.tenant) is("tenant", *query.tenant);
    AuditPage page;
    page.next = TRY(audit_part_end(where, values));
    if (page.next) {
        values[0] = micros(page.next->time);
        where += fmt::format(" AND (time, number, line) >= (?{}, ?{}, ?{})", values.size() + 1,
                             values.size() + 2, values.size() + 3);
        for (const Value& value :
             {Value{micros(page.next->time)}, Value{page.next->number}, Value{page.next->line}})
            values.push_back(value);
    }
    if (!query.actor.empty()) is("actor", query.actor);
    if (!query.operation.empty()) is("operation", query.operation);
    if (!query.subject.empty()) is("subject", query.subject);
    if (!query.project.empty()) is("project", query.project);
    if (!query.request.empty()) is("request", query.request);
    if (query.result == audit_ok)
        where += " AND result IN ('ok', '')";  // Lines of older releases are of what was done.
    else if (!query.result.empty())
        is("result", query.result);
    values.emplace_back(limit + 1);
    std::size_t bytes = 0;
    bool is_full = false;
    AuditPlace last;
    TRY(connection_.run(
        fmt::format("SELECT {} FROM audit WHERE {} ORDER BY time DESC, number DESC, line DESC LIMIT ?{}",
                    audit_columns, where, values.size()),
        values, [&](const Row& row) {
            if (!is_full && (page.lines.size() == limit || bytes >= audit_bytes_max)) {
                is_full = true;
                page.next = last;
            }
            if (is_full) return;
            AuditLine line = audit_line_of(row);
            last = {line.time, line.number, line.line};
            bytes += line.before.size() + line.after.size();
            if (audit_line_is_whole(row))
                page.lines.push_back(std::move(line));
            else
                tell_damaged("audit", row);
        }));
    return page;
}

// Once for each line.
void Rows::tell_damaged(std::string_view log, const Row& row) {
    if (connection_.first_time(fmt::format("{}/{}/{}", log, row.number(0), row.number(1))))
        log_error("the store {}: line {} of the {} of commit {} cannot be read; see `hostler store check`",
                  connection_.name(), row.number(1), log, row.number(0));
}

Result<bool> Rows::prune(WallTime before) {
    constexpr std::int64_t rows_max = 2000;  // A transaction, so that commits get their turn in between.
    const std::int64_t time = before.time_since_epoch().count();
    const std::uint64_t number = TRY(last_number_before(before));
    std::uint64_t changed = 0;
    const auto count = [&] { changed = std::max(changed, connection_.changes()); };
    TRY(
        connection_.run("UPDATE objects SET state = 2, body = '', checked = 0 WHERE (kind, id) IN "
                        "(SELECT kind, id FROM objects WHERE state = 1 AND version <= ?1 LIMIT ?2)",
                        {number, rows_max}));
    count();
    TRY(
        connection_.run("UPDATE commands SET state = 2, body = '', checked = 0 WHERE (kind, id) IN "
                        "(SELECT kind, id FROM commands WHERE state = 1 AND version <= ?1 LIMIT ?2)",
                        {number, rows_max}));
    count();
    // The objects first: their end is dated by the events.
    if (changed < static_cast<std::uint64_t>(rows_max)) {
        TRY(
            connection_.run("DELETE FROM events WHERE (number, line) IN "
                            "(SELECT number, line FROM events WHERE time < ?1 LIMIT ?2)",
                            {time, rows_max}));
        count();
    }
    return changed >= static_cast<std::uint64_t>(rows_max);
}

Result<Rows::Pruned> Rows::prune_audit(WallTime before) {
    constexpr std::uint64_t lines_max = 2000;  // As prune(): commits get their turn in between.
    Pruned pruned;
    AuditPlace last;
    AuditHead base;
    bool is_over = false;
    TRY(connection_.run("SELECT number, line, time, position, hash FROM audit ORDER BY number, line LIMIT ?1",
                        {lines_max}, [&](const Row& row) {
                            is_over = is_over || wall_time(row.number(2)) >= before;
                            if (is_over) return;
                            ++pruned.lines;
                            last = {.time = {}, .number = row.number(0), .line = row.number(1)};
                            if (row.number(3) != 0) base = {row.number(3), row.text(4)};
                        }));
    pruned.more = pruned.lines == lines_max;
    if (pruned.lines > 0)
        TRY(connection_.run("DELETE FROM audit WHERE (number, line) <= (?1, ?2)", {last.number, last.line}));
    if (base.position != 0) TRY(set_head(base_name, base));
    if (!pruned.more)
        TRY(connection_.run(
            "DELETE FROM audit_seals WHERE position <= coalesce((SELECT position FROM audit_seals "
            "ORDER BY position DESC LIMIT 1 OFFSET ?1), -1)",
            {audit_seals_max}));
    return pruned;
}

// Objects carry no time. What ended with a commit up to this one ended before `before`: the last with an
// event before the first with a younger one. Old events are few, since they are taken out; `+` keeps the
// database from the index by time, by which it would look through all the others.
Result<std::uint64_t> Rows::last_number_before(WallTime before) {
    std::uint64_t younger = std::numeric_limits<std::int64_t>::max(), older = 0;
    TRY(connection_.run("SELECT number FROM events WHERE +time >= ?1 ORDER BY number, line LIMIT 1",
                        {before.time_since_epoch().count()},
                        [&](const Row& row) { younger = row.number(0); }));
    TRY(connection_.run("SELECT coalesce(max(number), 0) FROM events WHERE number < ?1", {younger},
                        [&](const Row& row) { older = row.number(0); }));
    return older;
}

}  // namespace hostler::sql
