// Tenants and their projects: who pays, and what groups the objects of one tenant.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <string>

#include "domain/object.h"

namespace hostler {

struct Tenant {
    std::string id;  // Its name: the tenantID of calls.
    std::string display_name;
    bool needs_totp = false;  // Its people sign in with a second factor.
    bool programs = false;    // Its jobs may run without containers, on hosts whose operator allows that.
    std::int64_t created_at = 0;
    std::int64_t disabled_at = 0;  // 0: it is not disabled.
    std::int64_t version = 1;      // Rises with each change.
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(Tenant, (), (id, display_name, needs_totp, created_at, disabled_at, version, programs))

struct Project {
    std::string id;  // As id_of() makes it.
    std::string tenant;
    std::string name;  // Unique in the tenant; it never changes.
    std::string display_name;
    std::int64_t created_at = 0;
    std::int64_t disabled_at = 0;  // 0: it is not disabled.
    std::int64_t version = 1;      // Rises with each change.
    Meta meta;
    static std::string id_of(const std::string& tenant, const std::string& name) {
        return tenant + "/" + name;
    }
};
BOOST_DESCRIBE_STRUCT(Project, (), (id, tenant, name, display_name, created_at, disabled_at, version))

}  // namespace hostler
