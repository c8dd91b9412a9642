// Quotas: how much a tenant, a project of it, or one user or service account in it may use at once.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "domain/object.h"

namespace hostler {

struct QuotaLimit {
    // "gpus"; "gpus:MODEL", a class of them; "cpu" (thousandths), "memory" (bytes), "volumes" (bytes),
    // "instances" (those that have not ended), "jobs" (those that are not over), "clusters"
    // (those that are not deleted).
    std::string resource;
    std::int64_t limit = 0;
    // Of a project: what the other projects of its tenant cannot borrow. The rest is borrowable.
    std::int64_t guaranteed = 0;
    bool operator==(const QuotaLimit&) const = default;
};
BOOST_DESCRIBE_STRUCT(QuotaLimit, (), (resource, limit, guaranteed))

struct Quota {
    std::string id;  // As id_of() makes it.
    std::string tenant;
    std::string project;  // Empty: the whole tenant.
    std::string subject;  // "user/u-…", "account/sa-…": of this one alone, in all projects. Empty: of all.
    std::vector<QuotaLimit> limits;
    std::int64_t created_at = 0;
    std::int64_t version = 1;  // Rises with each change.
    Meta meta;
    // "acme", "acme/lab", "acme/user/u-…". Names of projects contain no '/'.
    static std::string id_of(const std::string& tenant, const std::string& project,
                             const std::string& subject) {
        return tenant + (project.empty() ? "" : "/" + project) + (subject.empty() ? "" : "/" + subject);
    }
};
BOOST_DESCRIBE_STRUCT(Quota, (), (id, tenant, project, subject, limits, created_at, version))

inline constexpr std::size_t limits_quota_max = 32;      // Of one quota.
inline constexpr std::size_t quotas_tenant_max = 1'000;  // Of a tenant, its projects and subjects.

inline constexpr std::string_view gpus_resource = "gpus", gpu_class_prefix = "gpus:";

// What a resource is compared by: in lower case, the words of a GPU class parted by one space.
std::string resource_key(std::string_view resource);

}  // namespace hostler
