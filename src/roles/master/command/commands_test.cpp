#include "roles/master/command/commands.h"
#include "roles/master/run/reconcile.h"

#include <gtest/gtest.h>

#include "roles/master/testing/desk_rig.h"

namespace hostler::master {
namespace {

using testing::DeskRig;

struct Started1 : DeskRig {
    Started1() {
        a = host("a");
        HOSTLER_ASSERT(stock(1));
        id = started("one");
        command = command_of(id)->id;
    }
    std::string a, id, command;
};

TEST(Commands, ProgressMovesTheInstance) {
    Started1 rig;
    note_progress(rig.desk, rig.a, rig.command, "pulling", "pulling, 10 %");
    EXPECT_EQ(rig.instance(rig.id).phase, InstancePhase::pulling);
    EXPECT_EQ(rig.command_of(rig.id)->phase, CommandPhase::running);
    (void)rig.take();
    note_progress(rig.desk, rig.a, rig.command, "pulling", "pulling, 60 %");
    EXPECT_EQ(rig.instance(rig.id).message, "pulling, 60 %") << "people see how far it is";
    EXPECT_EQ(rig.command_of(rig.id)->message, "pulling, 60 %");
    EXPECT_TRUE(rig.take().events.empty()) << "which is no event of its own";
    note_progress(rig.desk, rig.a, rig.command, "pulling", "pulling, 60 %");
    EXPECT_TRUE(rig.estate.unchanged());
    note_progress(rig.desk, rig.a, rig.command, "starting", "starting");
    EXPECT_EQ(rig.instance(rig.id).phase, InstancePhase::starting);
    note_progress(rig.desk, rig.a, rig.command, "probing", "waiting");
    EXPECT_EQ(rig.instance(rig.id).phase, InstancePhase::probing);
    EXPECT_NE(rig.instance(rig.id).started_at, 0);
    note_progress(rig.desk, rig.a, rig.command, "pulling", "late");
    EXPECT_EQ(rig.instance(rig.id).phase, InstancePhase::probing) << "it never goes back";
    EXPECT_EQ(rig.instance(rig.id).message, "waiting");
    rig.run(rig.a, rig.id);
    rig.answer(rig.id, {.done = true});
    EXPECT_EQ(rig.instance(rig.id).phase, InstancePhase::running);
    EXPECT_NE(rig.instance(rig.id).ready_at, 0);
    EXPECT_EQ(rig.command_of(rig.id), nullptr);
}

TEST(Commands, AreAnsweredByTheirHostAlone) {
    Started1 rig;
    const auto b = rig.host("b");
    (void)rig.take();
    note_progress(rig.desk, b, rig.command, "pulling", "");
    note_answer(rig.desk, b, rig.command, {.done = true});
    note_answer(rig.desk, rig.a, "cmd-unknown", {.done = true});
    EXPECT_TRUE(rig.estate.unchanged());
}

TEST(Commands, AFailedStartEndsTheInstance) {
    Started1 rig;
    rig.answer(
        rig.id,
        {.code = "not_found", .reason = "image_unavailable", .message = "no such image", .absent = true});
    EXPECT_EQ(rig.instance(rig.id).phase, InstancePhase::failed);
    EXPECT_EQ(rig.instance(rig.id).reason, "image_unavailable");
    EXPECT_EQ(rig.instance(rig.id).message, "no such image");
    EXPECT_TRUE(rig.instance(rig.id).claim.empty()) << "the host said that nothing of it runs";
    EXPECT_EQ(rig.estate.slots.all().begin()->second.phase, SlotPhase::idle);
}

TEST(Commands, AFailedStartThatLeavesSomethingHoldsItsPlace) {
    Started1 rig;
    rig.said[rig.a][rig.id] = {.state = "exited", .exit_code = 5};
    rig.answer(rig.id, {.reason = "exited", .message = "it exited", .exit_code = 5, .exited = true});
    EXPECT_EQ(rig.instance(rig.id).exit_code, 5);
    EXPECT_EQ(rig.estate.claims.at(rig.instance(rig.id).claim).use, ClaimUse::leaving);
    rig.pass(6);
    rig.report(rig.a);
    EXPECT_EQ(rig.command_of(rig.id)->verb, Verb::stop_workload);
}

TEST(Commands, WhatWasRefusedUnreadIsAskedAgainButNotAtOnce) {
    for (const char* reason : {"stale_epoch", "stale_generation", "expired"}) {
        Started1 rig;
        rig.answer(rig.id, {.code = "conflict", .reason = reason});
        EXPECT_EQ(rig.instance(rig.id).phase, InstancePhase::placed) << reason;
        EXPECT_EQ(rig.command_of(rig.id), nullptr) << "no storm of refusals";
        rig.pass(5);
        reconcile_instance(rig.desk, rig.id);
        ASSERT_NE(rig.command_of(rig.id), nullptr);
        EXPECT_NE(rig.command_of(rig.id)->id, rig.command);
    }
}

TEST(Commands, AStopThatFailedIsTriedAgainAfterAMoment) {
    Started1 rig;
    rig.run(rig.a, rig.id);
    rig.answer(rig.id, {.done = true});
    delete_instance(rig.desk, rig.id, "test");
    rig.report(rig.a);
    rig.answer(rig.id, {.code = "unavailable", .message = "engine down"});
    reconcile_instance(rig.desk, rig.id);
    EXPECT_EQ(rig.command_of(rig.id), nullptr);
    rig.pass(5);
    reconcile_instance(rig.desk, rig.id);
    EXPECT_EQ(rig.command_of(rig.id)->verb, Verb::stop_workload);
    EXPECT_EQ(rig.instance(rig.id).phase, InstancePhase::stopping);
}

TEST(Commands, ExpireLongAfterTheirDeadline) {
    Started1 rig;
    rig.pass(1500), expire_commands(rig.desk);
    EXPECT_EQ(rig.command_of(rig.id)->id, rig.command) << "the host has its deadline, and time to say so";
    rig.pass(1), expire_commands(rig.desk);
    ASSERT_NE(rig.command_of(rig.id), nullptr);
    EXPECT_NE(rig.command_of(rig.id)->id, rig.command) << "what is wanted is asked for anew";
    note_answer(rig.desk, rig.a, rig.command, {.done = true});
    EXPECT_EQ(rig.instance(rig.id).phase, InstancePhase::placed) << "an answer after that says nothing";
}

TEST(Commands, EndedOnesAreKeptByTheStoreAlone) {
    Started1 rig;
    (void)rig.take();
    rig.answer(rig.id, {.done = true});
    const auto changes = rig.take();
    const auto at = std::ranges::find(changes.put, rig.command, &Object::id);
    ASSERT_NE(at, changes.put.end());
    EXPECT_FALSE(at->live);
    EXPECT_EQ(at->phase, "done");
    EXPECT_FALSE(changes.events.empty());
}

}  // namespace
}  // namespace hostler::master
