// Workloads that the store does not know, and what becomes of them.
#pragma once

#include "api/types_common.h"

namespace hostler::api {

// clang-format off

enum class ForeignDecision { open, keep, remove };
BOOST_DESCRIBE_ENUM(ForeignDecision, open, keep, remove)

struct ForeignWorkload {
    std::string id;
    std::string host;
    std::string zone;
    std::string tenant_id;
    std::string name;
    std::string image;
    std::string state;
    std::vector<std::string> gpus;
    std::string reason;
    std::string message;
    ForeignDecision decision = ForeignDecision::open;
    std::string why;
    std::vector<std::string> not_known;
    WallTime seen_since;
};
BOOST_DESCRIBE_STRUCT(ForeignWorkload, (),
                      (id, host, zone, tenant_id, name, image, state, gpus, reason, message, decision, why, not_known,
                       seen_since))
template <>
inline constexpr auto fields<ForeignWorkload> = std::to_array<Field>({
    {.member = "id", .help = "Its id, as its container says.", .example = "i-7k2m9x"},
    {.member = "host", .help = "The host it runs on.", .example = "h-4f2a9c"},
    {.member = "zone", .help = "Zone of the host.", .example = "nj"},
    {.member = "tenant_id", .help = "Owning tenant, from its container's labels; empty: unknown.", .example = "acme"},
    {.member = "name", .help = "Name, from its container's labels; empty: unknown.", .example = "notebook-1"},
    {.member = "image", .help = "Its image; empty: unknown.", .example = "docker.io/library/nginx:1.27"},
    {.member = "state", .help = "created, running or exited; unknown: its host is silent.", .example = "running"},
    {.member = "gpus", .help = "GPUs that it holds."},
    {.member = "reason", .help = "Why it is unmanaged, as a token.", .example = "not_in_store"},
    {.member = "message", .help = "Why it is unmanaged, in words."},
    {.member = "decision", .help = "Decision about it.", .example = "open"},
    {.member = "why", .help = "Comment of the operator on the decision."},
    {.member = "not_known", .help = "Information that an adoption would lack."},
    {.member = "seen_since", .help = "When it was first seen."},
});

struct ListForeignWorkloads {
    std::optional<std::string> host{};
    std::optional<ForeignDecision> decision{};
};
BOOST_DESCRIBE_STRUCT(ListForeignWorkloads, (), (host, decision))
template <>
inline constexpr auto fields<ListForeignWorkloads> = std::to_array<Field>({
    {.member = "host", .help = "Only those on this host.", .example = "h-4f2a9c", .max = 128},
    {.member = "decision", .help = "Only those with this decision."},
});

struct NameForeignWorkload {
    std::string workload;
};
BOOST_DESCRIBE_STRUCT(NameForeignWorkload, (), (workload))
template <>
inline constexpr auto fields<NameForeignWorkload> = std::to_array<Field>({
    {.member = "workload", .help = "Its id.", .example = "i-7k2m9x"},
});

struct SettleForeignWorkload {
    std::string workload;
    std::optional<std::string> why{};
};
BOOST_DESCRIBE_STRUCT(SettleForeignWorkload, (), (workload, why))
template <>
inline constexpr auto fields<SettleForeignWorkload> = std::to_array<Field>({
    {.member = "workload", .help = "Its id.", .example = "i-7k2m9x"},
    {.member = "why", .help = "Comment for later readers.", .example = "the lab's own", .max = 512,
     .form = &forms::one_line},
});

}  // namespace hostler::api
