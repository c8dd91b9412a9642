
#include <gtest/gtest.h>

#include "api/types_instance.h"
#include "roles/master/instance/auto_stop.h"
#include "roles/master/instance/repair.h"
#include "roles/master/run/runs.h"
#include "roles/master/run/stop_start.h"
#include "roles/master/testing/desk_rig.h"

namespace hostler::master {
namespace {

using testing::DeskRig;

// One whose image was spelled wrong, after its host has said so.
std::string mistyped(DeskRig& rig) {
    HOSTLER_ASSERT(rig.stock(1));
    auto wanted = rig.request("one");
    wanted.image = "dmeo:1";
    wanted.template_.envs = {{"A", "1"}, {"B", "2"}};
    wanted.template_.ports = {{.port = 80}};
    HOSTLER_ASSERT(rig.start(wanted));
    const std::string id = find_instance(rig.desk, "acme", "one")->id;
    rig.answer(
        id, {.code = "not_found", .reason = "image_unavailable", .message = "no such image", .absent = true});
    HOSTLER_ASSERT(rig.instance(id).phase == InstancePhase::failed && rig.instance(id).claim.empty());
    return id;
}

api::UpdateInstance other_image() { return {.instance = "one", .image = "demo:1"}; }

std::string reason(const Result<>& done) { return done ? "" : done.error().reason; }

TEST(Repair, AFailedInstanceGetsAnotherImageAndBeginsOnceMore) {
    DeskRig rig;
    rig.host("a");
    rig.estate.gateways.add({.name = "g"});
    const std::string id = mistyped(rig);
    const int own_port = rig.instance(id).spec.ports.at(0).own_port;
    api::UpdateInstance change = other_image();
    change.cmd = "sh -c 'sleep 1'";
    change.envs = {{{"B", "3"}, {"C", "4"}}};
    change.ports = {{{.port = 80, .is_public = true}, {.port = 81}}};
    ASSERT_TRUE(update_instance(rig.desk, id, change));
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::failed) << "it is asked for first";
    rig.pass(3600);
    EXPECT_FALSE(archive_instances(rig.desk));
    ASSERT_TRUE(retry_instance(rig.desk, id));
    const Instance& now = rig.instance(id);
    EXPECT_EQ(now.phase, InstancePhase::placed);
    EXPECT_EQ(now.spec.image, "demo:1");
    EXPECT_EQ(now.spec.command, (std::vector<std::string>{"sh", "-c", "sleep 1"}));
    EXPECT_EQ(now.spec.environment, (std::vector<InstanceVariable>{{"A", "1"}, {"B", "3"}, {"C", "4"}}));
    ASSERT_EQ(now.spec.ports.size(), 2u);
    EXPECT_EQ(now.spec.ports[0].own_port, own_port) << "its URL stays";
    EXPECT_NE(now.spec.ports[1].own_port, 0);
    EXPECT_EQ(now.ended_at, 0);
    ASSERT_NE(rig.command_of(id), nullptr);
    EXPECT_EQ(rig.command_of(id)->subject_generation, now.run_generation);
    EXPECT_GT(now.run_generation, 1u) << "a late start of the first run is refused";
    rig.said[now.host][id] = {.state = "running", .generation = now.run_generation, .ready = true};
    rig.answer(id, {.done = true});
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::running);
    EXPECT_TRUE(retry_instance(rig.desk, id)) << "it lives";
    EXPECT_EQ(rig.instance(id).run_generation, now.run_generation);
}

TEST(Repair, OnlyWhatIsStoppedOrHasFailedIsChanged) {
    DeskRig rig;
    rig.host("a");
    ASSERT_TRUE(rig.stock(1));
    const std::string id = rig.running("one");
    EXPECT_EQ(reason(update_instance(rig.desk, id, other_image())), "still_runs");
    api::UpdateInstance timeout{.instance = "one", .inactivity_timeout_seconds = 60};
    EXPECT_TRUE(update_instance(rig.desk, id, timeout)) << "that may be changed while it runs";
    ASSERT_TRUE(halt_instance(rig.desk, id, "stopped_by_owner", "its owner stopped it"));
    EXPECT_EQ(reason(update_instance(rig.desk, id, other_image())), "still_runs");
    rig.said[rig.instance(id).host].erase(id);
    rig.answer(id, {.done = true});
    ASSERT_EQ(rig.instance(id).phase, InstancePhase::resting);
    api::UpdateInstance change = other_image();
    change.image = "demo:2";
    ASSERT_TRUE(update_instance(rig.desk, id, change));
    EXPECT_EQ(rig.instance(id).spec.image, "demo:2");
    EXPECT_EQ(reason(retry_instance(rig.desk, id)), "not_running") << "it is started, not retried";
    ASSERT_TRUE(wake_instance(rig.desk, id));
    delete_instance(rig.desk, id, "test");
    EXPECT_EQ(reason(update_instance(rig.desk, id, other_image())), "instance_ended");
    EXPECT_EQ(reason(retry_instance(rig.desk, id)), "instance_ended");
}

