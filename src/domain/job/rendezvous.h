// What the program of a task finds in its environment: names of Slurm (batch jobs of 22.05), and for the
// ranks of a gang those of torchrun, Open MPI and PMI. A task has a container, and so a node, that is its
// alone: to its program a gang of four tasks is four nodes with one task each.
//
// SLURM_JOBID is of scripts only. Open MPI's mpirun takes it as a sign that srun starts what it runs, and
// fails where SLURM_NODELIST does not name its own machine. Lightning takes SLURM_NTASKS as the world's size,
// and writes nothing where SLURM_PROCID is not 0: a task that runs alone has neither.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "domain/job/batch_script.h"

namespace hostler {

inline constexpr int master_port_by_default = 29'500;  // torchrun's.

// element: a task that runs alone. rank: one of the tasks of a gang. script: one process that starts the
// job's tasks itself, so it gets no rank of torchrun or MPI (a program that saw a world of 4 would wait for
// three others).
enum class TaskPart { element, rank, script };
BOOST_DESCRIBE_ENUM(TaskPart, element, rank, script)

struct TaskPlace {
    TaskPart part = TaskPart::element;
    std::string job_id;  // Empty: not known so far, and no variable. So are the next three.
    std::string job_name;
    std::string submit_dir;
    std::string hosts;  // Names or addresses of its nodes, as "a,b".
    int master_port = master_port_by_default;
    std::int64_t tasks = 1;  // From 1; of a script those that it starts.
    std::int64_t rank = 0;   // 0..tasks - 1; 0 for a script.
    std::int64_t cpus_per_task = 1;
    std::int64_t gpus = 0;                    // Of its node; 0: no variable.
    std::optional<std::int64_t> array_index;  // Of an element of an array.
    JobArray array;                           // With ranges when array_index is set.
};

// In a fixed order, each name once. The container's engine adds the devices (CUDA_VISIBLE_DEVICES).
std::vector<std::pair<std::string, std::string>> slurm_variables(const TaskPlace& place);

// What names the nodes: SLURM_JOB_NODELIST and its older name.
std::vector<std::pair<std::string, std::string>> node_variables(const std::string& hosts);

}  // namespace hostler
