// The audit as statements: its lines, the chain that they are in, its seals.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "core/log.h"
#include "sql/checksum.h"
#include "sql/object_row.h"
#include "sql/rows.h"

namespace hostler::sql {

namespace {

constexpr std::string_view head_name = "head", base_name = "base";  // In audit_chain.
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
        TRY(append_line(
            connection_,
            fmt::format("INSERT INTO audit_seals ({}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT "
                        "(position) DO NOTHING",
                        seal_columns),
            {seal.head.position, seal.head.hash, micros(seal.time), seal.epoch, seal.authority,
             seal.certificate, seal.signature}));
    return {};
}

Result<> Rows::set_head(std::string_view name, const AuditHead& head) {
    return append_line(
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

}  // namespace hostler::sql
