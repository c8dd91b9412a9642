#include "roles/master/run/stop_start.h"

#include <gtest/gtest.h>

#include "roles/master/instance/view.h"
#include "roles/master/testing/desk_rig.h"
#include "roles/master/volume/volumes.h"

namespace hostler::master {
namespace {

using testing::DeskRig;

// Stopped for now, and its host has said so.
void rest(DeskRig& rig, const std::string& id) {
    ASSERT_TRUE(halt_instance(rig.desk, id, "stopped_by_owner", "its owner stopped it"));
    rig.said[rig.instance(id).host].erase(id);
    rig.answer(id, {.done = true});
    ASSERT_EQ(rig.instance(id).phase, InstancePhase::resting);
}

TEST(Rest, HoldsNothingButItsNameAndPorts) {
    DeskRig rig;
    const auto a = rig.host("a", "nj", 1);
    rig.estate.gateways.add({.name = "g"});
    ASSERT_TRUE(rig.stock(1));
    auto wanted = rig.request("one");
    wanted.template_.ports = {{.port = 80}};
    ASSERT_TRUE(rig.start(wanted));
    const std::string id = find_instance(rig.desk, "acme", "one")->id;
    rig.run(a, id);
    rig.answer(id, {.done = true});
    const int own_port = rig.instance(id).spec.ports.front().own_port;
    ASSERT_TRUE(halt_instance(rig.desk, id, "stopped_by_owner", "its owner stopped it"));
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::halting);
    EXPECT_EQ(rig.command_of(id)->verb, Verb::stop_workload);
    EXPECT_EQ(rig.command_of(id)->subject_generation, 2u) << "a late start must be refused";
    EXPECT_FALSE(rig.instance(id).claim.empty()) << "it runs until its host says otherwise";
    rig.said[a].clear();
    rig.answer(id, {.done = true});
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::resting);
    EXPECT_EQ(rig.instance(id).reason, "stopped_by_owner");
    EXPECT_EQ(rig.instance(id).message, "its owner stopped it");
    EXPECT_TRUE(rig.instance(id).claim.empty() && rig.instance(id).subnet.empty());
    // Its place is free for another one, which does not get its port.
    wanted.instance_id = "two";
    ASSERT_TRUE(rig.start(wanted));
    EXPECT_NE(find_instance(rig.desk, "acme", "two")->spec.ports.front().own_port, own_port);
    rig.pass(7 * 24 * 3600);
    close_shares(rig.desk), forget_what_is_over(rig.desk);
    ASSERT_TRUE(rig.estate.instances.find(id)) << "it waits for as long as its owner likes";
    EXPECT_EQ(rig.instance(id).spec.ports.front().own_port, own_port);
    const auto full = wake_instance(rig.desk, id);
    EXPECT_EQ(full.error().reason, "insufficient_capacity");
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::resting) << "a refusal changes nothing";
}

TEST(Rest, EachRunIsKeptWithItsStartAndEnd) {
    DeskRig rig;
    const auto a = rig.host("a");
    ASSERT_TRUE(rig.stock(1));
    const auto id = rig.running("one");
    const std::int64_t first = rig.estate.micros();
    ASSERT_EQ(rig.instance(id).started_at, first) << "it has no probe, and so was running at once";
    const auto said_running = [&] {
        rig.said[a][id] = {.state = "running", .generation = rig.instance(id).run_generation, .ready = true};
        rig.answer(id, {.done = true});
    };
    rig.pass(60);
    ASSERT_TRUE(restart_instance(rig.desk, id));
    ASSERT_EQ(rig.instance(id).runs.size(), 1u);
    EXPECT_EQ(rig.instance(id).runs[0], (InstanceRun{.generation = 1,
                                                     .host = a,
                                                     .started_at = first,
                                                     .ready_at = first,
                                                     .ended_at = first + 60'000'000,
                                                     .reason = "restarted"}));
    EXPECT_EQ(view(rig.desk, rig.instance(id)).runs.size(), 1u) << "the next has not begun";
    said_running();
    rig.pass(60);
    const auto shown = view(rig.desk, rig.instance(id));
    ASSERT_EQ(shown.runs.size(), 2u);
    EXPECT_TRUE(shown.runs[1].started_at && !shown.runs[1].ended_at);
    ASSERT_TRUE(halt_instance(rig.desk, id, "stopped_by_owner", "its owner stopped it"));
    rig.said[a].erase(id);
    rig.answer(id, {.done = true});
    ASSERT_EQ(rig.instance(id).phase, InstancePhase::resting);
    ASSERT_EQ(rig.instance(id).runs.size(), 2u);
    EXPECT_EQ(rig.instance(id).runs[1].reason, "stopped_by_owner");
    ASSERT_TRUE(wake_instance(rig.desk, id));
    EXPECT_EQ(rig.instance(id).runs.size(), 2u) << "told once";
    said_running();
    rig.said[a][id] = {.state = "exited", .generation = rig.instance(id).run_generation, .exit_code = 3};
    rig.report(a);
    ASSERT_EQ(rig.instance(id).phase, InstancePhase::failed);
    ASSERT_EQ(rig.instance(id).runs.size(), 3u);
    EXPECT_EQ(rig.instance(id).runs[2].reason, "exited");
    EXPECT_EQ(rig.instance(id).runs[2].exit_code, 3);
}

