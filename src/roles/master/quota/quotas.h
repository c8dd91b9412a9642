// Rules of setting quotas.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "roles/master/state/desk.h"

namespace hostler::api {
struct Quota;
struct QuotaLimit;
}  // namespace hostler::api

namespace hostler::master {

// Whose quota it is, as Quota has it.
struct QuotaOf {
    std::string tenant;
    std::string project;
    std::string subject;
    std::string id() const { return Quota::id_of(tenant, project, subject); }
};

// In place of the one that is there. Less than what is used may be a limit: then nothing more is taken. The
// limits are proper ones (Rules<SetQuota>). Errors: not_found (tenant_not_found, project_not_found), conflict
// (version_differs; guarantees_exceeded: more would be guaranteed to projects than the tenant may use),
// exhausted (quota_exceeded: quotas_tenant_max).
Result<const Quota*> set_quota(Desk& desk, const QuotaOf& of, const std::vector<api::QuotaLimit>& limits,
                               const std::optional<std::int64_t>& if_version);
// Errors: not_found (quota_not_found), conflict (version_differs).
Result<> delete_quota(Desk& desk, const QuotaOf& of, const std::optional<std::int64_t>& if_version);

api::Quota view(const Desk& desk, const Quota& quota);

}  // namespace hostler::master
