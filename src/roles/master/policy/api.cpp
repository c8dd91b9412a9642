// Policies of the cloud and of tenants.
#include <fmt/format.h>

#include "api/operations_policy.h"
#include "roles/master/http/api.h"
#include "roles/master/policy/policies.h"
#include "roles/master/state/near.h"
#include "roles/master/state/refuse.h"

namespace hostler::master {

namespace {

// The cloud's is for all whom it binds, a tenant's for those who have a role there.
bool may_see(const api::Call& call, const std::string& tenant) {
    return tenant.empty() || authorize_within(call.caller.principal, Permission::policy_read, tenant);
}

Result<const Policy*> policy_named(const Desk& desk, const api::Call& call, const std::string& id) {
    const Policy* policy = desk.estate.policies.find(id);
    if (policy && may_see(call, policy->tenant)) return policy;
    std::vector<std::string_view> known{Policy::cloud_id};
    const std::string own = call.caller.tenant.empty() ? "" : Policy::id_of(call.caller.tenant);
    if (!own.empty()) known.push_back(own);
    Error error{Code::not_found, no_such("policy", id, known), "policy_not_found"};
    error.help = "A policy is called `cloud`, or `tenant-` and the tenant's name: `hostler policy list`.";
    return std::unexpected(std::move(error));
}

Result<api::Policy> decide_replace(Desk& desk, const api::Call& call, const api::ReplacePolicy& request) {
    const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
    TRY(check_new(call, scope_of_tenant(tenant)));
    return view(*TRY(set_policy(desk, request, tenant)));
}

Result<api::Empty> decide_delete(Desk& desk, const api::Call& call, const api::DeletePolicy& request) {
    const Policy& policy = *TRY(policy_named(desk, call, request.policy));
    TRY(check_new(call, scope_of_tenant(policy.tenant)));
    if (request.if_version && *request.if_version != policy.version)
        return refuse(
            fmt::format("policy {} has version {}, not {}", policy.id, policy.version, *request.if_version),
            "version_differs", fmt::format("Look at it again: `hostler policy get {}`.", policy.id));
    drop_policy(desk, std::string{policy.id});
    return api::Empty{};
}

Subject policy_subject(const Desk& desk, const std::string& id) {
    const Policy* policy = desk.estate.policies.find(id);
    return policy ? subject_named(*policy, api::encode(view(*policy))) : Subject{};
}

}  // namespace

Subject subject_of(const Desk& desk, const api::Call& call, const api::ReplacePolicy& request) {
    const auto tenant = tenant_meant(call, request.tenant_id);
    return tenant ? policy_subject(desk, Policy::id_of(*tenant)) : Subject{};
}
Subject subject_of(const Desk& desk, const api::Call&, const api::DeletePolicy& request) {
    return policy_subject(desk, request.policy);
}

void add_policies(Api& service) {
    namespace ops = api::ops;
    service.read<ops::list_policies>([](const Desk& desk, const api::Call& call,
                                        const api::ListPolicies& request) -> Result<api::List<api::Policy>> {
        const std::string tenant = request.tenant_id ? TRY(tenant_meant(call, request.tenant_id)) : "";
        return rows_of<api::Policy>(desk.estate.policies,
                                    [&](const Policy& row) {
                                        const bool meant =
                                            row.tenant.empty() || tenant.empty() || row.tenant == tenant;
                                        return meant && may_see(call, row.tenant);
                                    })
            .page(call, [](const Policy& row) { return view(row); });
    });
    service.read<ops::get_policy>(
        [](const Desk& desk, const api::Call& call, const api::NamePolicy& request) -> Result<api::Policy> {
            return view(*TRY(policy_named(desk, call, request.policy)));
        });
    service.write<ops::replace_policy>(decide_replace);
    service.write<ops::delete_policy>(decide_delete);
}

}  // namespace hostler::master
