
#include <gtest/gtest.h>

#include "api/types_instance.h"
#include "domain/instance/move.h"
#include "proto/uplink.pb.h"
#include "roles/master/run/failover.h"
#include "roles/master/run/left.h"
#include "roles/master/run/stop_start.h"
#include "roles/master/testing/desk_rig.h"
#include "roles/master/uplink/messages.h"

namespace hostler::master {
namespace {

using namespace std::chrono_literals;

TEST(PlanMove, WaitsForTheLeaseAndTheMarginAfterIt) {
    constexpr MoveTerms terms{600s, 120s};
    const auto step = [&](Duration silence) {
        return plan_move(LossPolicy::move, InstancePhase::lost, silence, terms);
    };
    EXPECT_EQ(step(0s), MoveStep::wait);
    EXPECT_EQ(step(720s - 1ns), MoveStep::wait);
    EXPECT_EQ(step(720s), MoveStep::move);
    for (const InstancePhase phase :
         {InstancePhase::running, InstancePhase::placed, InstancePhase::halting, InstancePhase::resting,
          InstancePhase::stopping, InstancePhase::stopped, InstancePhase::failed})
        EXPECT_EQ(plan_move(LossPolicy::move, phase, 24h, terms), MoveStep::none);
    EXPECT_EQ(plan_move(LossPolicy::stay, InstancePhase::lost, 24h, terms), MoveStep::none);
}

// Two hosts whose agents keep leases, and an instance that may move, on the first.
struct MoveRig : testing::DeskRig {
    MoveRig() {
        a = host("a");
        live.hosts[a].keeps_leases = true;
        HOSTLER_ASSERT(stock(1));
        auto wanted = request("one");
        wanted.loss_policy = api::LossPolicy::move;
        HOSTLER_ASSERT(start(wanted));
        id = find_instance(desk, "acme", "one")->id;
        run(a, id);
        answer(id, {.done = true});
        b = host("b");
        live.hosts[b].keeps_leases = true;
    }
    // Both tell the time of their last word; `silent` says nothing more.
    void pass_without(const std::string& silent, int time) {
        for (int second = 0; second < time; second += 10) {
            pass(10);
            for (const std::string& host : {a, b})
                if (host != silent) report(host);
            watch_silence(desk, now);
            follow_moves(desk, now);
        }
    }
    std::string a, b, id;
};

TEST(Move, BeginsAnewElsewhereOnceItHasSurelyStopped) {
    MoveRig rig;
    const std::string claim = rig.instance(rig.id).claim;
    rig.disconnect(rig.a);
    rig.pass_without(rig.a, 710);
    EXPECT_EQ(rig.instance(rig.id).phase, InstancePhase::lost);
    EXPECT_EQ(rig.instance(rig.id).host, rig.a);
    EXPECT_NE(rig.instance(rig.id).message.find("720 s"), std::string::npos) << rig.instance(rig.id).message;
    rig.pass_without(rig.a, 20);
    const Instance& moved = rig.instance(rig.id);
    EXPECT_EQ(moved.phase, InstancePhase::placed);
    EXPECT_EQ(moved.host, rig.b);
    EXPECT_EQ(moved.reason, "moved");
    EXPECT_EQ(moved.run_generation, 2u);
    EXPECT_EQ(moved.run_generation, moved.meta.generation);
    ASSERT_EQ(rig.command_of(rig.id)->verb, Verb::start_workload);
    EXPECT_EQ(rig.command_of(rig.id)->host, rig.b);
    EXPECT_EQ(rig.command_of(rig.id)->subject_generation, 2u);
    // Its GPU is on the silent host: it goes to nobody.
    ASSERT_EQ(moved.left.size(), 1u);
    EXPECT_EQ(moved.left.front().claim, claim);
    EXPECT_EQ(rig.estate.claims.at(claim).use, ClaimUse::leaving);
    EXPECT_FALSE(may_run_at(rig.desk, moved, rig.a));
}

TEST(Move, ItsOldPlaceIsFreeOnceItsHostHasSaidSo) {
    MoveRig rig;
    const std::string claim = rig.instance(rig.id).claim;
    rig.disconnect(rig.a);
    rig.pass_without(rig.a, 730);
    const std::string subject = left_subject(rig.id, rig.a);
    EXPECT_FALSE(rig.command_of(subject)) << "there is nobody to be told";
    rig.connect(rig.a);
    rig.live.hosts[rig.a].keeps_leases = true;
    rig.report(rig.a), rig.report(rig.a);  // It runs there: its supervisor could not stop it.
    ASSERT_TRUE(rig.command_of(subject));
    EXPECT_EQ(rig.command_of(subject)->verb, Verb::stop_left);
    EXPECT_EQ(rig.command_of(subject)->host, rig.a);
    uplink::Command sent;
    ASSERT_TRUE(write_command(rig.desk, 1, *rig.command_of(subject), sent));
    EXPECT_EQ(sent.subject(), rig.id);
    EXPECT_EQ(sent.generation(), 2u) << "a late start of the first run is refused from then on";
    EXPECT_EQ(sent.stop_workload().instance(), rig.id);
    EXPECT_EQ(rig.instance(rig.id).host, rig.b) << "what an old place says is no word about the new one";
    rig.answer(subject, {.done = false, .reason = "engine_unavailable"});
    EXPECT_TRUE(rig.estate.claims.find(claim)) << "no proof, no room";
    rig.pass(6);
    rig.report(rig.a);
    rig.said[rig.a].clear();
    rig.answer(subject, {.done = true, .absent = true});
    EXPECT_FALSE(rig.estate.claims.find(claim));
    EXPECT_TRUE(rig.instance(rig.id).left.empty());
    EXPECT_EQ(rig.instance(rig.id).host, rig.b);
}

TEST(Move, ANewLeaderWaitsAWholeLease) {
    MoveRig rig;
    rig.disconnect(rig.a);
    rig.pass_without(rig.a, 700);
    rig.live.hosts[rig.a].heard = {};  // Another leads, and knows of no word of it.
    (void)rig.live.parts().take_followers();
    rig.pass_without(rig.a, 710);
    EXPECT_EQ(rig.instance(rig.id).host, rig.a);
    rig.pass_without(rig.a, 30);
    EXPECT_EQ(rig.instance(rig.id).host, rig.b);
}

TEST(Move, WithoutRoomItWaitsAndSaysForWhat) {
    MoveRig rig;
    ASSERT_TRUE(cordon_host(rig.desk, rig.b, true));
    rig.disconnect(rig.a);
    rig.pass_without(rig.a, 800);
    EXPECT_EQ(rig.instance(rig.id).phase, InstancePhase::lost);
    EXPECT_EQ(rig.instance(rig.id).reason, "waits_for_room");
    EXPECT_TRUE(rig.instance(rig.id).left.empty());
    ASSERT_TRUE(cordon_host(rig.desk, rig.b, false));
    rig.pass_without(rig.a, 20);
    EXPECT_EQ(rig.instance(rig.id).host, rig.b);
}

TEST(Move, WhatStaysStays) {
    MoveRig rig;
    ASSERT_TRUE(rig.stock(1));
    const std::string stays = rig.running("two");
    const std::string host = rig.instance(stays).host;
    rig.disconnect(host);
    rig.pass_without(host, 3000);
    EXPECT_EQ(rig.instance(stays).host, host);
    EXPECT_EQ(rig.instance(stays).phase, InstancePhase::lost);
}

TEST(Move, AHostThatIsBackInTimeGoesOn) {
    MoveRig rig;
    rig.disconnect(rig.a);
    rig.pass_without(rig.a, 600);
    rig.connect(rig.a);
    rig.live.hosts[rig.a].keeps_leases = true;
    rig.report(rig.a), rig.report(rig.a);
    EXPECT_EQ(rig.instance(rig.id).phase, InstancePhase::running);
    EXPECT_EQ(rig.instance(rig.id).run_generation, 1u);
    ASSERT_EQ(leases_on(rig.desk, rig.a).size(), 1u);
    EXPECT_EQ(leases_on(rig.desk, rig.a).front().second, 1u);
}

TEST(Move, WhatItsSupervisorStoppedBeginsAnewThere) {
    MoveRig rig;
    rig.disconnect(rig.a);
    rig.pass_without(rig.a, 600);
    rig.connect(rig.a);
    rig.live.hosts[rig.a].keeps_leases = true;
    rig.said[rig.a][rig.id] = {.state = "exited", .generation = 1, .exit_code = 137, .lease_ended = true};
    rig.report(rig.a), rig.report(rig.a);
    EXPECT_EQ(rig.instance(rig.id).phase, InstancePhase::placed);
    EXPECT_EQ(rig.instance(rig.id).reason, "lease_ended");
    EXPECT_EQ(rig.instance(rig.id).host, rig.a);
    EXPECT_EQ(rig.command_of(rig.id)->subject_generation, 2u);
}

TEST(Move, WhatCannotBeWatchedOverNowIsAskedForAgainButNotAtOnce) {
    for (const char* reason : {"lease_ended", "no_supervisor"}) {
        MoveRig rig;
        ASSERT_TRUE(restart_instance(rig.desk, rig.id));
        rig.said[rig.a].clear();
        rig.answer(rig.id, {.code = "unavailable", .reason = reason, .absent = true});
        EXPECT_EQ(rig.instance(rig.id).phase, InstancePhase::placed) << reason;
        rig.pass(4);
        rig.report(rig.a);
        EXPECT_EQ(rig.command_of(rig.id), nullptr) << reason;
        rig.pass(1);
        rig.report(rig.a);
        ASSERT_NE(rig.command_of(rig.id), nullptr) << reason;
        EXPECT_EQ(rig.command_of(rig.id)->verb, Verb::start_workload);
        EXPECT_EQ(rig.command_of(rig.id)->host, rig.a);
    }
}

TEST(Move, AShorterLeaseIsForWhatBeginsThen) {
    MoveRig rig;
    rig.settings.move_lease = 120s;  // Another leads, with another setting.
    rig.disconnect(rig.a);
    rig.pass_without(rig.a, 710);
    EXPECT_EQ(rig.instance(rig.id).host, rig.a) << "its host was told 600 s";
    EXPECT_NE(rig.instance(rig.id).message.find("720 s"), std::string::npos) << rig.instance(rig.id).message;
    rig.pass_without(rig.a, 20);
    ASSERT_EQ(rig.instance(rig.id).host, rig.b);
    uplink::Command sent;
    ASSERT_TRUE(write_command(rig.desk, 1, *rig.command_of(rig.id), sent));
    EXPECT_EQ(sent.start_workload().lease().length_ms(), 120'000u);
}

TEST(Move, ALongerLeaseIsForWhatBeginsThen) {
    MoveRig rig;
    rig.settings.move_lease = 900s;
    ASSERT_TRUE(restart_instance(rig.desk, rig.id));
    uplink::Command sent;
    ASSERT_TRUE(write_command(rig.desk, 1, *rig.command_of(rig.id), sent));
    EXPECT_EQ(sent.start_workload().lease().length_ms(), 600'000u) << "in the place that it has";
}

// After the backup it moved from here, and still runs where nobody knows it.
TEST(Move, AfterARestoreNothingBeginsBeforeLeasesOfThenAreOver) {
    MoveRig rig;
    rig.pass(10);
    rig.estate.restores.add(
        {.id = "restore", .taken_at = rig.estate.micros(), .restored_at = rig.estate.micros()});
    rig.said[rig.a][rig.id] = {.state = "exited", .generation = 1, .exit_code = 137, .lease_ended = true};
    for (int i = 0; i < 2; ++i)
        for (const std::string& host : {rig.a, rig.b}) rig.report(host);
    EXPECT_EQ(rig.instance(rig.id).run_generation, 1u);
    auto wanted = rig.request("two");
    wanted.loss_policy = api::LossPolicy::move;
    ASSERT_TRUE(rig.stock(1));
    ASSERT_TRUE(rig.start(wanted));
    EXPECT_NE(rig.command_of(find_instance(rig.desk, "acme", "two")->id), nullptr) << "it is new";
    rig.pass_without("", 710);
    EXPECT_EQ(rig.instance(rig.id).phase, InstancePhase::running);
    EXPECT_EQ(rig.command_of(rig.id), nullptr);
    rig.pass_without("", 20);
    EXPECT_EQ(rig.instance(rig.id).run_generation, 2u);
    ASSERT_NE(rig.command_of(rig.id), nullptr);
    EXPECT_EQ(rig.command_of(rig.id)->verb, Verb::start_workload);
}

TEST(Move, AfterARestoreALaterRunThatIsLeftIsStopped) {
    MoveRig rig;
    rig.disconnect(rig.a);
    rig.pass_without(rig.a, 730);
    ASSERT_EQ(rig.instance(rig.id).left.size(), 1u);
    rig.connect(rig.a);
    rig.said[rig.a][rig.id].generation = 7;  // It moved back after the backup.
    rig.report(rig.a);
    ASSERT_TRUE(rig.command_of(left_subject(rig.id, rig.a)));
    EXPECT_EQ(rig.command_of(left_subject(rig.id, rig.a))->subject_generation, 8u);
}

TEST(Move, TakesTheSlotWhoseHostKeepsLeases) {
    testing::DeskRig rig;
    rig.host("old", "nj", 1);
    ASSERT_TRUE(rig.stock(1));
    (void)rig.take();
    const auto b = rig.host("b", "nj", 1);
    rig.live.hosts[b].keeps_leases = true;
    ASSERT_TRUE(rig.stock(1));
    (void)rig.take();
    auto wanted = rig.request("one");
    wanted.loss_policy = api::LossPolicy::move;
    ASSERT_TRUE(rig.start(wanted));
    const Instance& made = *find_instance(rig.desk, "acme", "one");
    EXPECT_EQ(made.host, b);
    EXPECT_FALSE(made.slot.empty());
}

TEST(Move, IsRefusedWithVolumes) {
    MoveRig rig;
    rig.volume("data");
    auto wanted = rig.request("two");
    wanted.loss_policy = api::LossPolicy::move;
    wanted.template_.volumes = {{.name = "data", .mount_path = "/data"}};
    const auto refused = rig.start(wanted);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::invalid);
    ASSERT_EQ(refused.error().fields.size(), 1u);
    EXPECT_EQ(refused.error().fields.front().path, "lossPolicy");
}

TEST(Move, AnOlderAgentIsGivenNothingThatMayMove) {
    testing::DeskRig rig;
    rig.host("old");
    ASSERT_TRUE(rig.stock(1));
    auto wanted = rig.request("one");
    wanted.loss_policy = api::LossPolicy::move;
    const auto refused = rig.start(wanted);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "insufficient_capacity");
    wanted.loss_policy = api::LossPolicy::stay;
    EXPECT_TRUE(rig.start(wanted));
}

TEST(Move, AStartCarriesTheLeaseThatCountsFromItsHostsOwnWord) {
    MoveRig rig;
    ASSERT_TRUE(restart_instance(rig.desk, rig.id));
    rig.live.hosts[rig.a].boot_id = "boot-1";
    rig.live.hosts[rig.a].stamp_us = 42;
    uplink::Command sent;
    ASSERT_TRUE(write_command(rig.desk, 1, *rig.command_of(rig.id), sent));
    ASSERT_TRUE(sent.start_workload().has_lease());
    EXPECT_EQ(sent.start_workload().lease().boot_id(), "boot-1");
    EXPECT_EQ(sent.start_workload().lease().stamp_us(), 42u);
    EXPECT_EQ(sent.start_workload().lease().length_ms(), 600'000u);
}

TEST(Move, AHostThatIsRemovedHoldsNothing) {
    MoveRig rig;
    rig.disconnect(rig.a);
    rig.pass_without(rig.a, 730);
    ASSERT_EQ(rig.instance(rig.id).left.size(), 1u);
    ASSERT_TRUE(remove_host(rig.desk, rig.a, true));
    EXPECT_TRUE(rig.instance(rig.id).left.empty());
    for (const auto& [id, claim] : rig.estate.claims.all()) EXPECT_NE(claim.host, rig.a);
}

}  // namespace
}  // namespace hostler::master
