// Jobs: submitting, waiting for and following them.
#include "cli/job_test.h"

namespace hostler::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<std::string> submit{"job",    "submit", "train", "--image", "i:1",
                                      "--spec", "h100-1", "--cmd", "x"};

std::vector<std::string> with(std::vector<std::string> args, std::vector<std::string> more) {
    args.insert(args.end(), more.begin(), more.end());
    return args;
}

TEST_F(JobTest, DependenciesAreFlags) {
    EXPECT_EQ(run(with(submit, {"--after", "prepare", "--after", "clean:ended"})), 0) << err;
    ASSERT_EQ(submitted.size(), 1u);
    EXPECT_THAT(submitted[0].after, ElementsAre(api::JobAfter{"prepare", api::JobWhen::succeeded},
                                                api::JobAfter{"clean", api::JobWhen::ended}));
    EXPECT_THAT(err, HasSubstr("job/train submitted\n"));
    EXPECT_EQ(run(with(submit, {"--after", "prepare:done", "--tasks", "many"})), 2);
    EXPECT_THAT(err, HasSubstr("--after: 'done' is none of succeeded, failed, ended\n"));
    EXPECT_THAT(err, HasSubstr("--tasks: 'many' is no whole number\n"));
    EXPECT_EQ(run(with(submit, {"--after", ":ended"})), 2);
    EXPECT_THAT(err, HasSubstr("--after: ':ended' is not JOB[:succeeded|failed|ended]\n"));
}

TEST_F(JobTest, ADryRunPrintsThePlan) {
    job.plan = api::JobPlan{.sentence = "It preempts 1 element of other tenants."};
    EXPECT_EQ(run(with(submit, {"--dry-run"})), 0) << err;
    EXPECT_EQ(out, "It preempts 1 element of other tenants.\n");
    EXPECT_THAT(err, HasSubstr("job/train: would be submitted (nothing was changed)\n"));
}

TEST_F(JobTest, AnExplanationHasPositionAndShares) {
    why = {.token = "insufficient_capacity",
           .sentence = "It waits.",
           .position = 3,
           .shares = {{.queue = "acme", .share_milli = 250, .entitled_milli = 500}}};
    EXPECT_EQ(run({"job", "explain", "train"}), 0) << err;
    EXPECT_EQ(
        out,
        "It waits. (insufficient_capacity)\nBefore it: 3\nQueue acme: 25 % of the cloud, entitled to 50 %\n");
}

TEST_F(JobTest, WhatWasDoneIsTold) {
    EXPECT_EQ(run({"job", "hold", "train"}), 0) << err;
    EXPECT_THAT(err, HasSubstr("job/train held\n"));
    EXPECT_EQ(run({"job", "release", "train"}), 0) << err;
    EXPECT_THAT(err, HasSubstr("job/train released\n"));
    EXPECT_EQ(run({"job", "cancel", "train", "--yes"}), 0) << err;
    EXPECT_THAT(err, HasSubstr("job/train cancelled\n"));
}

TEST_F(JobTest, WaitingEndsWithTheExitCodeOfTheJob) {
    start(with(submit, {"--wait"}));
    begin();
    timers.advance(3s);
    EXPECT_FALSE(code);
    finish(api::JobState::succeeded, "completed", 0);
    timers.advance(3s);
    EXPECT_EQ(code, 0) << err;
    EXPECT_THAT(err, HasSubstr("job/train succeeded"));

    start(with(submit, {"--wait", "-o", "json"}));
    finish(api::JobState::failed, "exit_code", 42);
    timers.advance(3s);
    EXPECT_EQ(code, 42);
    EXPECT_THAT(err, HasSubstr("job/train failed (exit_code): 1 of 1 elements failed\n"));
    EXPECT_THAT(out, HasSubstr("\"exitCode\": 42"));

    start(with(submit, {"--wait"}));
    finish(api::JobState::failed, "host_lost");
    timers.advance(3s);
    EXPECT_EQ(code, 1) << "no program has ended";
}

TEST_F(JobTest, WaitingHasADeadlineAndSurvivesAMasterThatIsAway) {
    start(with(submit, {"--wait", "--timeout", "20s"}));
    away = true;
    timers.advance(5s);
    EXPECT_FALSE(code);
    away = false;
    timers.advance(20s);
    EXPECT_EQ(code, static_cast<int>(Exit::timeout));
    EXPECT_THAT(err, HasSubstr("is still pending; it continues in the background"));
}

TEST_F(JobTest, ARefusalForCapacityHasItsExitCode) {
    refusal = Error{.code = Code::exhausted, .message = "quota of gpus", .reason = "quota_exceeded"};
    EXPECT_EQ(run(with(submit, {"--wait"})), static_cast<int>(Exit::capacity));
}

TEST_F(JobTest, WaitingForACancelEndsWell) {
    begin();
    start({"job", "cancel", "train", "--yes", "--wait"});
    timers.advance(3s);
    EXPECT_EQ(code, 0) << err;
    EXPECT_THAT(err, HasSubstr("job/train cancelled"));
}

