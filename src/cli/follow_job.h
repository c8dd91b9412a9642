// Follows a job: the output of its tasks as it is written, why it waits, and how it ends.
#pragma once

#include "api/types_job.h"
#include "cli/client.h"
#include "cli/output_files.h"

namespace hostler::cli {

bool is_over(const api::Job& job);
// 0 of one that succeeded; else the exit code of its program, and 1 where there is none.
int exit_of(const api::Job& job);
// "job/train failed (exit_code): 1 of 1 elements failed"
std::string end_of(const api::Job& job);

struct JobFollowed {
    std::string job;        // Id or name.
    std::string tenant;     // Empty: the key's own.
    std::string project{};  // Empty: any.
    // Of one task: its rank, and of an array its index (without: the first one). Without a rank all tasks are
    // followed, from their beginnings.
    std::optional<std::int64_t> rank{};
    std::optional<std::int64_t> index{};
    std::optional<std::int64_t> attempt{};  // Only this one.
    api::Params first{};                    // since and tail of the first question,
    bool timestamps = false;
    bool prefix = false;  // Each line begins with its task: "[3] ", of an array "[17] " or "[17.3] ".
    std::shared_ptr<OutputFiles> files{};  // What they take is not printed. Without a rank only.
    bool terminal = false;  // Where the output goes: it is given whole characters and colours only.
};

// Prints until the job is over, or the one task that is followed, and answers the job as it was seen last.
// What is told beside goes to standard error: the reason for which it waits, once for each; the next attempt
// of a task. Asks again where the API is away. Errors: as the API's.
Task<api::Job> follow_job(CliWorld& world, ApiClient& client, JobFollowed what);

// Asks after a job until it is over, and shows how far it is. Errors: timeout; as the API's.
Task<json::value> wait_job(CliWorld& world, ApiClient& client, std::string job, std::string tenant,
                           Duration patience);

// Failures after which the same question may be answered.
bool may_pass(const Error& error);

}  // namespace hostler::cli
