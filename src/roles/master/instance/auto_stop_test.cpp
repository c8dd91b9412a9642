
#include <gtest/gtest.h>

#include "proto/uplink.pb.h"
#include "roles/master/instance/auto_stop.h"
#include "roles/master/run/reconcile.h"
#include "roles/master/run/stop_start.h"
#include "roles/master/testing/desk_rig.h"
#include "roles/master/uplink/messages.h"

namespace hostler::master {
namespace {

using testing::DeskRig;

// One instance that runs, with an inactivity timeout of 100 s.
struct Schedules : DeskRig, ::testing::Test {
    Schedules() {
        a = host("a");
        EXPECT_TRUE(stock(2));
        auto wanted = request("one");
        wanted.inactivity_timeout_seconds = 100;
        EXPECT_TRUE(start(wanted));
        id = find_instance(desk, "acme", "one")->id;
        say(0, "start");
        answer(id, {.done = true});
    }
    // Its host says that it was last used so long ago.
    void say(std::optional<std::int64_t> unused_s, std::string by = "connection") {
        said[a][id] = {.state = "running",
                       .generation = instance(id).run_generation,
                       .ready = true,
                       .unused_ms = unused_s ? std::optional{*unused_s * 1000} : std::nullopt,
                       .used_by = std::move(by)};
        report(a);
    }
    void sweep() {
        watch_silence(desk, now);
        expire_commands(desk);
        reconcile_instance(desk, id);
        follow_schedules(desk);
    }
    std::vector<std::string> events() {
        std::vector<std::string> reasons;
        for (const auto& event : take().events)
            if (event.id == id) reasons.push_back(event.reason);
        return reasons;
    }
    bool told() { return std::ranges::count(events(), "stops_soon") > 0; }
    uplink::Command sent() {
        uplink::Command into;
        EXPECT_TRUE(write_command(desk, 1, *command_of(id), into));
        return into;
    }
    std::string a, id;
};

TEST_F(Schedules, WhatIsUnusedIsStoppedByItsHostThatLooksOnceMore) {
    pass(50), say(50), sweep();
    EXPECT_FALSE(told());
    EXPECT_EQ(command_of(id), nullptr);
    pass(30), say(80), sweep();
    EXPECT_TRUE(told()) << "a quarter of the time before";
    sweep();
    EXPECT_FALSE(told()) << "once";
    EXPECT_EQ(command_of(id), nullptr);
    pass(20), sweep();
    ASSERT_NE(command_of(id), nullptr);
    EXPECT_EQ(command_of(id)->verb, Verb::stop_unused);
    EXPECT_EQ(sent().stop_workload().if_unused_ms(), 100'000U);
    EXPECT_EQ(instance(id).phase, InstancePhase::running) << "it is not stopped before its host has agreed";
    said[a].clear();
    answer(id, {.done = true, .absent = true});
    EXPECT_EQ(instance(id).phase, InstancePhase::halting);
    ASSERT_NE(command_of(id), nullptr);
    EXPECT_EQ(command_of(id)->verb, Verb::stop_workload);
    EXPECT_EQ(command_of(id)->subject_generation, 2u) << "so that no late start is obeyed";
    answer(id, {.done = true, .absent = true});
    EXPECT_EQ(instance(id).phase, InstancePhase::resting);
    EXPECT_EQ(instance(id).reason, "unused");
    EXPECT_EQ(instance(id).message, "it was unused for 1m 40s");
}

TEST_F(Schedules, WhoComesAtTheLastMomentIsInTime) {
    pass(100), say(100), sweep();
    ASSERT_NE(command_of(id), nullptr);
    answer(id, {.code = "conflict", .reason = "in_use", .message = "it is in use"});
    EXPECT_EQ(instance(id).phase, InstancePhase::running);
    EXPECT_FALSE(instance(id).unused_stop_sent);
    sweep();
    EXPECT_EQ(command_of(id), nullptr) << "not asked again at once";
    pass(10), say(5), sweep();
    EXPECT_EQ(command_of(id), nullptr);
    EXPECT_EQ(next_stop(desk, instance(id))->at, estate.micros() + 95'000'000);
}

TEST_F(Schedules, InUseOrUnknownIsNotStopped) {
    pass(1000), say(0), sweep();
    EXPECT_EQ(command_of(id), nullptr);
    EXPECT_EQ(next_stop(desk, instance(id)), std::nullopt);
    pass(1000), say(std::nullopt), sweep();
    EXPECT_EQ(command_of(id), nullptr) << "an older agent measures nothing";
    say(1000);
    disconnect(a);
    pass(10), sweep();
    EXPECT_EQ(command_of(id), nullptr) << "nobody knows what goes on there";
}

TEST_F(Schedules, AnOutageOfOursIsNobodysIdleness) {
    settings.idle_grace = std::chrono::seconds{60};
    disconnect(a);
    pass(500), sweep();
    connect(a), say(600), say(600), sweep();
    EXPECT_EQ(command_of(id), nullptr);
    pass(59), say(659), sweep();
    EXPECT_EQ(command_of(id), nullptr);
    pass(1), sweep();
    EXPECT_NE(command_of(id), nullptr);
}

TEST_F(Schedules, WithoutAGatewayNobodyCouldUseIt) {
    settings.idle_grace = std::chrono::seconds{60};
    estate.gateways.add({.name = "g"});
    pass(500), say(500), sweep();
    EXPECT_EQ(command_of(id), nullptr);
    live.gateways = 1;
    live.gateways_since = estate.micros();
    sweep();
    EXPECT_EQ(command_of(id), nullptr);
    pass(60), sweep();
    EXPECT_NE(command_of(id), nullptr);
}

TEST_F(Schedules, AStopWhoseAnswerNeverCameIsNoFailure) {
    pass(100), say(100), sweep();
    ASSERT_NE(command_of(id), nullptr);
    disconnect(a);
    pass(1000), sweep();
    EXPECT_EQ(command_of(id), nullptr);
    said[a].clear();
    connect(a), report(a), report(a);
    EXPECT_EQ(instance(id).phase, InstancePhase::resting) << "it has not disappeared";
    EXPECT_EQ(instance(id).reason, "unused");
}

TEST_F(Schedules, KeepAlivePutsItOff) {
    pass(90), say(90), sweep();
    EXPECT_TRUE(told());
    ASSERT_TRUE(keep_alive(desk, id, std::chrono::seconds{1000}));
    pass(900), say(990), sweep();
    EXPECT_EQ(command_of(id), nullptr);
    pass(80), sweep();
    EXPECT_TRUE(told()) << "told anew";
    pass(20), sweep();
    ASSERT_NE(command_of(id), nullptr);
    EXPECT_EQ(keep_alive(desk, id, std::chrono::seconds{10}).error().reason, "instance_stopping")
        << "its host may have done it";
    answer(id, {.code = "conflict", .reason = "in_use"});
    EXPECT_TRUE(keep_alive(desk, id, std::chrono::seconds{10}));
    ASSERT_TRUE(halt_instance(desk, id, "r", "m"));
    EXPECT_EQ(keep_alive(desk, id, std::chrono::seconds{10}).error().reason, "not_running");
}

TEST_F(Schedules, ItsTimeAndItsLongestRun) {
    ASSERT_TRUE(update_instance(desk, id, {.inactivity_timeout_seconds = 0, .max_run_seconds = 500}));
    pass(400), say(0), sweep();
    EXPECT_TRUE(told()) << "also while it is in use";
    // A restart is no new run.
    ASSERT_TRUE(restart_instance(desk, id));
    answer(id, {.done = true});
    pass(100), sweep();
    EXPECT_EQ(instance(id).phase, InstancePhase::halting);
    EXPECT_EQ(instance(id).reason, "max_run");
    said[a].clear();
    answer(id, {.done = true});
    report(a);  // It is not silent.
    ASSERT_TRUE(wake_instance(desk, id));
    say(0), answer(id, {.done = true});
    pass(400), say(0), sweep();
    EXPECT_EQ(instance(id).phase, InstancePhase::running) << "another run has its own time";

    const auto at = rfc3339(WallTime{std::chrono::microseconds{estate.micros() + 60'000'000}});
    ASSERT_TRUE(update_instance(desk, id, {.max_run_seconds = 0, .stop_at = at}));
    EXPECT_EQ(update_instance(desk, id, {.stop_at = "2020-01-01T00:00:00Z"}).error().fields.front().path,
              "stopAt");
    pass(60), sweep();
    EXPECT_EQ(instance(id).phase, InstancePhase::halting);
    EXPECT_EQ(instance(id).reason, "stop_time");
    said[a].clear();
    answer(id, {.done = true});
    report(a);
    ASSERT_TRUE(wake_instance(desk, id));
    sweep();
    EXPECT_EQ(instance(id).phase, InstancePhase::placed) << "that time has come and gone";
}

TEST_F(Schedules, TurnedOffItIsNeverStopped) {
    pass(100), say(100), sweep();
    ASSERT_NE(command_of(id), nullptr);
    ASSERT_TRUE(update_instance(desk, id, {.inactivity_timeout_seconds = 0}));
    uplink::Command into;
    EXPECT_FALSE(write_command(desk, 1, *command_of(id), into)) << "what was not sent is not sent any more";
    pass(1'000'000), sweep(), sweep();
    say(1'000'100), sweep();
    EXPECT_EQ(command_of(id), nullptr);
}

}  // namespace
}  // namespace hostler::master
