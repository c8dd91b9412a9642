// Indexes of grants, roles and groups.
#pragma once

#include <cstdint>
#include <utility>

#include "domain/tenancy/grant.h"
#include "roles/master/state/index.h"

namespace hostler::master {

template <>
struct Indexes<Grant> {
    Index<Grant> subject, tenant;
    Index<Grant, std::pair<std::string, std::string>> role;  // Its tenant and name.
    Index<Grant, std::int64_t> until;
    Indexes();
    static void each(auto& self, auto visit) {
        visit(self.subject), visit(self.tenant), visit(self.role), visit(self.until);
    }
};

template <>
struct Indexes<CustomRole> {
    Index<CustomRole> tenant;
    Indexes();
    static void each(auto& self, auto visit) { visit(self.tenant); }
};

template <>
struct Indexes<Group> {
    Index<Group> tenant, member, name;
    Indexes();
    static void each(auto& self, auto visit) { visit(self.tenant), visit(self.member), visit(self.name); }
};

}  // namespace hostler::master
