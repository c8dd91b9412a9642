// Metrics of jobs.
#include <gtest/gtest.h>

#include "core/testing/metrics.h"
#include "roles/master/job/counts.h"
#include "roles/master/job/queues.h"
#include "roles/master/testing/job_rig.h"

namespace hostler::master {
namespace {

struct JobMetrics : testing::JobRig {
    JobMetrics() { host("a", "nj", 1); }
    std::map<std::string, double> shown() {
        MetricsPage page;
        write_job_metrics(page, desk);
        const auto values = hostler::testing::parse_metrics(page.text());
        HOSTLER_ASSERT(values);
        return *values;
    }
    double value(const std::string& name) { return shown().at("hostler_master_" + name); }
};

TEST_F(JobMetrics, CountJobsByPhaseAndEndsByOutcome) {
    const std::string first = submit(wanted("first")), second = submit(wanted("second"));
    EXPECT_EQ(value("jobs{phase=\"pending\"}"), 2);
    go_on();
    all_run(first);
    EXPECT_EQ(value("jobs{phase=\"pending\"}"), 1);
    EXPECT_EQ(value("jobs{phase=\"running\"}"), 1);
    EXPECT_EQ(value("job_elements_waiting"), 1);
    EXPECT_EQ(value("job_elements_running"), 1);
    EXPECT_EQ(value("job_elements_admitted_total"), 1);
    live.part<JobQueues>() = {};
    EXPECT_EQ(value("jobs{phase=\"running\"}"), 1) << "the next master counts the same";
    exits(tasks(first).front(), 0);
    go_on();
    EXPECT_EQ(value("jobs_ended_total{outcome=\"succeeded\"}"), 1);
    EXPECT_EQ(value("jobs{phase=\"admitted\"}"), 1);
    EXPECT_EQ(value("job_elements_admitted_total"), 2);
    {
        const Estate::Trial trial{estate};
        const Live::Trial seen{live};
        cancel_job(desk, second, "for a test");
        EXPECT_EQ(value("jobs{phase=\"admitted\"}"), 0);
    }
    EXPECT_EQ(value("jobs_ended_total{outcome=\"cancelled\"}"), 0) << "a dry run ends no job";
    EXPECT_EQ(value("jobs{phase=\"admitted\"}"), 1);
    cancel_job(desk, second, "for a test");
    EXPECT_EQ(value("jobs_ended_total{outcome=\"cancelled\"}"), 1);
    EXPECT_EQ(value("jobs{phase=\"admitted\"}"), 0);
}

TEST_F(JobMetrics, SayHowLongNoneIsAdmitted) {
    const std::string first = submit(wanted("first"));
    go_on();
    all_run(first);
    pass(100);
    EXPECT_EQ(value("jobs_stalled_seconds"), 0) << "none waits";
    auto held = wanted("held");
    held.hold = true;
    submit(held);
    go_on();
    pass(100);
    EXPECT_EQ(value("jobs_stalled_seconds"), 0) << "a held job does not wait for its turn";
    const std::string second = submit(wanted("second"));
    go_on();
    pass(100);
    go_on();
    EXPECT_EQ(value("jobs_stalled_seconds"), 100);
    exits(tasks(first).front(), 0);
    go_on();
    EXPECT_EQ(job(second).phase, JobPhase::admitted);
    EXPECT_EQ(value("jobs_stalled_seconds"), 0);
    EXPECT_GT(value("job_rounds_total"), 0);
}

}  // namespace
}  // namespace hostler::master
