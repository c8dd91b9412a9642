// A gang of four containers on one host: Open MPI finds its ranks by what a gang's tasks are told, and where
// one of them dies all end.
#include <fmt/format.h>

#include "jobs.h"

namespace hostler::cloud {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;
using namespace std::chrono_literals;

// Of an image with this machine's Open MPI.
class Gang : public Shared, protected Jobs {
protected:
    static void SetUpTestSuite() {
        Shared::SetUpTestSuite();
        make_image(Cloud::shared(), "mpi", "sh echo sleep nc", R"(
scripts=)" HOSTLER_RECORDED R"(/../jobs/gang
clang++-19 -o $root/bin/sum $scripts/sum.cpp -l:libmpi.so.40
cp $scripts/run.sh $scripts/hand_over.sh $root/bin
plugins=$(dpkg -L libopenmpi3 libpmix2 | grep 'mca_.*[.]so$')
programs="/usr/bin/mpirun /usr/bin/orted"
cp --parents -L $programs $plugins $(dpkg -L openmpi-common | grep -e '[.]txt$' -e '[.]conf$') \
   $(ldd $programs $plugins $root/bin/sum | grep -v ':$' | grep -o '/[^ ]*' | sort -u) $root
mv $root/usr/bin/* $root/bin
mkdir -p $root/etc; echo root:x:0:0:root:/:/bin/sh > $root/etc/passwd)");
    }
    Gang() : Jobs{Cloud::shared(), "localhost/mpi:latest"} {}

    // mpirun prints what all ranks write.
    std::vector<std::string> output_of_rank_0(const std::string& name) {
        std::vector<std::string> all = lines(logs(name, {"--rank", "0"}));
        std::erase_if(all, [](const std::string& line) { return !line.starts_with("rank "); });
        return all;
    }
    std::string all_output(const std::string& name) {
        std::string all;
        for (const char* rank : {"0", "1", "2", "3"})
            all += fmt::format("[{}] {}\n", rank, logs(name, {"--rank", rank}));
        return all;
    }
};

TEST_F(Gang, RunsMPIAcrossItsContainers) {
    submit("sum", "run.sh sum", {{"tasks", 4}, {"gang", true}, {"timeLimitSeconds", 120}});
    const Page done = wait_for("sum", "succeeded", 150s);
    EXPECT_EQ(done.at("/exitCode"), "0");
    EXPECT_THAT(output_of_rank_0("sum"),
                UnorderedElementsAre("rank 0 of 4 in task 0: 1111 1111", "rank 1 of 4 in task 1: 1111 1111",
                                     "rank 2 of 4 in task 2: 1111 1111", "rank 3 of 4 in task 3: 1111 1111"))
        << all_output("sum");
    expect_gone(done);
}

TEST_F(Gang, EndsWhereARankDiesAndSaysWhichOne) {
    // mpirun ends its ranks where it loses one, but not their tasks.
    submit("broken", "run.sh sum wait; sleep 1000", {{"tasks", 4}, {"gang", true}, {"stopGraceSeconds", 5}});
    ASSERT_TRUE(cloud.until([&] { return output_of_rank_0("broken").size() == 4; }, 120s))
        << job("broken").body << all_output("broken");
    const Page running = job("broken");
    const auto victim = cloud.containers(running.at("/running/2/instance"));
    ASSERT_THAT(victim, SizeIs(1));
    EXPECT_EQ(cloud.web
                  .unix_socket("POST", cloud.engine_socket,
                               fmt::format("/v1.41/containers{}/kill?signal=KILL", victim[0]))
                  .status,
              204);
    const Page failed = wait_for("broken", "failed");
    EXPECT_EQ(failed.at("/reason"), "exit_code");
    EXPECT_EQ(failed.at("/exitCode"), "137");
    EXPECT_EQ(failed.at("/message"), "1 of 1 elements failed: rank 2 ended first, with exit code 137");
    EXPECT_EQ(failed.at("/ends/0/rank"), "2");
    EXPECT_THAT(cloud.cli({"job", "events", "broken", "--tenant", "acme"}).out,
                HasSubstr("rank 2 ended first, with exit code 137"));
    expect_gone(failed);
}

}  // namespace
}  // namespace hostler::cloud
