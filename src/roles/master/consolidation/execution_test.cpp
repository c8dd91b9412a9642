#include "roles/master/consolidation/execution.h"

#include <gmock/gmock.h>

#include "api/types_consolidation.h"
#include "api/types_instance.h"
#include "api/types_stock.h"
#include "roles/master/run/reconcile.h"
#include "roles/master/run/stop_start.h"
#include "roles/master/scheduler/capacity.h"
#include "roles/master/stock/slots.h"
#include "roles/master/testing/desk_rig.h"

namespace hostler::master {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

// Hosts of four GPUs whose agents keep leases, and a spec of one.
struct ConsolidationRig : testing::DeskRig {
    ConsolidationRig() {
        add_host("a");
        HOSTLER_ASSERT(stock(1));
        HOSTLER_ASSERT(delete_stock(desk, {.number = 1, .spec_name = "small"}));
    }
    void add_host(const std::string& name, const std::string& zone = "nj") {
        const std::string id = host(name, zone);
        live.hosts[id].keeps_leases = true;
    }
    void only(const std::string& host_id, auto act) {
        for (const auto& [id, row] : std::map{estate.hosts.all().as_map()})
            (void)cordon_host(desk, id, id != host_id);
        act();
        for (const auto& [id, row] : std::map{estate.hosts.all().as_map()})
            (void)cordon_host(desk, id, false);
    }
    // One that runs there.
    std::string running_on(const std::string& host_id, const std::string& name,
                           api::LossPolicy policy = api::LossPolicy::move) {
        auto wanted = request(name);
        wanted.loss_policy = policy;
        only(host_id, [&] { HOSTLER_ASSERT(start(wanted)); });
        const std::string id = find_instance(desk, "acme", name)->id;
        HOSTLER_ASSERT(instance(id).host == host_id);
        run(host_id, id);
        answer(id, {.done = true});
        return id;
    }
    const ConsolidationRecord& begun(const api::CreateConsolidation& wanted = {}) {
        const auto run = begin_consolidation(desk, wanted);
        HOSTLER_ASSERT(run);
        return **run;
    }
    const ConsolidationRecord& record() const { return estate.consolidations.all().begin()->second; }
    // Its host says that nothing of it runs there any more.
    void stops(const std::string& id) {
        said[instance(id).host].erase(id);
        answer(id, {.done = true, .absent = true});
    }
    int reserved() const {
        return static_cast<int>(std::ranges::count_if(
            estate.claims.all(), [](const auto& row) { return row.second.use == ClaimUse::reserved; }));
    }
};

TEST(Consolidations, ThePlanSaysWhatIsGainedAndWhatItCosts) {
    ConsolidationRig rig;
    rig.add_host("b");
    rig.only("h-a", [&] { ASSERT_TRUE(rig.stock(1)); });
    rig.running_on("h-b", "one"), rig.running_on("h-b", "two"), rig.running_on("h-b", "three");
    const auto plan = plan_consolidation(rig.desk, {});
    ASSERT_TRUE(plan);
    EXPECT_THAT(plan->freed, ElementsAre("h-a"));
    EXPECT_EQ(plan->gpus, 4);
    const api::Consolidation shown = view(rig.desk, *plan);
    EXPECT_EQ(shown.state, api::ConsolidationState::planned);
    EXPECT_EQ(shown.restarts, 0) << "a slot of stock is just moved";
    ASSERT_EQ(shown.moves.size(), 1u);
    EXPECT_EQ(shown.moves[0].spec_name + " " + shown.moves[0].from_name + " " + shown.moves[0].to_name,
              "small a b");
    EXPECT_TRUE(rig.estate.consolidations.all().empty()) << "nothing was done";
}

TEST(Consolidations, WhatMustStayIsNotMoved) {
    ConsolidationRig rig;
    rig.add_host("b");
    rig.running_on("h-a", "stays", api::LossPolicy::stay);
    rig.running_on("h-a", "moves");
    rig.running_on("h-b", "other", api::LossPolicy::stay);
    EXPECT_TRUE(plan_consolidation(rig.desk, {})->steps.empty()) << "no host would be free";
    EXPECT_EQ(begin_consolidation(rig.desk, {}).error().reason, "nothing_to_move");
}

TEST(Consolidations, NothingLeavesItsZone) {
    ConsolidationRig rig;
    rig.add_host("b", "lon"), rig.add_host("c");
    rig.running_on("h-a", "one"), rig.running_on("h-b", "two");
    EXPECT_TRUE(plan_consolidation(rig.desk, {})->steps.empty());
    rig.running_on("h-c", "three");
    EXPECT_THAT(plan_consolidation(rig.desk, {})->freed, ElementsAre("h-a"));
    EXPECT_TRUE(plan_consolidation(rig.desk, {.zone = "lon"})->steps.empty());
    EXPECT_EQ(plan_consolidation(rig.desk, {.zone = "par"}).error().fields.at(0).path, "zone");
}

TEST(Consolidations, WhereLeasesAreNotKeptNothingGoesThatMayMove) {
    ConsolidationRig rig;
    rig.add_host("b");
    rig.running_on("h-a", "one"), rig.running_on("h-b", "two"), rig.running_on("h-b", "three");
    rig.live.hosts["h-b"].keeps_leases = false;
    EXPECT_TRUE(plan_consolidation(rig.desk, {})->steps.empty() ||
                plan_consolidation(rig.desk, {})->freed.front() == "h-b");
}

TEST(Consolidations, AnInstanceBeginsInItsNewPlaceOnceItHasStopped) {
    ConsolidationRig rig;
    rig.add_host("b");
    const std::string id = rig.running_on("h-a", "one");
    rig.running_on("h-b", "two");
    rig.begun();
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::halting);
    EXPECT_EQ(rig.reserved(), 1) << "its place there is held before it is stopped here";
    for (int i = 0; i < 20; ++i) {
        rig.pass(30), rig.report("h-a"), rig.report("h-b");
        follow_consolidations(rig.desk);
        reconcile_instance(rig.desk, id);
    }
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::halting) << "nobody has said that it stopped";
    EXPECT_EQ(rig.instance(id).host, "h-a");
    rig.stops(id);
    follow_consolidations(rig.desk);
    const Instance& moved = rig.instance(id);
    EXPECT_EQ(moved.phase, InstancePhase::placed);
    EXPECT_EQ(moved.host, "h-b");
    EXPECT_EQ(moved.run_generation, moved.meta.generation);
    EXPECT_EQ(rig.estate.claims.at(moved.claim).use, ClaimUse::instance);
    EXPECT_EQ(rig.command_of(id)->verb, Verb::start_workload);
    EXPECT_EQ(rig.command_of(id)->host, "h-b");
    EXPECT_EQ(rig.reserved(), 0);
    EXPECT_EQ(rig.record().phase, ConsolidationPhase::done);
    for (const auto& [claim_id, claim] : rig.estate.claims.all()) EXPECT_EQ(claim.host, "h-b");
}

