// Jobs whose tasks are programs without containers.
#include <gmock/gmock.h>

#include "proto/uplink.pb.h"
#include "roles/master/job/queues.h"
#include "roles/master/testing/job_rig.h"
#include "roles/master/uplink/messages.h"

namespace hostler::master {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

struct ProgramJobs : testing::JobRig {
    ProgramJobs() { estate.tenants.add({.id = "acme"}); }
    static api::SubmitJob program(const std::string& name) {
        auto request = wanted(name);
        request.image.clear();
        request.program = true;
        request.cmd = "sleep 1";
        return request;
    }
    void allow() { estate.tenants.edit("acme").programs = true; }
    std::string open_host(const std::string& name) {
        const std::string id = host(name);
        estate.hosts.edit(id).facts.programs = true;
        report(id);
        return id;
    }
};

TEST_F(ProgramJobs, NeedAnOperatorWhoAllowsThemToTheTenant) {
    open_host("a");
    const Error error = refused(program("bare"));
    EXPECT_EQ(error.code, Code::forbidden);
    EXPECT_EQ(error.reason, "programs_forbidden");
    EXPECT_THAT(error.help, HasSubstr("hostler tenant edit acme --programs"));
}

TEST_F(ProgramJobs, NeedAHostThatRunsPrograms) {
    host("a");
    allow();
    const Error error = refused(program("bare"));
    EXPECT_EQ(error.reason, "placement_impossible");
    EXPECT_THAT(error.help, HasSubstr("un it in a container"));
}

TEST_F(ProgramJobs, RunOnAHostThatAllowsThemWithoutAnImageAndANetwork) {
    host("a");
    const std::string there = open_host("b");
    allow();
    const std::string id = submit(program("bare"));
    go_on();
    ASSERT_THAT(tasks(id), SizeIs(1));
    const std::string task = tasks(id)[0];
    EXPECT_EQ(instance(task).host, there);
    ASSERT_TRUE(command_of(task));
    uplink::Command sent;
    ASSERT_TRUE(write_command(desk, 1, *command_of(task), sent));
    const auto& start = sent.start_workload();
    EXPECT_TRUE(start.program());
    EXPECT_TRUE(start.image().empty());
    EXPECT_FALSE(start.has_network());
    EXPECT_TRUE(start.address().empty());
    EXPECT_EQ(start.command(0), "sleep");
    all_run(id);
    exits(task, 0);
    go_on();
    EXPECT_EQ(job(id).phase, JobPhase::succeeded);
}

TEST_F(ProgramJobs, WaitWhenTheirTenantMayRunNoneAnyLonger) {
    open_host("a");
    allow();
    const std::string id = submit(program("bare"));
    estate.tenants.edit("acme").programs = false;
    go_on();
    EXPECT_TRUE(tasks(id).empty());
    EXPECT_EQ(job(id).phase, JobPhase::pending);
    ASSERT_NE(job_queues(desk).refused(id), nullptr);
    EXPECT_EQ(job_queues(desk).refused(id)->reason, "programs_forbidden");
}

}  // namespace
}  // namespace hostler::master