TEST(Repair, WhatWasDeletedOrHasNoRoomStaysAsItIs) {
    DeskRig rig;
    const auto a = rig.host("a", "nj", 1);
    const std::string id = mistyped(rig);
    const std::string other = rig.running("two");
    EXPECT_EQ(reason(retry_instance(rig.desk, id)), "insufficient_capacity");
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::failed);
    EXPECT_EQ(rig.instance(id).reason, "image_unavailable") << "a refusal changes nothing";
    delete_instance(rig.desk, id, "test");
    EXPECT_EQ(reason(update_instance(rig.desk, id, other_image())), "instance_ended");
    EXPECT_EQ(reason(retry_instance(rig.desk, id)), "instance_ended");
    // The second has failed, and its host has not said that nothing of it runs.
    note(rig.desk, other, InstanceEvent::fail, "exited", "its container exited with code 3");
    ASSERT_FALSE(rig.instance(other).claim.empty());
    EXPECT_EQ(reason(retry_instance(rig.desk, other)), "instance_stopping");
    rig.said[a].clear();
    rig.report(a), rig.report(a);
    ASSERT_TRUE(rig.instance(other).claim.empty());
    EXPECT_TRUE(retry_instance(rig.desk, other));
}

TEST(Repair, AProgramThatEndedWellIsStoppedAndMayRunOnceMore) {
    DeskRig rig;
    const auto a = rig.host("a");
    ASSERT_TRUE(rig.stock(1));
    const std::string id = rig.running("one");
    rig.said[a][id] = {.state = "exited", .generation = 1, .exit_code = 0};
    rig.report(a);
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::stopped);
    EXPECT_EQ(rig.instance(id).reason, "completed");
    EXPECT_EQ(rig.instance(id).message, "its program ended, with exit code 0");
    EXPECT_EQ(rig.instance(id).exit_code, 0);
    rig.said[a].clear();
    rig.answer(id, {.done = true});
    rig.report(a), rig.report(a);
    ASSERT_TRUE(rig.instance(id).claim.empty());
    ASSERT_TRUE(retry_instance(rig.desk, id));
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::placed);
    // It ends before its host has said that it began.
    rig.answer(id, {.code = "invalid", .reason = "exited", .exit_code = 0, .exited = true, .absent = true});
    EXPECT_EQ(rig.instance(id).reason, "completed");
}

TEST(Repair, OneThatWasToAnswerAProbeFirstHasFailedWhateverItsCode) {
    DeskRig rig;
    rig.host("a");
    ASSERT_TRUE(rig.stock(1));
    auto wanted = rig.request("one");
    wanted.template_.ports = {{.port = 80, .is_probe = true}};
    ASSERT_TRUE(rig.start(wanted));
    const std::string id = find_instance(rig.desk, "acme", "one")->id;
    rig.answer(id, {.code = "invalid", .reason = "exited", .exit_code = 0, .exited = true, .absent = true});
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::failed);
    EXPECT_EQ(rig.instance(id).reason, "exited");
}

TEST(Retention, OfATenantsFailedOnesTheNewestStayToBeRepaired) {
    DeskRig rig;
    rig.settings.repairable_tenant_max = 2;
    for (int i = 0; i < 5; ++i)
        rig.estate.instances.add({.id = fmt::format("i-{}", i),
                                  .caller_id = fmt::format("n{}", i),
                                  .tenant = i == 0 ? "globex" : "acme",
                                  .phase = InstancePhase::failed,
                                  .ended_at = rig.estate.micros() + i});
    rig.pass(3600);
    EXPECT_FALSE(archive_instances(rig.desk));
    std::vector<std::string> left;
    for (const auto& [id, row] : rig.estate.instances.all()) left.push_back(id);
    EXPECT_EQ(left, (std::vector<std::string>{"i-0", "i-3", "i-4"}));
    rig.settings.ended_in_memory_max = 1;
    EXPECT_FALSE(archive_instances(rig.desk));
    EXPECT_EQ(rig.estate.instances.all().size(), 1u);
}

}  // namespace
}  // namespace hostler::master
