// Jobs of a trace with the completion times that other schedulers reached in it, in the CSV form of
// Shockwave's artifact: job_id,arrival_s,gpus,exclusive_s and a column jct_s_<policy> for each published
// policy.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/result.h"

namespace hostler::bench {

struct TraceJob {
    std::string id;
    std::int64_t arrival_us = 0;
    int gpus = 1;
    std::int64_t exclusive_us = 0;  // How long it runs alone. No scheduler here looks at it.
};

struct JobTrace {
    std::vector<TraceJob> jobs;  // By arrival.
    std::map<std::string, std::vector<std::int64_t>>
        others;  // Policy → completion time of each job, microseconds.
};

// Of a file, or of the file jobs120_32gpu.csv in a folder or its folder shockwave. Errors: invalid: the file
// and the line that cannot be read.
Result<JobTrace> read_jobs(const std::string& path);

}  // namespace hostler::bench
