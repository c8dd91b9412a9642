// Why a job waits and what its submission would do.
#include <gmock/gmock.h>

#include "api/types_job.h"
#include "api/types_queue.h"
#include "roles/master/job/plan.h"
#include "roles/master/job/queues.h"
#include "roles/master/job/settings.h"
#include "roles/master/job/view.h"
#include "roles/master/state/views.h"
#include "roles/master/testing/callers.h"
#include "roles/master/testing/job_rig.h"

namespace hostler::master {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct ExplainJob : testing::JobRig {
    // As a dry run does.
    api::JobPlan plan(const api::SubmitJob& request, const std::string& caller = "acme") {
        const Estate::Trial trial{estate};
        const Live::Trial seen{live};
        const std::string id = submit(request);
        const api::Call call{
            .caller = caller_for(caller), .permission = Permission::job_write, .dry_run = true};
        return plan_of(desk, call, Job{job(id)});
    }
    std::string runs(const std::string& name, const std::string& by, const std::string& tenant,
                     std::int64_t limit = 0) {
        auto request = wanted(name);
        request.time_limit_seconds = limit;
        const std::string id = submit(request, by, tenant);
        go_on();
        all_run(id);
        pass(100);
        return id;
    }
};

TEST_F(ExplainJob, APlanSaysWhereTheFirstElementStarts) {
    host("a");
    const api::JobPlan own = plan(wanted("train"));
    EXPECT_TRUE(own.starts_now);
    EXPECT_THAT(own.zones, ElementsAre("nj"));
    EXPECT_THAT(own.hosts, IsEmpty()) << "a tenant does not see hosts";
    EXPECT_EQ(own.sentence, "It starts now in zone nj.");
    EXPECT_THAT(plan(wanted("train"), "").hosts, ElementsAre("h-a"));
    EXPECT_TRUE(estate.jobs.all().empty());
    auto held = wanted("held");
    held.hold = true;
    EXPECT_EQ(plan(held).reason, "held");
    EXPECT_FALSE(plan(held).starts_now);
}

TEST_F(ExplainJob, APlanNamesTheVictimsThatTheCallerMaySee) {
    host("a", "nj", 2);
    ASSERT_TRUE(set_queue(desk, {.tenant = "acme"}, {.guaranteed = api::QueueAmount{.gpus = 1}}));
    runs("old", "user/bob", "beta");
    const std::string young = runs("young", "user/bob", "beta");
    const api::JobPlan own = plan(wanted("mine"));
    EXPECT_FALSE(own.starts_now);
    EXPECT_EQ(own.reason, "insufficient_capacity");
    ASSERT_THAT(own.victims, SizeIs(1));
    EXPECT_EQ(own.victims[0].elements, 1);
    EXPECT_EQ(own.victims[0].tasks, 1);
    EXPECT_EQ(own.victims[0].why, "reclaim");
    EXPECT_EQ(own.victims[0].tenant_id + own.victims[0].project + own.victims[0].created_by, "");
    EXPECT_THAT(own.victims[0].jobs, IsEmpty());
    EXPECT_THAT(own.sentence, HasSubstr("preempts 1 element of other tenants"));
    const api::JobPlan all = plan(wanted("mine"), "");
    ASSERT_THAT(all.victims, SizeIs(1));
    EXPECT_EQ(all.victims[0].tenant_id, "beta");
    EXPECT_THAT(all.victims[0].jobs, ElementsAre("young"));
    EXPECT_THAT(all.hosts, ElementsAre("h-a"));
    go_on();
    EXPECT_EQ(job(young).phase, JobPhase::running) << "nothing is preempted by asking";
}

TEST_F(ExplainJob, AWaitingJobSaysItsPositionItsSharesAndWhenItIsExpectedToStart) {
    host("a", "nj", 1);
    const std::string first = runs("first", "user/ann", "acme", 1000);
    const std::int64_t end = job(first).runs[0].started_at + 1000 * std::int64_t{1'000'000};
    auto request = wanted("second");
    request.time_limit_seconds = 500;
    const std::string second = submit(request);
    pass(1);
    const std::string third = submit(wanted("third"));
    pass(1);
    const std::string fourth = submit(wanted("fourth"));
    go_on();
    const api::JobExplanation why = explain_job(desk, job(second));
    EXPECT_EQ(why.token, "insufficient_capacity");
    EXPECT_EQ(why.position, 0);
    EXPECT_EQ(why.expected_start, wall(end));
    ASSERT_THAT(why.shares, SizeIs(3));
    EXPECT_EQ(why.shares[0].queue, "acme");
    EXPECT_EQ(why.shares[0].share_milli, 1000);
    EXPECT_EQ(why.shares[0].entitled_milli, 1000);
    EXPECT_EQ(why.shares[2].queue, "acme/default/user/ann");
    EXPECT_EQ(explain_job(desk, job(third)).position, 1);
    EXPECT_EQ(explain_job(desk, job(third)).expected_start, wall(end + 500 * std::int64_t{1'000'000}));
    EXPECT_EQ(explain_job(desk, job(fourth)).position, 2);
    EXPECT_FALSE(explain_job(desk, job(fourth)).expected_start) << "the third has no time limit";
    EXPECT_FALSE(explain_job(desk, job(first)).position) << "it runs";
    EXPECT_EQ(job_queues(desk).place_in_line(second, estate.micros()), 0);
    EXPECT_EQ(job_queues(desk).place_in_line(fourth, estate.micros()), 2);
    EXPECT_FALSE(job_queues(desk).place_in_line(first, estate.micros()));
    cancel_job(desk, third, "it was cancelled");
    EXPECT_EQ(job_queues(desk).place_in_line(fourth, estate.micros()), 1);
}

TEST_F(ExplainJob, AQueueAtItsLimitIsTheReason) {
    host("a");
    ASSERT_TRUE(set_queue(desk, {.tenant = "acme"}, {.most = api::QueueAmount{.gpus = 1}}));
    runs("first", "user/ann", "acme");
    const std::string second = submit(wanted("second"));
    go_on();
    EXPECT_TRUE(tasks(second).empty());
    EXPECT_EQ(explain_job(desk, job(second)).token, "queue_limit");
    EXPECT_FALSE(explain_job(desk, job(second)).expected_start);
    const api::JobPlan third = plan(wanted("third"));
    EXPECT_EQ(third.reason, "queue_limit");
    EXPECT_FALSE(third.starts_now);
}

TEST_F(ExplainJob, ASubmissionMakesTheSameJobAgain) {
    host("a");
    auto request = wanted("train");
    request.cmd = "python train.py";
    request.envs = {{"A", "1"}};
    request.array = "0-3%2";
    request.retries = 2;
    request.time_limit_seconds = 60;
    request.labels = Labels{{"team", "ml"}};
    request.stop_grace_seconds = 5;
    const api::SubmitJob again = submission_of(job(submit(request)));
    EXPECT_EQ(again.image, "demo:1");
    EXPECT_EQ(again.cmd, request.cmd);
    ASSERT_THAT(again.envs, SizeIs(1));
    EXPECT_EQ(again.envs[0].value, "1");
    EXPECT_EQ(again.array, request.array);
    EXPECT_EQ(again.retries, 2);
    EXPECT_EQ(again.time_limit_seconds, 60);
    EXPECT_EQ(again.labels, request.labels);
    EXPECT_EQ(again.stop_grace_seconds, 5);
}

}  // namespace
}  // namespace hostler::master
