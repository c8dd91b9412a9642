// Calls that take longer than a request: answered with 202, and asked after until they end.
#pragma once

#include "api/types_common.h"

namespace hostler::api {

// clang-format off

// What takes longer than a request: it is answered with 202, and asked after until it ends.
enum class LongState { running, done, failed };
BOOST_DESCRIBE_ENUM(LongState, running, done, failed)

struct LongOperation {
    std::string id;
    std::string kind;
    std::string subject;
    std::string tenant_id;
    std::string project;
    LongState state = LongState::running;
    std::string message;
    std::optional<Problem> error{};
    WallTime created_at;
    std::optional<WallTime> ended_at{};
};
BOOST_DESCRIBE_STRUCT(LongOperation, (),
                      (id, kind, subject, tenant_id, project, state, message, error, created_at, ended_at))
template <>
inline constexpr auto fields<LongOperation> = std::to_array<Field>({
    {.member = "id", .help = "Its id.", .example = "op-7k2m9x"},
    {.member = "kind", .help = "The operationId of the call that began it.", .example = "deleteVolume"},
    {.member = "subject", .help = "Kind and id of what it works on.", .example = "volume/v-3hq8"},
    {.member = "tenant_id", .help = "The tenant it belongs to; empty: the operator."},
    {.member = "project", .help = "Project of the tenant; empty: the operator.", .example = "default"},
    {.member = "state", .help = "Progress."},
    {.member = "message", .help = "Current step, or result.",
     .example = "waiting for host gpu-07 (h-4f2a9c) to delete it"},
    {.member = "error", .help = "Why it failed."},
    {.member = "created_at", .help = "When it began."},
    {.member = "ended_at", .help = "When it ended."},
});

struct ListOperations {
    std::optional<std::string> project{};
    std::optional<LongState> state{};
};
BOOST_DESCRIBE_STRUCT(ListOperations, (), (project, state))
template <>
inline constexpr auto fields<ListOperations> = std::to_array<Field>({
    {.member = "project", .help = "Only those in this project.", .example = "lab", .form = &forms::label},
    {.member = "state", .help = "Only those in this state."},
});

struct GetOperation {
    std::string operation;
};
BOOST_DESCRIBE_STRUCT(GetOperation, (), (operation))
template <>
inline constexpr auto fields<GetOperation> = std::to_array<Field>({
    {.member = "operation", .help = "The operation's id.", .example = "op-7k2m9x"},
});

}  // namespace hostler::api
