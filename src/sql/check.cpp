#include "sql/check.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/object_row.h"
#include "sql/rows.h"

namespace hostler::sql {

namespace {

struct Search {
    Connection& connection;
    std::vector<Finding> found{};

    // Rows of (kind, id, …): what `say` makes of them.
    Result<> each(std::string_view sql, std::initializer_list<Value> values,
                  const std::function<std::string(const Row&)>& say) {
        return connection.run(sql, values, [&](const Row& row) {
            if (found.size() < findings_max)
                found.push_back({fmt::format("{}/{}", row.text(0), row.text(1)), say(row)});
        });
    }

    Result<> envelopes(std::string_view table, std::uint64_t number) {
        const auto in = [&](std::string_view where) {
            return fmt::format(
                "SELECT kind, id, created, version, state FROM {} WHERE {} ORDER BY kind, id LIMIT {}", table,
                where, findings_max);
        };
        TRY(each(in(table == "commands" ? "kind <> 'command'" : "kind = 'command'"), {}, [&](const Row&) {
            return fmt::format("it lies in the table {}, where it is not looked for", table);
        }));
        TRY(each(in("kind = '' OR id = ''"), {}, [](const Row&) { return "it has no kind or no id"; }));
        TRY(each(in("state NOT IN (0, 1, 2)"), {},
                 [](const Row& row) { return fmt::format("its state is {}", row.number(4)); }));
        TRY(each(in("created < 1 OR version < created OR version > ?1"), {number}, [&](const Row& row) {
            return fmt::format("it says commits {} and {}, of {}", row.number(2), row.number(3), number);
        }));
        TRY(each(in("state < 2 AND body = ''"), {}, [](const Row&) { return "it has no body"; }));
        return each(in("state = 2 AND body <> ''"), {},
                    [](const Row&) { return "it was taken out and has a body"; });
    }

    // The last line of each claim says who holds what, and so does the claim.
    Result<> ledger() {
        constexpr std::string_view last =
            "FROM ledger l LEFT JOIN objects o ON o.kind = 'claim' AND o.id = l.claim AND o.state = 0 "
            "WHERE l.use <> 'released' AND NOT EXISTS (SELECT 1 FROM ledger n WHERE n.claim = l.claim AND "
            "(n.number, n.line) > (l.number, l.line))";
        TRY(each(fmt::format(
                     "SELECT 'claim', l.claim, l.use, l.host {} AND o.id IS NULL ORDER BY l.claim LIMIT {}",
                     last, findings_max),
                 {}, [](const Row& row) {
                     return fmt::format("the ledger has it as {} on {}, and it does not exist", row.text(2),
                                        row.text(3));
                 }));
        TRY(each(
            fmt::format(
                "SELECT 'claim', l.claim, l.use, l.tenant, o.phase, o.tenant {} AND (o.phase <> l.use OR "
                "o.tenant <> l.tenant) ORDER BY l.claim LIMIT {}",
                last, findings_max),
            {}, [](const Row& row) {
                return fmt::format("the ledger has it as {} of '{}', and it is {} of '{}'", row.text(2),
                                   row.text(3), row.text(4), row.text(5));
            }));
        return each(
            fmt::format(
                "SELECT o.kind, o.id, o.phase FROM objects o WHERE o.kind = 'claim' AND o.state = 0 AND "
                "coalesce((SELECT l.use FROM ledger l WHERE l.claim = o.id ORDER BY l.number DESC, l.line "
                "DESC "
                "LIMIT 1), 'released') = 'released' ORDER BY o.id LIMIT {}",
                findings_max),
            {}, [](const Row& row) {
                return fmt::format("it is held as {}, and the ledger does not have it", row.text(2));
            });
    }

    // Bytes that changed since they were written.
    Result<> sums() {
        const auto add = [&](const std::string& subject, std::string_view message) {
            if (found.size() < findings_max) found.push_back({subject, std::string{message}});
        };
        for (const std::string_view table : {"objects", "commands"})
            TRY(connection.run(fmt::format("SELECT {} FROM {} WHERE checked <> 0", columns, table), {},
                               [&](const Row& row) {
                                   const Object object = object_of(row);
                                   if (const auto damage = damage_of(row, object))
                                       add(fmt::format("{}/{}", object.kind, object.id), *damage);
                               }));
        struct Log {
            std::string_view table, columns;
            bool (*is_whole)(const Row&);
        };
        for (const auto& [table, of, is_whole] :
             {Log{"events", event_columns, [](const Row& row) { return line_is_whole(row, event_texts); }},
              Log{"ledger", ledger_columns, [](const Row& row) { return line_is_whole(row, ledger_texts); }},
              Log{"audit", audit_columns, audit_line_is_whole}})
            TRY(connection.run(
                fmt::format("SELECT {} FROM {} WHERE checksum <> 0", of, table), {}, [&](const Row& row) {
                    if (!is_whole(row))
                        add(fmt::format("{}/{}", table, row.number(0)),
                            fmt::format("the checksum of its line {} is not that of its contents",
                                        row.number(1)));
                }));
        return audit_anchors();
    }

    // What the chain of the audit hangs on.
    Result<> audit_anchors() {
        TRY(connection.run(fmt::format("SELECT {} FROM audit_chain ORDER BY name", head_columns), {},
                           [&](const Row& row) {
                               if (!line_is_whole(row, head_texts) && found.size() < findings_max)
                                   found.push_back({fmt::format("audit_chain/{}", row.text(0)),
                                                    "its checksum is not that of its contents"});
                           }));
        return connection.run(fmt::format("SELECT {} FROM audit_seals ORDER BY position", seal_columns), {},
                              [&](const Row& row) {
                                  if (!line_is_whole(row, seal_texts) && found.size() < findings_max)
                                      found.push_back({fmt::format("audit_seals/{}", row.number(0)),
                                                       "its checksum is not that of its contents"});
                              });
    }

    // What happened with a commit that is not there.
    Result<> numbers(std::uint64_t number) {
        for (const std::string_view table : {"events", "ledger", "audit"})
            TRY(each(
                fmt::format("SELECT '{0}', 'lines', count(*) FROM {0} WHERE number > ?1 HAVING count(*) > 0",
                            table),
                {number}, [&](const Row& row) {
                    return fmt::format("{} lines are of commits after {}, the last", row.number(2), number);
                }));
        return {};
    }
};

}  // namespace

Result<std::vector<Finding>> check(Connection& connection) {
    const auto forms = TRY(connection.forms());
    if (std::ranges::none_of(forms, [](const Form& form) { return form.table == "meta"; }))
        return fail(Code::conflict, fmt::format("there is no store in {}", connection.name()),
                    "store_not_made");
    Rows rows{connection};
    TRY(rows.check_schema(connection.name()));
    const std::uint64_t number = TRY(rows.meta("number"));
    Search search{connection};
    TRY(search.envelopes("objects", number));
    TRY(search.envelopes("commands", number));
    TRY(search.ledger());
    TRY(search.numbers(number));
    TRY(search.sums());
    return std::move(search.found);
}

Result<> each_ended(Connection& connection, const std::function<void(Object)>& seen) {
    for (const std::string_view table : {"objects", "commands"})
        TRY(connection.run(fmt::format("SELECT {} FROM {} WHERE state = ?1", columns, table), {state_ended},
                           [&](const Row& row) {
                               Object object = object_of(row);
                               if (!damage_of(row, object)) seen(std::move(object));
                           }));
    return {};
}

}  // namespace hostler::sql
