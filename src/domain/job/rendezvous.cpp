#include "domain/job/rendezvous.h"

#include <fmt/format.h>

#include <algorithm>

namespace hostler {

namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

void add(Variables& to, const Variables& more) { to.insert(to.end(), more.begin(), more.end()); }

// In Slurm, too, each element has an id: programs name their folders by it.
std::string own_id(const TaskPlace& place) {
    return place.array_index ? fmt::format("{}_{}", place.job_id, *place.array_index) : place.job_id;
}

void add_array(Variables& variables, const TaskPlace& place) {
    const auto& ranges = place.array.ranges;
    if (!place.array_index || ranges.empty()) return;
    const std::int64_t first = std::ranges::min_element(ranges, {}, &ArrayRange::first)->first;
    const std::int64_t last = std::ranges::max_element(ranges, {}, &ArrayRange::last)->last;
    if (!place.job_id.empty()) variables.emplace_back("SLURM_ARRAY_JOB_ID", place.job_id);
    add(variables, {{"SLURM_ARRAY_TASK_ID", std::to_string(*place.array_index)},
                    {"SLURM_ARRAY_TASK_MIN", std::to_string(first)},
                    {"SLURM_ARRAY_TASK_MAX", std::to_string(last)},
                    {"SLURM_ARRAY_TASK_COUNT", std::to_string(place.array.size())},
                    // Slurm, too, tells the step of the first range.
                    {"SLURM_ARRAY_TASK_STEP", std::to_string(ranges.front().step)}});
}

// As Slurm counts: "8", and "8(x4)" on each of four nodes.
std::string on_each(std::int64_t number, std::int64_t nodes) {
    return nodes > 1 ? fmt::format("{}(x{})", number, nodes) : std::to_string(number);
}

void add_size(Variables& variables, const TaskPlace& place) {
    const std::int64_t nodes = place.part == TaskPart::rank ? place.tasks : 1;
    const std::int64_t tasks_of_node = place.tasks / nodes;
    const std::string tasks = std::to_string(place.tasks);
    const std::int64_t cpus = tasks_of_node * place.cpus_per_task;
    add(variables, {{"SLURM_NTASKS", tasks},
                    {"SLURM_NPROCS", tasks},
                    {"SLURM_TASKS_PER_NODE", on_each(tasks_of_node, nodes)},
                    {"SLURM_CPUS_PER_TASK", std::to_string(place.cpus_per_task)},
                    {"SLURM_CPUS_ON_NODE", std::to_string(cpus)},
                    {"SLURM_JOB_CPUS_PER_NODE", on_each(cpus, nodes)},
                    {"SLURM_PROCID", std::to_string(place.rank)},
                    {"SLURM_LOCALID", "0"},
                    {"SLURM_NNODES", std::to_string(nodes)},
                    {"SLURM_JOB_NUM_NODES", std::to_string(nodes)},
                    {"SLURM_NODEID", std::to_string(place.rank)}});
    if (place.gpus > 0) variables.emplace_back("SLURM_GPUS_ON_NODE", std::to_string(place.gpus));
    if (!place.hosts.empty()) add(variables, node_variables(place.hosts));
}

void add_rank(Variables& variables, const TaskPlace& place) {
    const std::string rank = std::to_string(place.rank), tasks = std::to_string(place.tasks);
    for (const char* name : {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK"}) variables.emplace_back(name, rank);
    for (const char* name : {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
        variables.emplace_back(name, tasks);
    for (const char* name : {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK"}) variables.emplace_back(name, "0");
    for (const char* name : {"LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"})
        variables.emplace_back(name, "1");
    variables.emplace_back("MASTER_PORT", std::to_string(place.master_port));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> node_variables(const std::string& hosts) {
    return {{"SLURM_JOB_NODELIST", hosts}, {"SLURM_NODELIST", hosts}};
}

std::vector<std::pair<std::string, std::string>> slurm_variables(const TaskPlace& place) {
    Variables variables;
    if (!place.job_id.empty()) variables.emplace_back("SLURM_JOB_ID", own_id(place));
    if (!place.job_id.empty() && place.part == TaskPart::script)
        variables.emplace_back("SLURM_JOBID", own_id(place));
    if (!place.job_name.empty()) variables.emplace_back("SLURM_JOB_NAME", place.job_name);
    if (!place.submit_dir.empty()) variables.emplace_back("SLURM_SUBMIT_DIR", place.submit_dir);
    add_array(variables, place);
    if (place.part != TaskPart::element) add_size(variables, place);
    if (place.part == TaskPart::rank) add_rank(variables, place);
    return variables;
}

}  // namespace hostler
