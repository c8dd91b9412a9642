#include "domain/job/rendezvous.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace hostler {
namespace {

// Checks that no name is there twice.
std::map<std::string, std::string> variables(const TaskPlace& place) {
    std::map<std::string, std::string> found;
    for (const auto& [name, value] : slurm_variables(place))
        EXPECT_TRUE(found.emplace(name, value).second) << name << " is there twice";
    return found;
}

TEST(Rendezvous, RanksOfAGang) {
    for (std::int64_t rank = 0; rank < 4; ++rank) {
        auto found = variables({.part = TaskPart::rank,
                                .job_id = "7",
                                .job_name = "train",
                                .submit_dir = "/base",
                                .hosts = "10.1.0.2,10.1.0.3",
                                .tasks = 4,
                                .rank = rank,
                                .cpus_per_task = 8,
                                .gpus = 2});
        for (const auto name : {"RANK", "SLURM_PROCID", "SLURM_NODEID", "PMI_RANK", "OMPI_COMM_WORLD_RANK"})
            EXPECT_EQ(found[name], std::to_string(rank)) << name;
        for (const auto name :
             {"WORLD_SIZE", "SLURM_NTASKS", "SLURM_NNODES", "PMI_SIZE", "OMPI_COMM_WORLD_SIZE"})
            EXPECT_EQ(found[name], "4") << name;
        for (const auto name : {"LOCAL_RANK", "SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK"})
            EXPECT_EQ(found[name], "0") << name << ": it has a container that is its alone";
        EXPECT_EQ(found["LOCAL_WORLD_SIZE"], "1");
        EXPECT_EQ(found["SLURM_GPUS_ON_NODE"], "2");
        EXPECT_EQ(found["SLURM_TASKS_PER_NODE"], "1(x4)");
        EXPECT_EQ(found["SLURM_JOB_CPUS_PER_NODE"], "8(x4)");
        EXPECT_EQ(found["MASTER_PORT"], "29500");
        EXPECT_EQ(found["SLURM_JOB_ID"], "7");
        EXPECT_EQ(found["SLURM_JOB_NAME"], "train");
        EXPECT_EQ(found["SLURM_JOB_NODELIST"], "10.1.0.2,10.1.0.3");
        EXPECT_EQ(found["SLURM_CPUS_PER_TASK"], "8");
        EXPECT_EQ(found["SLURM_CPUS_ON_NODE"], "8");
        EXPECT_EQ(found["SLURM_SUBMIT_DIR"], "/base");
        EXPECT_FALSE(found.contains("SLURM_ARRAY_TASK_ID"));
        EXPECT_FALSE(found.contains("SLURM_JOBID")) << "mpirun would look for srun";
    }
}

TEST(Rendezvous, AScriptHasItsTasksAndNoRankOfTorchrun) {
    const auto found = variables({.part = TaskPart::script, .job_id = "7", .tasks = 4});
    EXPECT_EQ(found.at("SLURM_JOBID"), "7");
    EXPECT_EQ(found.at("SLURM_TASKS_PER_NODE"), "4");
    EXPECT_EQ(found.at("SLURM_NNODES"), "1");
    EXPECT_EQ(found.at("SLURM_NTASKS"), "4");
    EXPECT_EQ(found.at("SLURM_PROCID"), "0");
    for (const auto name : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "PMI_RANK", "OMPI_COMM_WORLD_RANK",
                            "SLURM_SUBMIT_DIR", "SLURM_GPUS_ON_NODE"})
        EXPECT_FALSE(found.contains(name)) << name;
}

TEST(Rendezvous, ATaskThatRunsAloneIsOfNoWorld) {
    const auto found = variables({.job_id = "7", .job_name = "train", .rank = 3});
    EXPECT_EQ(found,
              (std::map<std::string, std::string>{{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NAME", "train"}}));
}

// Seen with sbatch 22.05: -a 2-9:3.
TEST(Rendezvous, ElementsOfAnArray) {
    const auto found =
        variables({.job_id = "135", .array_index = 5, .array = {.ranges = {{2, 8, 3}}, .at_most = 1}});
    EXPECT_EQ(found.at("SLURM_JOB_ID"), "135_5");
    EXPECT_EQ(found.at("SLURM_ARRAY_JOB_ID"), "135");
    EXPECT_EQ(found.at("SLURM_ARRAY_TASK_ID"), "5");
    EXPECT_EQ(found.at("SLURM_ARRAY_TASK_MIN"), "2");
    EXPECT_EQ(found.at("SLURM_ARRAY_TASK_MAX"), "8");
    EXPECT_EQ(found.at("SLURM_ARRAY_TASK_COUNT"), "3");
    EXPECT_EQ(found.at("SLURM_ARRAY_TASK_STEP"), "3");
}

// Seen with sbatch 22.05: -a 1,3,5-7 has step 1, 0-4:2,9 has step 2 and maximum 9.
TEST(Rendezvous, AnArrayOfSeveralRanges) {
    const auto found =
        variables({.array_index = 9, .array = {.ranges = {{0, 4, 2}, {9, 9, 1}}, .at_most = 0}});
    EXPECT_EQ(found.at("SLURM_ARRAY_TASK_MIN"), "0");
    EXPECT_EQ(found.at("SLURM_ARRAY_TASK_MAX"), "9");
    EXPECT_EQ(found.at("SLURM_ARRAY_TASK_COUNT"), "4");
    EXPECT_EQ(found.at("SLURM_ARRAY_TASK_STEP"), "2");
}

}  // namespace
}  // namespace hostler