TEST(Consolidations, TwoHostsBecomeFreeAndWhatWasThereRunsElsewhere) {
    ConsolidationRig rig;
    rig.add_host("b"), rig.add_host("c");
    rig.running_on("h-a", "stays", api::LossPolicy::stay);
    rig.running_on("h-a", "stays-too", api::LossPolicy::stay);
    const std::string one = rig.running_on("h-b", "one");
    rig.only("h-c", [&] { ASSERT_TRUE(rig.stock(1)); });
    const std::string slot = rig.estate.slots.all().begin()->first;
    EXPECT_FALSE(rig.stock(2, "whole", {}, 4)) << "no two hosts are free";
    EXPECT_THAT(plan_consolidation(rig.desk, {})->freed, UnorderedElementsAre("h-b", "h-c"));
    EXPECT_EQ(plan_consolidation(rig.desk, {})->gpus, 8);
    rig.begun();
    rig.stops(one);
    follow_consolidations(rig.desk);
    EXPECT_EQ(rig.record().phase, ConsolidationPhase::done);
    for (const auto& [claim_id, claim] : rig.estate.claims.all()) EXPECT_EQ(claim.host, "h-a");
    rig.run("h-a", one);
    rig.answer(one, {.done = true});
    EXPECT_EQ(rig.instance(one).phase, InstancePhase::running);
    EXPECT_EQ(rig.estate.slots.at(slot).phase, SlotPhase::idle) << "it waits for an instance there";
    EXPECT_TRUE(rig.stock(2, "whole", {}, 4)) << "what it was for";
}

TEST(Consolidations, ItsSlotComesAlong) {
    ConsolidationRig rig;
    rig.only("h-a", [&] { ASSERT_TRUE(rig.stock(1)); });
    const std::string id = rig.running_on("h-a", "one");
    const std::string slot = rig.instance(id).slot;
    ASSERT_FALSE(slot.empty());
    rig.add_host("b");
    rig.running_on("h-b", "two");
    rig.begun();
    rig.stops(id);
    follow_consolidations(rig.desk);
    EXPECT_EQ(rig.instance(id).host, "h-b");
    EXPECT_EQ(rig.instance(id).slot, slot);
    EXPECT_EQ(rig.estate.slots.at(slot).phase, SlotPhase::used);
    EXPECT_EQ(rig.estate.slots.at(slot).claim, rig.instance(id).claim);
    EXPECT_EQ(rig.estate.claims.all().size(), 2u) << "no more is held than before";
}

