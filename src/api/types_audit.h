// Who changed what.
#pragma once

#include "api/types_common.h"

namespace hostler::api {

// clang-format off

struct AuditEntry {
    WallTime time;
    std::string actor;
    std::string operation;
    std::string subject;
    std::string tenant_id;
    int status = 0;
    std::string address;
    std::string client;
    std::uint64_t number = 0;
    std::string before;
    std::string after;
};
BOOST_DESCRIBE_STRUCT(AuditEntry, (), (time, actor, operation, subject, tenant_id, status, address, client, number, before, after))
template <>
inline constexpr auto fields<AuditEntry> = std::to_array<Field>({
    {.member = "time", .help = "Time of the call."},
    {.member = "actor", .help = "Caller.", .example = "key/k-9r4t1b"},
    {.member = "operation", .help = "Operation, as an operationId.", .example = "deleteVolume"},
    {.member = "subject", .help = "Kind and id of the changed object; empty: there is none.",
     .example = "volume/v-3hq8"},
    {.member = "tenant_id", .help = "Tenant that owns the object; empty: the operator.", .example = "acme"},
    {.member = "status", .help = "HTTP status of the answer.", .example = "202"},
    {.member = "address", .help = "Source address of the request. A tenant sees this only for its own keys.",
     .example = "203.0.113.7:5000"},
    {.member = "client", .help = "Client program, as in User-Agent, at most 200 bytes. A tenant sees this only for "
                                 "its own keys.",
     .example = "hostler/0.1.0"},
    {.member = "number", .help = "Number of its commit.", .example = "4711"},
    {.member = "before", .help = "The object before the change, as JSON of the API without secrets; empty: there was none.",
     .example = R"({"state":"available"})"},
    {.member = "after", .help = "The object after the change; empty: there is none.", .example = R"({"state":"deleting"})"},
});

struct ListAudit {
    std::optional<std::string> actor{};
    std::optional<std::string> operation{};
    std::optional<std::string> subject{};
    std::optional<std::string> tenant_id{};
    std::optional<std::int64_t> since{};
    std::optional<std::int64_t> until{};
};
BOOST_DESCRIBE_STRUCT(ListAudit, (), (actor, operation, subject, tenant_id, since, until))
template <>
struct Rules<ListAudit> {
    static void check(const ListAudit& request, Wrong& wrong);
};
template <>
inline constexpr auto fields<ListAudit> = std::to_array<Field>({
    {.member = "actor", .help = "Only records of this caller.", .example = "key/k-9r4t1b", .max = 256},
    {.member = "operation", .help = "Only this operation.", .example = "deleteVolume", .max = 128},
    {.member = "subject", .help = "Only changes of this object.", .example = "volume/v-3hq8", .max = 256},
    {.member = "tenant_id", .help = "Only records of this tenant.", .example = "acme", .form = &forms::id},
    {.member = "since", .help = "Only records of the last N seconds.", .example = "86400", .min = 1,
     .max = std::int64_t{100} * 366 * 86400, .unit = Unit::seconds},
    {.member = "until", .help = "Only records older than N seconds.", .example = "3600", .min = 1,
     .max = std::int64_t{100} * 366 * 86400, .unit = Unit::seconds},
});

}  // namespace hostler::api