TEST(Rest, OnlyTheNewestRunsAreKept) {
    DeskRig rig;
    const auto a = rig.host("a");
    ASSERT_TRUE(rig.stock(1));
    const auto id = rig.running("one");
    for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE(restart_instance(rig.desk, id));
        rig.said[a][id] = {.state = "running", .generation = rig.instance(id).run_generation, .ready = true};
        rig.answer(id, {.done = true});
    }
    ASSERT_EQ(rig.instance(id).runs.size(), InstanceRun::kept_max);
    EXPECT_EQ(rig.instance(id).runs.back().generation, 20u);
    EXPECT_EQ(rig.instance(id).runs.front().generation, 5u);
}

TEST(Rest, StartsAgainAsAnotherRun) {
    DeskRig rig;
    const auto a = rig.host("a");
    ASSERT_TRUE(rig.stock(2));
    const auto id = rig.running("one");
    rest(rig, id);
    rig.pass(60);
    ASSERT_TRUE(wake_instance(rig.desk, id));
    const Instance& woken = rig.instance(id);
    EXPECT_EQ(woken.phase, InstancePhase::placed);
    EXPECT_EQ(woken.run_generation, woken.meta.generation);
    EXPECT_GT(woken.run_generation, 1u);
    EXPECT_EQ(woken.ended_at, 0);
    EXPECT_EQ(woken.ready_at, 0);
    ASSERT_EQ(rig.command_of(id)->verb, Verb::start_workload);
    EXPECT_EQ(rig.command_of(id)->subject_generation, woken.run_generation);
    ASSERT_TRUE(wake_instance(rig.desk, id)) << "starting twice is starting once";
    rig.said[a][id] = {.state = "running", .generation = woken.run_generation, .ready = true};
    rig.answer(id, {.done = true});
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::running);
    EXPECT_EQ(rig.estate.claims.at(rig.instance(id).claim).holder, id);
}

TEST(Rest, StartsWhereItsVolumesLie) {
    DeskRig rig;
    const auto a = rig.host("a", "nj", 1);
    rig.host("b", "nj", 4);
    ASSERT_TRUE(rig.stock(1, "small", {}, 1));
    const std::string volume = rig.volume("models");
    auto wanted = rig.request("one");
    wanted.template_.volumes = {{.name = "models", .mount_path = "/data"}};
    ASSERT_TRUE(rig.start(wanted));
    const std::string id = find_instance(rig.desk, "acme", "one")->id;
    const std::string home = rig.instance(id).host;
    rig.answer(volume, {.done = true});
    rig.said[home][id] = {.state = "running", .generation = 1, .ready = true};
    rig.answer(id, {.done = true});
    rest(rig, id);
    EXPECT_EQ(delete_volume(rig.desk, volume).error().reason, "volume_in_use") << "it names it still";
    // Somebody else writes into it meanwhile.
    wanted.instance_id = "two";
    ASSERT_TRUE(rig.start(wanted));
    EXPECT_EQ(wake_instance(rig.desk, id).error().reason, "volume_in_use");
    const std::string other = find_instance(rig.desk, "acme", "two")->id;
    delete_instance(rig.desk, other, "test");
    rig.answer(other, {.done = true});
    ASSERT_TRUE(wake_instance(rig.desk, id));
    EXPECT_EQ(rig.instance(id).host, home);
    rest(rig, id);  // Its host has to say so: that nothing was left of the last run says nothing of this one.
    ASSERT_TRUE(remove_host(rig.desk, home, true));
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::resting) << "it stood on no host";
    EXPECT_EQ(wake_instance(rig.desk, id).error().reason, "volume_unavailable");
}

TEST(Rest, CanBeDeletedAtAnyTime) {
    DeskRig rig;
    const auto a = rig.host("a");
    ASSERT_TRUE(rig.stock(2));
    const auto resting = rig.running("one"), halting = rig.running("two");
    rest(rig, resting);
    delete_instance(rig.desk, resting, "test");
    EXPECT_EQ(rig.instance(resting).phase, InstancePhase::stopped);
    EXPECT_EQ(wake_instance(rig.desk, resting).error().reason, "instance_ended");
    EXPECT_EQ(halt_instance(rig.desk, resting, "r", "m").error().reason, "instance_ended");
    EXPECT_EQ(restart_instance(rig.desk, resting).error().reason, "instance_ended");
    ASSERT_TRUE(halt_instance(rig.desk, halting, "r", "m"));
    EXPECT_EQ(wake_instance(rig.desk, halting).error().reason, "instance_stopping");
    delete_instance(rig.desk, halting, "test");
    EXPECT_EQ(rig.instance(halting).phase, InstancePhase::stopping);
    rig.said[a].clear();
    rig.answer(halting, {.done = true});
    EXPECT_EQ(rig.instance(halting).phase, InstancePhase::stopped);
}

