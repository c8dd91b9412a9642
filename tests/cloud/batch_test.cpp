// The same batch scripts by Slurm's sbatch and by `hostler run`.
#include <unistd.h>

#include <fmt/format.h>

#include <future>

#include "jobs.h"

namespace hostler::cloud {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr auto scripts_within = 180s;  // Slurm looks at time limits twice a minute.

class BatchScripts : public Shared {
protected:
    std::string out(const std::string& side, const std::string& file) const {
        return read_file(cloud.folder + "/" + side + "/" + file);
    }
};

TEST_F(BatchScripts, HaveTheSameOutcomeAsBySbatch) {
    const std::string jobs = HOSTLER_RECORDED "/../jobs";
    // With the shells that the scripts name, and their libraries.
    make_image(cloud, "batch", "sh sleep cat tee",
               "mkdir $root/work; cp --parents -L /bin/bash $(ldd /bin/bash | grep -o '/[^ ]*') $root",
               "WORKDIR%20/work");
    ASSERT_EQ(
        cloud.api("POST", "/v1/volumes", {{"name", "dependency"}, {"size", "1Gi"}, {"tenantID", "acme"}})
                .status /
            100,
        2);
    const std::string by_slurm = cloud.folder + "/slurm", by_us = cloud.folder + "/run";
    fs::create_directories(by_slurm);
    fs::create_directories(by_us);
    constexpr int port_first = 20'000, ports = 5'000;
    auto slurm = std::async(std::launch::async, [&] {
        const int port = port_first + (::getpid() % ports) * 2;
        return run_program({jobs + "/by_sbatch.sh", jobs + "/scripts", by_slurm, std::to_string(port)}, {},
                           scripts_within);
    });
    const Ran ours =
        cloud.program({jobs + "/by_hostler.sh", jobs + "/scripts", by_us},
                      {"run", "--image", "localhost/batch:latest", "--spec", "small", "--tenant-id", "acme"},
                      scripts_within);
    EXPECT_EQ(ours.code, 0) << ours.err;
    const std::string workdir = read_file("/tmp/hostler_workdir.out");
    const Ran theirs = slurm.get();
    ASSERT_EQ(theirs.code, 0) << theirs.out << theirs.err;
    int compared = 0;
    for (const auto& entry : fs::recursive_directory_iterator(by_slurm)) {
        const std::string file = fs::relative(entry.path(), by_slurm).string();
        if (!entry.is_regular_file() || file.ends_with("sbatch.log") || file.ends_with("/second") ||
            file.ends_with("dependency.txt"))
            continue;
        ++compared;
        const std::string log = out("run", file.substr(0, file.find('/')) + "/hostler.log");
        EXPECT_TRUE(fs::exists(by_us + "/" + file)) << file << "\n" << log;
        if (file == "time_limit/time_limit.err")  // Times and names differ.
            EXPECT_THAT(out("run", file), ::testing::HasSubstr("CANCELLED DUE TO TIME LIMIT"));
        else
            EXPECT_EQ(out("run", file), out("slurm", file)) << file << "\n" << log;
    }
    EXPECT_EQ(compared, 24);
    EXPECT_EQ(workdir, "/tmp\n");
    cloud.api("DELETE", "/v1/volumes/dependency?tenantID=acme");
}

}  // namespace
}  // namespace hostler::cloud
