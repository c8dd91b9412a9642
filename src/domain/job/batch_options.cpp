#include "domain/job/batch_options.h"

#include <fmt/format.h>

#include <array>

#include "domain/job/output_pattern.h"

namespace hostler::batch {

namespace {

constexpr std::int64_t tasks_max = 65'536;
constexpr std::int64_t cpus_max = 65'536;

Result<> read_name(Draft& draft, std::string_view value, int) {
    constexpr std::size_t name_max = 256;
    if (value.size() > name_max) return fail(Code::invalid, "a name has at most 256 characters");
    draft.script.name = value;
    return {};
}
Result<> read_output(Draft& draft, std::string_view value, int) {
    TRY(check_output(value));
    draft.script.output = value;
    return {};
}
Result<> read_error(Draft& draft, std::string_view value, int) {
    TRY(check_output(value));
    draft.script.error = value;
    return {};
}
Result<> read_open_mode(Draft& draft, std::string_view value, int) {
    if (value != "append" && value != "truncate")
        return fail(Code::invalid, fmt::format("'{}' is neither append nor truncate", value));
    draft.script.append = value == "append";
    return {};
}
Result<> read_time_limit(Draft& draft, std::string_view value, int) {
    draft.script.time_limit_s = TRY(read_time(value));
    return {};
}
Result<> read_node_count(Draft&, std::string_view value, int) { return read_nodes(value); }
Result<> read_tasks(Draft& draft, std::string_view value, int line) {
    draft.tasks = {TRY(read_number(value, 1, tasks_max)), line};
    return {};
}
Result<> read_tasks_per_node(Draft& draft, std::string_view value, int line) {
    draft.tasks_per_node = {TRY(read_number(value, 1, tasks_max)), line};
    return {};
}
Result<> read_cpus(Draft& draft, std::string_view value, int) {
    draft.script.cpus_per_task = TRY(read_number(value, 1, cpus_max));
    return {};
}
Result<> read_memory_of_job(Draft& draft, std::string_view value, int line) {
    draft.memory = {TRY(read_memory(value)), line};
    return {};
}
Result<> read_memory_per_cpu(Draft& draft, std::string_view value, int line) {
    draft.memory_per_cpu = {TRY(read_memory(value)), line};
    return {};
}
Result<> read_generic(Draft& draft, std::string_view value, int line) {
    draft.gpus_per_node = {TRY(read_gres(value)), line};
    return {};
}
Result<> read_gpus_of_job(Draft& draft, std::string_view value, int line) {
    draft.gpus = {TRY(read_gpus(value)), line};
    return {};
}
Result<> read_gpus_per_node(Draft& draft, std::string_view value, int line) {
    draft.gpus_per_node = {TRY(read_gpus(value)), line};
    return {};
}
Result<> read_gpus_per_task(Draft& draft, std::string_view value, int line) {
    draft.gpus_per_task = {TRY(read_gpus(value)), line};
    return {};
}
Result<> read_indexes(Draft& draft, std::string_view value, int) {
    draft.script.array = TRY(read_array(value));
    return {};
}
Result<> read_waits(Draft& draft, std::string_view value, int) {
    draft.script.dependencies = TRY(read_dependencies(value));
    return {};
}
Result<> read_folder(Draft& draft, std::string_view value, int) {
    draft.script.workdir = TRY(read_workdir(value));
    return {};
}
Result<> read_export(Draft& draft, std::string_view value, int) {
    draft.script.environment = TRY(read_environment(value));
    return {};
}
Result<> read_warning(Draft& draft, std::string_view value, int line) {
    draft.script.signal = TRY(read_signal(value));
    draft.signal_line = line;
    return {};
}
Result<> requeue(Draft& draft, std::string_view, int) {
    draft.script.requeue = true;
    return {};
}
Result<> no_requeue(Draft& draft, std::string_view, int) {
    draft.script.requeue = false;
    return {};
}
Result<> hold(Draft& draft, std::string_view, int) {
    draft.script.hold = true;
    return {};
}
Result<> read_priority(Draft& draft, std::string_view value, int) {
    const std::int64_t priority = TRY(read_number(value, 0, 4'294'967'295));
    // Slurm holds a job of priority 0.
    if (priority == 0)
        draft.script.hold = true;
    else
        draft.script.priority = priority;
    return {};
}
Result<> read_nice(Draft& draft, std::string_view value, int) {
    constexpr std::int64_t nice_by_default = 100, nice_max = 2'147'483'645;
    const bool negative = value.starts_with('-');
    draft.script.nice = nice_by_default;
    if (value.empty()) return {};
    const std::int64_t nice = TRY(read_number(value.substr(negative ? 1 : 0), 0, nice_max));
    draft.script.nice = negative ? -nice : nice;
    return {};
}

constexpr std::string_view no_partitions =
    "it has no effect: a job runs where it fits; ask for GPUs by type, as --gpus=TYPE:2";
constexpr std::string_view no_mail = "it has no effect: jobs send no mail";
constexpr std::string_view of_sbatch = "it has no effect: it is about sbatch or Slurm themselves";
constexpr std::string_view no_shared = "tasks share no device and no CPU; leave it out";
constexpr std::string_view no_choice =
    "hosts cannot be chosen by their names or features; ask for GPUs by type, as --gpus=TYPE:2";
constexpr std::string_view no_clock = "a job has no date; submit it when it may start, or use --hold";
constexpr std::string_view no_per_gpu = "write totals: --gpus, --cpus-per-task, --mem";

constexpr Option table[] = {
    {"job-name", 'J', Takes::value, Use::read, "", read_name},
    {"output", 'o', Takes::value, Use::read, "", read_output},
    {"error", 'e', Takes::value, Use::read, "", read_error},
    {"open-mode", 0, Takes::value, Use::read, "", read_open_mode},
    {"time", 't', Takes::value, Use::read, "", read_time_limit},
    {"nodes", 'N', Takes::value, Use::read, "", read_node_count},
    {"ntasks", 'n', Takes::value, Use::read, "", read_tasks},
    {"ntasks-per-node", 0, Takes::value, Use::read, "", read_tasks_per_node},
    {"cpus-per-task", 'c', Takes::value, Use::read, "", read_cpus},
    {"mem", 0, Takes::value, Use::read, "", read_memory_of_job},
    {"mem-per-cpu", 0, Takes::value, Use::read, "", read_memory_per_cpu},
    {"gres", 0, Takes::value, Use::read, "", read_generic},
    {"gpus", 'G', Takes::value, Use::read, "", read_gpus_of_job},
    {"gpus-per-node", 0, Takes::value, Use::read, "", read_gpus_per_node},
    {"gpus-per-task", 0, Takes::value, Use::read, "", read_gpus_per_task},
    {"array", 'a', Takes::value, Use::read, "", read_indexes},
    {"dependency", 'd', Takes::value, Use::read, "", read_waits},
    {"chdir", 'D', Takes::value, Use::read, "", read_folder},
    {"export", 0, Takes::value, Use::read, "", read_export},
    {"signal", 0, Takes::value, Use::read, "", read_warning},
    {"requeue", 0, Takes::nothing, Use::read, "", requeue},
    {"no-requeue", 0, Takes::nothing, Use::read, "", no_requeue},
    {"hold", 'H', Takes::nothing, Use::read, "", hold},
    {"priority", 0, Takes::value, Use::read, "", read_priority},
    {"nice", 0, Takes::perhaps, Use::read, "", read_nice},

    {"partition", 'p', Takes::value, Use::noted, no_partitions},
    {"account", 'A', Takes::value, Use::noted,
     "it has no effect: the project pays in which the job is submitted"},
    {"qos", 'q', Takes::value, Use::noted, "it has no effect: the queue of the project decides"},
    {"mail-type", 0, Takes::value, Use::noted, no_mail},
    {"mail-user", 0, Takes::value, Use::noted, no_mail},
    {"comment", 0, Takes::value, Use::noted, "it has no effect: jobs have no comment"},
    {"verbose", 'v', Takes::nothing, Use::noted, of_sbatch},
    {"quiet", 'Q', Takes::nothing, Use::noted, of_sbatch},
    {"parsable", 0, Takes::nothing, Use::noted, of_sbatch},
    {"wait", 'W', Takes::nothing, Use::noted, of_sbatch},
    {"wckey", 0, Takes::value, Use::noted, of_sbatch},
    {"distribution", 'm', Takes::value, Use::noted, "it has no effect: all tasks are on one host"},
    {"propagate", 0, Takes::perhaps, Use::noted, of_sbatch},
    {"profile", 0, Takes::value, Use::noted, "it has no effect: the use of every job is measured"},
    {"hint", 0, Takes::value, Use::noted, of_sbatch},
    {"kill-on-invalid-dep", 0, Takes::value, Use::noted,
     "it has no effect: a job whose dependency can no longer be met is cancelled"},
    {"get-user-env", 0, Takes::perhaps, Use::noted, of_sbatch},
    {"no-kill", 'k', Takes::perhaps, Use::noted, "it has no effect: all tasks are on one host"},

    {"exclusive", 0, Takes::perhaps, Use::refused, "a host is not given to one job; ask for all of its GPUs"},
    {"wrap", 0, Takes::value, Use::refused, "a script has its commands below the options; write them there"},
    {"constraint", 'C', Takes::value, Use::refused, no_choice},
    {"nodelist", 'w', Takes::value, Use::refused, no_choice},
    {"exclude", 'x', Takes::value, Use::refused, no_choice},
    {"nodefile", 'F', Takes::value, Use::refused, no_choice},
    {"reservation", 0, Takes::value, Use::refused, no_choice},
    {"begin", 'b', Takes::value, Use::refused, no_clock},
    {"deadline", 0, Takes::value, Use::refused, no_clock},
    {"time-min", 0, Takes::value, Use::refused, "a time limit is one number; write --time"},
    {"licenses", 'L', Takes::value, Use::refused, "licenses are not counted; leave it out"},
    {"cpus-per-gpu", 0, Takes::value, Use::refused, no_per_gpu},
    {"mem-per-gpu", 0, Takes::value, Use::refused, no_per_gpu},
    {"gpus-per-socket", 0, Takes::value, Use::refused, no_per_gpu},
    {"input", 'i', Takes::value, Use::refused, "the input is empty; read the file in the script"},
    {"clusters", 'M', Takes::value, Use::refused, "there is one cluster; leave it out"},
    {"container", 0, Takes::value, Use::refused, "name the image when the job is submitted"},
    {"uid", 0, Takes::value, Use::refused, "a job runs as its submitter; leave it out"},
    {"gid", 0, Takes::value, Use::refused, "a job runs as its submitter; leave it out"},
    {"tmp", 0, Takes::value, Use::refused, "temporary disk is not asked for by a script; leave it out"},
    {"oversubscribe", 's', Takes::nothing, Use::refused, no_shared},
    {"overcommit", 'O', Takes::nothing, Use::refused, no_shared},
    {"test-only", 0, Takes::nothing, Use::refused, "a script cannot ask for a trial; ask when you submit it"},
};

}  // namespace

std::span<const Option> options() { return table; }

}  // namespace hostler::batch
