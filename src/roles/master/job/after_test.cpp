// Jobs that wait for the end of another.
#include <gtest/gtest.h>

#include "api/types_job.h"
#include "roles/master/testing/job_rig.h"

namespace hostler::master {
namespace {

struct After : testing::JobRig {};

TEST_F(After, AJobThatIsCancelledWhileItWaitsEndsThoseThatWaitForIt) {
    host("a");
    auto request = wanted("first");
    request.hold = true;
    const std::string first = submit(request);
    request = wanted("second");
    request.after = {{.job = "first"}};
    const std::string second = submit(request);
    go_on();
    cancel_job(desk, first, "it was cancelled");
    go_on();
    EXPECT_EQ(job(second).phase, JobPhase::failed);
    EXPECT_EQ(job(second).reason, "dependency_failed");
    request.name = "third";
    const std::string third = submit(request);
    go_on();
    EXPECT_EQ(job(third).phase, JobPhase::failed) << "what it waits for has ended before";
}

// A job names others as they are when it is submitted, and keeps their ids.
TEST_F(After, ACycleCannotBeMade) {
    host("a");
    auto request = wanted("first");
    request.hold = true;
    request.after = {{.job = "first"}};
    EXPECT_EQ(refused(request).fields.at(0).path, "after[0].job") << "itself";
    request.after = {{.job = "second"}};
    EXPECT_EQ(refused(request).fields.at(0).path, "after[0].job") << "one that does not exist so far";
    request.after.clear();
    const std::string first = submit(request);
    request.name = "second";
    request.after = {{.job = "first"}};
    const std::string second = submit(request);
    request.name = "first";
    request.after = {{.job = "second"}};
    EXPECT_EQ(refused(request).reason, "job_exists");
    // Its name passes on, and no dependency with it.
    cancel_job(desk, first, "it was cancelled");
    const std::string other = submit(request);
    EXPECT_EQ(job(second).spec.after.at(0).job, first);
    go_on();
    EXPECT_EQ(job(second).reason, "dependency_failed");
    EXPECT_EQ(job(other).reason, "dependency_failed");
}

}  // namespace
}  // namespace hostler::master
