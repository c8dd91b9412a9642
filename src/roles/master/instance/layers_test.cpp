
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/uplink.pb.h"
#include "roles/master/instance/explain.h"
#include "roles/master/instance/view.h"
#include "roles/master/run/layers.h"
#include "roles/master/run/reconcile.h"
#include "roles/master/run/stop_start.h"
#include "roles/master/testing/desk_rig.h"
#include "roles/master/uplink/messages.h"

namespace hostler::master {
namespace {

using ::testing::Contains;
using testing::DeskRig;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

struct LayerRig : DeskRig {
    // Its agent keeps what containers write.
    std::string keeper(const std::string& name, int gpus = 1) {
        const std::string id = host(name, "nj", gpus);
        estate.hosts.edit(id).facts.keeps_layers = true;
        return id;
    }
    // What the host says that it keeps.
    void keeps(const std::string& host, std::map<std::string, SeenLayer> layers) {
        HostReport told{
            .sequence = ++sequences, .workloads = said[host], .layers = std::move(layers), .complete = true};
        told.facts = estate.hosts.at(host).facts;
        note_report(desk, host, std::move(told), now);
    }
    void halt(const std::string& id, LayerWish wish = LayerWish::keep) {
        ASSERT_TRUE(halt_instance(desk, id, "stopped_by_owner", "its owner stopped it", wish));
    }
    void rest(const std::string& id, LayerWish wish = LayerWish::keep) {
        halt(id, wish);
        const std::string host = instance(id).host;
        said[host].erase(id);
        answer(id, {.done = true});
        ASSERT_EQ(instance(id).phase, InstancePhase::resting);
    }
    uplink::Command sent(const std::string& subject) {
        uplink::Command command;
        HOSTLER_ASSERT(command_of(subject) && write_command(desk, 1, *command_of(subject), command));
        return command;
    }
    std::set<std::string> told() {
        std::set<std::string> reasons;
        for (const auto& event : take().events) reasons.insert(event.reason);
        return reasons;
    }
};

TEST(Layers, AHostMakesOneAheadForEachIdleSlot) {
    LayerRig rig;
    const auto a = rig.keeper("a", 8);
    EXPECT_EQ(layers_ahead_on(rig.desk, a), 0U);
    ASSERT_TRUE(rig.stock(2));
    EXPECT_EQ(layers_ahead_on(rig.desk, a), 2U);
    const auto id = rig.started("one");
    ASSERT_FALSE(rig.instance(id).slot.empty());
    EXPECT_EQ(layers_ahead_on(rig.desk, a), 1U) << "the slot that an instance has is not idle";
    ASSERT_TRUE(rig.stock(5));
    EXPECT_EQ(layers_ahead_on(rig.desk, a), rig.desk.settings.layers_ahead_host_max);
    EXPECT_EQ(layers_ahead_on(rig.desk, "h-nobody"), 0U);
    rig.estate.hosts.edit(a).facts.keeps_layers = false;
    EXPECT_EQ(layers_ahead_on(rig.desk, a), 0U) << "its engine would take none";
    rig.estate.hosts.edit(a).facts.keeps_layers = true;
    rig.settings.instance_disk_bytes = 0;
    EXPECT_EQ(layers_ahead_on(rig.desk, a), 0U) << "containers have none";
}

TEST(Layers, AStopKeepsThemAndTheNextStartOnTheHostHasThem) {
    LayerRig rig;
    const auto a = rig.keeper("a");
    ASSERT_TRUE(rig.stock(1));
    const auto id = rig.running("one");
    EXPECT_TRUE(rig.instance(id).layer_host.empty());
    rig.halt(id);
    EXPECT_TRUE(rig.sent(id).stop_workload().keep_layer());
    rig.said[a].erase(id);
    rig.answer(id, {.done = true});
    EXPECT_EQ(rig.instance(id).layer_host, a);
    rig.keeps(a, {{id, {.bytes = 4096}}});
    EXPECT_FALSE(rig.command_of(id + "@" + a)) << "it is wanted";
    const auto shown = view(rig.desk, rig.instance(id)).layer;
    ASSERT_TRUE(shown);
    EXPECT_EQ(shown->host, a);
    EXPECT_TRUE(shown->kept);
    EXPECT_EQ(shown->bytes, 4096);
    ASSERT_TRUE(wake_instance(rig.desk, id));
    EXPECT_EQ(rig.instance(id).host, a);
    EXPECT_TRUE(rig.sent(id).start_workload().keep_layer());
}

TEST(Layers, AFirstStartHasNone) {
    LayerRig rig;
    rig.keeper("a");
    ASSERT_TRUE(rig.stock(1));
    const auto id = rig.started("one");
    EXPECT_FALSE(rig.sent(id).start_workload().keep_layer());
    rig.rest(id);
    EXPECT_TRUE(rig.instance(id).layer_host.empty()) << "it never ran";
    ASSERT_TRUE(wake_instance(rig.desk, id));
    EXPECT_FALSE(rig.sent(id).start_workload().keep_layer());
}

TEST(Layers, AreDiscardedAtTheStopOrAfterIt) {
    LayerRig rig;
    const auto a = rig.keeper("a", 2);
    ASSERT_TRUE(rig.stock(2));
    const auto id = rig.running("one"), other = rig.running("two");
    rig.halt(id, LayerWish::discard);
    EXPECT_FALSE(rig.sent(id).stop_workload().keep_layer());
    rig.said[a].erase(id);
    rig.answer(id, {.done = true});
    EXPECT_TRUE(rig.instance(id).layer_host.empty());
    EXPECT_FALSE(view(rig.desk, rig.instance(id)).layer);
    rig.rest(other);
    rig.keeps(a, {{other, {}}});
    EXPECT_FALSE(rig.command_of(other + "@" + a));
    rig.halt(other, LayerWish::discard);
    EXPECT_EQ(rig.instance(other).phase, InstancePhase::resting);
    rig.keeps(a, {{other, {}}});
    EXPECT_FALSE(rig.sent(other + "@" + a).stop_workload().keep_layer());
    EXPECT_EQ(rig.sent(other + "@" + a).subject(), other);
}

TEST(Layers, GoWithTheirInstance) {
    LayerRig rig;
    const auto a = rig.keeper("a");
    ASSERT_TRUE(rig.stock(1));
    const auto id = rig.running("one");
    rig.rest(id);
    rig.keeps(a, {{id, {}}});
    delete_instance(rig.desk, id, "its owner deleted it");
    rig.keeps(a, {{id, {}}, {"i-archived", {.generation = 7}}});
    EXPECT_FALSE(rig.sent(id + "@" + a).stop_workload().keep_layer());
    EXPECT_EQ(rig.sent("i-archived@" + a).generation(), 7u);
    rig.answer(id + "@" + a, {.done = true});
    EXPECT_FALSE(rig.live.hosts.at(a).layers.contains(id));
}

TEST(Layers, OfInstancesThatTheStoreHasForgottenWithABackupStay) {
    LayerRig rig;
    const auto a = rig.keeper("a");
    const auto now = rig.estate.micros();
    const std::int64_t hour = std::int64_t{3600} * 1'000'000;
    rig.estate.restores.add(
        {.id = "restore", .taken_at = now - 10 * hour, .restored_at = now - 5 * hour, .heard = {a}});
    rig.keeps(a, {{"i-between", {.kept_at = now - 7 * hour}}, {"i-before", {.kept_at = now - 20 * hour}}});
    EXPECT_FALSE(rig.command_of("i-between@" + a));
    EXPECT_TRUE(rig.command_of("i-before@" + a));
}

TEST(Layers, AreLeftBehindWhereTheirHostHasNoRoom) {
    LayerRig rig;
    const auto a = rig.keeper("a");
    ASSERT_TRUE(rig.stock(1));
    const auto id = rig.running("one");
    rig.rest(id);
    (void)rig.running("two");  // Has the only GPU there.
    const auto why = explain_instance(rig.desk, rig.instance(id));
    EXPECT_THAT(why.sentence, HasSubstr("Its files outside its volumes are kept on host a."));
    EXPECT_THAT(why.sentence, HasSubstr("It cannot begin there now"));
    const auto b = rig.keeper("b");
    rig.report(b);
    ASSERT_TRUE(wake_instance(rig.desk, id));
    EXPECT_EQ(rig.instance(id).host, b);
    EXPECT_FALSE(rig.sent(id).start_workload().keep_layer());
    EXPECT_THAT(rig.told(), IsSupersetOf({"layer_host_full", "layer_left"}));
    rig.keeps(a, {{id, {}}});
    EXPECT_TRUE(rig.command_of(id + "@" + a)) << "nobody will ask for it again";
}

TEST(Layers, DecideWhereTheNextStartGoes) {
    LayerRig rig;
    rig.keeper("a");
    ASSERT_TRUE(rig.stock(1));
    const auto id = rig.running("one");
    const std::string first = rig.instance(id).host;
    rig.keeper("b");
    ASSERT_TRUE(rig.stock(1));
    for (int round = 0; round < 4; ++round) {
        rig.rest(id);
        ASSERT_TRUE(wake_instance(rig.desk, id));
        EXPECT_EQ(rig.instance(id).host, first);
        rig.said[first][id] = {
            .state = "running", .generation = rig.instance(id).run_generation, .ready = true};
        rig.answer(id, {.done = true});
    }
}

TEST(Layers, ThatAreNotThereAnyMoreAreToldOf) {
    LayerRig rig;
    rig.keeper("a");
    ASSERT_TRUE(rig.stock(1));
    const auto id = rig.running("one");
    rig.rest(id);
    ASSERT_TRUE(wake_instance(rig.desk, id));
    rig.answer(id, {.done = false, .code = "not_found", .reason = "layer_missing"});
    EXPECT_THAT(rig.told(), Contains("layer_lost"));
    rig.pass(10);
    reconcile_instance(rig.desk, id);
    EXPECT_FALSE(rig.sent(id).start_workload().keep_layer());
}

TEST(Layers, SurviveAStartThatFails) {
    LayerRig rig;
    const auto a = rig.keeper("a");
    ASSERT_TRUE(rig.stock(1));
    const auto id = rig.running("one");
    rig.rest(id);
    ASSERT_TRUE(wake_instance(rig.desk, id));
    rig.answer(id, {.done = false, .code = "timeout", .reason = "not_ready"});
    ASSERT_EQ(rig.instance(id).phase, InstancePhase::failed);
    EXPECT_EQ(rig.instance(id).layer_host, a);
    rig.pass(10);
    rig.keeps(a, {{id, {}}});
    rig.keeps(a, {{id, {}}});
    EXPECT_FALSE(rig.command_of(id + "@" + a)) << "it can be repaired";
    ASSERT_TRUE(begin_once_more(rig.desk, id));
    EXPECT_TRUE(rig.sent(id).start_workload().keep_layer());
}

TEST(Layers, AreLostWithTheirHost) {
    LayerRig rig;
    const auto a = rig.keeper("a");
    ASSERT_TRUE(rig.stock(1));
    const auto id = rig.running("one");
    rig.rest(id);
    ASSERT_TRUE(remove_host(rig.desk, a, true));
    EXPECT_TRUE(rig.instance(id).layer_host.empty());
    EXPECT_THAT(rig.told(), Contains("layer_lost"));
}

TEST(Layers, AHostThatKeepsNoneIsAskedForNone) {
    LayerRig rig;
    rig.host("a", "nj", 1);
    ASSERT_TRUE(rig.stock(1));
    const auto id = rig.running("one");
    rig.halt(id);
    EXPECT_FALSE(rig.sent(id).stop_workload().keep_layer());
    EXPECT_THAT(explain_instance(rig.desk, rig.instance(id)).sentence, HasSubstr("halting"));
    ASSERT_TRUE(rig.instance(id).layer_host.empty());
}

TEST(Layers, AnEngineThatDoesNotAnswerLosesNone) {
    LayerRig rig;
    const auto a = rig.keeper("a");
    ASSERT_TRUE(rig.stock(1));
    const auto id = rig.running("one");
    HostReport away{.sequence = ++rig.sequences};
    away.facts = rig.estate.hosts.at(a).facts;
    away.facts->keeps_layers = false;
    away.engine_error = "no answer";
    note_report(rig.desk, a, std::move(away), rig.now);
    rig.halt(id);
    EXPECT_TRUE(rig.sent(id).stop_workload().keep_layer());
}

TEST(Layers, ARestartKeepsThem) {
    LayerRig rig;
    rig.keeper("a");
    ASSERT_TRUE(rig.stock(1));
    const auto id = rig.running("one");
    ASSERT_TRUE(restart_instance(rig.desk, id));
    EXPECT_TRUE(rig.sent(id).start_workload().keep_layer());
}

}  // namespace
}  // namespace hostler::master
