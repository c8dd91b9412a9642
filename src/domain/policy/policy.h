// What the cloud or a tenant allows: rules that bind each request of the tenant.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "domain/object.h"
#include "domain/scheduler/wishes.h"

namespace hostler {

// Each rule at its initial value: no rule.
struct Policy {
    std::string id;                   // As id_of() makes it.
    std::string tenant;               // Empty: the cloud's, which binds all tenants.
    std::vector<std::string> specs;   // Patterns of names of specs.
    std::vector<std::string> zones;   // Names.
    Trust trust = Trust::community;   // Hosts of this trust or more.
    std::vector<std::string> images;  // Patterns, as image_matches() takes them.
    std::int64_t max_run_s = 0;       // Longest run of an instance, in seconds.
    bool public_ports = true;         // Ports may be open without a sign-in.
    bool share_links = true;          // There may be share links.
    std::int64_t created_at = 0;
    std::int64_t changed_at = 0;
    std::int64_t version = 1;  // Rises with each change.
    Meta meta;
    static constexpr std::string_view cloud_id = "cloud";
    static constexpr std::string_view tenant_prefix = "tenant-";
    // "cloud" or "tenant-acme".
    static std::string id_of(const std::string& tenant) {
        return tenant.empty() ? std::string{cloud_id} : std::string{tenant_prefix} + tenant;
    }
};
BOOST_DESCRIBE_STRUCT(Policy, (),
                      (id, tenant, specs, zones, trust, images, max_run_s, public_ports, share_links,
                       created_at, changed_at, version))

}  // namespace hostler
