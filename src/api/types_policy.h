// Policies of the cloud and of tenants.
#pragma once

#include "api/types_placement.h"

namespace hostler::api {

// clang-format off

inline constexpr std::int64_t policy_entries_max = 64;  // Of each list.
inline constexpr std::size_t policy_pattern_max = 512;

struct Policy {
    std::string id;
    std::string tenant_id;
    std::optional<std::vector<std::string>> specs{};
    std::optional<std::vector<std::string>> zones{};
    std::optional<Trust> trust{};
    std::optional<std::vector<std::string>> images{};
    std::optional<std::int64_t> max_run_seconds{};
    bool public_ports = true;
    bool share_links = true;
    WallTime created_at;
    WallTime changed_at;
    std::int64_t version = 0;
};
BOOST_DESCRIBE_STRUCT(Policy, (),
                      (id, tenant_id, specs, zones, trust, images, max_run_seconds, public_ports, share_links, created_at,
                       changed_at, version))
template <>
inline constexpr auto fields<Policy> = std::to_array<Field>({
    {.member = "id", .help = "`cloud`, or `tenant-` and the tenant's name.", .example = "tenant-acme"},
    {.member = "tenant_id", .help = "Tenant that it binds; empty: all of them.", .example = "acme"},
    {.member = "specs", .help = "Specs that are allowed, as patterns; absent: all."},
    {.member = "zones", .help = "Zones that are allowed; absent: all."},
    {.member = "trust", .help = "Least trust of hosts; absent: any."},
    {.member = "images", .help = "Images that are allowed, as patterns; absent: all."},
    {.member = "max_run_seconds", .help = "Longest run of an instance; absent: no limit.", .example = "86400",
     .unit = Unit::seconds},
    {.member = "public_ports", .help = "Ports may be open without a sign-in.", .example = "true"},
    {.member = "share_links", .help = "Share links may be created and opened.", .example = "true"},
    {.member = "created_at", .help = "Creation time."},
    {.member = "changed_at", .help = "Time of the last change."},
    {.member = "version", .help = "Increases with each change. For ifVersion and If-Match.", .example = "1"},
});

// PUT /v1/policies. A rule that is not given is removed.
struct ReplacePolicy {
    std::optional<std::string> tenant_id{};
    std::optional<std::vector<std::string>> specs{};
    std::optional<std::vector<std::string>> zones{};
    std::optional<Trust> trust{};
    std::optional<std::vector<std::string>> images{};
    std::optional<std::int64_t> max_run_seconds{};
    std::optional<bool> public_ports{};
    std::optional<bool> share_links{};
    std::optional<std::int64_t> if_version{};
};
BOOST_DESCRIBE_STRUCT(ReplacePolicy, (),
                      (tenant_id, specs, zones, trust, images, max_run_seconds, public_ports, share_links, if_version))
template <>
inline constexpr auto fields<ReplacePolicy> = std::to_array<Field>({
    {.member = "tenant_id", .help = "Tenant that it binds. Default: the caller's; an operator's policy is for the cloud.",
     .example = "acme", .form = &forms::id},
    {.member = "specs", .help = "Allow only these specs. `*` stands for any text.", .example = "[\"h100-*\"]", .min = 1,
     .max = policy_entries_max},
    {.member = "zones", .help = "Allow only these zones.", .example = "[\"nj\"]", .min = 1, .max = policy_entries_max},
    {.member = "trust", .help = "Allow only hosts of this trust or more.", .example = "trusted"},
    {.member = "images", .help = "Allow only these images (docs/use/policies.md). `*` stands for any text.",
     .example = "[\"registry.acme.com/*\"]", .min = 1, .max = policy_entries_max},
    {.member = "max_run_seconds", .help = "Longest run of an instance.", .example = "86400", .min = 60,
     .max = 366 * 24 * 3600, .unit = Unit::seconds},
    {.member = "public_ports", .help = "Allow ports that are open without a sign-in. Default: true.", .example = "false"},
    {.member = "share_links", .help = "Allow share links. Default: true.", .example = "false"},
    {.member = "if_version", .help = "Only if it has this version; 0: only if there is none. Same as the header If-Match.",
     .example = "1", .min = 0},
});

// How each entry of a list looks; each once.
template <>
struct Rules<ReplacePolicy> {
    static void check(const ReplacePolicy& request, Wrong& wrong);
};

struct NamePolicy {
    std::string policy;
};
BOOST_DESCRIBE_STRUCT(NamePolicy, (), (policy))
template <>
inline constexpr auto fields<NamePolicy> = std::to_array<Field>({
    {.member = "policy", .help = "Id of the policy: `cloud`, or `tenant-` and the tenant's name.", .example = "tenant-acme"},
});

struct DeletePolicy {
    std::string policy;
    std::optional<std::int64_t> if_version{};
};
BOOST_DESCRIBE_STRUCT(DeletePolicy, (), (policy, if_version))
template <>
inline constexpr auto fields<DeletePolicy> = std::to_array<Field>({
    {.member = "policy", .help = "Id of the policy: `cloud`, or `tenant-` and the tenant's name.", .example = "tenant-acme"},
    {.member = "if_version", .help = "Only if it has this version. Same as the header If-Match.", .example = "1", .min = 0},
});

struct ListPolicies {
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(ListPolicies, (), (tenant_id))
template <>
inline constexpr auto fields<ListPolicies> = std::to_array<Field>({
    {.member = "tenant_id", .help = "Only the cloud's and this tenant's.", .example = "acme", .form = &forms::id},
});

}  // namespace hostler::api
