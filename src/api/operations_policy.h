// Policies of the cloud and of tenants.
#pragma once

#include "api/operation.h"
#include "api/types_policy.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<ListPolicies, List<Policy>> list_policies{{
    .name = "listPolicies", .path = "/v1/policies", .permission = Permission::policy_read,
    .help = "List the policies that bind the caller: the cloud's and the tenant's.", .list = true, .noun = "policy",
    .verb = "list",
    .columns = "id specs zones trust images maxRunSeconds publicPorts shareLinks version changedAt tenantID"}};
inline constexpr Typed<NamePolicy, Policy> get_policy{{
    .name = "getPolicy", .path = "/v1/policies/{policy}", .permission = Permission::policy_read,
    .help = "Show a policy.", .noun = "policy", .verb = "get"}};
inline constexpr Typed<ReplacePolicy, Policy> replace_policy{{
    .name = "replacePolicy", .method = Method::put, .path = "/v1/policies", .permission = Permission::policy_write,
    .help = "Set all rules of the policy of the cloud or a tenant. Rules that are not given are removed.",
    .noun = "policy", .verb = "set",
    .example = "policy set --tenant acme --spec 'h100-*' --zone nj --image 'registry.acme.com/*' --public-ports=false"}};
inline constexpr Typed<DeletePolicy, Empty> delete_policy{{
    .name = "deletePolicy", .method = Method::delete_, .path = "/v1/policies/{policy}",
    .permission = Permission::policy_write, .help = "Delete a policy: its rules no longer count.", .noun = "policy",
    .verb = "delete", .confirm = "All its rules are removed."}};

}  // namespace hostler::api::ops
