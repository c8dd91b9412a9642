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

std::string_view table_of(std::string_view kind) { return kind == "command" ? "commands" : "objects"; }

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
        TRY(append_line(
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
        TRY(append_line(connection_,
                        "INSERT INTO ledger (number, line, time, claim, host, tenant, use, body, checksum) "
                        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                        {changes.number, line++, micros(entry.time), entry.claim, entry.host, entry.tenant,
                         entry.use, entry.body}));
    return {};
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
