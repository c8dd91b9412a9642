// The caller's cloud at a glance: what runs, what waits and why, what it costs.
#pragma once

#include "api/types_common.h"

namespace hostler::api {

// clang-format off

struct StateCount {
    std::string state;
    std::int64_t count = 0;
    bool operator==(const StateCount&) const = default;
};
BOOST_DESCRIBE_STRUCT(StateCount, (), (state, count))
template <>
inline constexpr auto fields<StateCount> = std::to_array<Field>({
    {.member = "state", .help = "The state.", .example = "running"},
    {.member = "count", .help = "How many are in it.", .example = "12"},
});

struct WaitingInstance {
    std::string id;
    std::string name;
    std::string tenant_id;
    std::string project;
    std::string state;
    std::string reason;
    std::string sentence;
    WallTime since;
};
BOOST_DESCRIBE_STRUCT(WaitingInstance, (), (id, name, tenant_id, project, state, reason, sentence, since))
template <>
inline constexpr auto fields<WaitingInstance> = std::to_array<Field>({
    {.member = "id", .help = "Id of the instance.", .example = "i-7k2m9x4q1z"},
    {.member = "name", .help = "Its instanceID.", .example = "notebook-1"},
    {.member = "tenant_id", .help = "Owning tenant.", .example = "acme"},
    {.member = "project", .help = "Project of the tenant.", .example = "lab"},
    {.member = "state", .help = "Its state: ready, stopped, failed or lost.", .example = "failed"},
    {.member = "reason", .help = "The reason, stable for programs.", .example = "image_pull_failed"},
    {.member = "sentence", .help = "The reason in words, as `hostler instance explain` says it.",
     .example = "The host cannot pull the image."},
    {.member = "since", .help = "Since when it is in this state."},
});

struct StoppingInstance {
    std::string id;
    std::string name;
    std::string tenant_id;
    std::string project;
    WallTime at;
    std::string why;
};
BOOST_DESCRIBE_STRUCT(StoppingInstance, (), (id, name, tenant_id, project, at, why))
template <>
inline constexpr auto fields<StoppingInstance> = std::to_array<Field>({
    {.member = "id", .help = "Id of the instance.", .example = "i-7k2m9x4q1z"},
    {.member = "name", .help = "Its instanceID.", .example = "notebook-1"},
    {.member = "tenant_id", .help = "Owning tenant.", .example = "acme"},
    {.member = "project", .help = "Project of the tenant.", .example = "lab"},
    {.member = "at", .help = "When it is stopped, if nothing changes."},
    {.member = "why", .help = "The rule: inactivity, max_run or stop_at.", .example = "inactivity"},
});

struct OverviewCost {
    std::string currency;
    std::string per_hour;
};
BOOST_DESCRIBE_STRUCT(OverviewCost, (), (currency, per_hour))
template <>
inline constexpr auto fields<OverviewCost> = std::to_array<Field>({
    {.member = "currency", .help = "Currency: three letters.", .example = "USD"},
    {.member = "per_hour", .help = "Price of an hour of the GPUs that the instances hold now.", .example = "19.92"},
});

struct OverviewGpus {
    std::string zone;
    std::string model;
    std::int64_t total = 0;
    std::int64_t free = 0;
    std::int64_t claimed = 0;
    std::int64_t stock = 0;
    std::int64_t foreign = 0;
    std::int64_t out_of_service = 0;
};
BOOST_DESCRIBE_STRUCT(OverviewGpus, (), (zone, model, total, free, claimed, stock, foreign, out_of_service))
template <>
inline constexpr auto fields<OverviewGpus> = std::to_array<Field>({
    {.member = "zone", .help = "Zone.", .example = "lon"},
    {.member = "model", .help = "GPU model.", .example = "H100 SXM5 80GB"},
    {.member = "total", .help = "All of them. The other numbers add up to it.", .example = "64"},
    {.member = "free", .help = "Available for new instances.", .example = "10"},
    {.member = "claimed", .help = "Held by instances, also by those that are stopping.", .example = "40"},
    {.member = "stock", .help = "Held by idle stock slots.", .example = "6"},
    {.member = "foreign", .help = "Used by unmanaged workloads.", .example = "4"},
    {.member = "out_of_service",
     .help = "Not held and not available: the host is not schedulable or silent, or the GPU is not fit for work.",
     .example = "4"},
});

struct OverviewQuota {
    std::string tenant_id;
    std::string project;
    std::string subject;
    std::string name;
    std::string resource;
    std::string limit;
    std::string used;
};
BOOST_DESCRIBE_STRUCT(OverviewQuota, (), (tenant_id, project, subject, name, resource, limit, used))
template <>
inline constexpr auto fields<OverviewQuota> = std::to_array<Field>({
    {.member = "tenant_id", .help = "The tenant.", .example = "acme"},
    {.member = "project", .help = "Project of the tenant; empty: the whole tenant.", .example = "lab"},
    {.member = "subject", .help = "User or service account that it limits; empty: all of the tenant or project.",
     .example = "user/u-3hq8wz"},
    {.member = "name", .help = "Login of the user, or name of the service account.", .example = "ann@example.com"},
    {.member = "resource", .help = "gpus, gpus:MODEL, cpu, memory, volumes, instances or jobs.", .example = "gpus"},
    {.member = "limit", .help = "The most that may be used at once.", .example = "8"},
    {.member = "used", .help = "Present use.", .example = "7"},
});

struct SeverityCount {
    std::string severity;
    std::int64_t count = 0;
    bool operator==(const SeverityCount&) const = default;
};
BOOST_DESCRIBE_STRUCT(SeverityCount, (), (severity, count))
template <>
inline constexpr auto fields<SeverityCount> = std::to_array<Field>({
    {.member = "severity", .help = "critical, warning or info.", .example = "critical"},
    {.member = "count", .help = "How many such alerts fire.", .example = "1"},
});

// A part that the caller may not read is absent; an empty one has nothing in it.
struct Overview {
    std::optional<std::vector<StateCount>> instances{};
    std::optional<std::vector<WaitingInstance>> waiting{};
    std::optional<std::vector<StoppingInstance>> stopping{};
    std::optional<std::vector<OverviewCost>> costs{};
    std::optional<std::vector<OverviewGpus>> gpus{};
    std::optional<std::vector<OverviewQuota>> quotas{};
    std::optional<std::vector<SeverityCount>> alerts{};
    std::optional<std::vector<StateCount>> hosts{};
    std::optional<std::vector<StateCount>> jobs{};
    bool truncated = false;
    WallTime as_of;
};
BOOST_DESCRIBE_STRUCT(Overview, (), (instances, waiting, stopping, costs, gpus, quotas, alerts, hosts, jobs, truncated, as_of))
template <>
inline constexpr auto fields<Overview> = std::to_array<Field>({
    {.member = "instances", .help = "Instances that the caller may read, by state. Those that were deleted are left out."},
    {.member = "waiting",
     .help = "At most 20 instances that do not run although they are wanted, most recent first: starting, failed, lost, "
             "or stopped by the cloud."},
    {.member = "stopping",
     .help = "At most 20 instances that are stopped automatically within an hour, soonest first. In the whole cloud, an "
             "unused instance is in it once its people were notified."},
    {.member = "costs", .help = "Price of the running instances for an hour; absent: no price is set for any of them."},
    {.member = "gpus", .help = "GPUs by zone and model. Only for callers who may read hosts; a provider sees its own."},
    {.member = "quotas", .help = "At most 20 limits of the caller's places, the most used first."},
    {.member = "alerts", .help = "Firing alerts by severity, silenced ones too."},
    {.member = "hosts", .help = "Hosts by state. Only for callers who may read hosts; a provider sees its own."},
    {.member = "jobs", .help = "Jobs that the caller may read and that are not over, by state."},
    {.member = "truncated", .help = "The caller may read more instances than were looked at: `stopping` may lack some."},
    {.member = "as_of", .help = "When the numbers were counted."},
});

}  // namespace hostler::api