TEST(Rest, OnALostHostItIsHaltedWhenTheHostSpeaks) {
    DeskRig rig;
    const auto a = rig.host("a");
    ASSERT_TRUE(rig.stock(1));
    const auto id = rig.running("one");
    rig.disconnect(a);
    rig.pass(400), watch_silence(rig.desk, rig.now), watch_silence(rig.desk, rig.now);
    ASSERT_EQ(rig.instance(id).phase, InstancePhase::lost);
    ASSERT_TRUE(halt_instance(rig.desk, id, "r", "m"));
    rig.pass(2000), expire_commands(rig.desk);
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::halting);
    EXPECT_FALSE(rig.instance(id).claim.empty()) << "it may run there: its GPUs are nobody else's";
    rig.connect(a), rig.report(a);
    rig.said[a].clear();
    rig.answer(id, {.done = true});
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::resting);
}

TEST(Rest, ItComesBackToItsAddressWhenThatIsFree) {
    DeskRig rig;
    rig.host("a", "nj", 2);
    ASSERT_TRUE(rig.stock(2));
    const auto first = rig.running("first"), second = rig.running("second");
    const std::string address = rig.instance(second).address, lower = rig.instance(first).address;
    ASSERT_NE(address, lower);
    rest(rig, first);
    rest(rig, second);
    ASSERT_TRUE(wake_instance(rig.desk, second));
    EXPECT_EQ(rig.instance(second).address, address) << "though a lower one is free";
    ASSERT_TRUE(wake_instance(rig.desk, first));
    EXPECT_EQ(rig.instance(first).address, lower);
    rest(rig, first);
    const auto third = rig.running("third");
    ASSERT_EQ(rig.instance(third).address, lower);
    rest(rig, second);
    ASSERT_TRUE(wake_instance(rig.desk, first));
    EXPECT_NE(rig.instance(first).address, lower) << "another one has it";
}

TEST(Rest, ItsNetworkWaitsForItForAWhile) {
    DeskRig rig;
    rig.host("a", "nj", 1);
    ASSERT_TRUE(rig.stock(1));
    const auto id = rig.running("one");
    const std::string subnet = rig.instance(id).subnet, address = rig.instance(id).address;
    rest(rig, id);
    EXPECT_FALSE(rig.estate.subnets.at(subnet).leaving);
    rig.pass(60);
    reconcile_subnets(rig.desk);
    ASSERT_TRUE(wake_instance(rig.desk, id));
    EXPECT_EQ(rig.instance(id).subnet, subnet);
    EXPECT_EQ(rig.instance(id).address, address);
    rest(rig, id);
    rig.pass(121);
    reconcile_subnets(rig.desk);
    EXPECT_TRUE(rig.estate.subnets.at(subnet).leaving);
    rig.answer(subnet, {.done = true});
    ASSERT_FALSE(rig.estate.subnets.find(subnet));
    ASSERT_TRUE(wake_instance(rig.desk, id));
    EXPECT_EQ(rig.instance(id).address, address) << "nobody else has taken it meanwhile";
}

TEST(Restart, KeepsItsPlace) {
    DeskRig rig;
    const auto a = rig.host("a");
    ASSERT_TRUE(rig.stock(1));
    const auto id = rig.running("one");
    rig.report(a);
    const Instance before = rig.instance(id);
    ASSERT_TRUE(restart_instance(rig.desk, id));
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::placed);
    EXPECT_EQ(std::tuple(rig.instance(id).host, rig.instance(id).claim, rig.instance(id).address),
              std::tuple(before.host, before.claim, before.address));
    EXPECT_EQ(rig.instance(id).run_generation, 2u);
    EXPECT_EQ(rig.command_of(id)->subject_generation, 2u);
    // The container of before is on its way out: what is said of it is past.
    rig.said[a][id] = {.state = "exited", .generation = 1};
    note_progress(rig.desk, a, rig.command_of(id)->id, "probing", "");
    rig.report(a);
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::probing);
    rig.said[a][id] = {.state = "running", .generation = 2, .ready = true};
    rig.answer(id, {.done = true});
    rig.report(a);
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::running);
    rig.disconnect(a);
    EXPECT_EQ(restart_instance(rig.desk, id).error().reason, "host_unreachable");
}

TEST(Restart, IsMadeGoodWhenTheHostWasLostBeforeIt) {
    DeskRig rig;
    const auto a = rig.host("a");
    ASSERT_TRUE(rig.stock(1));
    const auto id = rig.running("one");
    ASSERT_TRUE(restart_instance(rig.desk, id));
    rig.disconnect(a);
    rig.pass(400), watch_silence(rig.desk, rig.now), watch_silence(rig.desk, rig.now);
    rig.pass(2000), expire_commands(rig.desk);
    ASSERT_EQ(rig.instance(id).phase, InstancePhase::lost);
    rig.connect(a), rig.report(a);
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::placed) << "the run of before is not this one";
    ASSERT_TRUE(rig.command_of(id));
    EXPECT_EQ(rig.command_of(id)->subject_generation, 2u);
}

}  // namespace
}  // namespace hostler::master
