// A job, as it is stored. Its tasks are instances that it owns; it has some only while an element of it is
// admitted.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "domain/job/array.h"
#include "domain/job/life.h"
#include "domain/labels.h"
#include "domain/object.h"

namespace hostler {

inline constexpr std::int64_t job_tasks_max = 1024;  // Of one element.
inline constexpr std::int64_t job_priority_max = 1000;
inline constexpr std::int64_t job_retries_max = 100;

// How another job has to end before this one may begin.
enum class DependencyWhen { succeeded, failed, ended };
BOOST_DESCRIBE_ENUM(DependencyWhen, succeeded, failed, ended)

struct JobDependency {
    std::string job;  // Id.
    DependencyWhen when = DependencyWhen::succeeded;
    bool operator==(const JobDependency&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobDependency, (), (job, when))

// What its owner wants, as it was made.
struct JobSpec {
    std::string task;        // A task, as a request of the API that makes an instance.
    std::string spec_name;   // Shape of each task.
    std::int32_t tasks = 1;  // Of each element.
    bool gang = false;       // The tasks of an element begin together, and end together where one fails.
    bool program = false;    // Its tasks run without containers.
    JobArray array;
    std::int64_t time_limit_s = 0;  // Of an element, from when it runs; 0: none.
    std::vector<JobDependency> after;
    std::int32_t retries = 0;  // After an exit code that is not 0, of each element.
    bool operator==(const JobSpec&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobSpec, (),
                      (task, spec_name, tasks, gang, array, time_limit_s, retries, after, program))

// An element that has a place: its tasks are instances.
struct JobRun {
    std::int64_t position = 0;  // Of the element.
    std::int64_t attempt = 1;
    std::int64_t failures = 0;           // Of earlier attempts, that count as retries.
    std::vector<std::string> instances;  // By rank; of independent tasks one.
    std::int64_t admitted_at = 0;        // Microseconds since 1970; 0: not so far.
    std::int64_t started_at = 0;         // All its tasks run.
    std::string ending;                  // Why its tasks are being ended, as a token; empty: they are not.
    std::optional<int> exit_code;        // Of the task that failed first, where that is why.
    std::vector<std::int64_t> done;      // Ranks that ended well.
    std::uint64_t generations = 0;  // Sum of the run generations of its tasks when all ran; 0: not so far.
    std::optional<std::int64_t> failed_rank;  // As exit_code.
    bool operator==(const JobRun&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobRun, (),
                      (position, attempt, failures, instances, admitted_at, started_at, ending, done,
                       generations, exit_code, failed_rank))

// An element that waits to be tried again.
struct JobRetry {
    std::int64_t position = 0;
    std::int64_t attempt = 1;
    std::int64_t failures = 0;
    std::int64_t not_before = 0;  // Microseconds since 1970.
    bool operator==(const JobRetry&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobRetry, (), (position, attempt, failures, not_before))

// An attempt that is over.
struct JobEnd {
    static constexpr std::size_t kept_max = 64;  // Of a job: the newest.
    std::int64_t position = 0;
    std::int64_t attempt = 1;
    std::string reason;  // A token: "completed", "exit_code", "host_lost", …
    std::optional<int> exit_code;
    std::vector<std::string> instances;
    std::int64_t started_at = 0;
    std::int64_t ended_at = 0;
    std::optional<std::int64_t> failed_rank{};  // Of a gang: the task that failed first, where one did.
    bool operator==(const JobEnd&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobEnd, (),
                      (position, attempt, reason, exit_code, instances, started_at, ended_at, failed_rank))

// Very many wait: its size counts.
struct Job {
    std::string id;    // "j-7f3k2m9qxy"
    std::string name;  // Of one job of the project at a time that is not over.
    std::string tenant;
    std::string project = "default";
    std::string created_by;  // "user/u-…", "account/sa-…", "key/k-…"; empty: not known.
    JobSpec spec;
    JobPhase phase = JobPhase::pending;
    bool held = false;  // Its owner holds it back: no element is admitted.
    std::int32_t priority = 0;
    std::int32_t next = 0;       // Elements before this position were admitted at least once.
    std::int32_t succeeded = 0;  // Elements.
    std::int32_t failed = 0;
    std::optional<int> exit_code;  // Of the first failed element, or 0.
    std::string reason;            // A token,
    std::string message;           // a sentence: why it is in this phase.
    std::vector<JobRetry> again;   // In the order of their positions.
    std::vector<JobRun> runs;      // The same.
    std::vector<JobEnd> ends;      // The newest last.
    std::int64_t created_at = 0;   // Microseconds since 1970; 0: not so far.
    std::int64_t waits_since = 0;  // It was made, or last gave way.
    std::int64_t started_at = 0;   // An element ran for the first time.
    std::int64_t ended_at = 0;
    Labels labels;
    Meta meta;

    // Independent tasks are elements of one task each.
    std::int64_t elements() const {
        const std::int64_t indexes = spec.array.ranges.empty() ? 1 : spec.array.size();
        return spec.gang ? indexes : indexes * spec.tasks;
    }
    std::int64_t tasks_of_element() const { return spec.gang ? spec.tasks : 1; }
};
BOOST_DESCRIBE_STRUCT(Job, (),
                      (id, name, tenant, project, created_by, spec, phase, reason, message, priority, held,
                       next, again, runs, succeeded, failed, ends, exit_code, created_at, waits_since,
                       started_at, ended_at, labels))

// The next element that may be admitted now: one that is to be tried again, else the next new one; nullopt:
// none.
struct NextElement {
    std::int64_t position = 0;
    std::int64_t attempt = 1;
    std::int64_t failures = 0;
};
std::optional<NextElement> next_element(const Job& job, std::int64_t now);
// Of the instance: "train.0.7f3k", "train.17.7f3k" of an array; of a later attempt "train.0-2.7f3k".
std::string name_of_task(const Job& job, const NextElement& element, std::int64_t rank);

// An end of an attempt: what becomes of its element.
enum class AfterEnd { succeed, retry, fail };
// `reason` as in JobEnd. A host that was lost and a preemption do not count as retries, up to
// job_retries_max.
AfterEnd after_end(const Job& job, const JobRun& run, std::string_view reason);
// Before the next attempt, by how many failed: seconds.
std::int64_t backoff_s(std::int64_t failures);

}  // namespace hostler
