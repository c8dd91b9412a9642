#include "domain/job/job.h"

#include <gtest/gtest.h>

namespace hostler {
namespace {

constexpr std::int64_t now = 1'000'000;

Job array_of(std::string_view elements) {
    Job job;
    job.spec.array = *read_array(elements);
    return job;
}

TEST(Job, ElementsAreIndexesOrIndependentTasks) {
    Job job;
    EXPECT_EQ(job.elements(), 1);
    job.spec.tasks = 4;
    EXPECT_EQ(job.elements(), 4);
    EXPECT_EQ(job.tasks_of_element(), 1);
    job.spec.gang = true;
    EXPECT_EQ(job.elements(), 1);
    EXPECT_EQ(job.tasks_of_element(), 4);
    job.spec.array = *read_array("1-3");
    EXPECT_EQ(job.elements(), 3);
}

TEST(Job, WhatIsToBeTriedAgainComesBeforeNewElements) {
    Job job = array_of("0-9");
    EXPECT_EQ(next_element(job, now)->position, 0);
    job.next = 4;
    EXPECT_EQ(next_element(job, now)->position, 4);
    job.again = {{.position = 2, .attempt = 2, .failures = 1, .not_before = now + 1}};
    EXPECT_EQ(next_element(job, now)->position, 4) << "its time has not come";
    const auto again = next_element(job, now + 1);
    EXPECT_EQ(again->position, 2);
    EXPECT_EQ(again->attempt, 2);
    EXPECT_EQ(again->failures, 1);
    job.again.clear();
    job.next = 10;
    EXPECT_FALSE(next_element(job, now));
}

TEST(Job, NothingBeginsWhileItMayNot) {
    Job job = array_of("0-9%2");
    job.runs = {{.position = 0}, {.position = 1}};
    job.next = 2;
    EXPECT_FALSE(next_element(job, now)) << "two at a time";
    job.runs.pop_back();
    EXPECT_TRUE(next_element(job, now));
    job.held = true;
    EXPECT_FALSE(next_element(job, now));
    job.held = false;
    for (const JobPhase phase :
         {JobPhase::preempting, JobPhase::cancelled, JobPhase::failed, JobPhase::succeeded}) {
        job.phase = phase;
        EXPECT_FALSE(next_element(job, now));
    }
}

TEST(Job, OnlyEndsOfItsOwnCountAsTries) {
    Job job;
    job.spec.retries = 2;
    JobRun run;
    EXPECT_EQ(after_end(job, run, "completed"), AfterEnd::succeed);
    EXPECT_EQ(after_end(job, run, "exit_code"), AfterEnd::retry);
    run.failures = 2;
    EXPECT_EQ(after_end(job, run, "exit_code"), AfterEnd::fail);
    EXPECT_EQ(after_end(job, run, "out_of_memory"), AfterEnd::fail);
    EXPECT_EQ(after_end(job, run, "host_lost"), AfterEnd::retry);
    EXPECT_EQ(after_end(job, run, "preempted"), AfterEnd::retry);
    run.attempt = job_retries_max + 1;
    EXPECT_EQ(after_end(job, run, "host_lost"), AfterEnd::fail) << "there is a bound";
    run = {};
    EXPECT_EQ(after_end(job, run, "time_limit"), AfterEnd::fail);
    EXPECT_EQ(after_end(job, run, "cancelled"), AfterEnd::fail);
}

TEST(Job, EachFurtherTryWaitsLonger) {
    EXPECT_EQ(backoff_s(0), 0);
    EXPECT_EQ(backoff_s(1), 2);
    EXPECT_EQ(backoff_s(2), 4);
    EXPECT_EQ(backoff_s(8), 256);
    EXPECT_EQ(backoff_s(9), 300);
    EXPECT_EQ(backoff_s(1'000'000), 300);
}

}  // namespace
}  // namespace hostler
