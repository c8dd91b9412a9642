#include "roles/master/job/indexes.h"

#include "roles/master/state/index_keys.h"

namespace hostler::master {

namespace {

std::vector<std::int64_t> due_of(const Job& job) {
    std::vector<std::int64_t> due;
    if (is_final(job.phase)) return due;
    if (job.spec.time_limit_s > 0)
        for (const JobRun& run : job.runs)
            if (run.started_at != 0 && run.ending.empty())
                due.push_back(run.started_at + job.spec.time_limit_s * 1'000'000);
    return once_each(std::move(due));
}

std::vector<std::string> dependencies_of(const Job& job) {
    std::vector<std::string> jobs;
    if (job.phase == JobPhase::pending)
        for (const JobDependency& one : job.spec.after) jobs.push_back(one.job);
    return once_each(std::move(jobs));
}

}  // namespace

Indexes<Job>::Indexes()
    : name([](const Job& row) { return one(row.name); }),
      tenant([](const Job& row) { return one(row.tenant); }),
      tenant_name([](const Job& row) { return one(OfTenant{row.tenant, row.name}); }),
      project([](const Job& row) { return one_if(!is_final(row.phase), OfTenant{row.tenant, row.project}); }),
      dependency([](const Job& row) { return dependencies_of(row); }),
      due([](const Job& row) { return due_of(row); }),
      ended([](const Job& row) { return one_if(is_final(row.phase), row.ended_at); }) {}

}  // namespace hostler::master
