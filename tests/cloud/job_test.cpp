// Jobs in real containers: to their end, as a gang, through the death of roles.
#include <fmt/format.h>

#include "jobs.h"

namespace hostler::cloud {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

class JobsRun : public Shared, protected Jobs {
protected:
    static constexpr const char* image = "localhost/job:latest";

    static void SetUpTestSuite() {
        Shared::SetUpTestSuite();
        make_image(Cloud::shared(), "job", "sh echo sleep nc cat");
    }
    JobsRun() : Jobs{Cloud::shared(), image} {}
};

TEST_F(JobsRun, OneRunsToItsEndAndWhatItWroteIsReadAfterwards) {
    submit("once", "echo this is $HOSTLER_JOB_NAME of rank $HOSTLER_TASK_RANK");
    const Page done = wait_for("once", "succeeded");
    EXPECT_EQ(done.at("/exitCode"), "0");
    EXPECT_EQ(logs("once"), "this is once of rank 0\n");
    expect_gone(done);
    EXPECT_THAT(cloud.cli({"job", "events", "once", "--tenant", "acme"}).out, HasSubstr("submitted"));
}

TEST_F(JobsRun, AProgramThatFailsIsTriedAgainAndItsExitCodeIsKept) {
    submit("fails", "echo attempt $HOSTLER_JOB_ATTEMPT; exit 7", {{"retries", 1}});
    const Page failed = wait_for("fails", "failed");
    EXPECT_EQ(failed.at("/exitCode"), "7");
    EXPECT_EQ(failed.at("/reason"), "exit_code");
    EXPECT_EQ(logs("fails"), "attempt 2\n");
    EXPECT_EQ(logs("fails", {"--attempt", "1"}), "attempt 1\n");
}

TEST_F(JobsRun, TheTasksOfAGangReachEachOther) {
    submit("gang",
           "if [ $RANK = 0 ]; then nc -l -p $MASTER_PORT; "
           "else echo rank $RANK of $WORLD_SIZE >/said; "
           "until nc $MASTER_ADDR $MASTER_PORT </said; do sleep 1; done; fi",
           {{"tasks", 2}, {"gang", true}});
    wait_for("gang", "succeeded");
    EXPECT_EQ(logs("gang", {"--rank", "0"}), "rank 1 of 2\n");
}

TEST_F(JobsRun, ACancelledOneLeavesNothing) {
    submit("endless", "while :; do sleep 1; done", {{"stopGraceSeconds", 1}});
    wait_for("endless", "running");
    EXPECT_EQ(cloud.cli({"job", "cancel", "endless", "--tenant", "acme", "--yes"}).code, 0);
    expect_gone(wait_for("endless", "cancelled"));
}

TEST_F(JobsRun, OneGoesOnWhenMasterAndAgentDie) {
    submit("survivor", "echo begun; sleep 8; echo ended");
    wait_for("survivor", "running");
    const pid_t master = cloud.kill9("master"), agent = cloud.kill9("host-nj-1");
    cloud.wait_for_another("master", master);
    cloud.wait_for_another("host-nj-1", agent);
    const Page done = wait_for("survivor", "succeeded");
    EXPECT_EQ(logs("survivor"), "begun\nended\n") << "it ran once";
    EXPECT_EQ(json::parse(done.body).at("ends").as_array().size(), 1u);
}

TEST_F(JobsRun, AnArrayRunsEachIndexOnce) {
    submit("sweep", "echo index $HOSTLER_ARRAY_INDEX; exit $((HOSTLER_ARRAY_INDEX == 4))",
           {{"array", "1-5%2"}});
    const Page ended = wait_for("sweep", "failed");
    EXPECT_EQ(ended.at("/succeeded"), "4");
    EXPECT_EQ(ended.at("/failed"), "1");
    for (int index = 1; index <= 5; ++index)
        EXPECT_EQ(logs("sweep", {"--index", std::to_string(index)}), fmt::format("index {}\n", index));
}

TEST_F(JobsRun, RunShowsTheOutputAndEndsAsTheProgramDoes) {
    const Ran ran = cloud.cli({"run", "--gpus", "1", "--image", image, "--tenant-id", "acme", "-e", "WHO=me",
                               "--", "sh", "-c", "echo this is $WHO; exit 3"});
    EXPECT_EQ(ran.out, "this is me\n") << ran.err;
    EXPECT_EQ(ran.code, 3);
    const Ran none = cloud.cli({"run", "--gpus", "77", "--image", image, "--tenant-id", "acme", "--", "sh"});
    EXPECT_NE(none.code, 0);
    EXPECT_THAT(none.err, HasSubstr("no spec has 77 GPUs; the nearest is"));
}

TEST_F(JobsRun, WrongOnesAreRefusedWithEachWrongField) {
    const Page page = cloud.api(
        "POST", "/v1/jobs",
        wanted("Wrong!", "true", {{"array", "0-10000000"}, {"timeLimitSeconds", -1}, {"tasks", 0}}));
    EXPECT_EQ(page.status, 400);
    for (const char* field : {"name", "array", "timeLimitSeconds", "tasks"})
        EXPECT_THAT(page.body, HasSubstr(fmt::format("\"{}\"", field)));
    const Page large =
        cloud.api("POST", "/v1/jobs", wanted("large", "true", {{"tasks", 64}, {"gang", true}}));
    EXPECT_EQ(large.status, 409);
    EXPECT_THAT(large.body, HasSubstr("placement_impossible"));
    EXPECT_THAT(large.body, HasSubstr("64 tasks of a gang need room on one host"));
}

}  // namespace
}  // namespace hostler::cloud
