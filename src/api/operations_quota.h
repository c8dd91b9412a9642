// Quotas of tenants, projects, users and service accounts.
#pragma once

#include "api/operation.h"
#include "api/types_quota.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<SetQuota, Quota> set_quota{{
    .name = "setQuota", .method = Method::put, .path = "/v1/quotas", .permission = Permission::quota_write,
    .help = "Limit what a tenant, a project, a user or a service account may use at once. It replaces the present limits.",
    .noun = "quota", .verb = "set", .argument = "limits",
    .example = "quota set gpus=8,guaranteed=2 'gpus:H100=4' cpu=64 memory=512Gi --tenant acme --project lab"}};
inline constexpr Typed<ListQuotas, List<Quota>> list_quotas{{
    .name = "listQuotas", .path = "/v1/quotas", .permission = Permission::quota_read,
    .help = "List quotas, and what is used of them.", .list = true, .noun = "quota", .verb = "list",
    .columns = "tenantID project name usage version createdAt subject"}};
inline constexpr Typed<DeleteQuota, Empty> delete_quota{{
    .name = "deleteQuota", .method = Method::delete_, .path = "/v1/quotas", .permission = Permission::quota_write,
    .help = "Delete a quota: what it limited is limited no longer.", .body = Body::or_query, .noun = "quota",
    .verb = "delete", .confirm = "The quota is deleted.", .example = "quota delete --tenant acme --project lab"}};

}  // namespace hostler::api::ops
