// Queues: how tenants, projects and users share the cloud with their jobs.
#pragma once

#include "api/types_common.h"

namespace hostler::api {

// clang-format off

inline constexpr std::int64_t queue_weight_max = 10'000;

struct QueueAmount {
    std::optional<std::int64_t> gpus{};
    std::optional<std::string> cpu{};
    std::optional<std::string> memory{};
};
BOOST_DESCRIBE_STRUCT(QueueAmount, (), (gpus, cpu, memory))
template <>
inline constexpr auto fields<QueueAmount> = std::to_array<Field>({
    {.member = "gpus", .help = "GPUs.", .example = "8", .min = 0, .max = 1'000'000},
    {.member = "cpu", .help = "CPUs.", .example = "64", .form = &forms::amount},
    {.member = "memory", .help = "Memory.", .example = "512Gi", .form = &forms::amount},
});

struct Queue {
    std::string tenant_id;
    std::string project;
    std::string user;
    std::string name;
    std::int64_t weight = 1;
    std::optional<QueueAmount> guaranteed{};
    std::optional<QueueAmount> most{};
    QueueAmount running;
    std::int64_t running_elements = 0;
    std::int64_t waiting_elements = 0;
    std::int64_t share_milli = 0;
    std::int64_t entitled_milli = 0;
    std::int64_t guaranteed_milli = 0;
    std::int64_t used_milli = 0;
    std::int64_t rank_milli = 0;
    bool below_guarantee = false;
    bool borrows = false;
    std::optional<WallTime> waits_since{};
    std::string summary;
    std::int64_t version = 0;
};
BOOST_DESCRIBE_STRUCT(Queue, (),
                      (tenant_id, project, user, name, weight, guaranteed, most, running, running_elements, waiting_elements,
                       share_milli, entitled_milli, guaranteed_milli, used_milli, rank_milli, below_guarantee, borrows,
                       waits_since, summary, version))
template <>
inline constexpr auto fields<Queue> = std::to_array<Field>({
    {.member = "tenant_id", .help = "The tenant.", .example = "acme"},
    {.member = "project", .help = "Project of the tenant; empty: the whole tenant.", .example = "lab"},
    {.member = "user", .help = "User or service account that submits; empty: all of the tenant or project.", .example = "user/u-3hq8wz"},
    {.member = "name", .help = "Login of the user, or name of the service account; empty: no user.", .example = "ann@example.com"},
    {.member = "weight", .help = "Its part among the queues of the same parent: twice the weight, twice the part.", .example = "1"},
    {.member = "guaranteed", .help = "Its jobs are admitted first up to this amount; absent: there is no guarantee."},
    {.member = "most", .help = "Its jobs never have more than this; absent: there is no limit."},
    {.member = "running", .help = "Amount that its jobs have now."},
    {.member = "running_elements", .help = "Elements of jobs that have a place.", .example = "12"},
    {.member = "waiting_elements", .help = "Elements of jobs that wait side by side.", .example = "40"},
    {.member = "share_milli", .help = "Part of the cloud that its jobs have now, by the scarcest resource, in thousandths.",
     .example = "250", .unit = Unit::per_mille},
    {.member = "entitled_milli", .help = "The part that it is entitled to now: what its parent is entitled to, divided by the "
                                         "weights of the queues in which jobs wait or run; at least its guarantee.",
     .example = "500", .unit = Unit::per_mille},
    {.member = "guaranteed_milli", .help = "Its guarantee as such a part; 0: there is none.", .example = "125",
     .unit = Unit::per_mille},
    {.member = "used_milli", .help = "The same of what they had lately; it counts half after each day.", .example = "180",
     .unit = Unit::per_mille},
    {.member = "rank_milli", .help = "The sum of shareMilli and usedMilli, divided by the weight. Of the queues of the same parent "
                                     "that are alike in belowGuarantee, the one with the lowest is next.",
     .example = "430"},
    {.member = "below_guarantee", .help = "It has less than is guaranteed to it: it is before the queues of the same parent that are not."},
    {.member = "borrows", .help = "It has more than is guaranteed to it."},
    {.member = "waits_since", .help = "Since when the job waits that has waited longest; absent: none waits."},
    {.member = "summary", .help = "The same in words.", .example = "8 GPUs of 32, 4 guaranteed; 3 jobs wait"},
    {.member = "version", .help = "Increases with each change of its settings; 0: it has none. For ifVersion and If-Match.",
     .example = "1"},
});

// PUT /v1/queues
struct SetQueue {
    std::optional<std::string> tenant_id{};
    std::optional<std::string> project{};
    std::optional<std::string> user{};
    std::int64_t weight = 1;
    std::optional<QueueAmount> guaranteed{};
    std::optional<QueueAmount> most{};
    std::optional<std::int64_t> if_version{};
};
BOOST_DESCRIBE_STRUCT(SetQueue, (), (tenant_id, project, user, weight, guaranteed, most, if_version))
template <>
inline constexpr auto fields<SetQueue> = std::to_array<Field>({
    {.member = "tenant_id", .help = "The tenant. Default: the caller's.", .example = "acme", .form = &forms::id},
    {.member = "project", .help = "Only of this project. Default: of the whole tenant.", .example = "lab", .form = &forms::label},
    {.member = "user", .help = "Only of this user or service account in the project: user/LOGIN or account/NAME, or with the id.",
     .example = "user/ann@example.com", .min = 1, .max = 256, .form = &forms::one_line},
    {.member = "weight", .help = "Its part among the queues of the same parent: twice the weight, twice the part.", .example = "2", .min = 1,
     .max = queue_weight_max, .absent = Absent::fills},
    {.member = "guaranteed", .help = "Its jobs are admitted first up to this amount."},
    {.member = "most", .help = "Its jobs never have more than this."},
    {.member = "if_version",
     .help = "Only if the present settings have this version; 0: if there are none. Same as the header If-Match.",
     .example = "1", .min = 0},
});
template <>
struct Rules<SetQueue> {
    static void check(const SetQueue& request, Wrong& wrong);
};

struct ListQueues {
    std::optional<std::string> tenant_id{};
    std::optional<std::string> project{};
};
BOOST_DESCRIBE_STRUCT(ListQueues, (), (tenant_id, project))
template <>
inline constexpr auto fields<ListQueues> = std::to_array<Field>({
    {.member = "tenant_id", .help = "Only those of this tenant.", .example = "acme", .form = &forms::id},
    {.member = "project", .help = "Only those of this project.", .example = "lab", .form = &forms::label},
});

struct DeleteQueue {
    std::optional<std::string> tenant_id{};
    std::optional<std::string> project{};
    std::optional<std::string> user{};
    std::optional<std::int64_t> if_version{};
};
BOOST_DESCRIBE_STRUCT(DeleteQueue, (), (tenant_id, project, user, if_version))
template <>
inline constexpr auto fields<DeleteQueue> = std::to_array<Field>({
    {.member = "tenant_id", .help = "The tenant. Default: the caller's.", .example = "acme", .form = &forms::id},
    {.member = "project", .help = "The project's queue. Default: the tenant's.", .example = "lab", .form = &forms::label},
    {.member = "user", .help = "The queue of this user or service account in the project.", .example = "user/ann@example.com",
     .max = 256, .form = &forms::one_line},
    {.member = "if_version", .help = "Only if they have this version. Same as the header If-Match.", .example = "1", .min = 0},
});

}  // namespace hostler::api