TEST(Consolidations, AHostThatIsToBeFreeTakesNothing) {
    ConsolidationRig rig;
    rig.add_host("b");
    const std::string id = rig.running_on("h-a", "one");
    rig.running_on("h-b", "two");
    rig.begun();
    EXPECT_EQ(unavailable(rig.desk, rig.estate.hosts.at("h-a")), "is being emptied");
    EXPECT_EQ(rig.instance(rig.started("new")).host, "h-b");
    rig.stops(id);
    follow_consolidations(rig.desk);
    EXPECT_EQ(unavailable(rig.desk, rig.estate.hosts.at("h-a")), "");
}

TEST(Room, AHostThatLimitsNoDiskTakesNothingWhereThatIsRequired) {
    ConsolidationRig rig;
    const auto word = [&] { return unavailable(rig.desk, rig.estate.hosts.at("h-a")); };
    EXPECT_EQ(word(), "");
    rig.settings.require_disk_limit = true;
    EXPECT_EQ(word(), "does not limit what containers write: its agent is too old");
    EXPECT_EQ(closed_by(rig.desk, rig.estate.hosts.at("h-a")), Obstacle::refused);
    rig.estate.hosts.edit("h-a").facts.disk_unlimited = "its storage driver is vfs";
    EXPECT_EQ(word(), "does not limit what containers write: its storage driver is vfs");
    rig.estate.hosts.edit("h-a").facts.disk_unlimited.clear();
    rig.estate.hosts.edit("h-a").facts.limits_disk = true;
    EXPECT_EQ(word(), "");
    EXPECT_EQ(closed_by(rig.desk, rig.estate.hosts.at("h-a")), std::nullopt);
}

TEST(Consolidations, WhoeverStopsItMeanwhileIsObeyed) {
    for (const bool before : {true, false})
        for (const bool deletes : {true, false}) {
            ConsolidationRig rig;
            rig.only("h-a", [&] { ASSERT_TRUE(rig.stock(1)); });
            const std::string id = rig.running_on("h-a", "one");
            rig.add_host("b");
            rig.running_on("h-b", "two");
            rig.begun();
            if (!before) rig.stops(id);
            if (deletes)
                delete_instance(rig.desk, id, "test");
            else
                ASSERT_TRUE(halt_instance(rig.desk, id, "stopped_by_owner", "its owner stopped it"));
            if (before) rig.stops(id);
            follow_consolidations(rig.desk);
            EXPECT_EQ(rig.instance(id).phase, deletes ? InstancePhase::stopped : InstancePhase::resting);
            EXPECT_EQ(rig.instance(id).claim, "");
            EXPECT_EQ(rig.reserved(), 0);
            EXPECT_EQ(rig.record().steps[0].phase, MoveState::skipped);
            EXPECT_EQ(rig.record().phase, ConsolidationPhase::done);
            const Slot& slot = rig.estate.slots.all().begin()->second;
            EXPECT_EQ(slot.phase, SlotPhase::idle);
            EXPECT_EQ(rig.estate.claims.at(slot.claim).host, "h-b") << "it came along";
        }
}

TEST(Consolidations, WithoutItsNewPlaceItBeginsWhereThereIsRoom) {
    ConsolidationRig rig;
    rig.add_host("b");
    const std::string id = rig.running_on("h-a", "one");
    const std::string other = rig.running_on("h-b", "two");
    rig.begun();
    ASSERT_EQ(rig.record().steps[0].to, "h-b");
    rig.add_host("c");
    ASSERT_TRUE(remove_host(rig.desk, "h-b", true));
    EXPECT_EQ(rig.reserved(), 0);
    rig.stops(id);
    follow_consolidations(rig.desk);
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::placed);
    EXPECT_EQ(rig.instance(id).host, "h-c");
    EXPECT_EQ(rig.record().phase, ConsolidationPhase::done);
}

