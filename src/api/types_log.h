// What a container wrote.
#pragma once

#include "api/types_common.h"

namespace hostler::api {

// clang-format off

enum class LogStream { both, out, err };
BOOST_DESCRIBE_ENUM(LogStream, both, out, err)

inline constexpr Field log_stream_field{
    .member = "stream",
    .help = "Only what was written to standard output (`out`) or standard error (`err`). `tail` counts the lines of "
            "both. Output that a terminal, a program without a container or a host of an older release wrote is all `out`.",
    .absent = Absent::fills};

struct GetLogs {
    std::string instance;
    std::optional<std::string> tenant_id{};
    int tail = 200;
    std::optional<std::int64_t> since{};
    bool timestamps = false;
    bool follow = false;
    std::string after;
    LogStream stream = LogStream::both;
};
BOOST_DESCRIBE_STRUCT(GetLogs, (), (instance, tenant_id, tail, since, timestamps, follow, after, stream))
template <>
inline constexpr auto fields<GetLogs> = std::to_array<Field>({
    {.member = "instance", .help = "The instance's id or instanceID.", .example = "notebook-1", .min = 1,
     .max = 128},
    {.member = "tenant_id",
     .help = "Owning tenant; for an operator's key, when two tenants use the same instanceID.",
     .example = "acme", .form = &forms::id},
    {.member = "tail", .help = "Number of last lines; with `after`, of first ones.", .example = "200", .min = 1, .max = 10'000,
     .absent = Absent::fills},
    {.member = "since", .help = "Only lines of the last N seconds.", .example = "600",
     .min = 1, .max = 366 * 86400, .unit = Unit::seconds},
    {.member = "timestamps", .help = "Begin each line with the time at which it was written.",
     .absent = Absent::fills},
    {.member = "follow", .help = "Answer `next`, with which the next call asks for later lines.",
     .absent = Absent::fills},
    {.member = "after", .help = "Only lines behind this place: `next` of an earlier answer.",
     .example = "1763725229000123.1", .max = 64, .absent = Absent::fills},
    log_stream_field,
});

struct Logs {
    std::string text;
    std::string base64;
    bool truncated = false;
    std::string next;
    bool ended = false;
    std::optional<std::int64_t> attempt{};
};
BOOST_DESCRIBE_STRUCT(Logs, (), (text, base64, truncated, next, ended, attempt))
template <>
inline constexpr auto fields<Logs> = std::to_array<Field>({
    {.member = "text",
     .help = "Output of the container (stdout and stderr), up to 1 MiB with 20 bytes a line: all characters, also "
             "terminal control characters, and U+FFFD for each byte that is not UTF-8. The last line may lack its "
             "line break.",
     .max = 16 << 20},
    {.member = "base64", .help = "The bytes as written, if they are not UTF-8; else empty.",
     .max = 16 << 20},
    {.member = "truncated",
     .help = "Earlier text is missing: lines, or the beginning of the first line; with `after`, the lines directly "
             "behind that place, which the host has dropped."},
    {.member = "next", .help = "With `follow`: the place behind the last line, for `after`; else empty."},
    {.member = "ended", .help = "The instance does not run: no lines follow until it is started again."},
    {.member = "attempt", .help = "Of a task of a job: the how many-th attempt wrote it.", .example = "1"},
});

}  // namespace hostler::api
