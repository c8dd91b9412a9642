#include "sql/drop.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/object_row.h"
#include "sql/rows.h"

namespace hostler::sql {

namespace {

std::string_view table_of(std::string_view kind) { return kind == "command" ? "commands" : "objects"; }

Result<> check_made(Connection& connection) {
    const auto forms = TRY(connection.forms());
    if (std::ranges::any_of(forms, [](const Form& form) { return form.table == "meta"; }))
        return Rows{connection}.check_schema(connection.name());
    return fail(Code::conflict, fmt::format("there is no store in {}", connection.name()), "store_not_made");
}

}  // namespace

Result<std::string> text_of_row(Connection& connection, const std::string& kind, const std::string& id) {
    TRY(check_made(connection));
    std::string text;
    TRY(connection.run(fmt::format("SELECT {} FROM {} WHERE kind = ?1 AND id = ?2", columns, table_of(kind)),
                       {kind, id}, [&](const Row& row) {
                           const std::string body = row.text(9);
                           text = fmt::format(
                               "kind {}\nid {}\ntenant {}\nproject {}\nphase {}\ngeneration {}\ncreated {}\n"
                               "version {}\nstate {}\nbody {} bytes\nchecksum {:016x}\nchecked {}\n\n",
                               row.text(0), row.text(1), row.text(2), row.text(3), row.text(4), row.number(5),
                               row.number(6), row.number(7), row.number(8), body.size(), row.number(10),
                               row.number(11));
                           text += body;
                       }));
    if (text.empty())
        return fail(Code::not_found, fmt::format("there is no {} {} in {}", kind, id, connection.name()));
    return text;
}

Result<> drop_row(Connection& connection, const std::string& kind, const std::string& id, WallTime now) {
    TRY(check_made(connection));
    Rows rows{connection};
    Changes changes{.number = TRY(rows.meta("number")) + 1};
    changes.erase.emplace_back(kind, id);
    changes.events.push_back(
        {.time = now,
         .kind = kind,
         .id = id,
         .actor = "hostler store",
         .reason = "dropped",
         .message = "An operator took it out of the store, since it could not be read."});
    TRY(rows.write(changes));
    return rows.set_meta("number", changes.number);
}

}  // namespace hostler::sql
