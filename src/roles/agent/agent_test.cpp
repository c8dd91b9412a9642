// One agent against a master that does as it is told: sessions, reports, logs.
#include "roles/agent/agent.h"

#include <gtest/gtest.h>

#include "roles/agent/kept_log.h"
#include "roles/agent/testing/world.h"

namespace hostler::agent {
namespace {

using namespace testing;

TEST(Session, AnOlderMasterIsRefused) {
    World world;
    world.master.epoch = 7;
    world.join();
    world.crash();
    world.master.epoch = 6;
    world.boot();
    world.timers.advance(20s);
    EXPECT_FALSE(world.agent->connected());
    EXPECT_EQ(world.master.hellos.back().epoch(), 7U);
    world.master.epoch = 8;
    world.timers.advance(60s);
    EXPECT_TRUE(world.agent->connected());
}

TEST(Session, NobodyButTheMasterCommands) {
    World world;
    world.join();
    uplink::Frame frame;
    *frame.mutable_command() = world.start();
    world.master.say_in_the_clear(frame);
    frame.mutable_agent_welcome()->set_epoch(99);
    world.master.say_in_the_clear(frame);
    frame.set_call(7);
    frame.mutable_log_request()->set_instance("i-1");
    world.master.say_in_the_clear(frame);
    frame.mutable_sealed()->set_channel(99);
    frame.mutable_sealed()->set_bytes("not ours");
    world.master.say_in_the_clear(frame);
    world.timers.advance(5s);
    EXPECT_EQ(world.engine.launches, 0);
    EXPECT_EQ(world.master.hellos.size(), 1U);
    EXPECT_TRUE(world.master.unsealed.empty()) << "and it says nothing outside";
    EXPECT_TRUE(world.agent->connected());
}

TEST(Session, AnotherMasterInvitesAndIsGreetedAtOnce) {
    World world;
    world.join();
    world.master.invite();
    world.timers.advance(100ms);
    EXPECT_EQ(world.master.hellos.size(), 2U);
    EXPECT_GT(world.master.hellos[1].turn(), world.master.hellos[0].turn());
    EXPECT_TRUE(world.agent->connected());
}

TEST(Session, AMasterThatEndsTheChannelIsGreetedWhenItInvitesAgain) {
    World world;
    world.join();
    world.master.link->close();
    world.timers.advance(100ms);
    EXPECT_EQ(world.master.hellos.size(), 2U) << "it was invited again";
    EXPECT_TRUE(world.agent->connected());
    ASSERT_TRUE(world.master.link);
    world.master.invites = false;
    world.master.link->close();
    world.timers.advance(30s);
    EXPECT_FALSE(world.agent->connected());
    world.master.invites = true;
    world.master.invite();
    world.timers.advance(40s);
    EXPECT_TRUE(world.agent->connected());
}

TEST(Session, ReportsArriveInOrderAfterAReconnect) {
    World world;
    world.master.acknowledge_reports = false;
    world.join();
    world.timers.advance(25s);
    const auto before = world.master.reports.size();
    ASSERT_GE(before, 3U);
    world.master.cut();
    world.net.stop_listening("access:1");
    world.timers.advance(60s);
    EXPECT_EQ(world.master.reports.size(), before);
    world.master.reports.clear();
    world.master.acknowledge_reports = true;
    world.master.listen("access:1");
    world.timers.advance(60s);
    ASSERT_GE(world.master.reports.size(), before + 6);
    for (std::size_t at = 0; at < world.master.reports.size(); ++at)
        EXPECT_EQ(world.master.reports[at].sequence(), at + 1);
    EXPECT_FALSE(world.master.reports[0].workloads_complete());  // History is not all there is.
    EXPECT_TRUE(world.master.reports.back().workloads_complete());
}

TEST(Session, NumbersOfReportsRiseOverARestart) {
    World world;
    world.join();
    const auto last = world.master.reports.back().sequence();
    world.crash();
    world.join();
    EXPECT_GT(world.master.reports.back().sequence(), last);
}

TEST(Session, UnansweredReportsAreSentAgain) {
    World world;
    world.master.acknowledge_reports = false;
    world.master.report_interval_ms = 300'000;
    world.join();
    world.timers.advance(70s);
    EXPECT_GE(std::ranges::count(world.master.reports, 1U, &uplink::Report::sequence), 2);
}

TEST(Telemetry, IsReportedAndFaultsAreToldAtOnce) {
    World world;
    world.join();
    const auto& first = world.master.reports.at(0);
    ASSERT_EQ(first.gpus_size(), 1);
    EXPECT_EQ(first.gpus(0).values(0), 42);
    world.master.reports.clear();
    world.telemetry.faults.push_back({"GPU-1", "xid", 79});
    world.timers.advance(1100ms);
    ASSERT_FALSE(world.master.reports.empty());
    EXPECT_EQ(world.master.reports[0].faults(0).number(), 79);
    EXPECT_EQ(world.master.reports[0].facts().gpus(0).health(), "faulty");
    EXPECT_GE(world.telemetry.discoveries, 2);
}

TEST(Telemetry, TellsHowFullVolumesAndLayersAre) {
    World world;
    world.volumes.used["v-1"] = {.used_bytes = 10, .total_bytes = 100, .used_inodes = 3, .total_inodes = 30};
    world.engine.layer_uses["hostler-i-1"] = {
        .used_bytes = 20, .total_bytes = 200, .used_inodes = 4, .total_inodes = 40};
    world.engine.layer_uses["of-somebody-else"] = {.total_bytes = 1};
    world.join();
    const auto last = [&] {
        world.master.reports.clear();
        world.timers.advance(20s);
        HOSTLER_ASSERT(!world.master.reports.empty());
        return world.master.reports.back();
    };
    const uplink::Report told = last();
    ASSERT_EQ(told.disks().of_size(), 2) << told.disks().of_size();
    EXPECT_EQ(told.disks().of(0).volume(), "v-1");
    EXPECT_EQ(told.disks().of(0).used_bytes(), 10U);
    EXPECT_EQ(told.disks().of(0).total_inodes(), 30U);
    EXPECT_EQ(told.disks().of(1).instance(), "i-1");
    EXPECT_EQ(told.disks().of(1).total_bytes(), 200U);
    EXPECT_EQ(told.disks().of(1).used_inodes(), 4U);
    world.volumes.unmeasurable = "the disk hangs";
    EXPECT_FALSE(last().has_disks()) << "what is not known is not told as if nothing were mounted";
    EXPECT_TRUE(last().workloads_complete());
}

TEST(Telemetry, AHungDriverHangsNothingElse) {
    World world;
    world.join();
    world.telemetry.hangs = true;
    world.master.reports.clear();
    world.timers.advance(30s);
    ASSERT_GE(world.master.reports.size(), 3U);
    std::string health;
    for (const auto& report : world.master.reports)
        if (report.has_facts()) health = report.facts().gpus(0).health();
    EXPECT_EQ(health, "unresponsive");
    EXPECT_TRUE(world.master.reports.back().has_host());
    world.telemetry.hangs = false;
    world.telemetry.awake.notify_all();
    world.timers.advance(25s);
    for (const auto& report : world.master.reports)
        if (report.has_facts()) health = report.facts().gpus(0).health();
    EXPECT_EQ(health, "healthy");
}

TEST(Telemetry, ADiskThatWasMeasuredWhileItWasEmptiedIsToldAgain) {
    constexpr std::uint64_t mib = 1 << 20;
    World world;
    world.volumes.room_bytes = 290 * mib;
    world.join();
    EXPECT_EQ(world.master.hellos.back().facts().volume_bytes(), 290 * mib);
    world.volumes.room_bytes = 380 * mib;
    world.timers.advance(1min);
    const auto told = std::ranges::find_if(world.master.reports, &uplink::Report::has_facts);
    ASSERT_NE(told, world.master.reports.end());
    EXPECT_EQ(told->facts().volume_bytes(), 380 * mib);
}

TEST(Logs, LiveOnesAndKeptOnes) {
    World world;
    world.serve("10.201.3.5:8080");
    world.join();
    world.master.order(world.start());
    world.timers.advance(2s);
    world.engine.written["hostler-i-1"] = "first\nlast \xff\r";
    uplink::Frame ask;
    auto& request = *ask.mutable_log_request();
    request.set_instance("i-1");
    request.set_pieces(true);
    request.set_lines(1);
    const auto answer = [&]() -> uplink::LogAnswer {
        return hostler::testing::run(world.loop, world.master.link->ask(ask, 5s))->log_answer();
    };
    EXPECT_EQ(answer().pieces(), "1795261229000000 P last \xff\r\n");
    EXPECT_TRUE(answer().truncated());
    EXPECT_EQ(answer().next(), "1795261229000000.2");
    request.set_lines(10);
    EXPECT_FALSE(answer().truncated());
    // While an engine removes a container it may answer that there is nothing.
    world.engine.written["hostler-i-1"].clear();
    EXPECT_EQ(answer().pieces(), "");
    EXPECT_EQ(answer().next(), "0.0");
    world.logs.kept["i-1"] = "gone\n";
    EXPECT_EQ(answer().pieces(), "0 F gone\n");
    world.engine.written["hostler-i-1"] = "first\nlast \xff\r";
    world.master.order(world.stop());
    world.timers.advance(2s);
    EXPECT_EQ(answer().pieces(), "1795261229000000 F first\n1795261229000000 P last \xff\r\n");
    request.set_after("1795261229000000.1");
    EXPECT_EQ(answer().pieces(), "1795261229000000 P last \xff\r\n");
    request.set_after("yesterday");
    EXPECT_EQ(hostler::testing::run(world.loop, world.master.link->ask(ask, 5s)).error().code, Code::invalid);
    request.set_after("");
    request.set_instance("i-2");
    EXPECT_EQ(hostler::testing::run(world.loop, world.master.link->ask(ask, 5s)).error().code,
              Code::not_found);
}

// Its end was written after the last answer, and another container has begun since.
TEST(Logs, WhoFollowsIsGivenTheEndOfTheRunBefore) {
    World world;
    world.serve("10.201.3.5:8080");
    world.join();
    world.master.order(world.start());
    world.timers.advance(2s);
    world.logs.kept["i-1"] = kept_log({.pieces = "1795261220000000 F known\n1795261221000000 F WHY\n"});
    world.engine.written["hostler-i-1"] = "once more\n";
    uplink::Frame ask;
    auto& request = *ask.mutable_log_request();
    request.set_instance("i-1");
    request.set_pieces(true);
    request.set_after("1795261220000000.1");
    const auto answer = [&]() -> uplink::LogAnswer {
        return hostler::testing::run(world.loop, world.master.link->ask(ask, 5s))->log_answer();
    };
    EXPECT_EQ(answer().pieces(), "1795261221000000 F WHY\n");
    request.set_after(answer().next());
    EXPECT_EQ(answer().pieces(), "1795261229000000 F once more\n");
    EXPECT_FALSE(answer().truncated());
    request.set_after("1795261225000000.1");
    EXPECT_TRUE(answer().truncated()) << "what was there is neither here nor there";
}

TEST(Logs, AnOlderMasterIsToldLines) {
    World world;
    world.serve("10.201.3.5:8080");
    world.join();
    world.master.order(world.start());
    world.timers.advance(2s);
    world.engine.written["hostler-i-1"] = "first\nlast \xff\n";
    uplink::Frame ask;
    auto& request = *ask.mutable_log_request();
    request.set_instance("i-1");
    request.set_tail_bytes(30);
    const auto answer = [&]() -> uplink::LogAnswer {
        return hostler::testing::run(world.loop, world.master.link->ask(ask, 5s))->log_answer();
    };
    EXPECT_EQ(answer().text(), "last ?\n");
    EXPECT_TRUE(answer().truncated());
    EXPECT_EQ(answer().next(), "");
    request.set_tail_bytes(1000);
    request.set_timed(true);
    EXPECT_EQ(answer().text(), "2026-11-21T11:40:29.000000Z first\n2026-11-21T11:40:29.000000Z last ?\n");
    EXPECT_TRUE(answer().timed());
    request.set_since_s(1'795'261'230);
    EXPECT_EQ(answer().text(), "");
}

}  // namespace
}  // namespace hostler::agent
