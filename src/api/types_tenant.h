// Tenants and their projects.
#pragma once

#include "api/types_common.h"

namespace hostler::api {

// clang-format off

struct Tenant {
    std::string name;
    std::string display_name;
    bool disabled = false;
    bool needs_totp = false;
    bool programs = false;
    WallTime created_at;
    std::optional<WallTime> disabled_at{};
    std::int64_t version = 0;
};
BOOST_DESCRIBE_STRUCT(Tenant, (), (name, display_name, disabled, needs_totp, programs, created_at, disabled_at, version))
template <>
inline constexpr auto fields<Tenant> = std::to_array<Field>({
    {.member = "name", .help = "Name of the tenant: the tenantID of other calls.", .example = "acme"},
    {.member = "display_name", .help = "Name for people.", .example = "Acme Ltd"},
    {.member = "disabled", .help = "Nothing is created or started in it, and its credentials are refused."},
    {.member = "needs_totp", .help = "Its users sign in with a second factor."},
    {.member = "programs", .help = "Its jobs may run programs without containers, on hosts that allow them."},
    {.member = "created_at", .help = "Creation time."},
    {.member = "disabled_at", .help = "Time since which it is disabled; absent: it is not disabled."},
    {.member = "version", .help = "Increases with each change. For ifVersion and If-Match.", .example = "1"},
});

// POST /v1/tenants.
struct CreateTenant {
    std::string name;
    std::optional<std::string> display_name{};
    std::optional<bool> needs_totp{};
    std::optional<bool> programs{};
};
BOOST_DESCRIBE_STRUCT(CreateTenant, (), (name, display_name, needs_totp, programs))
template <>
inline constexpr auto fields<CreateTenant> = std::to_array<Field>({
    {.member = "name", .help = "Name of the tenant. It never changes.", .example = "acme", .form = &forms::label},
    {.member = "display_name", .help = "Name for people.", .example = "Acme Ltd", .max = 256, .form = &forms::one_line},
    {.member = "needs_totp", .help = "Its users sign in with a second factor.", .example = "true"},
    {.member = "programs", .help = "Its jobs may run programs without containers, on hosts that allow them.", .example = "true"},
});

struct NameTenant {
    std::string tenant;
};
BOOST_DESCRIBE_STRUCT(NameTenant, (), (tenant))
template <>
inline constexpr auto fields<NameTenant> = std::to_array<Field>({
    {.member = "tenant", .help = "Name of the tenant.", .example = "acme", .form = &forms::id},
});

struct ListTenants {
    std::optional<bool> disabled{};
};
BOOST_DESCRIBE_STRUCT(ListTenants, (), (disabled))
template <>
inline constexpr auto fields<ListTenants> = std::to_array<Field>({
    {.member = "disabled", .help = "Only those that are disabled, or only the others.", .example = "true"},
});

// PATCH /v1/tenants/{tenant}. Absent fields stay.
struct UpdateTenant {
    std::string tenant;
    std::optional<std::string> display_name{};
    std::optional<bool> needs_totp{};
    std::optional<bool> programs{};
    std::optional<std::int64_t> if_version{};
};
BOOST_DESCRIBE_STRUCT(UpdateTenant, (), (tenant, display_name, needs_totp, programs, if_version))
template <>
inline constexpr auto fields<UpdateTenant> = std::to_array<Field>({
    {.member = "tenant", .help = "Name of the tenant.", .example = "acme", .form = &forms::id},
    {.member = "display_name", .help = "Name for people.", .example = "Acme Ltd", .max = 256, .form = &forms::one_line},
    {.member = "needs_totp", .help = "Its users sign in with a second factor.", .example = "true"},
    {.member = "programs", .help = "Its jobs may run programs without containers, on hosts that allow them. Operators only.",
     .example = "true"},
    {.member = "if_version", .help = "Only if it has this version. Same as the header If-Match.", .example = "1", .min = 0},
});

// DELETE /v1/tenants/{tenant}.
struct DeleteTenant {
    std::string tenant;
    std::optional<std::int64_t> if_version{};
};
BOOST_DESCRIBE_STRUCT(DeleteTenant, (), (tenant, if_version))
template <>
inline constexpr auto fields<DeleteTenant> = std::to_array<Field>({
    {.member = "tenant", .help = "Name of the tenant.", .example = "acme", .form = &forms::id},
    {.member = "if_version", .help = "Only if it has this version. Same as the header If-Match.", .example = "1", .min = 0},
});

struct Project {
    std::string name;
    std::string tenant_id;
    std::string display_name;
    bool disabled = false;
    WallTime created_at;
    std::optional<WallTime> disabled_at{};
    std::int64_t version = 0;
};
BOOST_DESCRIBE_STRUCT(Project, (), (name, tenant_id, display_name, disabled, created_at, disabled_at, version))
template <>
inline constexpr auto fields<Project> = std::to_array<Field>({
    {.member = "name", .help = "Name of the project, unique in the tenant.", .example = "lab"},
    {.member = "tenant_id", .help = "Tenant that owns it.", .example = "acme"},
    {.member = "display_name", .help = "Name for people.", .example = "Laboratory"},
    {.member = "disabled", .help = "Nothing is created or started in it, and credentials for it are refused."},
    {.member = "created_at", .help = "Creation time."},
    {.member = "disabled_at", .help = "Time since which it is disabled; absent: it is not disabled."},
    {.member = "version", .help = "Increases with each change. For ifVersion and If-Match.", .example = "1"},
});

// POST /v1/projects.
struct CreateProject {
    std::string name;
    std::optional<std::string> display_name{};
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(CreateProject, (), (name, display_name, tenant_id))
template <>
inline constexpr auto fields<CreateProject> = std::to_array<Field>({
    {.member = "name", .help = "Name of the project, unique in the tenant. It never changes.", .example = "lab",
     .form = &forms::label},
    {.member = "display_name", .help = "Name for people.", .example = "Laboratory", .max = 256,
     .form = &forms::one_line},
    {.member = "tenant_id", .help = "Owning tenant; required with an operator's key.", .example = "acme",
     .form = &forms::id},
});

struct NameProject {
    std::string project;
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(NameProject, (), (project, tenant_id))
template <>
inline constexpr auto fields<NameProject> = std::to_array<Field>({
    {.member = "project", .help = "Name of the project.", .example = "lab", .form = &forms::label},
    {.member = "tenant_id", .help = "Owning tenant; for an operator's key, when two tenants use the same name.",
     .example = "acme", .form = &forms::id},
});

struct ListProjects {
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(ListProjects, (), (tenant_id))
template <>
inline constexpr auto fields<ListProjects> = std::to_array<Field>({
    {.member = "tenant_id", .help = "Only this tenant's.", .example = "acme", .form = &forms::id},
});

// PATCH /v1/projects/{project}. Absent fields stay.
struct UpdateProject {
    std::string project;
    std::optional<std::string> tenant_id{};
    std::optional<std::string> display_name{};
    std::optional<std::int64_t> if_version{};
};
BOOST_DESCRIBE_STRUCT(UpdateProject, (), (project, tenant_id, display_name, if_version))
template <>
inline constexpr auto fields<UpdateProject> = std::to_array<Field>({
    {.member = "project", .help = "Name of the project.", .example = "lab", .form = &forms::label},
    {.member = "tenant_id", .help = "Owning tenant; for an operator's key, when two tenants use the same name.",
     .example = "acme", .form = &forms::id},
    {.member = "display_name", .help = "Name for people.", .example = "Laboratory", .max = 256,
     .form = &forms::one_line},
    {.member = "if_version", .help = "Only if it has this version. Same as the header If-Match.", .example = "1", .min = 0},
});

// DELETE /v1/projects/{project}.
struct DeleteProject {
    std::string project;
    std::optional<std::string> tenant_id{};
    std::optional<std::int64_t> if_version{};
};
BOOST_DESCRIBE_STRUCT(DeleteProject, (), (project, tenant_id, if_version))
template <>
inline constexpr auto fields<DeleteProject> = std::to_array<Field>({
    {.member = "project", .help = "Name of the project.", .example = "lab", .form = &forms::label},
    {.member = "tenant_id", .help = "Owning tenant; for an operator's key, when two tenants use the same name.",
     .example = "acme", .form = &forms::id},
    {.member = "if_version", .help = "Only if it has this version. Same as the header If-Match.", .example = "1", .min = 0},
});

}  // namespace hostler::api
