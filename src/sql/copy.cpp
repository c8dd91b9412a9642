#include "sql/copy.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/rows.h"

namespace hostler::sql {

namespace {

// Between the numbers of a backup and those that are given after it was restored.
constexpr std::uint64_t apart = std::uint64_t{1} << 32;

bool has_tables(const std::vector<Form>& forms) {
    return std::ranges::any_of(forms, [](const Form& form) { return form.table == "meta"; });
}

Result<> transact(Connection& connection, const std::function<Result<>()>& body) {
    TRY(connection.run("BEGIN"));
    Result<> result = body();
    if (result) return connection.run("COMMIT");
    (void)connection.run("ROLLBACK");
    return result;
}

Result<> check_schema(std::uint64_t schema, std::string_view of) {
    const std::uint64_t known = newest_schema();
    if (schema <= known) return {};
    return fail(
        Code::unavailable,
        fmt::format("{} has schema {} of a newer release, this one knows {}; use that release's hostler", of,
                    schema, known),
        "store_too_new");
}

// A store of this schema in which nothing was ever written, its first lines taken out too.
Result<> make_empty(Connection& to, std::uint64_t schema) {
    const auto forms = TRY(to.forms());
    const bool made = has_tables(forms);
    std::uint64_t rows = 0;
    for (const Form& form : forms)
        if (form.table != "meta" && form.table != "lease")
            TRY(to.run(fmt::format("SELECT count(*) FROM \"{}\"", form.table), {},
                       [&](const Row& row) { rows += row.number(0); }));
    const bool used = made && TRY(Rows{to}.meta("number")) != 0;
    if (rows > 0 || used || (!made && !forms.empty()))
        return fail(Code::conflict, fmt::format("the store {} is not empty; name a new one", to.name()),
                    "store_not_empty");
    for (const Form& form : forms) TRY(to.run(fmt::format("DROP TABLE \"{}\"", form.table)));
    TRY(Rows{to}.migrate(false, to.name(), schema));
    for (const Form& form : TRY(to.forms())) TRY(to.run(fmt::format("DELETE FROM \"{}\"", form.table)));
    return {};
}

// Where the rows of this form go. Errors: unavailable: there is no place for all of it.
Result<> check_form(const std::vector<Form>& forms, const Form& wanted) {
    const auto found = std::ranges::find(forms, wanted.table, &Form::table);
    if (found != forms.end() && *found == wanted) return {};
    return fail(Code::unavailable,
                fmt::format("the table {} is not as this release knows it; use the release that made it",
                            wanted.table),
                "store_too_new");
}

Result<> check_sum(Connection& to, const Form& form, const TableSum& wanted, const Digest& digest) {
    const TableSum is = TRY(sum_of(to, form, digest));
    if (is == wanted) return {};
    return fail(
        Code::unavailable,
        fmt::format("the table {} has {} rows in {} and {} where they came from, or others; nothing was kept",
                    form.table, is.rows, to.name(), wanted.rows),
        "copy_differs");
}

Result<> note_restore(Connection& to, const BackupHead& head, const Restore& how) {
    TRY(to.run("DELETE FROM objects WHERE kind IN ('sign_in', 'share', 'answer', 'restore')"));
    TRY(to.run("DELETE FROM objects WHERE kind = 'host_token' AND phase = 'unused'"));
    TRY(to.run("UPDATE lease SET ends = 0"));  // Whoever led then does not lead this one.
    if (how.revoke_keys)
        TRY(to.run("UPDATE objects SET state = 1, checked = 0 WHERE kind = 'api_key' AND state = 0"));
    Rows rows{to};
    Changes changes;
    changes.number = head.number + apart;
    changes.put.push_back(
        {.kind = "restore",
         .id = "restore",
         .generation = 1,
         .body = fmt::format(R"({{"id":"restore","takenAt":{},"restoredAt":{},"keysRevoked":{}}})",
                             head.taken_at, how.time, how.revoke_keys)});
    const WallTime time{std::chrono::microseconds{how.time}};
    changes.events.push_back(
        {.time = time,
         .kind = "master",
         .id = "store",
         .actor = "hostler restore",
         .reason = "restored",
         .message = fmt::format("The store was restored from a backup of {}.",
                                rfc3339(WallTime{std::chrono::microseconds{head.taken_at}}))});
    TRY(rows.write(changes));
    TRY(rows.set_meta("epoch", head.epoch + apart));
    return rows.set_meta("number", changes.number);
}

}  // namespace

Result<> note_cut(Connection& connection, const std::string& message, WallTime now) {
    Rows rows{connection};
    Changes changes{.number = TRY(rows.meta("number")) + apart};
    changes.events.push_back({.time = now,
                              .kind = "master",
                              .id = "store",
                              .actor = "hostler store",
                              .reason = "store_cut",
                              .message = message});
    TRY(rows.write(changes));
    const std::uint64_t epoch = TRY(rows.meta("epoch"));
    TRY(rows.set_meta("epoch", epoch + apart));
    return rows.set_meta("number", changes.number);
}

Result<std::vector<TableSum>> copy(Connection& from, Connection& to, const Digest& digest) {
    std::vector<TableSum> sums;
    TRY(transact(from, [&] {
        return transact(to, [&]() -> Result<> {
            const auto forms = TRY(from.forms());
            if (!has_tables(forms))
                return fail(Code::conflict, fmt::format("there is no store in {}", from.name()),
                            "store_not_made");
            const std::uint64_t schema = TRY(Rows{from}.meta("schema"));
            TRY(check_schema(schema, fmt::format("the store {}", from.name())));
            TRY(make_empty(to, schema));
            const auto known = TRY(to.forms());
            for (const Form& form : forms) {
                TRY(check_form(known, form));
                TableSum sum{.table = form.table};
                PieceReader reader{from, form};
                while (true) {
                    const Piece piece = TRY(reader.next());
                    if (piece.rows == 0) break;
                    sum.add(piece, digest);
                    TRY(insert(to, form, piece));
                }
                TRY(check_sum(to, form, sum, digest));
                sums.push_back(std::move(sum));
            }
            return Rows{to}.migrate(true, to.name());
        });
    }));
    return sums;
}

Result<BackupHead> restore(BackupReader& backup, Connection& to, const Digest& digest, const Restore& how) {
    const BackupHead head = TRY(backup.head());
    TRY(check_schema(head.schema, "the backup"));
    TRY(transact(to, [&]() -> Result<> {
        TRY(make_empty(to, head.schema));
        const auto known = TRY(to.forms());
        while (const auto form = TRY(backup.table())) {
            TRY(check_form(known, *form));
            while (true) {
                const Piece piece = TRY(backup.piece());
                if (piece.rows == 0) break;
                TRY(insert(to, *form, piece));
            }
            TRY(check_sum(to, *form, backup.sum(), digest));
        }
        TRY(Rows{to}.migrate(true, to.name()));
        return note_restore(to, head, how);
    }));
    return head;
}

}  // namespace hostler::sql
