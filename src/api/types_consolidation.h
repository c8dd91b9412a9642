// Consolidation: whole hosts become free, by moving what may move.
#pragma once

#include "api/types_common.h"

namespace hostler::api {

// clang-format off

inline constexpr int moves_max_max = 1000;

enum class WorkloadKind { stock, instance };
BOOST_DESCRIBE_ENUM(WorkloadKind, stock, instance)
enum class MoveState { waiting, stopping, done, skipped, dropped };
BOOST_DESCRIBE_ENUM(MoveState, waiting, stopping, done, skipped, dropped)
enum class ConsolidationState { planned, running, cancelling, failing, done, cancelled, failed };
BOOST_DESCRIBE_ENUM(ConsolidationState, planned, running, cancelling, failing, done, cancelled, failed)

struct ConsolidationMove {
    std::string workload;
    WorkloadKind kind = WorkloadKind::stock;
    std::string name;
    std::string tenant_id;
    std::string spec_name;
    int gpus = 0;
    std::string from;
    std::string from_name;
    std::string to;
    std::string to_name;
    MoveState state = MoveState::waiting;
    std::string message;
};
BOOST_DESCRIBE_STRUCT(ConsolidationMove, (), (workload, kind, name, tenant_id, spec_name, gpus, from, from_name, to,
                                              to_name, state, message))
template <>
inline constexpr auto fields<ConsolidationMove> = std::to_array<Field>({
    {.member = "workload", .help = "Id of the instance or stock slot.", .example = "i-7f3k2m9qxy"},
    {.member = "kind", .help = "A slot moves without a stop; an instance is stopped and started again on the other host.", .example = "instance"},
    {.member = "name", .help = "The instance's name; of stock the spec's.", .example = "notebook-1"},
    {.member = "tenant_id", .help = "Owning tenant; empty for stock.", .example = "acme"},
    {.member = "spec_name", .help = "Its spec.", .example = "h100-1"},
    {.member = "gpus", .help = "GPUs that it holds.", .example = "1"},
    {.member = "from", .help = "Id of the present host.", .example = "h-4f2a9c"},
    {.member = "from_name", .help = "Name of the present host.", .example = "gpu-17"},
    {.member = "to", .help = "Id of the new host.", .example = "h-8k1m3q"},
    {.member = "to_name", .help = "Name of the new host.", .example = "gpu-18"},
    {.member = "state", .help = "Progress. skipped: it ended or moved by other means; dropped: it was never started.",
     .example = "waiting"},
    {.member = "message", .help = "Why, in a sentence."},
});

struct FreedHost {
    std::string host;
    std::string name;
    std::string zone;
    int gpus = 0;
};
BOOST_DESCRIBE_STRUCT(FreedHost, (), (host, name, zone, gpus))
template <>
inline constexpr auto fields<FreedHost> = std::to_array<Field>({
    {.member = "host", .help = "Its id.", .example = "h-4f2a9c"},
    {.member = "name", .help = "Its name.", .example = "gpu-17"},
    {.member = "zone", .help = "Its zone.", .example = "lon"},
    {.member = "gpus", .help = "GPUs that it has.", .example = "8"},
});

struct Consolidation {
    std::string id;
    ConsolidationState state = ConsolidationState::planned;
    std::string zone;
    int gpus = 0;
    int restarts = 0;
    int moves_done = 0;
    int moves_total = 0;
    int at_once = 0;
    std::vector<FreedHost> freed_hosts;
    std::vector<ConsolidationMove> moves;
    std::string message;
    std::optional<WallTime> created_at{};
    std::optional<WallTime> ended_at{};
};
BOOST_DESCRIBE_STRUCT(Consolidation, (), (id, state, zone, gpus, restarts, moves_done, moves_total, at_once, freed_hosts,
                                          moves, message, created_at, ended_at))
template <>
inline constexpr auto fields<Consolidation> = std::to_array<Field>({
    {.member = "id", .help = "Its id; empty: it is only planned.", .example = "co-4t1b9rk2mx"},
    {.member = "state", .help = "planned: nothing was done; failing, cancelling: stopped instances are started again "
                                "first.",
     .example = "running"},
    {.member = "zone", .help = "Consolidated zone; empty: all zones, each separately.", .example = "lon"},
    {.member = "gpus", .help = "GPUs of the hosts that become free.", .example = "16"},
    {.member = "restarts", .help = "Number of instances to stop and start again.", .example = "3"},
    {.member = "moves_done", .help = "Finished moves, with any result.", .example = "2"},
    {.member = "moves_total", .help = "Moves in all.", .example = "5"},
    {.member = "at_once", .help = "Maximum number of instances stopped at the same time.", .example = "4"},
    {.member = "freed_hosts", .help = "Hosts that become empty."},
    {.member = "moves", .help = "The moves.", .max = moves_max_max},
    {.member = "message", .help = "Why it failed, in a sentence."},
    {.member = "created_at", .help = "When it was begun; absent: it is only planned."},
    {.member = "ended_at", .help = "When it was over."},
});

struct WantedMove {
    std::string workload;
    std::string to;
};
BOOST_DESCRIBE_STRUCT(WantedMove, (), (workload, to))
template <>
inline constexpr auto fields<WantedMove> = std::to_array<Field>({
    {.member = "workload", .help = "Id of the instance or stock slot.", .example = "i-7f3k2m9qxy", .form = &forms::id},
    {.member = "to", .help = "Id of the new host.", .example = "h-8k1m3q", .form = &forms::id},
});

struct CreateConsolidation {
    std::optional<std::string> zone{};
    int max_moves = 100;
    int at_once = 4;
    std::vector<WantedMove> moves{};
};
BOOST_DESCRIBE_STRUCT(CreateConsolidation, (), (zone, max_moves, at_once, moves))
template <>
inline constexpr auto fields<CreateConsolidation> = std::to_array<Field>({
    {.member = "zone", .help = "Only hosts of this zone. Default: all zones, each separately.", .example = "lon",
     .form = &forms::label},
    {.member = "max_moves", .help = "Maximum number of moves.", .example = "100", .min = 1, .max = moves_max_max,
     .absent = Absent::fills},
    {.member = "at_once", .help = "Maximum number of instances stopped at the same time.", .example = "4", .min = 1,
     .max = 64, .absent = Absent::fills},
    {.member = "moves",
     .help = "Exactly these moves, as a dry run answered them. Default: the best plan of this moment.",
     .max = moves_max_max, .absent = Absent::fills},
});

struct GetConsolidation {
    std::string consolidation;
};
BOOST_DESCRIBE_STRUCT(GetConsolidation, (), (consolidation))
template <>
inline constexpr auto fields<GetConsolidation> = std::to_array<Field>({
    {.member = "consolidation", .help = "Its id.", .example = "co-4t1b9rk2mx", .form = &forms::id},
});

}  // namespace hostler::api
