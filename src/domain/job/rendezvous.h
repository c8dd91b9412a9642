// What the program of a task finds in its environment: names of Slurm (batch jobs of 22.05), and for the
// ranks of a gang those of torchrun, Open MPI and PMI. All tasks of a gang are on one host.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "domain/job/batch_script.h"

namespace hostler {

inline constexpr int master_port_by_default = 29'500;  // torchrun's.

// script: one process that starts the job's tasks itself, so it gets no rank of torchrun or MPI (a program
// that saw a world of 4 would wait for three others). rank: one of the tasks of a gang.
enum class TaskPart { script, rank };
BOOST_DESCRIBE_ENUM(TaskPart, script, rank)

struct TaskPlace {
    TaskPart part = TaskPart::script;
    std::string job_id;
    std::string job_name;
    std::string submit_dir;  // Empty: not known, and no variable.
    std::string host;        // Short name.
    std::string master_address = "127.0.0.1";
    int master_port = master_port_by_default;
    std::int64_t tasks = 1;  // From 1.
    std::int64_t rank = 0;   // 0..tasks - 1; 0 for a script.
    std::int64_t cpus_per_task = 1;
    std::int64_t gpus = 0;  // Of all tasks; 0: no variable.
    // Of an element of an array.
    std::string array_job_id;
    std::optional<std::int64_t> array_index;
    JobArray array;  // With ranges when array_index is set.
};

// In a fixed order, each name once. The container's engine adds the devices (CUDA_VISIBLE_DEVICES).
std::vector<std::pair<std::string, std::string>> slurm_variables(const TaskPlace& place);

}  // namespace hostler
