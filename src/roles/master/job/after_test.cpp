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

}  // namespace
}  // namespace hostler::master
