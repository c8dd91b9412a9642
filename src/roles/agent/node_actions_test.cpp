// Steps of clusters: an agent does what its own drivers say, once a generation, and nothing else.
#include <gtest/gtest.h>

#include "roles/agent/testing/node_steps.h"
#include "roles/agent/testing/pod_devices.h"
#include "roles/agent/testing/world.h"

namespace hostler::agent {
namespace {

using namespace testing;

const std::string given_token = "abcdef.0123456789";

Driver tiny_driver() {
    Driver driver{.name = "tiny", .versions = {"v1"}, .values = {{"podSubnet", "10.0.0.0/8"}}};
    driver.steps = {
        {.name = "serve", .phase = StepPhase::prepare, .start = {"server", "{{node.name}}"}},
        {.name = "make",
         .phase = StepPhase::create,
         .files = {{"{{agent.folder}}/{{node.name}}.conf", "subnet {{podSubnet}}\n", 0640}},
         .run = {"maker", "--name", "{{node.name}}"},
         .done = {"maker", "ask"},
         .deadline_s = 77,
         .undo = {"maker", "undo"},
         .outputs = {"token"}},
        {.name = "join", .phase = StepPhase::join, .run = {"joiner", "{{token}}"}},
        {.name = "help", .phase = StepPhase::join, .place = StepPlace::control, .run = {"helper"}},
        {.name = "drain", .phase = StepPhase::drain, .run = {"drainer"}},
        {.name = "clean", .phase = StepPhase::clean, .run = {"cleaner"}},
        {.name = "save", .phase = StepPhase::save, .run = {"saver", "{{saves.folder}}", "{{save.file}}"}},
    };
    driver.leftovers.mounts = {"/var/lib/tiny*"};
    return driver;
}

struct ClusterWorld : World {
    ClusterWorld() {
        settings.clusters = true;
        settings.drivers["tiny"] = {tiny_driver(), "digest-1"};
        settings.cluster_files = "/agent/files";
        node_steps = &steps;
        pod_devices = &pods;
    }
    uplink::Command step(std::string id, std::uint64_t generation, std::string name) const {
        uplink::Command command = about(std::move(id), generation);
        auto& what = *command.mutable_node_step();
        what.set_cluster("kc-1");
        what.set_driver("tiny");
        what.set_driver_digest("digest-1");
        what.set_name(std::move(name));
        (*what.mutable_values())["node.name"] = "train-1";
        (*what.mutable_values())["podSubnet"] = "10.9.0.0/16";
        return command;
    }
    uplink::Command clean(std::string id, std::uint64_t generation) const {
        uplink::Command command = about(std::move(id), generation);
        command.mutable_node_clean()->set_driver("tiny");
        command.mutable_node_clean()->set_driver_digest("digest-1");
        return command;
    }
    uplink::Command about(std::string id, std::uint64_t generation) const {
        uplink::Command command;
        command.set_id(std::move(id));
        command.set_epoch(1);
        command.set_subject("kn-1");
        command.set_generation(generation);
        command.set_expires(in(1h));
        return command;
    }
    // The answer, empty: none yet.
    uplink::CommandUpdate answered(const uplink::Command& command) {
        master.order(command);
        timers.advance(1s);
        const auto* answer = master.answer(command.id());
        return answer ? *answer : uplink::CommandUpdate{};
    }
    std::string journal_text() const {
        std::string all;
        for (const auto& [key, value] : journal.all()) all += value;
        return all;
    }
    FakeNodeSteps steps;
    FakePodDevices pods;
};

TEST(NodeActions, AStepIsFilledFromTheAgentsOwnDriver) {
    ClusterWorld world;
    world.steps.outputs = {{"token", given_token}, {"stray", "x"}};
    world.join();
    EXPECT_TRUE(world.master.hellos.back().facts().clusters());
    const auto answer = world.answered(world.step("c-1", 1, "make"));
    EXPECT_EQ(answer.state(), "done") << answer.message();
    ASSERT_EQ(answer.outputs().size(), 1U) << "only those that the driver names";
    EXPECT_EQ(answer.outputs().at("token"), given_token);
    ASSERT_EQ(world.steps.begun.size(), 1U);
    const NodeStep& done = world.steps.begun[0];
    EXPECT_EQ(done.node, "kn-1");
    EXPECT_EQ(done.run, (std::vector<std::string>{"maker", "--name", "train-1"}));
    EXPECT_EQ(done.files,
              (std::vector<StepFile>{{"/agent/files/train-1.conf", "subnet 10.9.0.0/16\n", 0640}}));
    EXPECT_EQ(done.deadline, Duration{77s});
    EXPECT_FALSE(done.again);
    EXPECT_TRUE(done.stop.empty());
    // A copy is answered and not done.
    world.master.order(world.step("c-1", 1, "make"));
    world.timers.advance(1s);
    EXPECT_EQ(world.steps.begun.size(), 1U);
}

TEST(NodeActions, OutputsLeaveTheJournalWithTheAcknowledgement) {
    ClusterWorld world;
    world.steps.outputs = {{"token", given_token}};
    world.master.acknowledge_answers = false;
    world.join();
    EXPECT_EQ(world.answered(world.step("c-1", 1, "make")).outputs().at("token"), given_token);
    EXPECT_NE(world.journal_text().find(given_token), std::string::npos)
        << "the answer is kept: nobody has it";
    world.master.updates.clear();
    world.crash();
    world.join();
    world.timers.advance(2s);
    ASSERT_NE(world.master.answer("c-1"), nullptr);
    EXPECT_EQ(world.master.answer("c-1")->outputs().at("token"), given_token);
    EXPECT_EQ(world.steps.begun.size(), 1U);
    world.master.acknowledge_answers = true;
    world.timers.advance(20s);
    EXPECT_EQ(world.journal_text().find(given_token), std::string::npos);
}

TEST(NodeActions, WhatWasBegunIsDoneAgainAfterADeath) {
    ClusterWorld world;
    world.steps.held = true;
    world.join();
    world.master.order(world.step("c-1", 1, "make"));
    world.timers.advance(1s);
    ASSERT_EQ(world.steps.running, 1);
    world.crash();
    EXPECT_EQ(world.steps.running, 0) << "it is cancelled";
    world.steps.release();
    world.join();
    world.timers.advance(1s);
    ASSERT_EQ(world.steps.begun.size(), 2U);
    EXPECT_TRUE(world.steps.begun[1].again) << "nobody knows how far it came";
    EXPECT_EQ(world.master.answer("c-1")->state(), "done");
}

TEST(NodeActions, ANewerCommandOfTheNodeCancelsTheOlder) {
    ClusterWorld world;
    world.steps.held = true;
    world.join();
    world.master.order(world.step("c-1", 1, "make"));
    world.timers.advance(1s);
    ASSERT_EQ(world.steps.running, 1);
    world.steps.left = {{"mount", "/var/lib/tiny"}};
    const auto clean = world.answered(world.clean("c-2", 2));
    ASSERT_NE(world.master.answer("c-1"), nullptr);
    EXPECT_EQ(world.master.answer("c-1")->reason(), "superseded");
    EXPECT_EQ(world.steps.running, 0);
    EXPECT_EQ(clean.state(), "done");
    ASSERT_EQ(clean.leftovers_size(), 1);
    EXPECT_EQ(clean.leftovers(0).kind(), "mount");
    EXPECT_EQ(world.steps.looked_for.mounts, tiny_driver().leftovers.mounts);
    EXPECT_EQ(world.answered(world.step("c-0", 1, "make")).reason(), "stale_generation");
}

TEST(NodeActions, ProgramsEndBeforeTheirHostIsCleanedAndLookedAt) {
    ClusterWorld world;
    world.join();
    EXPECT_EQ(world.answered(world.step("c-1", 1, "clean")).state(), "done");
    EXPECT_EQ(world.steps.begun[0].stop, std::vector<std::string>{"serve"});
    world.steps.left = {{"file", "/etc/tiny"}};
    EXPECT_EQ(world.answered(world.clean("c-2", 2)).leftovers_size(), 1);
    EXPECT_TRUE(world.steps.forgotten.empty()) << "its clean steps come again, and may want what is kept";
    world.steps.left.clear();
    const auto clean = world.answered(world.clean("c-3", 3));
    EXPECT_EQ(clean.state(), "done");
    EXPECT_EQ(clean.leftovers_size(), 0);
    EXPECT_EQ(world.steps.forgotten, std::vector<std::string>{"kn-1"});
}

TEST(NodeActions, RefusalsSayWhatToDo) {
    ClusterWorld world;
    world.join();
    auto command = world.step("c-1", 1, "make");
    command.mutable_node_step()->set_driver("other");
    EXPECT_EQ(world.answered(command).reason(), "driver_unknown");
    command = world.step("c-2", 2, "make");
    command.mutable_node_step()->set_driver_digest("digest-2");
    EXPECT_EQ(world.answered(command).reason(), "driver_differs");
    EXPECT_EQ(world.answered(world.step("c-3", 3, "fly")).reason(), "step_unknown");
    command = world.step("c-4", 4, "join");
    EXPECT_EQ(world.answered(command).reason(), "value_missing");
    command = world.step("c-5", 5, "make");
    (*command.mutable_node_step()->mutable_values())["node.name"] = "a/../../../etc/passwd";
    EXPECT_EQ(world.answered(command).reason(), "value_invalid");
    command = world.clean("c-6", 6);
    command.mutable_node_clean()->set_driver_digest("digest-2");
    EXPECT_EQ(world.answered(command).reason(), "driver_differs");
    EXPECT_TRUE(world.steps.begun.empty());
}

TEST(NodeActions, ASaveHasItsIdFromTheMasterAndItsFolderFromTheOperator) {
    ClusterWorld world;
    world.settings.cluster_saves = "/mnt/saves";
    world.join();
    EXPECT_TRUE(world.master.hellos.back().facts().cluster_saves());
    auto command = world.step("c-1", 1, "save");
    auto& values = *command.mutable_node_step()->mutable_values();
    values["save.id"] = "ks-1";
    values["save.file"] = "/etc/passwd";
    values["saves.folder"] = "/etc";
    EXPECT_EQ(world.answered(command).state(), "done");
    ASSERT_EQ(world.steps.begun.size(), 1U);
    EXPECT_EQ(world.steps.begun[0].run,
              (std::vector<std::string>{"saver", "/mnt/saves", "/mnt/saves/ks-1.save"}));
    command.set_id("c-2"), command.set_generation(2);
    values["save.id"] = "../x";
    EXPECT_EQ(world.answered(command).reason(), "value_invalid");
    command.set_id("c-3"), command.set_generation(3);
    values.erase("save.id");
    EXPECT_EQ(world.answered(command).reason(), "value_missing") << "a path of the master is no path";
    EXPECT_EQ(world.steps.begun.size(), 1U);
}

TEST(NodeActions, WithoutAFolderOfSavesNoneIsMade) {
    ClusterWorld world;
    world.join();
    EXPECT_FALSE(world.master.hellos.back().facts().cluster_saves());
    auto command = world.step("c-1", 1, "save");
    (*command.mutable_node_step()->mutable_values())["save.id"] = "ks-1";
    const auto answer = world.answered(command);
    EXPECT_EQ(answer.reason(), "no_saves_folder");
    EXPECT_NE(answer.message().find("--cluster-saves"), std::string::npos);
    EXPECT_TRUE(world.steps.begun.empty());
}

TEST(NodeActions, AnOutputThatIsNoTextIsRefused) {
    ClusterWorld world;
    world.steps.outputs = {{"token", "\xff\xfe"}};
    world.join();
    EXPECT_EQ(world.answered(world.step("c-1", 1, "make")).reason(), "step_failed");
}

TEST(NodeActions, WithoutItsOperatorsWordItDoesNothing) {
    ClusterWorld world;
    world.settings.clusters = false;
    world.join();
    EXPECT_FALSE(world.master.hellos.back().facts().clusters());
    EXPECT_EQ(world.answered(world.step("c-1", 1, "make")).reason(), "clusters_not_allowed");
    EXPECT_EQ(world.answered(world.clean("c-2", 2)).reason(), "clusters_not_allowed");
    EXPECT_TRUE(world.steps.begun.empty());
    EXPECT_TRUE(world.steps.forgotten.empty());
}

TEST(NodeActions, AMessageOfAProgramHasNoSecret) {
    ClusterWorld world;
    world.steps.fails = Error{.code = Code::conflict,
                              .message = "joiner: " + given_token + " is refused, " + given_token,
                              .reason = "step_failed"};
    world.join();
    auto command = world.step("c-1", 1, "join");
    (*command.mutable_node_step()->mutable_values())["token"] = given_token;
    const auto answer = world.answered(command);
    EXPECT_EQ(answer.reason(), "step_failed");
    EXPECT_EQ(answer.message(), "joiner: (a secret) is refused, (a secret)");
}

TEST(NodeActions, PodsAreOfferedTheGpusWhileTheHostIsANode) {
    ClusterWorld world;
    world.join();
    EXPECT_EQ(world.answered(world.step("c-1", 1, "help")).state(), "done");
    EXPECT_EQ(world.answered(world.step("c-2", 2, "drain")).state(), "done");
    EXPECT_FALSE(world.pods.offered) << "these are done for nodes of other hosts, too";
    EXPECT_EQ(world.answered(world.step("c-3", 3, "make")).state(), "done");
    world.timers.advance(2s);
    ASSERT_TRUE(world.pods.offered);
    ASSERT_EQ(world.pods.offered->gpus.size(), 1U);
    EXPECT_EQ(world.pods.offered->gpus[0].facts.uuid, "GPU-1");
    EXPECT_TRUE(world.pods.offered->gpus[0].healthy);

    world.telemetry.shown.condition = GpuCondition::lost;
    world.timers.advance(10s);
    ASSERT_EQ(world.pods.offered->gpus.size(), 1U);
    EXPECT_FALSE(world.pods.offered->gpus[0].healthy);

    world.crash();
    world.pods.offered.reset();
    world.join();
    world.timers.advance(2s);
    EXPECT_TRUE(world.pods.offered) << "the journal knows which node it is";

    EXPECT_EQ(world.answered(world.step("c-4", 4, "clean")).state(), "done");
    EXPECT_FALSE(world.pods.offered);
    world.timers.advance(5s);
    EXPECT_FALSE(world.pods.offered);
    world.crash();
    world.join();
    world.timers.advance(5s);
    EXPECT_FALSE(world.pods.offered);
}

TEST(NodeActions, AHostIsNotCleanedWhilePodsAreOfferedItsGpus) {
    ClusterWorld world;
    world.join();
    EXPECT_EQ(world.answered(world.step("c-1", 1, "make")).state(), "done");
    world.pods.fails = Error{.code = Code::unavailable, .message = "it does not end"};
    EXPECT_EQ(world.answered(world.step("c-2", 2, "clean")).state(), "failed");
    EXPECT_EQ(world.steps.begun.size(), 1U);
    world.pods.fails.reset();
    EXPECT_EQ(world.answered(world.step("c-3", 3, "clean")).state(), "done");
    EXPECT_EQ(world.pods.ends, 2);
}

TEST(NodeActions, AGpuThatIsCutIsNotOffered) {
    ClusterWorld world;
    world.telemetry.inventory.gpus[0].cdi_name.clear();
    world.join();
    EXPECT_EQ(world.answered(world.step("c-1", 1, "make")).state(), "done");
    world.timers.advance(2s);
    ASSERT_TRUE(world.pods.offered);
    EXPECT_TRUE(world.pods.offered->gpus.empty());
}

}  // namespace
}  // namespace hostler::agent
