// Reads Slurm's batch scripts: a program with its wishes in `#SBATCH` lines. The rules are those of sbatch
// 22.05; where they differ, the table below says so.
//
// | option | |
// |---|---|
// | --job-name -J | read |
// | --output -o, --error -e, --open-mode | read; files of the submitter, without "..", or /dev/null
// (output_pattern.h) | | --time -t | read; rounded up to a minute, as Slurm does; 0 and UNLIMITED: no limit |
// | --nodes -N | read; 1 or 1-1, a range that begins at 1 is one host; more is refused |
// | --ntasks -n, --ntasks-per-node, --cpus-per-task -c | read |
// | --mem, --mem-per-cpu | read; not both; --mem=0 (all of a host) is refused |
// | --gpus -G, --gpus-per-node, --gres=gpu, --gpus-per-task | read; one type; they must agree |
// | --array -a | read; at most 10,000 indexes |
// | --dependency -d | read: afterok, afterany, afternotok, after; the rest (`?`, +minutes, ...) is refused |
// | --chdir -D, --export, --signal | read; signal with R: is refused |
// | --requeue, --no-requeue, --hold -H, --priority, --nice | read |
// | --partition -p, --account -A, --qos -q, --mail-type, --mail-user, --comment | noted: no effect |
// | --verbose -v, --quiet -Q, --parsable, --wait -W, --wckey, --distribution -m | noted |
// | --propagate, --profile, --hint, --kill-on-invalid-dep, --get-user-env, --no-kill -k | noted |
// | --exclusive, --wrap, --constraint -C, --nodelist -w, --exclude -x, --reservation, --begin -b | refused |
// | --deadline, --time-min, --licenses -L, --cpus-per-gpu, --mem-per-gpu, --gpus-per-socket | refused |
// | --input -i, --clusters -M, --container, --uid, --gid, --tmp, --oversubscribe -s | refused |
// | --overcommit -O, --nodefile -F, --test-only | refused |
//
// Also refused, and taken by sbatch: short forms of long names (--job=x), a value on the next `#SBATCH`
// line, heterogeneous jobs (`:`).
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "domain/job/array.h"

namespace hostler {

inline constexpr std::size_t batch_script_bytes_max = 1 << 20;
inline constexpr std::size_t batch_options_max = 256;  // In one script.
// When a job that waits for another may start: it ended with exit code 0, it ended, it failed, it started.
enum class After { ok, any, not_ok, start };
BOOST_DESCRIBE_ENUM(After, ok, any, not_ok, start)

struct BatchDependency {
    After after = After::ok;
    std::string job;  // Id, or the number that the user knows it by; never empty. "12_3": an element.
    bool operator==(const BatchDependency&) const = default;
};
BOOST_DESCRIBE_STRUCT(BatchDependency, (), (after, job))

struct BatchVariable {
    std::string name;
    std::string value;
    bool operator==(const BatchVariable&) const = default;
};
BOOST_DESCRIBE_STRUCT(BatchVariable, (), (name, value))

struct BatchEnvironment {
    bool all = true;                 // All variables of the submitter.
    std::vector<std::string> names;  // Those of the submitter's variables, when not all.
    std::vector<BatchVariable> set;
    bool operator==(const BatchEnvironment&) const = default;
};
BOOST_DESCRIBE_STRUCT(BatchEnvironment, (), (all, names, set))

struct BatchSignal {
    std::string name;                  // "USR1", without SIG. Empty: none.
    std::int64_t number = 0;           // Linux's, 1..31.
    std::int64_t seconds_before = 60;  // Before the end by time limit. 0..65535.
    bool shell_only = false;  // "B:": to the script's shell. Else Slurm signals only what srun started.
    bool operator==(const BatchSignal&) const = default;
};
BOOST_DESCRIBE_STRUCT(BatchSignal, (), (name, number, seconds_before, shell_only))

// Something that was written and has no effect.
struct BatchNote {
    std::int64_t line = 0;  // From 1.
    std::string option;     // "--partition"; empty: about the line.
    std::string value;
    std::string message;
    bool operator==(const BatchNote&) const = default;
};
BOOST_DESCRIBE_STRUCT(BatchNote, (), (line, option, value, message))

struct BatchScript {
    std::string interpreter;        // After "#!", as "/bin/bash -e".
    std::string text;               // All of it.
    std::string name;               // Empty: its file's name.
    std::string output;             // Pattern; empty: not said.
    std::string error;              // Pattern; empty: where the output goes.
    std::int64_t time_limit_s = 0;  // 0: none. Whole minutes.
    std::int64_t nodes = 1;
    std::int64_t tasks = 1;
    std::int64_t cpus_per_task = 1;
    std::int64_t memory_bytes = 0;  // Of all its tasks; 0: not said.
    std::int64_t gpus = 0;          // Of all its tasks.
    std::string gpu_type;           // Empty: any.
    JobArray array;
    std::vector<BatchDependency> dependencies;  // All must be met.
    std::string workdir;                        // Empty: where it is submitted. Without "..".
    BatchEnvironment environment;
    BatchSignal signal;
    std::optional<bool> requeue;  // nullopt: not said.
    bool hold = false;
    std::optional<std::int64_t> priority;  // 1..4294967295, as in Slurm: higher is sooner.
    std::int64_t nice = 0;                 // ±2147483645, as in Slurm: higher is later.
    bool append = false;                   // To files of output that exist; else they are made empty.
    std::vector<BatchNote> notes;          // By line.
    bool operator==(const BatchScript&) const = default;
};
BOOST_DESCRIBE_STRUCT(BatchScript, (),
                      (interpreter, text, name, output, error, time_limit_s, nodes, tasks, cpus_per_task,
                       memory_bytes, gpus, gpu_type, array, dependencies, workdir, environment, signal,
                       requeue, hold, priority, nice, append, notes))

// Errors: invalid, with every wrong line as a field "line 7". Reasons: script_too_large, script_wrong.
Result<BatchScript> read_batch_script(std::string_view text);

}  // namespace hostler
