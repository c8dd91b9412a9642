// Jobs from submission to their end, on hosts that say what runs there.
#include "roles/master/job/jobs.h"

#include <gmock/gmock.h>

#include "api/types_job.h"
#include "roles/master/instance/archive.h"
#include "roles/master/job/follow.h"
#include "roles/master/job/queues.h"
#include "roles/master/job/round.h"
#include "roles/master/job/view.h"
#include "roles/master/run/places.h"
#include "roles/master/run/runs.h"
#include "roles/master/testing/job_rig.h"

namespace hostler::master {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::SizeIs;

using Jobs = testing::JobRig;

TEST_F(Jobs, OneRunsToItsEnd) {
    host("a");
    const std::string id = submit(wanted("train"));
    EXPECT_EQ(job(id).phase, JobPhase::pending);
    EXPECT_TRUE(tasks(id).empty()) << "a job that waits is a record alone";
    go_on();
    ASSERT_THAT(tasks(id), SizeIs(1));
    const std::string task = tasks(id)[0];
    EXPECT_EQ(job(id).phase, JobPhase::admitted);
    EXPECT_EQ(instance(task).owner, (Owner{"job", id}));
    EXPECT_EQ(instance(task).created_by, "user/ann");
    EXPECT_EQ(variable(task, "HOSTLER_JOB_ID"), id);
    EXPECT_EQ(variable(task, "HOSTLER_TASK_RANK"), "0");
    EXPECT_EQ(variable(task, "RANK"), "-") << "it is no gang";
    ASSERT_TRUE(command_of(task)) << "its host is told";
    all_run(id);
    EXPECT_EQ(job(id).phase, JobPhase::running);
    EXPECT_EQ(view(desk, job(id)).running[0].state, "running");
    exits(task, 0);
    go_on();
    EXPECT_EQ(job(id).phase, JobPhase::succeeded);
    EXPECT_EQ(job(id).exit_code, 0);
    EXPECT_EQ(job(id).ends[0].reason, "completed");
    EXPECT_EQ(task_of(job(id), 0, {}, 0), task) << "its logs are found";
    EXPECT_TRUE(instance(task).claim.empty());
    EXPECT_FALSE(is_repairable(instance(task))) << "a job makes its tasks anew";
}

TEST_F(Jobs, AFailedProgramIsTriedAgainAfterAWhileAndThenNoMore) {
    host("a");
    auto request = wanted("train");
    request.retries = 1;
    const std::string id = submit(request);
    go_on();
    all_run(id);
    const std::string first = tasks(id)[0];
    exits(first, 3);
    go_on();
    EXPECT_EQ(job(id).phase, JobPhase::pending);
    EXPECT_TRUE(tasks(id).empty()) << "it waits two seconds before the next try";
    pass(3);
    go_on();
    ASSERT_THAT(tasks(id), SizeIs(1));
    EXPECT_NE(tasks(id)[0], first);
    EXPECT_EQ(variable(tasks(id)[0], "HOSTLER_JOB_ATTEMPT"), "2");
    all_run(id);
    exits(tasks(id)[0], 4);
    go_on();
    EXPECT_EQ(job(id).phase, JobPhase::failed);
    EXPECT_EQ(job(id).reason, "exit_code");
    EXPECT_EQ(job(id).exit_code, 4);
    EXPECT_THAT(job(id).ends, SizeIs(2));
    EXPECT_EQ(task_of(job(id), 0, {}, 1), first);
}

TEST_F(Jobs, AGangGetsAllOfItsPlacesOnOneHostOrNone) {
    host("a", "nj", 2), host("b", "nj", 4);
    const std::string alone = submit(wanted("alone"));
    go_on();
    ASSERT_EQ(instance(tasks(alone)[0]).host, "h-a") << "the fuller host";
    auto request = gang(4);
    const std::string id = submit(request);
    go_on();
    ASSERT_THAT(tasks(id), SizeIs(4));
    std::string peers;
    for (std::size_t rank = 0; rank < 4; ++rank) {
        const Instance& task = instance(tasks(id)[rank]);
        EXPECT_EQ(task.host, "h-b");
        EXPECT_EQ(variable(task.id, "RANK"), std::to_string(rank));
        EXPECT_EQ(variable(task.id, "WORLD_SIZE"), "4");
        EXPECT_EQ(variable(task.id, "MASTER_ADDR"), instance(tasks(id)[0]).address);
        peers += (peers.empty() ? "" : ",") + task.address;
    }
    EXPECT_EQ(variable(tasks(id)[3], "HOSTLER_PEERS"), peers);
    request.name = "second";
    const std::string waits = submit(request);
    const std::size_t claims = estate.claims.all().size();
    go_on();
    EXPECT_EQ(estate.claims.all().size(), claims) << "nothing of it is held";
    EXPECT_EQ(job(waits).phase, JobPhase::pending);
    const api::JobExplanation why = explain_job(desk, job(waits));
    EXPECT_EQ(why.token, "insufficient_capacity");
    EXPECT_THAT(why.sentence, HasSubstr("is the next"));
    EXPECT_THAT(why.sentence, HasSubstr("4 tasks of a gang need room on one host"));
}

TEST_F(Jobs, OneFailedRankEndsItsGang) {
    host("a");
    const std::string id = running_gang(3);
    const auto all = tasks(id);
    exits(all[1], 7);
    go_on();
    EXPECT_EQ(instance(all[0]).phase, InstancePhase::stopping);
    EXPECT_EQ(instance(all[2]).phase, InstancePhase::stopping);
    EXPECT_EQ(job(id).phase, JobPhase::running) << "until all of it has ended";
    all_gone();
    EXPECT_EQ(job(id).phase, JobPhase::failed);
    EXPECT_EQ(job(id).exit_code, 7);
    EXPECT_EQ(job(id).ends[0].reason, "exit_code");
    EXPECT_EQ(job(id).ends[0].failed_rank, 1);
    EXPECT_EQ(view(desk, job(id)).ends[0].rank, 1);
    EXPECT_EQ(job(id).message, "1 of 1 elements failed: rank 1 ended first, with exit code 7");
}

// Those that lose it end, too, and may have a lower rank.
TEST_F(Jobs, TheRankThatFailedFirstIsTold) {
    host("a");
    const std::string id = running_gang(3);
    const auto all = tasks(id);
    exits(all[2], 9);
    pass(1);
    exits(all[0], 1);
    go_on();
    all_gone();
    EXPECT_EQ(job(id).exit_code, 9);
    EXPECT_EQ(job(id).ends[0].failed_rank, 2);
    EXPECT_EQ(job(id).message, "1 of 1 elements failed: rank 2 ended first, with exit code 9");
}

TEST_F(Jobs, WhatCanNeverFitIsRefusedAtOnce) {
    host("a", "nj", 4);
    auto request = gang(5);
    const Error why = refused(request);
    EXPECT_EQ(why.reason, "placement_impossible");
    EXPECT_THAT(why.message, HasSubstr("5 tasks of a gang need room on one host"));
    EXPECT_FALSE(why.help.empty()) << "the nearest that can";
    EXPECT_TRUE(estate.jobs.all().empty());
    request.tasks = 4;
    EXPECT_EQ(job(submit(request)).phase, JobPhase::pending);
}

TEST_F(Jobs, EachWrongFieldIsNamed) {
    host("a");
    auto request = wanted("train");
    request.spec_name = "smal";
    request.after = {{.job = "nothing"}, {.job = "train"}};
    const Error why = refused(request);
    EXPECT_THAT(why.fields, Contains(Field(&FieldError::path, "specName")));
    EXPECT_THAT(why.fields, Contains(Field(&FieldError::path, "after[0].job")));
    EXPECT_THAT(why.fields, Contains(Field(&FieldError::path, "after[1].job")))
        << "no job comes after itself";
    submit(wanted("train"));
    EXPECT_EQ(refused(wanted("train")).reason, "job_exists");
}

TEST_F(Jobs, AnArrayRunsItsElementsAFewAtATime) {
    host("a");
    auto request = wanted("sweep");
    request.array = "0-8:2%2";
    const std::string id = submit(request);
    EXPECT_EQ(job(id).elements(), 5);
    std::vector<std::string> seen;
    for (int i = 0; i < 3; ++i) {
        go_on();
        EXPECT_LE(tasks(id).size(), 2u);
        for (const std::string& task : tasks(id)) seen.push_back(variable(task, "HOSTLER_ARRAY_INDEX"));
        all_run(id);
        for (const std::string& task : tasks(id))
            exits(task, seen.size() == 2 && task == tasks(id)[1] ? 1 : 0);
        go_on();
    }
    EXPECT_THAT(seen, ElementsAre("0", "2", "4", "6", "8"));
    EXPECT_EQ(job(id).phase, JobPhase::failed) << "one of them failed; the others ran all the same";
    EXPECT_EQ(job(id).succeeded, 4);
    EXPECT_EQ(job(id).failed, 1);
    EXPECT_EQ(job(id).exit_code, 1);
}

TEST_F(Jobs, IndependentTasksRunWhereThereIsRoom) {
    host("a", "nj", 1), host("b", "nj", 1);
    auto request = wanted("many");
    request.tasks = 3;
    const std::string id = submit(request);
    go_on();
    ASSERT_THAT(tasks(id), SizeIs(2));
    EXPECT_NE(instance(tasks(id)[0]).host, instance(tasks(id)[1]).host);
    EXPECT_EQ(variable(tasks(id)[1], "HOSTLER_TASK_RANK"), "1");
    all_run(id);
    exits(tasks(id)[0], 0);
    go_on();
    EXPECT_THAT(tasks(id), SizeIs(2)) << "the third one has the room of the first";
}

TEST_F(Jobs, UsersOfAProjectTakeTurns) {
    host("a", "nj", 4);
    for (int i = 0; i < 4; ++i) submit(wanted(fmt::format("ann-{}", i)), "user/ann");
    for (int i = 0; i < 4; ++i) submit(wanted(fmt::format("bob-{}", i)), "user/bob");
    go_on();
    std::map<std::string, int> running;
    for (const auto& [id, one] : estate.jobs.all()) running[one.created_by] += !one.runs.empty();
    EXPECT_EQ(running["user/ann"], 2);
    EXPECT_EQ(running["user/bob"], 2);
}

TEST_F(Jobs, PriorityDecidesAmongTheJobsOfAUserAndMayChange) {
    host("a", "nj", 1);
    const std::string first = submit(wanted("first")), second = submit(wanted("second"));
    ASSERT_TRUE(update_job(desk, second, {.job = second, .priority = 5}));
    go_on();
    EXPECT_THAT(tasks(second), SizeIs(1));
    EXPECT_THAT(tasks(first), SizeIs(0));
    EXPECT_EQ(job_queues(desk).position(first, estate.micros()), 0);
}

TEST_F(Jobs, CancelWinsInEveryPhase) {
    host("a");
    const auto cancelled = [&](const std::string& id) {
        cancel_job(desk, id, "it was cancelled");
        go_on();
        EXPECT_EQ(job(id).phase, JobPhase::cancelled);
        all_gone();
        EXPECT_EQ(job(id).phase, JobPhase::cancelled);
        for (const auto& [other, claim] : estate.claims.all()) ADD_FAILURE() << other << " is held still";
    };
    cancelled(submit(wanted("pending")));
    const std::string admitted = submit(wanted("admitted"));
    go_on();
    said["h-a"][tasks(admitted)[0]] = {.state = "running", .generation = 1, .ready = true};
    cancelled(admitted);
    const std::string running = submit(wanted("running"));
    go_on();
    all_run(running);
    cancelled(running);
    auto again = wanted("again");
    again.retries = 3;
    const std::string waits = submit(again);
    go_on();
    all_run(waits);
    exits(tasks(waits)[0], 1);
    go_on();
    cancelled(waits);
    pass(100);
    go_on();
    EXPECT_TRUE(tasks(waits).empty()) << "it is not tried again";
    cancel_job(desk, waits, "again");
    EXPECT_EQ(job(waits).message, "it was cancelled");
}

TEST_F(Jobs, AHeldJobWaitsUntilItIsReleased) {
    host("a");
    auto request = wanted("held");
    request.hold = true;
    const std::string id = submit(request);
    go_on();
    EXPECT_TRUE(tasks(id).empty());
    EXPECT_EQ(explain_job(desk, job(id)).token, "held");
    EXPECT_EQ(view(desk, job(id)).reason, "held");
    ASSERT_TRUE(hold_job(desk, id, false));
    go_on();
    EXPECT_THAT(tasks(id), SizeIs(1));
}

TEST_F(Jobs, OneThatComesAfterAnotherBeginsWhenThatHasEndedAsItMust) {
    host("a");
    const std::string first = submit(wanted("first"));
    auto request = wanted("then");
    request.after = {{.job = "first"}};
    const std::string then = submit(request);
    request.name = "otherwise";
    request.after = {{.job = first, .when = api::JobWhen::failed}};
    const std::string otherwise = submit(request);
    request.name = "anyway";
    request.after = {{.job = "first", .when = api::JobWhen::ended}};
    const std::string anyway = submit(request);
    go_on();
    EXPECT_TRUE(tasks(then).empty() && tasks(anyway).empty());
    EXPECT_EQ(explain_job(desk, job(then)).token, "waits_for_job");
    EXPECT_EQ(view(desk, job(then)).message, "It begins after first.");
    all_run(first);
    exits(tasks(first)[0], 0);
    go_on();
    EXPECT_THAT(tasks(then), SizeIs(1));
    EXPECT_THAT(tasks(anyway), SizeIs(1));
    EXPECT_EQ(job(otherwise).phase, JobPhase::failed);
    EXPECT_EQ(job(otherwise).reason, "dependency_failed");
}

TEST_F(Jobs, ATimeLimitEndsAnElementThatRuns) {
    host("a");
    auto request = wanted("long");
    request.time_limit_seconds = 60;
    request.retries = 5;
    const std::string id = submit(request);
    go_on();
    pass(100);
    go_on();
    all_run(id);
    pass(59);
    go_on();
    EXPECT_EQ(instance(tasks(id)[0]).phase, InstancePhase::running) << "the time counts from when it runs";
    pass(1);
    go_on();
    EXPECT_EQ(instance(tasks(id)[0]).phase, InstancePhase::stopping);
    all_gone();
    EXPECT_EQ(job(id).phase, JobPhase::failed);
    EXPECT_EQ(job(id).reason, "time_limit") << "and it is not tried again";
    EXPECT_FALSE(job(id).exit_code) << "its program did not end by itself";
    EXPECT_FALSE(job(id).ends[0].exit_code);
}

TEST_F(Jobs, AHostThatIsRemovedDoesNotCountAsATry) {
    host("a", "nj", 1), host("b", "nj", 1);
    auto request = wanted("train");
    const std::string id = submit(request);
    go_on();
    all_run(id);
    const std::string task = tasks(id)[0];
    note(desk, task, InstanceEvent::host_gone, "host_removed", "its host was removed");
    let_go(desk, task);
    go_on();
    EXPECT_THAT(tasks(id), SizeIs(1));
    EXPECT_NE(tasks(id)[0], task);
    EXPECT_EQ(job(id).ends[0].reason, "host_removed");
    EXPECT_EQ(job(id).runs[0].failures, 0);
}

TEST_F(Jobs, AGangOfWhichATaskBeganAgainElsewhereBeginsAgain) {
    host("a", "nj", 2);
    auto request = gang(2);
    const std::string id = submit(request);
    go_on();
    all_run(id);
    const auto before = tasks(id);
    Instance& moved = estate.instances.edit(before[0]);
    moved.run_generation = ++moved.meta.generation;
    go_on();
    EXPECT_EQ(instance(before[1]).phase, InstancePhase::stopping);
    all_gone();
    pass(1);
    go_on();
    ASSERT_THAT(tasks(id), SizeIs(2));
    EXPECT_NE(tasks(id), before);
    EXPECT_EQ(variable(tasks(id)[0], "HOSTLER_JOB_ATTEMPT"), "2");
}

TEST_F(Jobs, AGangIsNotTriedAgainWhileATaskOfItMayRunStill) {
    host("a", "nj", 2), host("b", "nj", 2);
    auto request = gang(2);
    request.retries = 1;
    const std::string id = submit(request);
    go_on();
    all_run(id);
    const auto both = tasks(id);
    const std::string there = instance(both[0]).host;
    exits(both[1], 1);
    go_on();
    ASSERT_EQ(instance(both[0]).phase, InstancePhase::stopping);
    disconnect(there);
    estate.hosts.edit(there).phase = HostPhase::lost;
    note(desk, both[0], InstanceEvent::lose_host, "host_lost", "its host is lost");
    pass(10);
    go_on();
    EXPECT_EQ(tasks(id), both) << "its lease lasts";
    pass(3600);
    go_on();  // The attempt is over …
    pass(10);
    go_on();  // … and the next one may begin.
    ASSERT_THAT(tasks(id), SizeIs(2));
    EXPECT_NE(instance(tasks(id)[0]).host, there);
}

TEST_F(Jobs, ARankThatEndedWellAndLeftMemoryDoesNotEndItsGang) {
    host("a", "nj", 2);
    auto request = gang(2);
    const std::string id = submit(request);
    go_on();
    all_run(id);
    const auto both = tasks(id);
    exits(both[0], 0);
    go_on();
    pass(3600);
    while (archive_instances(desk)) {
    }
    ASSERT_FALSE(estate.instances.find(both[0]));
    go_on();
    EXPECT_EQ(instance(both[1]).phase, InstancePhase::running);
    exits(both[1], 0);
    go_on();
    EXPECT_EQ(job(id).phase, JobPhase::succeeded);
}

TEST_F(Jobs, TheOneThatWaitsLongestHasTheRoomOfThoseThatEndAndOthersFillTheGap) {
    host("a", "nj", 4);
    auto request = wanted("runs");
    request.tasks = 3;
    request.time_limit_seconds = 1000;
    const std::string runs = submit(request, "user/eve");
    go_on();
    all_run(runs);
    request = gang(4);
    const std::string gang = submit(request);
    go_on();
    pass(1);
    const auto begins = [&](const std::string& name, std::int64_t limit) {
        auto small = wanted(name);
        small.time_limit_seconds = limit;
        const std::string id = submit(small, "user/bob");
        go_on();
        const bool begun = !tasks(id).empty();
        all_run(id);
        cancel_job(desk, id, "it was cancelled");
        all_gone();
        return begun;
    };
    EXPECT_FALSE(begins("endless", 0)) << "it may run into the time of the gang";
    EXPECT_FALSE(begins("long", 5000));
    EXPECT_TRUE(begins("short", 500));
    for (const std::string& task : std::vector{tasks(runs)}) exits(task, 0);
    go_on();
    EXPECT_THAT(tasks(gang), SizeIs(4));
}

TEST_F(Jobs, AGangIsNotStarvedByJobsWithoutLimits) {
    host("a", "nj", 2);
    std::vector<std::string> small{submit(wanted("small-0"), "user/bob"),
                                   submit(wanted("small-1"), "user/bob")};
    go_on();
    auto request = gang(2);
    const std::string gang = submit(request);
    for (int i = 2; i < 40 && tasks(gang).empty(); ++i) {
        small.push_back(submit(wanted(fmt::format("small-{}", i)), "user/bob"));
        go_on();
        pass(60);
        for (const std::string& id : small)
            if (!tasks(id).empty()) {
                all_run(id);
                exits(tasks(id)[0], 0);
                break;
            }
        go_on();
    }
    EXPECT_THAT(tasks(gang), SizeIs(2));
}

TEST_F(Jobs, AQuotaBoundsTheJobsThatAreNotOver) {
    host("a");
    estate.quotas.add({.id = Quota::id_of("acme", "default", ""),
                       .tenant = "acme",
                       .project = "default",
                       .limits = {{.resource = "jobs", .limit = 2}}});
    const std::string first = submit(wanted("first"));
    submit(wanted("second"));
    go_on();
    const Error why = refused(wanted("third"));
    EXPECT_EQ(why.reason, "quota_exceeded");
    EXPECT_EQ(why.message,
              "project default of tenant acme may use 2 jobs (quota), 2 are used and 1 was asked for");
    cancel_job(desk, first, "it was cancelled");
    submit(wanted("third"));
    EXPECT_EQ(refused(wanted("fourth")).reason, "quota_exceeded");
}

TEST_F(Jobs, TheOrderIsTheSameInANewTerm) {
    host("a", "nj", 1);
    for (int i = 0; i < 3; ++i) submit(wanted(fmt::format("ann-{}", i)), "user/ann");
    submit(wanted("bob"), "user/bob");
    go_on();
    std::map<std::string, std::optional<std::int64_t>> places;
    for (const auto& [id, one] : estate.jobs.all())
        places[id] = job_queues(desk).position(id, estate.micros());
    live.part<JobQueues>() = {};
    for (const auto& [id, place] : places) EXPECT_EQ(job_queues(desk).position(id, estate.micros()), place);
}

TEST_F(Jobs, EndedOnesLeaveMemoryAfterADay) {
    host("a");
    const std::string id = submit(wanted("old"));
    cancel_job(desk, id, "it was cancelled");
    pass(3600);
    EXPECT_FALSE(archive_jobs(desk));
    EXPECT_TRUE(estate.jobs.find(id));
    pass(24 * 3600);
    EXPECT_FALSE(archive_jobs(desk));
    EXPECT_FALSE(estate.jobs.find(id));
}

}  // namespace
}  // namespace hostler::master
