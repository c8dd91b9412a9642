#include "roles/master/unmanaged/unmanaged.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "roles/master/instance/lifecycle.h"
#include "roles/master/run/reconcile.h"
#include "roles/master/run/stop_start.h"
#include "roles/master/scheduler/capacity.h"
#include "roles/master/testing/desk_rig.h"
#include "roles/master/volume/volumes.h"

namespace hostler::master {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using testing::DeskRig;
using ::testing::HasSubstr;
using ::testing::Not;

struct Rig : DeskRig {
    // What a container says that was made after the backup.
    SeenWorkload made_since(const std::string& network = "sn-lost",
                            const std::string& address = "10.208.7.9") {
        return {.state = "running",
                .generation = 3,
                .ready = true,
                .tenant = "acme",
                .gpus = {"GPU-a-1"},
                .cpu_milli = 4000,
                .memory_bytes = std::int64_t{16} << 30,
                .name = "notebook",
                .image = "demo:1",
                .network = network,
                .address = address,
                .ports = {{.port = 8080, .is_probe = true, .base_url = "/ready"}},
                .mounts = {{"v-lost", "/data", false}}};
    }
    // The store is of a backup: no host has said anything since.
    void restored() {
        estate.restores.add({.id = "restore", .taken_at = 1, .restored_at = 2});
        live = {};
        for (const auto& [id, host] : estate.hosts.all()) connect(id);
    }
    // An instance "rests" of the only host there is: at rest by the store, and running by what `host` says
    // next.
    std::string rested_and_begun_since(const std::string& host) {
        EXPECT_TRUE(stock(1));
        const auto id = running("rests");
        EXPECT_TRUE(halt_instance(desk, id, "asked", "asked"));
        said[host].clear();
        answer(id, {.done = true});
        report(host);
        EXPECT_EQ(instance(id).phase, InstancePhase::resting);
        const auto generation = instance(id).meta.generation;
        restored();
        said[host][id] = made_since();
        said[host][id].generation = generation + 1;
        return id;
    }
    const Claim& foreign(const std::string& workload) { return **find_foreign(desk, workload); }
};

TEST(Foreign, AHostThatNamesEverNewOnesIsBelievedSoMany) {
    Rig rig;
    const auto a = rig.host("a");
    const auto name = [&](int first, int count, bool complete) {
        rig.said[a].clear();
        for (int i = 0; i < count; ++i) rig.said[a][fmt::format("i-{}", first + i)] = {.state = "running"};
        rig.report(a, complete);
    };
    constexpr int all = workloads_host_max;
    for (int i = 0; i < 5; ++i) name(i * 1000, 1000, false);
    EXPECT_EQ(rig.live.hosts[a].workloads.size(), workloads_host_max);
    EXPECT_EQ(rig.live.workloads_refused, 5000u - all);
    name(0, 1, false);
    EXPECT_EQ(rig.live.workloads_refused, 5000u - all) << "it is known";
    (void)rig.take();
    const auto ledger = [&] {
        const Changes changes = rig.take();
        return changes.ledger.size();
    };
    name(10'000, all, true);
    EXPECT_EQ(ledger(), all) << "after a restore a host may have as many";
    name(20'000, all, true);
    EXPECT_EQ(ledger(), all) << "those that are gone are let go, and no others held";
    const auto told = [&](const Changes& changes) {
        return std::ranges::count(changes.events, "too_many_workloads", &EventRecord::reason);
    };
    name(30'000, all, true);
    const Changes refused = rig.take();
    EXPECT_EQ(refused.ledger.size(), 0u);
    EXPECT_EQ(told(refused), 0) << "it was told before";
    rig.pass(100);
    name(40'000, all, true);
    const Changes few = rig.take();
    EXPECT_EQ(few.ledger.size(), 10u) << "one each ten seconds";
    EXPECT_EQ(told(few), 0);
    rig.pass(24 * 3600);
    name(50'000, all, true);
    EXPECT_EQ(ledger(), 10u + all);
}

// It was bound, and grew, after the backup.
// Rows of two instances are gone from the store: of one it is known that it is there and cannot be read.
TEST(Foreign, ClaimsOfInstancesWithoutARowStayHeld) {
    Rig rig;
    const auto a = rig.host("a");
    ASSERT_TRUE(rig.stock(2));
    const std::string damaged = rig.running("damaged"), dropped = rig.running("dropped");
    const std::string of_damaged = rig.instance(damaged).claim, of_dropped = rig.instance(dropped).claim;
    ASSERT_TRUE(rig.estate.set_aside({"instance", damaged, "its checksum differs"}));
    rig.estate.forget("instance", dropped);
    hold_for_unknown(rig.desk);
    EXPECT_EQ(rig.estate.claims.at(of_damaged).use, ClaimUse::instance);
    EXPECT_EQ(rig.estate.claims.at(of_dropped).use, ClaimUse::foreign);
    for (const auto& [id, slot] : rig.estate.slots.all()) EXPECT_NE(slot.claim, of_dropped);
    rig.report(a);
    EXPECT_EQ(rig.estate.claims.at(of_damaged).use, ClaimUse::instance) << "and no second claim for it";
    EXPECT_EQ(rig.foreign(dropped).id, of_dropped) << "a person settles it";
    const std::string third = rig.running("third");
    for (const std::string& gpu : rig.estate.claims.at(rig.instance(third).claim).gpus)
        for (const std::string& held : {of_damaged, of_dropped})
            EXPECT_EQ(std::ranges::count(rig.estate.claims.at(held).gpus, gpu), 0)
                << "their GPUs are nobody else's";
    rig.said[a].erase(dropped);
    rig.report(a);
    EXPECT_FALSE(rig.estate.claims.find(of_dropped)) << "nothing of it runs any more";
    EXPECT_TRUE(rig.estate.claims.find(of_damaged));
}

TEST(Foreign, AVolumeThatItWritesToIsNobodyElses) {
    Rig rig;
    const auto a = rig.host("a");
    ASSERT_TRUE(rig.stock(1));
    const auto v = rig.volume("data"), read = rig.volume("read");
    auto wanted = rig.request("ours");
    wanted.template_.volumes = {{"data", "/data", false}};
    ASSERT_TRUE(rig.start(wanted));
    const auto id = find_instance(rig.desk, "acme", "ours")->id;
    const auto stale = [&](const std::string& subject) {
        const auto before = rig.command_of(subject)->subject_generation;
        rig.answer(subject, {.code = "conflict", .reason = "stale_generation", .message = "older"});
        rig.pass(10);
        reconcile_volumes(rig.desk);
        reconcile_instance(rig.desk, id);
        EXPECT_EQ(rig.command_of(subject)->subject_generation, before + 1)
            << "what its host obeyed is passed";
    };
    stale(v);
    rig.said[a]["i-lost"] = rig.made_since();
    rig.said[a]["i-lost"].gpus.clear();
    rig.said[a]["i-lost"].mounts = {{v, "/data", false}, {read, "/read", true}};
    rig.report(a);
    rig.answer(v, {.done = true});
    EXPECT_EQ(rig.command_of(id), nullptr);
    EXPECT_THAT(rig.instance(id).message, HasSubstr("i-lost"));
    auto another = rig.request("another");
    another.template_.volumes = {{"data", "/data", true}};
    EXPECT_EQ(rig.start(another).error().reason, "volume_in_use");
    EXPECT_EQ(adopt_foreign(rig.desk, "i-lost").error().reason, "volume_in_use");
    EXPECT_EQ(delete_volume(rig.desk, read).error().reason, "volume_in_use");
    rig.said[a].erase("i-lost");
    rig.report(a);
    reconcile_instance(rig.desk, id);
    ASSERT_NE(rig.command_of(id), nullptr) << "it is gone";
    stale(id);
}

TEST(Foreign, SaysAllThatItsContainerSaysAndHoldsItsAddresses) {
    Rig rig;
    const auto a = rig.host("a");
    rig.said[a]["i-lost"] = rig.made_since();
    rig.report(a);
    const Claim& claim = rig.foreign("i-lost");
    EXPECT_EQ(claim.cpu_milli, 4000);
    EXPECT_EQ(claim.address_index, 9);
    EXPECT_EQ(claim.since, rig.estate.micros());
    const Subnet& subnet = rig.estate.subnets.at("sn-lost");
    EXPECT_EQ(subnet.index, 7u);
    EXPECT_TRUE(subnet.unusable && subnet.foreign);
    EXPECT_EQ(subnet.tenant, "acme");
    reconcile_subnets(rig.desk);
    EXPECT_TRUE(rig.estate.commands.all().empty()) << "its network is not taken from under it";
    EXPECT_THAT(not_known(rig.desk, claim), Contains("variables"));
    EXPECT_THAT(not_known(rig.desk, claim), Not(Contains("image")));
    // It has ended by itself: its network goes too.
    rig.said[a].clear();
    rig.report(a);
    EXPECT_FALSE(find_foreign(rig.desk, "i-lost"));
    reconcile_subnets(rig.desk);
    EXPECT_EQ(rig.command_of("sn-lost")->verb, Verb::remove_network);
}

TEST(Foreign, IsAdoptedAsItRuns) {
    Rig rig;
    const auto a = rig.host("a");
    ASSERT_TRUE(rig.stock(1));
    rig.said[a]["i-lost"] = rig.made_since();
    rig.report(a);
    const auto adopted = adopt_foreign(rig.desk, "i-lost");
    ASSERT_TRUE(adopted) << adopted.error().message;
    const Instance& instance = rig.instance("i-lost");
    EXPECT_EQ(instance.caller_id, "notebook");
    EXPECT_EQ(instance.phase, InstancePhase::running);
    EXPECT_EQ(instance.spec_name, "small");
    EXPECT_EQ(instance.spec.image, "demo:1");
    EXPECT_EQ(instance.spec.ports.at(0).base_url, "/ready");
    EXPECT_FALSE(instance.spec.ports.at(0).is_public) << "what is not known is not open to all";
    EXPECT_EQ(instance.run_generation, 3u);
    EXPECT_EQ(instance.address, "10.208.7.9");
    EXPECT_THAT(instance.message, HasSubstr("variables are not known"));
    EXPECT_EQ(rig.estate.claims.at(instance.claim).use, ClaimUse::instance);
    EXPECT_EQ(rig.estate.volumes.at("v-lost").host, a);
    EXPECT_FALSE(rig.estate.subnets.at("sn-lost").unusable);
    EXPECT_FALSE(find_foreign(rig.desk, "i-lost"));
    // It runs on, through reports and looks.
    rig.report(a), rig.report(a);
    reconcile_instance(rig.desk, "i-lost");
    EXPECT_EQ(rig.command_of("i-lost"), nullptr);
    EXPECT_EQ(rig.instance("i-lost").phase, InstancePhase::running);
    // Another container would lack what nobody knows.
    EXPECT_EQ(restart_instance(rig.desk, "i-lost").error().reason, "instance_adopted");
    EXPECT_EQ(halt_instance(rig.desk, "i-lost", "asked", "asked").error().reason, "instance_adopted");
    // It ends as others do, with a generation that its host obeys.
    delete_instance(rig.desk, "i-lost", "asked");
    EXPECT_EQ(rig.command_of("i-lost")->subject_generation, 4u);
    rig.said[a].clear();
    rig.answer("i-lost", {.done = true});
    rig.report(a), rig.report(a);
    EXPECT_TRUE(rig.instance("i-lost").claim.empty());
}

TEST(Foreign, IsNotAdoptedWhereOthersHaveItsPlaceOrItIsNotKnownWhoseItIs) {
    Rig rig;
    const auto a = rig.host("a", "nj", 2);
    ASSERT_TRUE(rig.stock(2));
    const auto mine = rig.running("one");
    auto workload = rig.made_since();
    workload.gpus = rig.estate.claims.at(rig.instance(mine).claim).gpus;
    rig.said[a]["i-lost"] = workload;
    rig.report(a);
    EXPECT_EQ(adopt_foreign(rig.desk, "i-lost").error().reason, "place_taken");
    rig.said[a]["i-nobody"] = rig.made_since("sn-2", "10.208.8.9");
    rig.said[a]["i-nobody"].tenant.clear();
    rig.said[a]["i-ended"] = rig.made_since("sn-3", "10.208.9.10");
    rig.said[a]["i-ended"].state = "exited";
    rig.report(a);
    EXPECT_EQ(adopt_foreign(rig.desk, "i-nobody").error().reason, "tenant_unknown");
    EXPECT_EQ(adopt_foreign(rig.desk, "i-ended").error().reason, "not_running");
    EXPECT_EQ(adopt_foreign(rig.desk, "i-none").error().code, Code::not_found);
    rig.disconnect(a);
    EXPECT_EQ(adopt_foreign(rig.desk, "i-lost").error().reason, "host_unreachable");
    EXPECT_FALSE(rig.estate.instances.find("i-lost"));
}

TEST(Foreign, IsNotAdoptedWithoutSayingWhatItUses) {
    Rig rig;
    const auto a = rig.host("a");
    rig.said[a]["i-old"] = rig.made_since();
    rig.said[a]["i-old"].cpu_milli = 0;
    rig.said[a]["i-older"] = rig.made_since("sn-2", "10.208.8.9");
    rig.said[a]["i-older"].gpus.clear();
    rig.said[a]["i-older"].image.clear();
    rig.said[a]["i-huge"] = rig.made_since("sn-3", "10.208.9.9");
    rig.said[a]["i-huge"].gpus.clear();
    rig.said[a]["i-huge"].cpu_milli = 1'000'000;
    rig.report(a);
    EXPECT_EQ(adopt_foreign(rig.desk, "i-old").error().reason, "place_unknown");
    EXPECT_EQ(adopt_foreign(rig.desk, "i-older").error().reason, "place_unknown");
    EXPECT_EQ(adopt_foreign(rig.desk, "i-huge").error().reason, "place_taken");
}

TEST(Foreign, AHostsWordTakesNothingOfAnotherHost) {
    Rig rig;
    const auto a = rig.host("a"), b = rig.host("b");
    // The network of one, in the word of the other.
    rig.said[b]["i-first"] = rig.made_since("sn-b", "10.208.7.9");
    rig.said[b]["i-first"].gpus.clear();
    rig.report(b);
    ASSERT_EQ(rig.estate.subnets.at("sn-b").host, b);
    rig.said[a]["i-lost"] = rig.made_since("sn-b", "10.208.7.10");
    rig.report(a);
    EXPECT_EQ(adopt_foreign(rig.desk, "i-lost").error().reason, "place_taken");
    // The same workload in the word of both.
    rig.said[a]["i-first"] = rig.made_since("sn-a", "10.208.8.9");
    rig.report(a);
    for (const auto& refused :
         {adopt_foreign(rig.desk, "i-first").error(), keep_foreign(rig.desk, "i-first", "mine").error(),
          remove_foreign(rig.desk, "i-first", "not mine").error()}) {
        EXPECT_EQ(refused.reason, "workload_ambiguous");
        EXPECT_THAT(refused.message, AllOf(HasSubstr(a), HasSubstr(b)));
    }
    // It names an instance that runs elsewhere.
    ASSERT_TRUE(rig.stock(1));
    const auto mine = rig.running("mine");
    const std::string other = rig.instance(mine).host == a ? b : a;
    const auto generation = rig.instance(mine).meta.generation;
    rig.said[other][mine] = rig.made_since("sn-c", "10.208.9.9");
    rig.report(other);
    ASSERT_TRUE(remove_foreign(rig.desk, mine, "a copy"));
    EXPECT_EQ(rig.command_of(mine)->host, other);
    EXPECT_EQ(rig.instance(mine).meta.generation, generation) << "what runs is still the run that is wanted";
}

TEST(Foreign, AHostHoldsSomeSubnetsAndNotAll) {
    Rig rig;
    const auto a = rig.host("a");
    for (int i = 0; i < 100; ++i)
        rig.said[a][fmt::format("i-{}", i)] =
            rig.made_since(fmt::format("sn-{}", i), fmt::format("10.208.{}.9", i));
    rig.report(a);
    EXPECT_EQ(rig.estate.subnets.all().size(), 64u);
}

TEST(Foreign, IsRemovedWhenAPersonSaysSoAndUntilItHasGone) {
    Rig rig;
    const auto a = rig.host("a");
    rig.said[a]["i-lost"] = rig.made_since();
    rig.report(a);
    ASSERT_TRUE(keep_foreign(rig.desk, "i-lost", "the lab's own"));
    EXPECT_EQ(rig.foreign("i-lost").why, "the lab's own");
    rig.report(a);
    EXPECT_EQ(rig.command_of("i-lost"), nullptr);
    ASSERT_TRUE(remove_foreign(rig.desk, "i-lost", "nobody's"));
    ASSERT_NE(rig.command_of("i-lost"), nullptr);
    EXPECT_EQ(rig.command_of("i-lost")->verb, Verb::stop_workload);
    EXPECT_EQ(rig.command_of("i-lost")->subject_generation, 4u) << "its host has obeyed 3";
    EXPECT_EQ(adopt_foreign(rig.desk, "i-lost").error().reason, "not_running");
    rig.answer("i-lost", {.done = false, .code = "unavailable"});
    rig.pass(10);
    rig.report(a);
    EXPECT_NE(rig.command_of("i-lost"), nullptr) << "it is told again";
    rig.said[a].clear();
    rig.answer("i-lost", {.done = true});
    rig.report(a);
    EXPECT_FALSE(find_foreign(rig.desk, "i-lost"));
    EXPECT_TRUE(rig.estate.claims.all().empty());
}

TEST(Foreign, WhatItUsesGoesToNobodyThoughTheLedgerGaveItToAnother) {
    Rig rig;
    const auto a = rig.host("a", "nj", 1);
    ASSERT_TRUE(rig.stock(1));
    const auto mine = rig.running("one");
    rig.said[a]["i-lost"] = rig.made_since();
    rig.said[a]["i-lost"].gpus = {"GPU-a-0"};
    rig.report(a);
    EXPECT_TRUE(rig.foreign("i-lost").gpus.empty()) << "each GPU is in one claim";
    rig.said[a].erase(mine);
    rig.report(a), rig.report(a);
    ASSERT_TRUE(rig.instance(mine).claim.empty());
    for (const auto& [id, slot] : rig.estate.slots.all()) EXPECT_EQ(slot.phase, SlotPhase::pending);
    EXPECT_FALSE(rig.start(DeskRig::request("two")));
    rig.report(a);
    EXPECT_EQ(rig.foreign("i-lost").gpus, (std::vector<std::string>{"GPU-a-0"}))
        << "it holds what is free now";
}

TEST(Restored, NothingIsPlacedOrStartedBeforeAHostHasSaidWhatRunsThere) {
    Rig rig;
    const auto a = rig.host("a", "nj", 2);
    ASSERT_TRUE(rig.stock(1));
    const auto unborn = rig.started("unborn");
    const auto runs = rig.running("runs");
    rig.restored();
    EXPECT_TRUE(awaits_word(rig.desk, a));
    const auto before = rig.estate.commands.all().size();
    reconcile_instance(rig.desk, unborn);
    reconcile_instance(rig.desk, runs);
    EXPECT_EQ(rig.estate.commands.all().size(), before);
    ASSERT_FALSE(rig.start(DeskRig::request("new")));
    EXPECT_THAT(unavailable(rig.desk, rig.estate.hosts.at(a)), HasSubstr("since the restore"));
    rig.report(a, false);
    EXPECT_TRUE(awaits_word(rig.desk, a)) << "not all that runs there";
    rig.report(a);
    EXPECT_FALSE(awaits_word(rig.desk, a));
    EXPECT_EQ(rig.instance(unborn).phase, InstancePhase::failed) << "others may be in its place by now";
    EXPECT_EQ(rig.instance(unborn).reason, "restored");
    EXPECT_EQ(rig.instance(runs).phase, InstancePhase::running);
    for (const auto& [id, command] : rig.estate.commands.all()) EXPECT_NE(command.verb, Verb::start_workload);
}

TEST(Restored, GenerationsCountOnFromWhatHostsHaveObeyed) {
    Rig rig;
    const auto a = rig.host("a");
    ASSERT_TRUE(rig.stock(1));
    const auto runs = rig.running("runs");
    rig.restored();
    rig.said[a][runs].generation = 5;
    rig.report(a);
    EXPECT_EQ(rig.instance(runs).run_generation, 5u) << "tunnels lead to that run";
    EXPECT_EQ(rig.instance(runs).phase, InstancePhase::running);
    delete_instance(rig.desk, runs, "asked");
    EXPECT_EQ(rig.command_of(runs)->subject_generation, 6u) << "an older one would not be obeyed";
}

TEST(Restored, WhatRestedAndRunsAgainIsNotStopped) {
    Rig rig;
    const auto a = rig.host("a");
    const auto id = rig.rested_and_begun_since(a);
    rig.report(a), rig.report(a);
    EXPECT_EQ(rig.command_of(id), nullptr);
    ASSERT_TRUE(find_foreign(rig.desk, id));
    EXPECT_EQ(earlier_run(rig.desk, rig.foreign(id))->caller_id, "rests");
    EXPECT_TRUE(not_known(rig.desk, rig.foreign(id)).empty()) << "all of it is in the store";
    ASSERT_TRUE(adopt_foreign(rig.desk, id));
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::running);
    EXPECT_FALSE(rig.instance(id).adopted);
    EXPECT_TRUE(restart_instance(rig.desk, id));
}

TEST(Restored, WhatRestedIsNotAdoptedForAnotherTenant) {
    Rig rig;
    const auto a = rig.host("a");
    const auto id = rig.rested_and_begun_since(a);
    rig.said[a][id].tenant = "globex";
    rig.report(a);
    EXPECT_EQ(adopt_foreign(rig.desk, id).error().reason, "tenant_differs");
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::resting);
}

TEST(Restored, AHostThatJoinedSinceComesBackCordoned) {
    Rig rig;
    rig.estate.access_points.add({.name = "access-nj", .zone = "nj"});
    EXPECT_FALSE(may_come_back(rig.desk, "h-new")) << "the store was never restored";
    rig.restored();
    EXPECT_TRUE(may_come_back(rig.desk, "h-new"));
    take_back(rig.desk, "h-new", "access-nj");
    EXPECT_FALSE(may_come_back(rig.desk, "h-new"));
    EXPECT_EQ(rig.estate.hosts.at("h-new").zone, "nj");
    EXPECT_TRUE(rig.estate.hosts.at("h-new").cordoned);
}

}  // namespace
}  // namespace hostler::master
