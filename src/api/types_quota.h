// Quotas of tenants, projects, users and service accounts.
#pragma once

#include "api/types_common.h"
#include "domain/quota/quota.h"

namespace hostler::api {

// clang-format off

struct QuotaLimit {
    std::string resource;
    std::string limit;
    std::string guaranteed = "0";
};
BOOST_DESCRIBE_STRUCT(QuotaLimit, (), (resource, limit, guaranteed))
template <>
inline constexpr auto fields<QuotaLimit> = std::to_array<Field>({
    {.member = "resource",
     .help = "gpus, gpus:MODEL (a class of them, by words of the model), cpu, memory, volumes (bytes), instances or jobs.",
     .example = "gpus", .min = 1, .max = 128, .form = &forms::one_line},
    {.member = "limit", .help = "The most that may be used at once; 0: none of it.", .example = "8", .form = &forms::amount},
    {.member = "guaranteed",
     .help = "Of a project: the part of its limit that other projects of the tenant cannot borrow.", .example = "2",
     .form = &forms::amount, .absent = Absent::fills},
});

struct QuotaUse {
    std::string resource;
    std::string limit;
    std::string guaranteed;
    std::string used;
};
BOOST_DESCRIBE_STRUCT(QuotaUse, (), (resource, limit, guaranteed, used))
template <>
inline constexpr auto fields<QuotaUse> = std::to_array<Field>({
    {.member = "resource", .help = "gpus, gpus:MODEL, cpu, memory, volumes, instances or jobs.", .example = "gpus"},
    {.member = "limit", .help = "The most that may be used at once.", .example = "8"},
    {.member = "guaranteed", .help = "The part of a project's limit that other projects cannot borrow.", .example = "2"},
    {.member = "used", .help = "Present use; it may exceed a limit that was lowered.", .example = "7"},
});

struct Quota {
    std::string tenant_id;
    std::string project;
    std::string subject;
    std::string name;
    std::vector<QuotaUse> limits;
    std::vector<std::string> usage;
    std::int64_t version = 0;
    WallTime created_at;
};
BOOST_DESCRIBE_STRUCT(Quota, (), (tenant_id, project, subject, name, limits, usage, version, created_at))
template <>
inline constexpr auto fields<Quota> = std::to_array<Field>({
    {.member = "tenant_id", .help = "The tenant.", .example = "acme"},
    {.member = "project", .help = "Project of the tenant; empty: the whole tenant.", .example = "lab"},
    {.member = "subject", .help = "User or service account that it limits; empty: all of the tenant or project.",
     .example = "user/u-3hq8wz"},
    {.member = "name", .help = "Login of the user, or name of the service account.", .example = "ann@example.com"},
    {.member = "limits", .help = "Its limits, and what is used of each."},
    {.member = "usage", .help = "The same in words: used, of the limit.", .example = "[\"gpus 7 of 8\"]"},
    {.member = "version", .help = "Increases with each change. For ifVersion and If-Match.", .example = "1"},
    {.member = "created_at", .help = "Creation time."},
});

// PUT /v1/quotas
struct SetQuota {
    std::vector<QuotaLimit> limits;
    std::optional<std::string> tenant_id{};
    std::optional<std::string> project{};
    std::optional<std::string> subject{};
    std::optional<std::int64_t> if_version{};
};
BOOST_DESCRIBE_STRUCT(SetQuota, (), (limits, tenant_id, project, subject, if_version))
template <>
inline constexpr auto fields<SetQuota> = std::to_array<Field>({
    {.member = "limits", .help = "Limits, in place of those it has. Resources that are not named are not limited.",
     .example = R"([{"resource":"gpus","limit":"8"},{"resource":"memory","limit":"512Gi"}])", .min = 1, .max = limits_quota_max},
    {.member = "tenant_id", .help = "The tenant. Default: the caller's.", .example = "acme", .form = &forms::id},
    {.member = "project", .help = "Only of this project. Default: of the whole tenant.", .example = "lab",
     .form = &forms::label},
    {.member = "subject",
     .help = "Only of this user or service account, in all projects: user/LOGIN or account/NAME, or with the id.",
     .example = "user/ann@example.com", .min = 1, .max = 256, .form = &forms::one_line},
    {.member = "if_version",
     .help = "Only if the present quota has this version; 0: if there is none. Same as the header If-Match.",
     .example = "1", .min = 0},
});
template <>
struct Rules<SetQuota> {
    static void check(const SetQuota& request, Wrong& wrong);
};

struct ListQuotas {
    std::optional<std::string> tenant_id{};
    std::optional<std::string> project{};
    std::optional<std::string> subject{};
};
BOOST_DESCRIBE_STRUCT(ListQuotas, (), (tenant_id, project, subject))
template <>
inline constexpr auto fields<ListQuotas> = std::to_array<Field>({
    {.member = "tenant_id", .help = "Only those of this tenant.", .example = "acme", .form = &forms::id},
    {.member = "project", .help = "Only that of this project.", .example = "lab", .form = &forms::label},
    {.member = "subject", .help = "Only that of this user or service account.", .example = "user/ann@example.com",
     .max = 256, .form = &forms::one_line},
});

struct DeleteQuota {
    std::optional<std::string> tenant_id{};
    std::optional<std::string> project{};
    std::optional<std::string> subject{};
    std::optional<std::int64_t> if_version{};
};
BOOST_DESCRIBE_STRUCT(DeleteQuota, (), (tenant_id, project, subject, if_version))
template <>
inline constexpr auto fields<DeleteQuota> = std::to_array<Field>({
    {.member = "tenant_id", .help = "The tenant. Default: the caller's.", .example = "acme", .form = &forms::id},
    {.member = "project", .help = "The project's quota. Default: the tenant's.", .example = "lab", .form = &forms::label},
    {.member = "subject", .help = "The quota of this user or service account.", .example = "user/ann@example.com",
     .max = 256, .form = &forms::one_line},
    {.member = "if_version", .help = "Only if it has this version. Same as the header If-Match.", .example = "1",
     .min = 0},
});

}  // namespace hostler::api
