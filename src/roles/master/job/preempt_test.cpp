// Preemption by jobs within a guarantee, and by jobs of a higher priority.
#include "roles/master/job/preempt.h"

#include <gmock/gmock.h>

#include "api/types_job.h"
#include "api/types_queue.h"
#include "roles/master/job/counts.h"
#include "roles/master/job/settings.h"
#include "roles/master/testing/job_rig.h"

namespace hostler::master {
namespace {

using ::testing::SizeIs;

struct Preemption : testing::JobRig {
    Preemption() { host("a", "nj", 2); }
    void guarantee(const std::string& tenant, std::int64_t gpus) {
        ASSERT_TRUE(set_queue(desk, {.tenant = tenant}, {.guaranteed = api::QueueAmount{.gpus = gpus}}));
    }
    std::string runs_for(const std::string& name, const std::string& by, const std::string& tenant,
                         std::int64_t priority = 0) {
        auto request = wanted(name);
        request.priority = priority;
        const std::string id = submit(request, by, tenant);
        go_on();
        all_run(id);
        pass(100);
        return id;
    }
};

TEST_F(Preemption, AQueueGetsBackWhatItIsGuaranteedFromTheYoungestThatBorrows) {
    guarantee("acme", 1);
    const std::string old = runs_for("old", "user/bob", "beta"),
                      young = runs_for("young", "user/bob", "beta");
    const std::string mine = submit(wanted("mine"));
    guarantee("beta", 1);
    EXPECT_TRUE(view_queue(desk, {.tenant = "beta"}).borrows) << "it has two GPUs";
    guarantee("beta", 2);
    EXPECT_FALSE(view_queue(desk, {.tenant = "beta"}).borrows) << "CPUs and memory are not guaranteed to it";
    ASSERT_TRUE(delete_queue(desk, {.tenant = "beta"}, std::nullopt));
    go_on();
    EXPECT_EQ(job(old).phase, JobPhase::running);
    EXPECT_EQ(job(young).phase, JobPhase::preempting);
    EXPECT_EQ(live.part<JobCounts>().preempted, 1u);
    const std::string victim = tasks(young)[0];
    EXPECT_EQ(instance(victim).phase, InstancePhase::stopping);
    EXPECT_EQ(job(mine).phase, JobPhase::pending) << "until its room is free";
    // What comes meanwhile does not get it.
    const std::string other = submit(wanted("other"), "user/eve", "gamma");
    go_on();
    EXPECT_TRUE(tasks(other).empty());
    all_gone();
    EXPECT_THAT(tasks(mine), SizeIs(1));
    EXPECT_EQ(job(young).phase, JobPhase::pending);
    EXPECT_EQ(job(young).ends[0].reason, "preempted");
    EXPECT_EQ(job(young).again[0].failures, 0) << "it is no try";
    // No one is evicted for what waits now.
    pass(1000);
    go_on();
    EXPECT_EQ(job(old).phase, JobPhase::running);
    EXPECT_THAT(tasks(mine), SizeIs(1));
    EXPECT_TRUE(tasks(young).empty() && tasks(other).empty());
}

TEST_F(Preemption, AGuaranteeIsTakenOnceAndLeavesOthersTheirs) {
    host("b", "nj", 2);
    const auto victims = [&] {
        std::ptrdiff_t all = 0;
        for (const auto& [id, job] : estate.jobs.all())
            all += std::ranges::count(job.runs, "preempted", &JobRun::ending);
        return all;
    };
    for (const char* name : {"one", "two", "three", "four"}) runs_for(name, "user/bob", "beta");
    guarantee("acme", 1);
    submit(wanted("mine")), submit(wanted("more"), "user/eve");
    for (int i = 0; i < 3; ++i) go_on();
    EXPECT_EQ(victims(), 1) << "one is guaranteed to the tenant, and promised";
    guarantee("acme", 2), guarantee("beta", 3);
    go_on();
    EXPECT_EQ(victims(), 1) << "three are left of those that beta is guaranteed";
}

TEST_F(Preemption, APriorityThatWasRaisedWhileItRanProtects) {
    const std::string low = runs_for("low", "user/ann", "acme"), more = runs_for("more", "user/ann", "acme");
    estate.jobs.edit(low).priority = estate.jobs.edit(more).priority = 9;
    auto request = wanted("high");
    request.priority = 5;
    submit(request);
    go_on();
    EXPECT_EQ(job(low).phase, JobPhase::running);
    EXPECT_EQ(job(more).phase, JobPhase::running);
}

TEST_F(Preemption, AHigherPriorityOfTheSameUserComesFirstAndIsNotEvictedInTurn) {
    const std::string low = runs_for("low", "user/ann", "acme"),
                      more = runs_for("more", "user/ann", "acme", 1);
    auto request = wanted("high");
    request.priority = 5;
    const std::string high = submit(request);
    go_on();
    EXPECT_EQ(job(low).phase, JobPhase::preempting) << "the lowest of them";
    EXPECT_EQ(job(more).phase, JobPhase::running);
    all_gone();
    EXPECT_THAT(tasks(high), SizeIs(1));
    all_run(high);
    for (int i = 0; i < 10; ++i) pass(100), go_on();
    EXPECT_EQ(job(high).phase, JobPhase::running);
    EXPECT_EQ(job(low).phase, JobPhase::pending);
    EXPECT_THAT(job(low).ends, SizeIs(1));
}

TEST_F(Preemption, WhatHasJustBegunIsLeftAMinute) {
    auto request = wanted("low");
    request.tasks = 2;
    const std::string low = submit(request);
    go_on();
    all_run(low);
    request = wanted("high");
    request.priority = 5;
    submit(request);
    go_on();
    EXPECT_EQ(job(low).phase, JobPhase::running);
    EXPECT_TRUE(job(low).runs[0].ending.empty() && job(low).runs[1].ending.empty());
    pass(59);
    go_on();
    EXPECT_EQ(std::ranges::count(job(low).runs, "preempted", &JobRun::ending), 0);
    pass(2);
    go_on();
    EXPECT_EQ(std::ranges::count(job(low).runs, "preempted", &JobRun::ending), 1)
        << "one of its tasks is enough";
    EXPECT_EQ(job(low).phase, JobPhase::running);
}

TEST_F(Preemption, NothingIsEvictedWhereThatDoesNotHelp) {
    const std::string low = runs_for("low", "user/ann", "acme");
    auto request = gang(2);
    request.priority = 5;
    runs_for("else", "user/bob", "beta");
    const std::string gang = submit(request);
    go_on();
    EXPECT_EQ(job(low).phase, JobPhase::running) << "the other GPU stays taken";
    EXPECT_EQ(job(gang).phase, JobPhase::pending);
}

TEST_F(Preemption, RoomThatIsKeptIsFreeWhenItsJobIsCancelled) {
    guarantee("acme", 1);
    runs_for("old", "user/bob", "beta"), runs_for("young", "user/bob", "beta");
    const std::string mine = submit(wanted("mine")), other = submit(wanted("other"), "user/eve", "gamma");
    go_on();
    cancel_job(desk, mine, "it was cancelled");
    all_gone();
    EXPECT_THAT(tasks(other), SizeIs(1));
}

}  // namespace
}  // namespace hostler::master
