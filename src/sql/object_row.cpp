#include "sql/object_row.h"

#include <fmt/format.h>

#include <vector>

#include "sql/checksum.h"

namespace hostler::sql {

namespace {

std::uint64_t sum_of(const Object& object, std::uint64_t version, std::uint64_t state) {
    return checksum({object.kind, object.id, object.tenant, object.project, object.phase, object.generation,
                     version, state, object.body});
}

}  // namespace

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

std::uint64_t checksum_of(const Object& object, std::uint64_t version) {
    return sum_of(object, version, object.live ? state_live : state_ended);
}

std::optional<std::string> damage_of(const Row& row, const Object& object) {
    constexpr int state_column = 8, checksum_column = 10, checked_column = 11;
    const std::uint64_t checked = row.number(checked_column), state = row.number(state_column);
    // An older release takes objects out without a word about their checksum.
    if (checked == 0 || (state == state_taken_out && object.body.empty())) return std::nullopt;
    if (checked > object.version)
        return fmt::format("its version is {}, and {} was written already", object.version, checked);
    const std::uint64_t wanted = row.number(checksum_column);
    if (checked < object.version) {
        // Written since by a release that makes no checksums, which changed more than the version.
        if (wanted != sum_of(object, checked, state)) return std::nullopt;
        return fmt::format("its version is {}, and its contents are those of version {}", object.version,
                           checked);
    }
    if (wanted == sum_of(object, object.version, state)) return std::nullopt;
    return "its checksum is not that of its contents";
}

EventRecord event_of(const Row& row) {
    return {.time = wall_time(row.number(2)),
            .kind = row.text(3),
            .id = row.text(4),
            .tenant = row.text(5),
            .actor = row.text(6),
            .reason = row.text(7),
            .message = row.text(8),
            .number = row.number(0),
            .line = row.number(1)};
}

AuditLine audit_line_of(const Row& row) {
    return {.time = wall_time(row.number(2)),
            .actor = row.text(3),
            .address = row.text(4),
            .operation = row.text(5),
            .subject = row.text(6),
            .tenant = row.text(7),
            .status = static_cast<int>(row.number(8)),
            .before = row.text(9),
            .after = row.text(10),
            .client = row.text(12),
            .project = row.text(14),
            .zone = row.text(15),
            .service = row.text(16),
            .result = row.text(17),
            .reason = row.text(18),
            .chain = {row.number(19), row.text(21)},
            .previous = row.text(20),
            .number = row.number(0),
            .line = row.number(1),
            .request = row.text(23)};
}

std::uint64_t client_checksum(std::uint64_t number, std::uint64_t line, const std::string& client) {
    return checksum({number, line, client});
}

std::uint64_t more_checksum(std::uint64_t number, std::uint64_t line, const AuditLine& of) {
    return checksum({number, line, of.project, of.zone, of.service, of.result, of.reason, of.chain.position,
                     of.previous, of.chain.hash});
}

std::uint64_t request_checksum(std::uint64_t number, std::uint64_t line, const std::string& request) {
    return checksum({number, line, request});
}

namespace {

bool request_is_whole(const Row& row) {
    constexpr int request_column = 23, request_checksum_column = 24;
    const std::uint64_t wanted = row.number(request_checksum_column);
    const std::string request = row.text(request_column);
    if (wanted == 0) return request.empty();  // Written by a release that knows no requests, or it has none.
    return wanted == request_checksum(row.number(0), row.number(1), request);
}

// A release that knows less has written it, and left the defaults; or it is as this one wrote it.
bool more_is_whole(const Row& row) {
    constexpr int more_checksum_column = 22;
    const std::uint64_t wanted = row.number(more_checksum_column);
    const AuditLine line = audit_line_of(row);
    if (wanted != 0) return wanted == more_checksum(line.number, line.line, line);
    return line.chain == AuditHead{} && line.project.empty() && line.zone.empty() && line.service.empty() &&
           line.result.empty() && line.reason.empty() && line.previous.empty();
}

}  // namespace

AuditSeal seal_of(const Row& row) {
    return {.head = {row.number(0), row.text(1)},
            .time = wall_time(row.number(2)),
            .epoch = row.number(3),
            .authority = row.text(4),
            .certificate = row.text(5),
            .signature = row.text(6)};
}

bool audit_line_is_whole(const Row& row) {
    constexpr int client_column = 12, client_checksum_column = 13;
    const std::uint64_t wanted = row.number(client_checksum_column);
    const std::string client = row.text(client_column);
    const bool client_is_whole = wanted == 0
                                     ? client.empty()  // Written by a release that knows no client.
                                     : wanted == client_checksum(row.number(0), row.number(1), client);
    return client_is_whole && more_is_whole(row) && request_is_whole(row) && line_is_whole(row, audit_texts);
}

bool line_is_whole(const Row& row, std::string_view texts) {
    const std::uint64_t wanted = row.number(static_cast<int>(texts.size()));
    if (wanted == 0) return true;
    std::vector<std::string> kept;
    kept.reserve(texts.size());  // Values point into it.
    std::vector<Value> values;
    for (int column = 0; const char kind : texts) {
        if (kind == 't')
            values.emplace_back(kept.emplace_back(row.text(column)));
        else
            values.emplace_back(row.number(column));
        ++column;
    }
    return checksum(values) == wanted;
}

Result<> append_line(Connection& connection, std::string_view sql, std::initializer_list<Value> values) {
    std::vector<Value> all{values};
    all.emplace_back(checksum(values));
    return connection.run(sql, all);
}

}  // namespace hostler::sql
