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
    {.member = "time", .help = "When it was done."},
    {.member = "actor", .help = "Who did it.", .example = "key/k-9r4t1b"},
    {.member = "operation", .help = "What was done, as an operationId.", .example = "deleteVolume"},
    {.member = "subject", .help = "Kind and id of what it was done to; empty: it has none.",
     .example = "volume/v-3hq8"},
    {.member = "tenant_id", .help = "Whose that is; empty: the operator's.", .example = "acme"},
    {.member = "status", .help = "HTTP status of the answer.", .example = "202"},
    {.member = "address", .help = "Where the request came from. A tenant sees that of its own keys alone.",
     .example = "203.0.113.7:5000"},
    {.member = "client", .help = "The program that asked, as it calls itself in User-Agent, 200 bytes of it at most. A tenant sees that of its own keys alone.",
     .example = "hostler/0.1.0"},
    {.member = "number", .help = "Of the commit it came with.", .example = "4711"},
    {.member = "before", .help = "The object as JSON before that, as the API shows it, without secrets; empty: there was none.",
     .example = R"({"state":"available"})"},
    {.member = "after", .help = "The same afterwards; empty: there is none.", .example = R"({"state":"deleting"})"},
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
    {.member = "actor", .help = "Only what this one did.", .example = "key/k-9r4t1b", .max = 256},
    {.member = "operation", .help = "Only this operation.", .example = "deleteVolume", .max = 128},
    {.member = "subject", .help = "Only what was done to this object.", .example = "volume/v-3hq8", .max = 256},
    {.member = "tenant_id", .help = "Only what is this tenant's.", .example = "acme", .form = &forms::id},
    {.member = "since", .help = "Only what was done during the last so many seconds.", .example = "86400", .min = 1,
     .max = std::int64_t{100} * 366 * 86400, .unit = Unit::seconds},
    {.member = "until", .help = "Only what was done more than so many seconds ago.", .example = "3600", .min = 1,
     .max = std::int64_t{100} * 366 * 86400, .unit = Unit::seconds},
});

}  // namespace hostler::api
