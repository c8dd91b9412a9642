// Who changed what.
#pragma once

#include "api/types_common.h"

namespace hostler::api {

// clang-format off

enum class AuditResult { ok, denied, failed };
BOOST_DESCRIBE_ENUM(AuditResult, ok, denied, failed)

enum class AuditSort { newest, written };
BOOST_DESCRIBE_ENUM(AuditSort, newest, written)

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
    AuditResult result = AuditResult::ok;
    std::string reason;
    std::string project;
    std::string zone;
    std::string service;
    std::uint64_t line = 0;
    std::uint64_t position = 0;
    std::string previous;
    std::string hash;
    bool withheld = false;
    std::string request_id;
};
BOOST_DESCRIBE_STRUCT(AuditEntry, (), (time, actor, operation, subject, tenant_id, status, address, client, number, before, after,
                                       result, reason, project, zone, service, line, position, previous, hash, withheld,
                                       request_id))
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
    {.member = "after", .help = "The object after the change; empty: there is none. Of a refusal: the message, and the "
                                "permission that is missing.",
     .example = R"({"state":"deleting"})"},
    {.member = "result", .help = "ok: it was done; denied: the caller may not do it; failed: a sign-in that failed."},
    {.member = "reason", .help = "Reason of a refusal, stable for programs; empty: it was done.", .example = "permission_missing"},
    {.member = "project", .help = "Project of the object; empty: it is in none.", .example = "default"},
    {.member = "zone", .help = "Zone of the object; empty: it is in none.", .example = "nj"},
    {.member = "service", .help = "Kind of objects that the operation is for; empty: a record of an older release.",
     .example = "volume"},
    {.member = "line", .help = "Place within its commit.", .example = "0"},
    {.member = "position", .help = "Place in the chain of all records, from 1; 0: it is not in the chain, since an older release "
                                   "has written it.",
     .example = "1201"},
    {.member = "previous", .help = "Hash of the record before it in the chain; empty: there is none.",
     .example = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"},
    {.member = "hash", .help = "SHA-256 over this record and `previous` (docs/operate/security.md); empty: it is not in the chain.",
     .example = "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752"},
    {.member = "withheld", .help = "Address and client are not shown to this caller, so the hash cannot be checked."},
    {.member = "request_id", .help = "Id of the request, as in the answer's header X-Request-Id; empty: there was none, or an "
                                     "older release has written it. The hash is not over it.",
     .example = "r-9f86d081884c7d65"},
});

struct ListAudit {
    std::optional<std::string> actor{};
    std::optional<std::string> operation{};
    std::optional<std::string> subject{};
    std::optional<std::string> tenant_id{};
    std::optional<std::int64_t> since{};
    std::optional<std::int64_t> until{};
    std::optional<AuditResult> result{};
    std::optional<std::string> project{};
    std::optional<AuditSort> sort{};
    std::optional<std::string> request_id{};
};
BOOST_DESCRIBE_STRUCT(ListAudit, (), (actor, operation, subject, tenant_id, since, until, result, project, sort, request_id))
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
    {.member = "result", .help = "Only records with this result.", .example = "denied"},
    {.member = "project", .help = "Only records of this project.", .example = "default", .max = 128},
    {.member = "sort", .help = "newest, the default: by time, the newest first; written: in the order of the chain, the oldest first."},
    {.member = "request_id", .help = "Only what this request did, by the X-Request-Id of its answer.",
     .example = "r-9f86d081884c7d65", .max = 64},
});

struct AuditChain {
    std::uint64_t base_position = 0;
    std::string base_hash;
    std::uint64_t head_position = 0;
    std::string head_hash;
};
BOOST_DESCRIBE_STRUCT(AuditChain, (), (base_position, base_hash, head_position, head_hash))
template <>
inline constexpr auto fields<AuditChain> = std::to_array<Field>({
    {.member = "base_position", .help = "Position of the last record that was deleted because of its age; 0: none was.",
     .example = "0"},
    {.member = "base_hash", .help = "Its hash; empty: none was deleted.", .example = ""},
    {.member = "head_position", .help = "Position of the last record; 0: there is none.", .example = "1201"},
    {.member = "head_hash", .help = "Its hash.", .example = "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752"},
});

