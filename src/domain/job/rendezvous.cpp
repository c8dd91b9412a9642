#include "domain/job/rendezvous.h"

#include <algorithm>

namespace hostler {

namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

void add_job(Variables& variables, const TaskPlace& place) {
    const std::string tasks = std::to_string(place.tasks);
    const std::string cpus = std::to_string(place.tasks * place.cpus_per_task);
    const Variables job = {
        {"SLURM_JOB_ID", place.job_id},
        {"SLURM_JOBID", place.job_id},
        {"SLURM_JOB_NAME", place.job_name},
        {"SLURM_NTASKS", tasks},
        {"SLURM_NPROCS", tasks},
        {"SLURM_TASKS_PER_NODE", tasks},
        {"SLURM_CPUS_PER_TASK", std::to_string(place.cpus_per_task)},
        {"SLURM_CPUS_ON_NODE", cpus},
        {"SLURM_JOB_CPUS_PER_NODE", cpus},
        {"SLURM_PROCID", std::to_string(place.rank)},
        {"SLURM_LOCALID", std::to_string(place.rank)},
        {"SLURM_NNODES", "1"},
        {"SLURM_JOB_NUM_NODES", "1"},
        {"SLURM_NODEID", "0"},
        {"SLURM_JOB_NODELIST", place.host},
        {"SLURM_NODELIST", place.host},
        {"SLURMD_NODENAME", place.host},
    };
    variables.insert(variables.end(), job.begin(), job.end());
    if (!place.submit_dir.empty()) variables.emplace_back("SLURM_SUBMIT_DIR", place.submit_dir);
    if (place.gpus > 0) variables.emplace_back("SLURM_GPUS_ON_NODE", std::to_string(place.gpus));
}

void add_array(Variables& variables, const TaskPlace& place) {
    const auto& ranges = place.array.ranges;
    if (!place.array_index || ranges.empty()) return;
    const std::int64_t first = std::ranges::min_element(ranges, {}, &ArrayRange::first)->first;
    const std::int64_t last = std::ranges::max_element(ranges, {}, &ArrayRange::last)->last;
    variables.emplace_back("SLURM_ARRAY_JOB_ID", place.array_job_id);
    variables.emplace_back("SLURM_ARRAY_TASK_ID", std::to_string(*place.array_index));
    variables.emplace_back("SLURM_ARRAY_TASK_MIN", std::to_string(first));
    variables.emplace_back("SLURM_ARRAY_TASK_MAX", std::to_string(last));
    variables.emplace_back("SLURM_ARRAY_TASK_COUNT", std::to_string(place.array.size()));
    // Slurm, too, tells the step of the first range.
    variables.emplace_back("SLURM_ARRAY_TASK_STEP", std::to_string(ranges.front().step));
}

void add_rank(Variables& variables, const TaskPlace& place) {
    const std::string rank = std::to_string(place.rank), tasks = std::to_string(place.tasks);
    for (const char* name :
         {"RANK", "LOCAL_RANK", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "PMI_RANK"})
        variables.emplace_back(name, rank);
    for (const char* name :
         {"WORLD_SIZE", "LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "PMI_SIZE"})
        variables.emplace_back(name, tasks);
    variables.emplace_back("MASTER_ADDR", place.master_address);
    variables.emplace_back("MASTER_PORT", std::to_string(place.master_port));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> slurm_variables(const TaskPlace& place) {
    Variables variables;
    add_job(variables, place);
    add_array(variables, place);
    if (place.part == TaskPart::rank) add_rank(variables, place);
    return variables;
}

}  // namespace hostler
