// Indexes of jobs.
#pragma once

#include <cstdint>

#include "domain/job/job.h"
#include "roles/master/state/index.h"

namespace hostler::master {

template <>
struct Indexes<Job> {
    Index<Job> name, tenant;  // Also of those that are over.
    Index<Job, OfTenant> tenant_name;
    Index<Job, OfTenant> project;  // Those that are not over, by tenant and project.
    Index<Job> dependency;         // Those that wait for the end of this job.
    Index<Job, std::int64_t> due;  // When the time limit of an element is over.
    Index<Job, std::int64_t> ended;
    Indexes();
    static void each(auto& self, auto visit) {
        visit(self.name), visit(self.tenant), visit(self.tenant_name), visit(self.project),
            visit(self.dependency), visit(self.due), visit(self.ended);
    }
};

}  // namespace hostler::master
