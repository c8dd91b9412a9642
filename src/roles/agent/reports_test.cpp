#include "roles/agent/reports.h"

#include <gtest/gtest.h>

#include "core/testing/run.h"
#include "proto/uplink.pb.h"
#include "roles/agent/messages.h"
#include "roles/agent/testing/fakes.h"

namespace hostler::agent {
namespace {

using testing::FakeJournal;

uplink::Report telemetry() {
    uplink::Report report;
    report.add_gpus()->set_uuid("GPU-1");
    return report;
}

uplink::Report change(const std::string& instance, const std::string& state) {
    uplink::Report report;
    report.add_workloads()->set_instance(instance);
    report.mutable_workloads(0)->set_state(state);
    return report;
}

class ReportsTest : public ::testing::Test {
protected:
    void push(uplink::Report report) {
        ASSERT_TRUE(hostler::testing::run(loop_, queue_.push(std::move(report))));
    }
    Loop loop_;
    FakeJournal journal_;
    ReportQueue queue_{journal_, 4};
};

TEST_F(ReportsTest, TheOldestTelemetryMakesRoom) {
    push(telemetry());
    push(change("i-1", "running"));
    for (int more = 0; more < 4; ++more) push(telemetry());
    EXPECT_EQ(queue_.size(), 4U);
    ASSERT_NE(queue_.after(0), nullptr);
    EXPECT_EQ(queue_.after(0)->sequence(), 2U);
    EXPECT_EQ(queue_.after(0)->workloads_size(), 1);
}

TEST_F(ReportsTest, ChangesAreMergedAndNeverLost) {
    for (int at = 0; at < 20; ++at) {
        push(change("i-" + std::to_string(at % 7), at < 14 ? "running" : "exited"));
        push(telemetry());
    }
    EXPECT_LE(queue_.size(), 4U);
    std::map<std::string, std::string> seen;
    std::uint64_t last = 0;
    while (const auto* report = queue_.after(last)) {
        EXPECT_GT(report->sequence(), last);
        last = report->sequence();
        for (const auto& workload : report->workloads()) seen[workload.instance()] = workload.state();
    }
    ASSERT_EQ(seen.size(), 7U);
    EXPECT_EQ(seen["i-0"], "exited");   // Of 14: the last word counts.
    EXPECT_EQ(seen["i-6"], "running");  // Of 13.
}

// Whatever is pushed and acknowledged: numbers that come and numbers that are said to be missing are all
// there are.
TEST_F(ReportsTest, EveryNumberComesOrIsSaidToBeMissing) {
    std::uint64_t known = queue_.settled();
    for (int at = 0; at < 400; ++at) {
        push(at % 3 == 0 ? change("i-" + std::to_string(at % 5), "running") : telemetry());
        if (at % 7 != 0) continue;
        std::uint64_t last = queue_.settled();
        EXPECT_EQ(last, known) << "nothing was acknowledged since";
        while (const auto* report = queue_.after(last)) {
            EXPECT_EQ(report->sequence(), last + 1 + report->missing());
            last = report->sequence();
        }
        if (at % 2 == 0) queue_.acknowledge(known = last);
    }
    EXPECT_GT(queue_.dropped(), 0U);
}

TEST_F(ReportsTest, OnlyFactsThatAHelloToldAreDropped) {
    for (int at = 0; at < 2; ++at) {
        uplink::Report report = change("i-1", "running");
        report.mutable_facts()->set_engine("podman");
        push(std::move(report));
    }
    queue_.grow_old(1);
    EXPECT_FALSE(queue_.after(0)->has_facts());
    EXPECT_EQ(queue_.after(0)->workloads_size(), 1);
    EXPECT_TRUE(queue_.after(1)->has_facts());
}

TEST_F(ReportsTest, WhatIsAcknowledgedIsForgotten) {
    for (int at = 0; at < 3; ++at) push(telemetry());
    queue_.acknowledge(2);
    EXPECT_EQ(queue_.size(), 1U);
    EXPECT_EQ(queue_.after(0)->sequence(), 3U);
    EXPECT_EQ(queue_.after(3), nullptr);
}

TEST(Text, IsAlwaysUtf8AndBounded) {
    EXPECT_EQ(clean_text("caf\xc3\xa9\n", 100), "caf\xc3\xa9\n");
    EXPECT_EQ(clean_text("\xff\xc3(\xed\xa0\x80 \x1b[0m", 100),
              std::string(2, 0x3f) + "(" + std::string(3, 0x3f) + " " + std::string(1, 0x3f) + "[0m");
    EXPECT_EQ(clean_text(std::string_view{"a\0b", 3}, 100), "a?b");
    std::string text;
    for (int at = 0; at < 5000; ++at) text += "\xe2\x82\xac";
    const std::string cut = clean_text(text, 1000);
    EXPECT_LE(cut.size(), 1000U);
    EXPECT_GT(cut.size(), 900U);
    uplink::Failure failure;
    failure.set_message(cut);
    EXPECT_TRUE(uplink::Failure{}.ParseFromString(failure.SerializeAsString()));
}

}  // namespace
}  // namespace hostler::agent
