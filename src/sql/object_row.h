// The rows of objects and of what happened to them, as they are written and read, and whether they are as
// they were written.
#pragma once

#include <optional>
#include <string>

#include "ports/store.h"
#include "sql/connection.h"

namespace hostler::sql {

inline constexpr std::uint64_t state_live = 0;
inline constexpr std::uint64_t state_ended = 1;
inline constexpr std::uint64_t state_taken_out = 2;  // Only the id is still known.

inline constexpr std::string_view columns =
    "kind, id, tenant, project, phase, generation, created, version, state, body, checksum, checked";

std::int64_t micros(WallTime time);  // Since 1970, as rows have it.
WallTime wall_time(std::uint64_t micros);

Object object_of(const Row& row);  // Of a SELECT of `columns`.
// Of what a commit of this number writes. `created` is not in it: who changes an object need not know it.
std::uint64_t checksum_of(const Object& object, std::uint64_t version);
// Why the row of this object cannot be believed; nullopt: it is as it was written, or nobody has made a
// checksum of it.
std::optional<std::string> damage_of(const Row& row, const Object& object);

inline constexpr std::string_view event_columns =
    "number, line, time, kind, id, tenant, actor, reason, message, checksum";
EventRecord event_of(const Row& row);  // Of a SELECT of `event_columns`.

// A line of a log, and its checksum behind its values.
Result<> append_line(Connection& connection, std::string_view sql, std::initializer_list<Value> values);
// Whether a line of a log is as it was written: `texts` tells which of its columns are text; the last one is
// the checksum.
bool line_is_whole(const Row& row, std::string_view texts);
// A 't' for each text among the columns before the checksum, an 'n' for each number.
inline constexpr std::string_view event_texts = "nnntttttt";
inline constexpr std::string_view ledger_columns =
    "number, line, time, claim, host, tenant, use, body, checksum";
inline constexpr std::string_view ledger_texts = "nnnttttt";
inline constexpr std::string_view older_audit_columns =  // Of releases before schema 8.
    "number, line, time, actor, address, operation, subject, tenant, status, body_before, body_after, "
    "checksum";
inline constexpr std::string_view client_audit_columns =  // Of schema 8.
    "number, line, time, actor, address, operation, subject, tenant, status, body_before, body_after, "
    "checksum, client, client_checksum";
inline constexpr std::string_view chained_audit_columns =  // Of schema 9.
    "number, line, time, actor, address, operation, subject, tenant, status, body_before, body_after, "
    "checksum, client, client_checksum, project, zone, service, result, reason, position, previous, hash, "
    "more_checksum";
inline constexpr std::string_view audit_columns =
    "number, line, time, actor, address, operation, subject, tenant, status, body_before, body_after, "
    "checksum, client, client_checksum, project, zone, service, result, reason, position, previous, hash, "
    "more_checksum, request, request_checksum";
inline constexpr std::string_view audit_texts = "nnntttttntt";
AuditLine audit_line_of(const Row& row);  // Of a SELECT of `audit_columns`.
std::uint64_t client_checksum(std::uint64_t number, std::uint64_t line, const std::string& client);
// Of what schema 9 adds.
std::uint64_t more_checksum(std::uint64_t number, std::uint64_t line, const AuditLine& of);
// Of what schema 11 adds.
std::uint64_t request_checksum(std::uint64_t number, std::uint64_t line, const std::string& request);
bool audit_line_is_whole(const Row& row);

inline constexpr std::string_view head_columns = "name, position, hash, checksum";
inline constexpr std::string_view head_texts = "tnt";
inline constexpr std::string_view seal_columns =
    "position, hash, time, epoch, authority, certificate, signature, checksum";
inline constexpr std::string_view seal_texts = "ntnnttt";
AuditSeal seal_of(const Row& row);  // Of a SELECT of `seal_columns`.

}  // namespace hostler::sql
