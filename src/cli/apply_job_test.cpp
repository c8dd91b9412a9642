// `hostler apply` of jobs.
#include "api/operations_job.h"
#include "cli/fake_api_test.h"

namespace hostler::cli {
namespace {

using ::testing::HasSubstr;

class ApplyJobTest : public CliTest {
protected:
    ApplyJobTest() {
        api.handlers.on<api::ops::list_jobs>(
            [this](api::Call, api::ListJobs asked) -> Task<api::List<api::Job>> {
                projects.push_back(asked.project.value_or(""));
                co_return api::List<api::Job>{.items = there};
            });
        api.handlers.on<api::ops::submit_job>([this](api::Call, api::SubmitJob asked) -> Task<api::Job> {
            there.push_back({.id = fmt::format("j-{}", there.size() + 1),
                             .name = asked.name,
                             .image = asked.image,
                             .cmd = asked.cmd,
                             .spec_name = asked.spec_name,
                             .tasks = asked.tasks});
            for (const api::JobAfter& one : asked.after) there.back().after.push_back({"j-0", one.when});
            co_return there.back();
        });
        api.handlers.on<api::ops::get_job>([](api::Call, api::NameJob asked) -> Task<api::Job> {
            co_return api::Job{.id = asked.job, .name = "prepare"};
        });
    }
    int apply(const std::string& more = "") {
        return run({"apply", "-f",
                    file("job.yaml",
                         "kind: job\nname: train\nimage: i:1\nspecName: h100-1\ncmd: x\n"
                         "after: [{job: prepare}]\n" +
                             more)});
    }
    std::vector<api::Job> there;
    std::vector<std::string> projects;
};

TEST_F(ApplyJobTest, AJobIsSubmittedOnceWhileItIsNotOver) {
    EXPECT_EQ(apply(), 0) << err;
    EXPECT_EQ(out, "job/train created\n");
    EXPECT_EQ(apply(), 0) << err;
    EXPECT_EQ(out, "job/train unchanged: it is pending\n");
    EXPECT_EQ(there.size(), 1u);
    there[0].state = api::JobState::succeeded;
    EXPECT_EQ(apply("project: lab\n"), 0) << err;
    EXPECT_EQ(out, "job/train created\n");
    EXPECT_EQ(there.size(), 2u);
    EXPECT_THAT(projects, ::testing::ElementsAre("default", "default", "lab"));
}

TEST_F(ApplyJobTest, AJobIsNotChanged) {
    EXPECT_EQ(apply(), 0) << err;
    EXPECT_EQ(apply("tasks: 3\n"), 5);
    EXPECT_THAT(err, HasSubstr("it exists and differs in: tasks (1 there, 3 in the file)"));
    EXPECT_THAT(err, HasSubstr("a job is not changed after it was submitted"));
    EXPECT_THAT(err, HasSubstr("hostler job cancel train"));
    EXPECT_EQ(there.size(), 1u);
}

TEST_F(ApplyJobTest, WrongFieldsAreNamedBeforeAnythingIsSent) {
    EXPECT_EQ(apply("tasks: 0\nretries: -1\n"), 2);
    EXPECT_THAT(err, HasSubstr(": tasks: "));
    EXPECT_THAT(err, HasSubstr(": retries: "));
    EXPECT_TRUE(there.empty());
}

}  // namespace
}  // namespace hostler::cli