struct AuditSeal {
    std::uint64_t position = 0;
    std::string hash;
    WallTime time;
    std::uint64_t epoch = 0;
    std::string authority;
    std::string certificate;
    std::string signature;
};
BOOST_DESCRIBE_STRUCT(AuditSeal, (), (position, hash, time, epoch, authority, certificate, signature))
template <>
inline constexpr auto fields<AuditSeal> = std::to_array<Field>({
    {.member = "position", .help = "Position of the record that was the last one then.", .example = "1201"},
    {.member = "hash", .help = "Hash of that record.",
     .example = "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752"},
    {.member = "time", .help = "Time of the signature."},
    {.member = "epoch", .help = "Term of the master that signed.", .example = "7"},
    {.member = "authority", .help = "Fingerprint of the authority's certificate.",
     .example = "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9"},
    {.member = "certificate", .help = "The authority's certificate, as PEM.", .example = "-----BEGIN CERTIFICATE-----…"},
    {.member = "signature", .help = "ECDSA with SHA-256 over the text that docs/operate/security.md describes, as Base64.",
     .example = "MEUCIQ…"},
});

struct VerifyAudit {
    std::optional<std::string> after{};
};
BOOST_DESCRIBE_STRUCT(VerifyAudit, (), (after))
template <>
inline constexpr auto fields<VerifyAudit> = std::to_array<Field>({
    {.member = "after", .help = "Begin behind this place, which an earlier answer has as `next`. Default: at the beginning.",
     .example = "4711.0.1201.60303ae22b99", .max = 256},
});

struct AuditFinding {
    std::uint64_t position = 0;
    std::uint64_t number = 0;
    std::uint64_t line = 0;
    std::string message;
};
BOOST_DESCRIBE_STRUCT(AuditFinding, (), (position, number, line, message))
template <>
inline constexpr auto fields<AuditFinding> = std::to_array<Field>({
    {.member = "position", .help = "Position in the chain; 0: the record has none.", .example = "1201"},
    {.member = "number", .help = "Number of the record's commit; 0: there is no record.", .example = "4711"},
    {.member = "line", .help = "Place of the record within its commit.", .example = "0"},
    {.member = "message", .help = "What is wrong.", .example = "its contents are not those that its hash is of"},
});

inline constexpr std::size_t findings_shown_max = 100;

struct AuditVerification {
    std::uint64_t records = 0;
    std::uint64_t chained = 0;
    std::uint64_t before_chain = 0;
    std::uint64_t seals = 0;
    std::optional<std::uint64_t> first_position{};
    std::uint64_t last_position = 0;
    std::uint64_t wrong = 0;
    std::vector<AuditFinding> findings;
    std::optional<std::string> next{};
};
BOOST_DESCRIBE_STRUCT(AuditVerification, (), (records, chained, before_chain, seals, first_position, last_position, wrong,
                                              findings, next))
template <>
inline constexpr auto fields<AuditVerification> = std::to_array<Field>({
    {.member = "records", .help = "Records of this part.", .example = "1000"},
    {.member = "chained", .help = "Of them those in the chain.", .example = "970"},
    {.member = "before_chain", .help = "Records of older releases, from before the chain: they have no hash.", .example = "30"},
    {.member = "seals", .help = "Seals of this part.", .example = "12"},
    {.member = "first_position", .help = "Position of the first record in the chain; absent: there is none in this part.",
     .example = "1"},
    {.member = "last_position", .help = "Position of the last record up to here.", .example = "970"},
    {.member = "wrong", .help = "Number of things that are wrong in this part; 0: none.", .example = "0"},
    {.member = "findings", .help = "The first of them.", .max = findings_shown_max},
    {.member = "next", .help = "Ask again with ?after= this for the next part; absent in the last one."},
});

}  // namespace hostler::api