TEST_F(JobTest, LogsWaitForTheTaskAndEndWithTheJob) {
    start({"job", "logs", "train", "--follow"});
    timers.advance(10s);
    EXPECT_EQ(err, "No host has a free GPU.\n") << "it is told once";
    EXPECT_FALSE(code);
    Log& log = begin();
    log.text = "one\n";
    timers.advance(3s);
    EXPECT_EQ(out, "one\n");
    log.text += "two\n";
    end("completed", 0);
    finish(api::JobState::succeeded, "completed", 0);
    timers.advance(3s);
    EXPECT_EQ(code, 0) << err;
    EXPECT_EQ(out, "one\ntwo\n");
    EXPECT_THAT(err, EndsWith("job/train succeeded: it was so\n"));
}

TEST_F(JobTest, ATaskWithoutAContainerIsWaitedFor) {
    begin();
    log_refusal = Error{.code = Code::not_found, .message = "i has no logs", .reason = "no_logs"};
    start({"job", "logs", "train", "--follow"});
    timers.advance(5s);
    EXPECT_FALSE(code);
    log_refusal.reset();
    logs[{0, -1, 1}].text = "here\n";
    finish(api::JobState::succeeded, "completed", 0);
    end("completed", 0);
    timers.advance(5s);
    EXPECT_EQ(code, 0) << err;
    EXPECT_EQ(out, "here\n");
}

TEST_F(JobTest, LogsContinueWithTheNextAttempt) {
    job.retries = 1;
    begin().text = "first\n";
    start({"job", "logs", "train", "--follow", "--tail", "50"});
    EXPECT_EQ(out, "first\n");
    EXPECT_EQ(tails.front(), 50);
    end("exit_code", 3);
    job.state = api::JobState::pending;
    timers.advance(5s);
    EXPECT_FALSE(code);
    begin(0, 2).text = "second\n";
    timers.advance(5s);
    EXPECT_EQ(out, "first\nsecond\n");
    EXPECT_EQ(tails.back(), 10'000);
    EXPECT_THAT(err, HasSubstr("job/train: attempt 2 begins; attempt 1 ended: exit_code 3\n"));
    end("completed", 0, 0, 2);
    finish(api::JobState::succeeded, "completed", 0);
    timers.advance(5s);
    EXPECT_EQ(code, 0);
}

TEST_F(JobTest, LogsOfATaskEndThoughOthersContinue) {
    job.tasks = 2;
    begin(0).text = "zero\n";
    begin(1).text = "one\n";
    start({"job", "logs", "train", "--rank", "1", "-f"});
    end("completed", 0, 1);
    logs[{1, -1, 1}].ended = true;
    timers.advance(5s);
    EXPECT_EQ(code, 0);
    EXPECT_EQ(out, "one\n");
    EXPECT_THAT(err, HasSubstr("the task is over, and job/train continues\n"));
    EXPECT_EQ(run({"job", "logs", "train", "--rank", "2", "-f"}), static_cast<int>(Exit::not_found));
    EXPECT_THAT(err, HasSubstr("the tasks of job train are 0 to 1"));
}

TEST_F(JobTest, LogsOfOldAttemptsAreThoseOfTheLastOne) {
    logs[{0, -1, 1}] = {"first\n", true};
    logs[{0, -1, 2}] = {"second\n", true};
    end("exit_code", 1);
    end("exit_code", 1, 0, 2);
    finish(api::JobState::failed, "exit_code", 1);
    EXPECT_EQ(run({"job", "logs", "train", "-f"}), 0) << err;
    EXPECT_EQ(out, "second\n");
    EXPECT_EQ(run({"job", "logs", "train", "-f", "--attempt", "1"}), 0) << err;
    EXPECT_EQ(out, "first\n");
    EXPECT_THAT(err, Not(HasSubstr("begins")));
}

TEST_F(JobTest, AnArrayIsFollowedFromItsFirstIndex) {
    job.array = "5-7";
    begin(0, 1, 5).text = "five\n";
    begin(0, 1, 6).text = "six\n";
    start({"job", "logs", "train", "-f"});
    finish(api::JobState::cancelled, "cancelled");
    timers.advance(3s);
    EXPECT_EQ(code, 0);
    EXPECT_EQ(out, "five\n");
}

TEST_F(JobTest, FollowingAsksAgainWhereTheApiIsAway) {
    Log& log = begin();
    start({"job", "logs", "train", "-f"});
    away = true;
    timers.advance(30s);
    EXPECT_FALSE(code);
    EXPECT_THAT(err, EndsWith("no master answers; asking again\n"));
    away = false;
    log_refusal = Error{.code = Code::unavailable, .message = "the host is away"};
    timers.advance(10s);
    EXPECT_FALSE(code);
    log_refusal.reset();
    log.text = "later\n";
    timers.advance(5s);
    EXPECT_EQ(out, "later\n");
    away = true;
    timers.advance(200s);
    EXPECT_EQ(code, static_cast<int>(Exit::unreachable));
}

}  // namespace
}  // namespace hostler::cli
