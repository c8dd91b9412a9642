// What several resources share. JSON names are the members' in camelCase, an `id` at the end as ID (codec.h).
#pragma once

#include <boost/describe.hpp>
#include <optional>
#include <string>
#include <vector>

#include "api/field.h"
#include "core/timers.h"

namespace hostler::api {

// clang-format off

// A request or answer without fields: {}.
struct Empty {
    bool operator==(const Empty&) const = default;
};
BOOST_DESCRIBE_STRUCT(Empty, (), ())

// A page of a list.
template <class T>
struct List {
    std::vector<T> items;
    std::optional<std::string> next_cursor{};
    std::optional<std::int64_t> total{};
    BOOST_DESCRIBE_CLASS(List, (), (items, next_cursor, total), (), ())
};
template <class T>
inline constexpr auto fields<List<T>> = std::to_array<Field>({
    {.member = "items", .help = "The page, oldest first unless the operation says otherwise.", .max = 1000},
    {.member = "next_cursor",
     .help = "Ask again with ?cursor= this for the next page; absent on the last one."},
    {.member = "total", .help = "All that match, on whatever page; absent: ?total=true was not asked.", .example = "1042"},
});

struct ProblemField {
    std::string field;
    std::string message;
    bool operator==(const ProblemField&) const = default;
};
BOOST_DESCRIBE_STRUCT(ProblemField, (), (field, message))
template <>
inline constexpr auto fields<ProblemField> = std::to_array<Field>({
    {.member = "field", .help = "Where it is in the request.", .example = "template.ports[0].port"},
    {.member = "message", .help = "Why it is refused.", .example = "must be between 1 and 65535"},
});

// What keeps a task from hosts.
struct ProblemReason {
    std::string token;
    int hosts = 0;
    bool operator==(const ProblemReason&) const = default;
};
BOOST_DESCRIBE_STRUCT(ProblemReason, (), (token, hosts))
template <>
inline constexpr auto fields<ProblemReason> = std::to_array<Field>({
    {.member = "token", .help = "Reason, stable for programs (docs/use/placement.md).",
     .example = "gpus"},
    {.member = "hosts", .help = "Number of hosts with this as their first reason.", .example = "3"},
});

// RFC 9457 problem details.
struct Problem {
    std::string type;
    std::string title;
    int status = 500;
    std::string detail;
    std::string code;
    std::vector<ProblemField> errors{};
    std::optional<std::string> help{};
    std::optional<std::vector<ProblemReason>> reasons{};
    std::optional<std::string> request_id{};
    bool operator==(const Problem&) const = default;
};
BOOST_DESCRIBE_STRUCT(Problem, (), (type, title, status, detail, code, errors, help, reasons, request_id))
template <>
inline constexpr auto fields<Problem> = std::to_array<Field>({
    {.member = "type", .help = "Names the kind of problem.", .example = "urn:hostler:problem:invalid"},
    {.member = "title", .help = "The kind of problem in words.", .example = "Bad request"},
    {.member = "status", .help = "The HTTP status.", .example = "400", .min = 400, .max = 599},
    {.member = "detail", .help = "Description of the error: the cause, the object and the remedy.",
     .example = "2 fields are wrong"},
    {.member = "code", .help = "A stable token for programs.", .example = "invalid"},
    {.member = "errors", .help = "Every wrong field of the request.", .absent = Absent::fills},
    {.member = "help", .help = "Advice."},
    {.member = "reasons", .help = "Why there is no room, most important reason first."},
    {.member = "request_id", .help = "Id of the request, as in the header X-Request-Id.", .example = "r-9f86d081884c7d65"},
});

// Why something is as it is.
struct Blocker {
    std::string host;
    std::string reason;
    bool operator==(const Blocker&) const = default;
};
BOOST_DESCRIBE_STRUCT(Blocker, (), (host, reason))
template <>
inline constexpr auto fields<Blocker> = std::to_array<Field>({
    {.member = "host", .help = "The host's id.", .example = "h-4f2a9c"},
    {.member = "reason", .help = "Why it is not suitable.", .example = "host is cordoned"},
});

struct Explanation {
    std::string token;
    std::string sentence;
    std::vector<Blocker> blocking{};
    std::optional<std::string> would_help{};
};
BOOST_DESCRIBE_STRUCT(Explanation, (), (token, sentence, blocking, would_help))
template <>
inline constexpr auto fields<Explanation> = std::to_array<Field>({
    {.member = "token", .help = "The reason, stable for programs.", .example = "insufficient_capacity"},
    {.member = "sentence", .help = "The reason in words.",
     .example = "No host has 8 free GPUs of this type."},
    {.member = "blocking", .help = "Reasons, host by host."},
    {.member = "would_help", .help = "The smallest change that would help.",
     .example = "delete 2 idle slots of another spec"},
});

}  // namespace hostler::api
