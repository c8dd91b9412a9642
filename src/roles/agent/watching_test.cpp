// What an agent sees of its containers and of their engine, and says of them.
#include "roles/agent/agent.h"

#include <gtest/gtest.h>

#include "roles/agent/testing/world.h"

namespace hostler::agent {
namespace {

using namespace testing;

TEST(Watching, AnExitIsReportedAtOnceAndTheContainerStays) {
    World world;
    world.serve("10.201.3.5:8080");
    world.join();
    world.master.order(world.start());
    world.timers.advance(2s);
    world.master.reports.clear();
    auto& container = world.engine.containers.at("hostler-i-1");
    container.state = ContainerState::exited;
    container.exit_code = 137;
    container.oom_killed = true;
    world.timers.advance(1100ms);
    ASSERT_EQ(world.master.reports.size(), 1U);
    const auto* seen = workload(world.master.reports[0]);
    EXPECT_EQ(seen->state(), "exited");
    EXPECT_EQ(seen->exit_code(), 137);
    EXPECT_TRUE(seen->oom_killed());
    EXPECT_FALSE(seen->ready());
    world.timers.advance(20s);
    EXPECT_TRUE(world.engine.containers.contains("hostler-i-1"));
}

TEST(Watching, WhatWasDamagedOfItsOwnFilesIsTold) {
    World world;
    world.journal.damaged = "55 bytes of /var/lib/hostler/journal were damaged";
    world.join();
    world.timers.advance(2s);
    ASSERT_FALSE(world.master.hellos.empty());
    EXPECT_EQ(world.master.hellos.back().facts().files_damaged(), world.journal.damaged);
}

TEST(Watching, AnEngineThatIsDownIsNotAnEmptyHost) {
    World world;
    world.serve("10.201.3.5:8080");
    world.join();
    world.master.order(world.start());
    world.timers.advance(2s);
    world.master.reports.clear();
    world.engine.down = true;
    world.timers.advance(25s);
    bool told = false;
    for (const auto& report : world.master.reports) {
        EXPECT_FALSE(report.workloads_complete());
        for (const auto& seen : report.workloads()) EXPECT_NE(seen.state(), "absent");
        told |= report.facts().engine_error() == "the engine's socket refuses";
    }
    EXPECT_TRUE(told);
    world.engine.down = false;
    world.timers.advance(12s);
    EXPECT_TRUE(world.master.reports.back().workloads_complete());
    EXPECT_TRUE(workload(world.master.reports.back())->ready());
}

// Silence is not death.
TEST(Watching, AContainerThatTheEngineCannotLookAtIsAsItWas) {
    World world;
    world.serve("10.201.3.5:8080");
    world.join();
    world.master.order(world.start());
    world.timers.advance(2s);
    world.engine.containers.at("hostler-i-1").id = "77";
    world.timers.advance(35s);
    world.master.reports.clear();
    world.engine.unseen = {"hostler-i-1"};
    world.timers.advance(35s);
    bool complete = false;
    for (const auto& report : world.master.reports) {
        complete = complete || report.workloads_complete();
        for (const auto& seen : report.workloads()) EXPECT_EQ(seen.state(), "running");
        if (report.workloads_complete()) EXPECT_NE(workload(report), nullptr);
    }
    EXPECT_TRUE(complete);
    world.master.order(world.stop());
    world.timers.advance(10s);
    ASSERT_NE(world.master.answer("c-2"), nullptr);
    EXPECT_EQ(world.master.answer("c-2")->state(), "done");
    EXPECT_TRUE(world.engine.containers.empty());
}

TEST(Watching, AListThatFailsIsAskedForMoreAndMoreRarely) {
    World world;
    world.engine.refuse_list = "one container of many";
    world.join();
    world.timers.advance(40s);
    const int before = world.engine.lists;
    world.timers.advance(60s);
    EXPECT_GE(world.engine.lists, before + 11);
    EXPECT_LE(world.engine.lists, before + 13) << "each 5 s";
    world.engine.refuse_list = "";
    world.timers.advance(20s);
    EXPECT_TRUE(world.master.reports.back().workloads_complete());
}

// A host whose engine tells what happens, with one instance that runs.
struct Told : World {
    Told() {
        events = &engine;
        serve("10.201.3.5:8080");
        join();
        master.order(start());
        timers.advance(10s);
        engine.news.notify_all();
        timers.advance(10s);
        begin();
    }
    void begin() {
        master.reports.clear();
        engine.lists = 0;
    }
    void die() { engine.containers.at("hostler-i-1").state = ContainerState::exited; }
    void fall() {  // The engine itself, with its stream.
        engine.down = true;
        engine.ends_news = true;
        engine.news.notify_all();
    }
    std::set<std::string> engine_errors() const {
        std::set<std::string> told;
        for (const auto& report : master.reports)
            if (report.has_facts() && !report.facts().engine_error().empty())
                told.insert(report.facts().engine_error());
        return told;
    }
    bool reported() const {
        for (const auto& report : master.reports)
            for (const auto& seen : report.workloads())
                if (seen.state() == "exited") return true;
        return false;
    }
};

// Dockerd tells of an end first, and its list shows it when it has cleaned up.
TEST(Watching, AnEndThatTheListShowsLaterThanItIsToldIsReported) {
    Told world;
    world.timers.advance(20s);
    world.begin();
    world.engine.news.notify_all();
    world.timers.advance(3s);
    EXPECT_FALSE(world.reported());
    world.die();
    world.timers.advance(1200ms);
    EXPECT_TRUE(world.reported());
    world.timers.advance(10s);
    EXPECT_EQ(world.engine.follows, 1) << "the stream told it";
}

TEST(Watching, ContainersAreListedRarelyWhileTheEngineTellsAndAtOnceWhenItDoes) {
    Told world;
    world.timers.advance(60s);
    EXPECT_LE(world.engine.lists, 3);
    EXPECT_TRUE(world.master.reports.back().workloads_complete());
    EXPECT_EQ(world.engine.follows, 1);
    world.begin();
    world.die();
    world.engine.news.notify_all();
    world.timers.advance(200ms);
    EXPECT_TRUE(world.reported());
}

TEST(Watching, LooksForManyNewsTakeATenthOfTheTimeButOneASecondIsThere) {
    Told world;
    const auto looks_in_10_s = [&](Duration look) {
        world.timers.advance(10s);
        world.begin();
        const auto end = world.timers.now() + 10s;
        for (int before = 0; world.timers.now() < end; before = world.engine.lists) {
            world.engine.lists_hang = true;
            world.engine.news.notify_all();
            world.timers.advance(10ms);
            if (world.engine.lists == before) continue;
            world.timers.advance(look);
            world.engine.lists_hang = false;
            world.engine.listing.notify_all();
            world.timers.advance(1ms);
        }
        world.engine.lists_hang = false;
        world.engine.listing.notify_all();
        return world.engine.lists;
    };
    EXPECT_NEAR(looks_in_10_s(30ms), 33, 8);
    EXPECT_NEAR(looks_in_10_s(400ms), 10, 2);
}

TEST(Watching, AnEngineThatEndsTellingIsAskedEachSecondAndFollowedAgain) {
    Told world;
    world.fall();
    world.timers.advance(100ms);
    EXPECT_EQ(world.engine.lists, 1) << "it is looked at right away";
    world.timers.advance(10s);
    EXPECT_EQ(world.engine_errors(), std::set<std::string>{"the engine's socket refuses"});
    EXPECT_GE(world.engine.lists, 10);
    EXPECT_FALSE(world.master.reports.back().workloads_complete());
    world.engine.down = false;
    world.timers.advance(40s);
    EXPECT_EQ(world.engine.follows, 2);
    world.timers.advance(5s);
    world.begin();
    world.timers.advance(60s);
    EXPECT_LE(world.engine.lists, 3);
}

TEST(Watching, AnEngineThatIsStartedAgainIsNoFaultOfItsHostAndCommandsWaitForIt) {
    Told world;
    world.fall();
    world.timers.advance(1s);
    auto command = world.start("c-2");
    command.set_subject("i-2");
    command.mutable_start_workload()->set_instance("i-2");
    command.mutable_start_workload()->clear_gpus();
    command.mutable_start_workload()->clear_ports();
    world.master.order(command);
    world.timers.advance(3500ms);
    for (const auto& report : world.master.reports) EXPECT_FALSE(report.workloads_complete());
    world.engine.down = false;
    world.timers.advance(15s);
    EXPECT_TRUE(world.master.reports.back().workloads_complete());
    EXPECT_EQ(world.engine_errors(), std::set<std::string>{});
    for (const auto& report : world.master.reports)
        if (report.has_facts()) EXPECT_TRUE(report.facts().limits_disk()) << "as it was known";
    EXPECT_EQ(world.engine.containers.at("hostler-i-2").state, ContainerState::running);
    // The next time it has as long as the first time, and who comes meanwhile is told.
    world.begin();
    world.fall();
    world.timers.advance(4s);
    EXPECT_EQ(world.engine_errors(), std::set<std::string>{});
    world.timers.advance(3s);
    EXPECT_EQ(world.engine_errors(), std::set<std::string>{"the engine's socket refuses"});
}

TEST(Watching, WhoSaysHelloWhileTheEngineIsSilentSaysSo) {
    Told world;
    world.fall();
    world.timers.advance(1s);
    world.master.hellos.clear();
    world.master.cut();
    world.timers.advance(3s);
    ASSERT_FALSE(world.master.hellos.empty());
    EXPECT_EQ(world.master.hellos.back().facts().engine_error(), "the engine's socket refuses")
        << "or what it knew would be taken for what there is";
}

TEST(Watching, WhatAReportSaidOfTheEngineIsNotSaidAgainAfterAHelloThatKnowsBetter) {
    Told world;
    world.master.acknowledge_reports = false;
    world.fall();
    world.timers.advance(8s);
    ASSERT_EQ(world.engine_errors(), std::set<std::string>{"the engine's socket refuses"});
    world.engine.down = false;
    world.timers.advance(2s);
    world.begin();
    world.master.cut();
    world.timers.advance(3s);
    EXPECT_EQ(world.master.hellos.back().facts().engine_error(), "");
    EXPECT_FALSE(world.master.reports.empty());
    EXPECT_EQ(world.engine_errors(), std::set<std::string>{}) << "the hello is newer";
}

TEST(Watching, WhatAnEngineDoesNotTellIsFoundAndItIsAskedAnew) {
    Told world;
    world.die();
    world.timers.advance(31s);
    EXPECT_TRUE(world.reported());
    world.timers.advance(5s);
    EXPECT_EQ(world.engine.follows, 2) << "what it had told no more, it may tell again";
}

TEST(Watching, AnEngineThatHangsIsNoticedThoughItsStreamStays) {
    Told world;
    world.engine.down = true;
    world.timers.advance(12s);
    EXPECT_EQ(world.engine_errors(), std::set<std::string>{"the engine's socket refuses"});
}

// Between the end of a stream and the next look something may have happened that nobody knows.
TEST(Watching, AReportIsNotCompleteUntilSomebodyHasLookedAfterAStreamHasEnded) {
    Told world;
    world.engine.lists_hang = true;
    world.engine.ends_news = true;
    world.engine.news.notify_all();
    world.timers.advance(15s);
    ASSERT_FALSE(world.master.reports.empty());
    for (const auto& report : world.master.reports) EXPECT_FALSE(report.workloads_complete());
    world.engine.lists_hang = false;
    world.engine.listing.notify_all();
    world.timers.advance(15s);
    EXPECT_TRUE(world.master.reports.back().workloads_complete());
}

TEST(Watching, ReadinessOutlivesTheAgentAndOrphansAreLeftAlone) {
    World world;
    world.serve("10.201.3.5:8080");
    world.join();
    world.master.order(world.start());
    world.timers.advance(2s);
    world.crash();
    Container orphan{"hostler-i-9",
                     {{"hostler.host", "h-1"}, {"hostler.instance", "i-9"}, {"hostler.generation", "4"}},
                     ContainerState::running};
    world.engine.containers["hostler-i-9"] = orphan;
    world.join();
    world.timers.advance(30s);
    const auto& hello = world.master.hellos.back();
    ASSERT_EQ(hello.workloads_size(), 2);
    EXPECT_TRUE(hello.workloads(0).ready());
    EXPECT_EQ(hello.workloads(1).instance(), "i-9");
    EXPECT_EQ(hello.workloads(1).generation(), 4U);
    EXPECT_EQ(world.engine.containers.at("hostler-i-9").state, ContainerState::running);
}

TEST(Watching, AnUnfinishedStartGoesOnProbingAfterARestart) {
    World world;
    world.join();
    world.master.order(world.start());
    world.timers.advance(3s);
    world.crash();
    world.join();
    EXPECT_EQ(world.master.answer("c-1"), nullptr);
    world.serve("10.201.3.5:8080");
    world.timers.advance(2s);
    ASSERT_NE(world.master.answer("c-1"), nullptr);
    EXPECT_EQ(world.master.answer("c-1")->state(), "done");
    EXPECT_EQ(world.engine.launches, 1);
}

}  // namespace
}  // namespace hostler::agent
