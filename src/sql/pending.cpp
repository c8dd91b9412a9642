#include "sql/pending.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sql/changes_text.h"
#include "sql/checksum.h"
#include "sql/packed.h"
#include "sql/rows.h"

namespace hostler::sql {

namespace {

// A release that does not know the table would lead without what is in it: the floor is up while something
// is.
constexpr std::uint64_t pending_schema = 7;
constexpr std::string_view floor_name = "schema_floor";
constexpr std::string_view settled_floor_name = "schema_floor_settled";

std::unexpected<Error> damaged(const Connection& connection, std::uint64_t place, std::uint64_t number) {
    return fail(Code::unavailable,
                fmt::format("the store {} is damaged: the row at place {} of its table pending, with commit "
                            "{}, was changed after it was written; put a backup in its place",
                            connection.name(), place, number),
                "store_damaged");
}

std::optional<Changes> changes_of(std::string_view packed) {
    const auto bytes = unpack(packed);
    if (!bytes) return std::nullopt;
    std::string_view rest = *bytes;
    auto changes = take_changes(rest);
    return changes ? std::optional{std::move(*changes)} : std::nullopt;
}

Result<Changes> changes_at(Connection& connection, std::uint64_t number, std::uint64_t place) {
    std::optional<Changes> changes;
    TRY(connection.run("SELECT changes, checksum FROM pending WHERE place = ?1", {place},
                       [&](const Row& row) {
                           const std::string bytes = row.text(0);
                           if (checksum({number, bytes}) == row.number(1)) changes = changes_of(bytes);
                       }));
    if (!changes || changes->number != number) return damaged(connection, place, number);
    return std::move(*changes);
}

}  // namespace

Result<> keep_pending(Connection& connection, const Changes& changes, std::size_t place) {
    std::string bytes;
    put_changes(bytes, changes);
    bytes = pack(bytes);
    TRY(
        connection.run("INSERT INTO pending (place, number, changes, checksum) VALUES (?1, ?2, ?3, ?4) "
                       "ON CONFLICT (place) DO UPDATE SET number = excluded.number, "
                       "changes = excluded.changes, checksum = excluded.checksum",
                       {place, changes.number, bytes, checksum({changes.number, bytes})}));
    Rows rows{connection};
    const std::uint64_t floor = TRY(rows.meta(floor_name));
    if (floor >= pending_schema) return {};
    TRY(rows.set_meta(settled_floor_name, floor));
    return rows.set_meta(floor_name, pending_schema);
}

Result<> check_pending(Connection& connection) {
    const std::uint64_t written = TRY(Rows{connection}.meta("number"));
    Result<> good;
    TRY(connection.run("SELECT place, number, changes, checksum FROM pending ORDER BY place", {},
                       [&](const Row& row) {
                           const std::uint64_t number = row.number(1);
                           const std::string bytes = row.text(2);
                           if (!good || checksum({number, bytes}) == row.number(3)) return;
                           const auto changes = changes_of(bytes);
                           const std::uint64_t is_of = std::max(number, changes ? changes->number : 0);
                           if (is_of > written) good = damaged(connection, row.number(0), is_of);
                       }));
    return good;
}

Result<> write_pending(Connection& connection) {
    Rows rows{connection};
    const std::uint64_t written = TRY(rows.meta("number"));
    std::vector<std::pair<std::uint64_t, std::uint64_t>> found;  // Number, place.
    TRY(connection.run("SELECT number, place FROM pending WHERE number > ?1 ORDER BY number", {written},
                       [&](const Row& row) { found.emplace_back(row.number(0), row.number(1)); }));
    if (const std::uint64_t floor = TRY(rows.meta(settled_floor_name)); floor != 0) {
        TRY(rows.set_meta(floor_name, floor));
        TRY(connection.run("DELETE FROM meta WHERE name = ?1", {settled_floor_name}));
    }
    for (const auto& [number, place] : found) {
        const auto changes = TRY(changes_at(connection, number, place));
        TRY(rows.write(changes));
    }
    return found.empty() ? Result<>{} : rows.set_meta("number", found.back().first);
}

}  // namespace hostler::sql
