#include <fmt/format.h>

#include "domain/job/batch_options.h"
#include "domain/job/output_pattern.h"

namespace hostler::batch {

namespace {

void join_tasks(Draft& draft) {
    const auto& tasks = draft.tasks;
    const auto& per_node = draft.tasks_per_node;
    if (tasks) draft.script.tasks = tasks->value;
    if (!tasks && per_node) draft.script.tasks = per_node->value;
    // One host: the number of tasks on it is a limit where the total is said, too.
    if (tasks && per_node && tasks->value > per_node->value)
        draft.refuse(std::max(tasks->line, per_node->line),
                     fmt::format("--ntasks={} with --ntasks-per-node={} needs more than one host; a gang "
                                 "stays on one host until networks span hosts: write the same number",
                                 tasks->value, per_node->value));
}

// --gpus-per-task times tasks; without a number of tasks, --gpus says how many there are.
std::optional<Said<GpuAsk>> gpus_by_task(Draft& draft) {
    const auto& each = draft.gpus_per_task;
    if (!each) return std::nullopt;
    if (!draft.tasks && !draft.tasks_per_node) {
        const bool divides = draft.gpus && each->value.count > 0 && draft.gpus->value.count > 0 &&
                             draft.gpus->value.count % each->value.count == 0;
        if (divides) {
            draft.script.tasks = draft.gpus->value.count / each->value.count;
        } else if (!draft.gpus) {
            draft.refuse(each->line, "--gpus-per-task needs a number of tasks; write --ntasks, too");
            return std::nullopt;
        }
    }
    return Said<GpuAsk>{{each->value.type, each->value.count * draft.script.tasks}, each->line};
}

void join_gpus(Draft& draft) {
    const auto by_task = gpus_by_task(draft);
    std::optional<Said<GpuAsk>> total;
    for (const auto& ask : {draft.gpus, draft.gpus_per_node, by_task}) {
        if (!ask) continue;
        if (!total) {
            total = ask;
            continue;
        }
        const int line = std::max(total->line, ask->line), other = std::min(total->line, ask->line);
        const GpuAsk& one = total->value;
        const GpuAsk& two = ask->value;
        if (one.count != two.count)
            draft.refuse(line, fmt::format("its GPUs and those of line {} differ: {} and {} in total; leave "
                                           "one of them out",
                                           other, one.count, two.count));
        if (!one.type.empty() && !two.type.empty() && one.type != two.type)
            draft.refuse(line, fmt::format("its GPUs and those of line {} differ: {} and {}; a job has GPUs "
                                           "of one type",
                                           other, one.type, two.type));
        if (total->value.type.empty()) total->value.type = two.type;
    }
    if (!total) return;
    if (total->value.count > gpus_asked_max)
        draft.refuse(total->line, fmt::format("{} GPUs are more than a job can have", total->value.count));
    draft.script.gpus = total->value.count;
    draft.script.gpu_type = total->value.type;
}

void join_memory(Draft& draft) {
    if (draft.memory && draft.memory_per_cpu)
        draft.refuse(std::max(draft.memory->line, draft.memory_per_cpu->line),
                     "--mem and --mem-per-cpu exclude each other; leave one of them out");
    else if (draft.memory)
        draft.script.memory_bytes = draft.memory->value;
    else if (draft.memory_per_cpu) {
        const std::int64_t cpus = draft.script.tasks * draft.script.cpus_per_task;
        if (__builtin_mul_overflow(draft.memory_per_cpu->value, cpus, &draft.script.memory_bytes))
            draft.refuse(
                draft.memory_per_cpu->line,
                fmt::format("that much memory for each of {} CPUs is more than a job can have", cpus));
    }
}

}  // namespace

void Draft::refuse(int line, std::string message) {
    wrong.push_back({fmt::format("line {}", line), std::move(message)});
}

void join(Draft& draft) {
    join_tasks(draft);
    join_gpus(draft);
    join_memory(draft);
    if (draft.signal_line > 0 && draft.script.time_limit_s == 0)
        draft.script.notes.push_back({draft.signal_line, "--signal", draft.script.signal.name,
                                      "it has no effect at a time limit: the script has none; add --time"});
}

}  // namespace hostler::batch
