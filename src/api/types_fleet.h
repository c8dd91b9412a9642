// The whole fleet in columns: a few bytes for each GPU.
#pragma once

#include "api/types_common.h"

namespace hostler::api {

// clang-format off

// What is told of each GPU.
enum class FleetValue { use, state, utilization, temperature, power, tenant, model };
BOOST_DESCRIBE_ENUM(FleetValue, use, state, utilization, temperature, power, tenant, model)

// What holds a GPU; unavailable: nothing, and nothing new goes there.
enum class FleetUse { idle, stock, instance, foreign, unavailable, cluster };
BOOST_DESCRIBE_ENUM(FleetUse, idle, stock, instance, foreign, unavailable, cluster)

struct FleetColumn {
    std::string name;
    std::vector<std::string> words;
    int width = 1;
    int step = 1;
    std::string unit;
    std::string data;
};
BOOST_DESCRIBE_STRUCT(FleetColumn, (), (name, words, width, step, unit, data))
template <>
inline constexpr auto fields<FleetColumn> = std::to_array<Field>({
    {.member = "name", .help = "The value.", .example = "use"},
    {.member = "words", .help = "The words that values stand for, 0 is the first; empty: values are numbers.",
     .example = "[\"idle\",\"stock\",\"instance\",\"foreign\",\"unavailable\",\"cluster\"]"},
    {.member = "width", .help = "Bytes of each value, the lowest first. All bits set (255, 65535): unknown.", .example = "1"},
    {.member = "step", .help = "Multiply a number by this.", .example = "5"},
    {.member = "unit", .help = "Unit of a number after that: percent, celsius or watts.", .example = "watts"},
    {.member = "data", .help = "The values, in base64.", .example = "AAECAA=="},
});

struct Fleet {
    WallTime at;
    std::string cursor;
    bool whole = true;
    std::vector<std::string> hosts;
    std::vector<std::string> names;
    std::vector<FleetColumn> host_columns;
    std::vector<FleetColumn> columns;
    std::vector<std::string> removed;
    std::optional<std::string> next{};
};
BOOST_DESCRIBE_STRUCT(Fleet, (), (at, cursor, whole, hosts, names, host_columns, columns, removed, next))
template <>
inline constexpr auto fields<Fleet> = std::to_array<Field>({
    {.member = "at", .help = "When this was so."},
    {.member = "cursor", .help = "Ask again with ?since= this for the hosts that changed. Of several pages, the first one's counts.",
     .example = "7-1042"},
    {.member = "whole", .help = "These are all hosts: forget others. False: those alone that changed since."},
    {.member = "hosts", .help = "Ids of the hosts, in the order of hostColumns.", .example = "[\"h-4f2a9c\"]"},
    {.member = "names", .help = "Their host names, in the same order.", .example = "[\"gpu-07\"]"},
    {.member = "host_columns", .help = "A value for each host: zone, state, and gpus, their number."},
    {.member = "columns", .help = "A value for each GPU: by host, in the order of its indexes, then of ids."},
    {.member = "removed", .help = "Ids of hosts that were removed since, or moved to a zone or provider that this answer does not show.", .example = "[\"h-9b01aa\"]"},
    {.member = "next", .help = "Ask again with ?after= this for further hosts; absent: these are all.", .example = "h-4f2a9c"},
});

struct GetFleet {
    std::optional<std::string> zone{};
    std::string values = "use,state,utilization";
    std::optional<std::string> since{};
    std::optional<std::string> after{};
    int limit = 10'000;
};
BOOST_DESCRIBE_STRUCT(GetFleet, (), (zone, values, since, after, limit))
template <>
inline constexpr auto fields<GetFleet> = std::to_array<Field>({
    {.member = "zone", .help = "Only hosts in this zone.", .example = "nj", .form = &forms::label},
    {.member = "values", .help = "Values of each GPU: use, state, utilization, temperature, power, model, and tenant, which "
                                 "needs the permission to see all tenants.",
     .example = "use,state,utilization", .max = 128, .absent = Absent::fills},
    {.member = "since", .help = "Only hosts that changed since the answer with this cursor.", .example = "7-1042", .max = 64},
    {.member = "after", .help = "Continue behind the page with this next.", .example = "h-4f2a9c", .max = 128},
    {.member = "limit", .help = "Hosts of an answer, at most.", .example = "10000", .min = 1, .max = 10'000, .absent = Absent::fills},
});

}  // namespace hostler::api