TEST(Consolidations, WhatStoppedWaitsForRoomAndIsNotForgotten) {
    ConsolidationRig rig;
    rig.add_host("b");
    const std::string id = rig.running_on("h-a", "one");
    rig.running_on("h-b", "two");
    rig.begun();
    ASSERT_TRUE(cordon_host(rig.desk, "h-b", true));
    rig.stops(id);
    follow_consolidations(rig.desk);
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::resting);
    EXPECT_EQ(rig.record().phase, ConsolidationPhase::running);
    EXPECT_NE(rig.record().steps[0].message.find("waits for room"), std::string::npos);
    ASSERT_TRUE(cancel_consolidation(rig.desk, std::string{rig.record().id}));
    EXPECT_EQ(rig.record().phase, ConsolidationPhase::cancelling) << "it is not left lying";
    ASSERT_TRUE(cordon_host(rig.desk, "h-b", false));
    rig.pass(6);
    rig.live.rest_until.clear();
    follow_consolidations(rig.desk);
    EXPECT_EQ(rig.instance(id).host, "h-b");
    EXPECT_EQ(rig.record().phase, ConsolidationPhase::cancelled);
}

TEST(Consolidations, SoManyAtOnceAndCancelled) {
    ConsolidationRig rig;
    rig.add_host("b");
    const std::string one = rig.running_on("h-a", "one"), two = rig.running_on("h-a", "two");
    rig.running_on("h-b", "three"), rig.running_on("h-b", "four");
    rig.begun({.at_once = 1});
    ASSERT_EQ(rig.record().steps.size(), 2u);
    EXPECT_EQ(rig.record().steps[0].phase, MoveState::stopping);
    EXPECT_EQ(rig.record().steps[1].phase, MoveState::waiting);
    EXPECT_EQ(begin_consolidation(rig.desk, {}).error().reason, "consolidation_running");
    const std::string id = rig.record().id;
    ASSERT_TRUE(cancel_consolidation(rig.desk, id));
    EXPECT_EQ(rig.record().steps[1].phase, MoveState::dropped);
    EXPECT_EQ(rig.record().phase, ConsolidationPhase::cancelling);
    rig.stops(rig.record().steps[0].workload);
    follow_consolidations(rig.desk);
    EXPECT_EQ(rig.record().steps[0].phase, MoveState::done);
    EXPECT_EQ(rig.record().phase, ConsolidationPhase::cancelled);
    EXPECT_EQ(cancel_consolidation(rig.desk, id).error().reason, "consolidation_ended");
    EXPECT_EQ(cancel_consolidation(rig.desk, "co-x").error().reason, "consolidation_not_found");
}

TEST(Consolidations, AMoveThatNoLongerHoldsEndsTheRest) {
    ConsolidationRig rig;
    rig.add_host("b");
    rig.running_on("h-a", "one"), rig.running_on("h-a", "two");
    rig.running_on("h-b", "three"), rig.running_on("h-b", "four");
    rig.begun({.at_once = 1});
    (void)rig.started("five");  // Takes the room of the second.
    rig.stops(rig.record().steps[0].workload);
    follow_consolidations(rig.desk);
    follow_consolidations(rig.desk);
    EXPECT_EQ(rig.record().steps[0].phase, MoveState::done);
    EXPECT_EQ(rig.record().steps[1].phase, MoveState::dropped);
    EXPECT_EQ(rig.record().phase, ConsolidationPhase::failed);
    EXPECT_NE(rig.record().message.find("no room"), std::string::npos);
}

TEST(Consolidations, APlanIsTakenAsItWasShownOrRefused) {
    ConsolidationRig rig;
    rig.add_host("b");
    const std::string one = rig.running_on("h-a", "one");
    rig.running_on("h-b", "two"), rig.running_on("h-b", "three"), rig.running_on("h-b", "four");
    const api::CreateConsolidation shown{.moves = {{one, "h-b"}}};
    EXPECT_THAT(plan_consolidation(rig.desk, shown)->freed, ElementsAre("h-a"));
    const api::CreateConsolidation twice{.moves = {{one, "h-b"}, {one, "h-b"}}};
    EXPECT_EQ(plan_consolidation(rig.desk, twice).error().reason, "plan_outdated");
    rig.only("h-b", [&] { (void)rig.started("five"); });
    const auto refused = begin_consolidation(rig.desk, shown);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "plan_outdated");
    EXPECT_EQ(rig.instance(one).phase, InstancePhase::running) << "nothing was done";
}

TEST(Consolidations, TheNextLeaderGoesOn) {
    ConsolidationRig rig;
    rig.add_host("b");
    rig.running_on("h-a", "one"), rig.running_on("h-b", "two");
    const ConsolidationRecord& run = rig.begun({.zone = "nj"});
    const auto read = decode_body<ConsolidationRecord>(encode_body(run));
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, run);
    const auto old = decode_body<ConsolidationRecord>(R"({"id":"co-1"})");
    ASSERT_TRUE(old);
    EXPECT_EQ(old->at_once, 1);
}

}  // namespace
}  // namespace hostler::master
