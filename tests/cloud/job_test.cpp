// Jobs in real containers: to their end, as a gang, through the death of roles.
#include <fmt/format.h>

#include "cloud.h"

namespace hostler::cloud {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

// Of an image with busybox.
class Jobs : public Shared {
protected:
    static constexpr const char* image = "localhost/job:latest";

    static void SetUpTestSuite() {
        Shared::SetUpTestSuite();
        Cloud& cloud = Cloud::shared();
        const std::string root = cloud.folder + "/job";
        ASSERT_EQ(
            run_program({"/bin/sh", "-c",
                         fmt::format("mkdir -p {0}/bin && cp $(command -v busybox) {0}/bin/busybox && "
                                     "for a in sh echo sleep nc cat; do ln -s busybox {0}/bin/$a; done && "
                                     "tar -C {0} -cf {0}.tar .",
                                     root)})
                .code,
            0);
        const Page made = cloud.web.unix_socket(
            "POST", cloud.data + "/engine/podman.sock",
            "/v1.41/images/create?fromSrc=-&repo=localhost/job&tag=latest&changes=ENV%20PATH%3D/bin",
            read_file(root + ".tar"));
        ASSERT_EQ(made.status, 200) << made.body;
    }
    json::object wanted(const std::string& name, const std::string& script, json::object more = {}) {
        json::object body{{"name", name},          {"tenantID", "acme"},
                          {"image", image},        {"specName", "small"},
                          {"entrypoint", "sh -c"}, {"cmd", fmt::format("'{}'", script)}};
        for (auto& [key, value] : more) body[key] = value;
        return body;
    }
    void submit(const std::string& name, const std::string& script, json::object more = {}) {
        const Page made = cloud.api("POST", "/v1/jobs", wanted(name, script, std::move(more)));
        ASSERT_EQ(made.status, 201) << made.body;
    }
    Page job(const std::string& name) {
        return cloud.api("GET", fmt::format("/v1/jobs/{}?tenantID=acme", name));
    }
    Page wait_for(const std::string& name, const std::string& state, Duration within = 60s) {
        Page page;
        EXPECT_TRUE(cloud.until(
            [&] {
                page = job(name);
                return page.at("/state") == state;
            },
            within))
            << page.body;
        return page;
    }
    std::string logs(const std::string& name, std::vector<std::string> more = {}) {
        std::vector<std::string> words{"job", "logs", name, "--tenant", "acme"};
        words.insert(words.end(), more.begin(), more.end());
        return cloud.cli(std::move(words)).out;
    }
    // Its tasks have left nothing behind.
    void expect_gone(const Page& job) {
        for (const json::value& end : json::parse(job.body).at("ends").as_array())
            for (const json::value& instance : end.at("instances").as_array())
                EXPECT_TRUE(cloud.until([&] {
                    return cloud.containers(std::string{instance.as_string()}).empty();
                })) << instance;
    }
};

TEST_F(Jobs, OneRunsToItsEndAndWhatItWroteIsReadAfterwards) {
    submit("once", "echo this is $HOSTLER_JOB_NAME of rank $HOSTLER_TASK_RANK");
    const Page done = wait_for("once", "succeeded");
    EXPECT_EQ(done.at("/exitCode"), "0");
    EXPECT_EQ(logs("once"), "this is once of rank 0\n");
    expect_gone(done);
    EXPECT_THAT(cloud.cli({"job", "events", "once", "--tenant", "acme"}).out, HasSubstr("submitted"));
}

TEST_F(Jobs, AProgramThatFailsIsTriedAgainAndItsExitCodeIsKept) {
    submit("fails", "echo attempt $HOSTLER_JOB_ATTEMPT; exit 7", {{"retries", 1}});
    const Page failed = wait_for("fails", "failed");
    EXPECT_EQ(failed.at("/exitCode"), "7");
    EXPECT_EQ(failed.at("/reason"), "exit_code");
    EXPECT_EQ(logs("fails"), "attempt 2\n");
    EXPECT_EQ(logs("fails", {"--attempt", "1"}), "attempt 1\n");
}

TEST_F(Jobs, TheTasksOfAGangReachEachOther) {
    submit("gang",
           "if [ $RANK = 0 ]; then nc -l -p $MASTER_PORT; "
           "else until echo rank $RANK of $WORLD_SIZE | nc $MASTER_ADDR $MASTER_PORT; do sleep 1; done; fi",
           {{"tasks", 2}, {"gang", true}});
    wait_for("gang", "succeeded");
    EXPECT_EQ(logs("gang", {"--rank", "0"}), "rank 1 of 2\n");
}

TEST_F(Jobs, ACancelledOneLeavesNothing) {
    submit("endless", "while :; do sleep 1; done", {{"stopGraceSeconds", 1}});
    wait_for("endless", "running");
    EXPECT_EQ(cloud.cli({"job", "cancel", "endless", "--tenant", "acme", "--yes"}).code, 0);
    expect_gone(wait_for("endless", "cancelled"));
}

TEST_F(Jobs, OneGoesOnWhenMasterAndAgentDie) {
    submit("survivor", "echo begun; sleep 8; echo ended");
    wait_for("survivor", "running");
    const pid_t master = cloud.kill9("master"), agent = cloud.kill9("host-nj-1");
    cloud.wait_for_another("master", master);
    cloud.wait_for_another("host-nj-1", agent);
    const Page done = wait_for("survivor", "succeeded");
    EXPECT_EQ(logs("survivor"), "begun\nended\n") << "it ran once";
    EXPECT_EQ(json::parse(done.body).at("ends").as_array().size(), 1u);
}

TEST_F(Jobs, AnArrayRunsEachIndexOnce) {
    submit("sweep", "echo index $HOSTLER_ARRAY_INDEX; exit $((HOSTLER_ARRAY_INDEX == 4))",
           {{"array", "1-5%2"}});
    const Page ended = wait_for("sweep", "failed");
    EXPECT_EQ(ended.at("/succeeded"), "4");
    EXPECT_EQ(ended.at("/failed"), "1");
    for (int index = 1; index <= 5; ++index)
        EXPECT_EQ(logs("sweep", {"--index", std::to_string(index)}), fmt::format("index {}\n", index));
}

TEST_F(Jobs, RunShowsTheOutputAndEndsAsTheProgramDoes) {
    const Ran ran = cloud.cli({"run", "--gpus", "1", "--image", image, "--tenant-id", "acme", "-e", "WHO=me",
                               "--", "sh", "-c", "echo this is $WHO; exit 3"});
    EXPECT_EQ(ran.out, "this is me\n") << ran.err;
    EXPECT_EQ(ran.code, 3);
    const Ran none = cloud.cli({"run", "--gpus", "77", "--image", image, "--tenant-id", "acme", "--", "sh"});
    EXPECT_NE(none.code, 0);
    EXPECT_THAT(none.err, HasSubstr("no spec has 77 GPUs; the nearest is"));
}

TEST_F(Jobs, WrongOnesAreRefusedWithEachWrongField) {
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
