
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types_instance.h"
#include "api/types_stock.h"
#include "roles/master/instance/lifecycle.h"
#include "roles/master/run/reconcile.h"
#include "roles/master/run/runs.h"
#include "roles/master/stock/slots.h"
#include "roles/master/testing/desk_rig.h"

namespace hostler::master {
namespace {

using testing::DeskRig;

std::vector<std::string> paths(const Error& error) {
    std::vector<std::string> all;
    for (const auto& field : error.fields) all.push_back(field.path);
    return all;
}

const Slot& only_slot(const DeskRig& rig) {
    HOSTLER_ASSERT(rig.estate.slots.all().size() == 1);
    return rig.estate.slots.all().begin()->second;
}

TEST(CreateInstance, FromStock) {
    DeskRig rig;
    const auto a = rig.host("a");
    ASSERT_TRUE(rig.stock(1));
    const std::string claim = only_slot(rig).claim;
    const auto id = rig.started("one");
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::placed);
    EXPECT_EQ(rig.instance(id).claim, claim);
    EXPECT_EQ(rig.instance(id).slot, only_slot(rig).id);
    EXPECT_EQ(only_slot(rig).phase, SlotPhase::used);
    EXPECT_EQ(only_slot(rig).instance, id);
    EXPECT_EQ(rig.estate.claims.at(claim).use, ClaimUse::instance);
    EXPECT_EQ(rig.estate.claims.at(claim).tenant, "acme");
    EXPECT_EQ(rig.instance(id).address,
              fmt::format("10.208.0.{}", rig.estate.claims.at(claim).address_index));
    ASSERT_NE(rig.command_of(id), nullptr);
    EXPECT_EQ(rig.command_of(id)->verb, Verb::start_workload);
    EXPECT_EQ(rig.command_of(id)->host, a);
    EXPECT_EQ(rig.command_of(id)->subject_generation, 1u);
}

TEST(CreateInstance, DirectlyWhereThereIsRoom) {
    DeskRig rig;
    rig.host("a", "nj", 1);
    ASSERT_TRUE(rig.stock(1));
    rig.host("b", "lon", 1);
    auto wanted = rig.request("one");
    wanted.zone = "lon";
    ASSERT_TRUE(rig.start(wanted));
    const Instance& instance = *find_instance(rig.desk, "acme", "one");
    EXPECT_TRUE(instance.slot.empty());
    EXPECT_EQ(instance.zone, "lon");
    EXPECT_EQ(rig.estate.claims.at(instance.claim).gpus.size(), 1u);
    EXPECT_EQ(only_slot(rig).phase, SlotPhase::idle);
}

TEST(CreateInstance, NoRoomChangesNothing) {
    DeskRig rig;
    rig.host("a", "nj", 1);
    ASSERT_TRUE(rig.stock(1));
    rig.started("one");
    (void)rig.take();
    const auto refused = rig.start(rig.request("two"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::conflict);
    EXPECT_EQ(refused.error().reason, "insufficient_capacity");
    EXPECT_THAT(refused.error().message, ::testing::HasSubstr("no stock of small"));
    EXPECT_FALSE(refused.error().help.empty());
    EXPECT_TRUE(rig.estate.unchanged());
}

TEST(CreateInstance, TheSameAgainIsTheSameInstance) {
    DeskRig rig;
    rig.host("a");
    ASSERT_TRUE(rig.stock(2));
    const auto id = rig.started("one");
    (void)rig.take();
    EXPECT_EQ(rig.start(rig.request("one")).value(), Started::before);
    EXPECT_TRUE(rig.estate.unchanged());
    auto other = rig.request("one");
    other.image = "other:2";
    EXPECT_EQ(rig.start(other).error().reason, "instance_exists");
    EXPECT_EQ(rig.start(rig.request("one", "globex")).value(), Started::now)
        << "another tenant's names are its own";
    note(rig.desk, id, InstanceEvent::fail, "exited", "test");
    const auto after = rig.start(rig.request("one"));
    ASSERT_FALSE(after);
    EXPECT_EQ(after.error().reason, "instance_exists");
    EXPECT_THAT(after.error().message, ::testing::HasSubstr("has ended"));
}

TEST(CreateInstance, EveryWrongFieldIsNamed) {
    DeskRig rig;
    rig.host("a"), rig.host("b");
    ASSERT_TRUE(rig.stock(1));
    auto wanted = rig.request("one");
    wanted.spec_name = "huge";
    wanted.zone = "mars";
    wanted.storage_id = "nothing";
    wanted.template_.cmd = "sh -c 'x";
    wanted.template_.ports = {{.port = 80, .protocol = api::Protocol::UDP},
                              {.port = 81, .protocol = api::Protocol::SCTP},
                              {.port = 80}};
    wanted.template_.envs = {{"A", "1"}, {"B", "2"}, {"A", "3"}};
    (void)rig.take();
    const auto refused = rig.start(wanted);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::invalid);
    EXPECT_THAT(paths(refused.error()),
                ::testing::UnorderedElementsAre("specName", "zone", "storageID", "template.cmd",
                                                "template.ports[0].protocol", "template.ports[1].protocol",
                                                "template.ports[2].port", "template.envs[2].name"));
    EXPECT_TRUE(rig.estate.unchanged());
}

TEST(CreateInstance, MountsAreChecked) {
    DeskRig rig;
    const auto a = rig.host("a", "nj"), b = rig.host("b", "lon");
    ASSERT_TRUE(rig.stock(2));
    const auto first = rig.volume("one");
    rig.estate.volumes.edit(first).host = a;
    rig.estate.volumes.edit(first).phase = VolumePhase::available;
    const auto second = rig.volume("two");
    rig.estate.volumes.edit(second).host = b;
    rig.estate.volumes.edit(second).phase = VolumePhase::available;
    rig.volume("theirs", "globex");
    auto wanted = rig.request("x");
    wanted.template_.volumes = {
        {"one", "/data"}, {"two", "/more"}, {"theirs", "/secret"}, {"", "/d"}, {"one", "/data"}};
    const auto refused = rig.start(wanted);
    ASSERT_FALSE(refused);
    EXPECT_THAT(paths(refused.error()),
                ::testing::IsSupersetOf({"template.volumes[1].name", "template.volumes[2].name",
                                         "template.volumes[3].name", "template.volumes[4].mountPath"}));
    wanted.template_.volumes = {{"two", "/more"}};
    ASSERT_TRUE(rig.start(wanted));
    EXPECT_EQ(find_instance(rig.desk, "acme", "x")->host, b) << "where its volume lies";
}

TEST(CreateInstance, PortsOfTheirOwnWithoutAWildcard) {
    DeskRig rig;
    rig.settings.own_port_min = 20000, rig.settings.own_port_max = 20003;
    rig.estate.gateways.add({.name = "g", .address = "http://localhost:8443", .domain = ""});
    rig.host("a", "nj", 8);
    ASSERT_TRUE(rig.stock(4));
    auto wanted = rig.request("one");
    wanted.template_.ports = {{.port = 80}, {.port = 81}};
    ASSERT_TRUE(rig.start(wanted));
    const auto* one = find_instance(rig.desk, "acme", "one");
    EXPECT_EQ(one->spec.ports[0].own_port, 20000);
    EXPECT_EQ(one->spec.ports[1].own_port, 20001);
    note(rig.desk, one->id, InstanceEvent::fail, "exited", "test");
    wanted.instance_id = "two";
    ASSERT_TRUE(rig.start(wanted));
    EXPECT_EQ(find_instance(rig.desk, "acme", "two")->spec.ports[0].own_port, 20002)
        << "what has ended keeps its own while there are others";
    wanted.instance_id = "three";
    ASSERT_TRUE(rig.start(wanted));
    EXPECT_EQ(find_instance(rig.desk, "acme", "three")->spec.ports[0].own_port, 20000);
    EXPECT_EQ(find_instance(rig.desk, "acme", "three")->spec.ports[1].own_port, 20001);
    wanted.instance_id = "four";
    (void)rig.take();
    EXPECT_EQ(rig.start(wanted).error().reason, "no_gateway_port");
    EXPECT_TRUE(rig.estate.unchanged());
}

TEST(StopInstance, EndsAndRefillsItsSlot) {
    DeskRig rig;
    const auto a = rig.host("a");
    ASSERT_TRUE(rig.stock(1));
    const auto id = rig.running("one");
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::running);
    const std::string claim = rig.instance(id).claim;
    delete_instance(rig.desk, id, "its owner stopped it");
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::stopping);
    EXPECT_EQ(rig.instance(id).meta.generation, 2u);
    EXPECT_EQ(rig.command_of(id)->verb, Verb::stop_workload);
    EXPECT_EQ(rig.command_of(id)->subject_generation, 2u);
    EXPECT_EQ(rig.estate.claims.at(claim).use, ClaimUse::instance) << "it runs until the host says otherwise";
    delete_instance(rig.desk, id, "again");
    EXPECT_EQ(rig.instance(id).meta.generation, 2u) << "stopping twice is stopping once";
    rig.said[a].clear();
    rig.answer(id, {.done = true});
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::stopped);
    EXPECT_NE(rig.instance(id).ended_at, 0);
    EXPECT_TRUE(rig.instance(id).claim.empty() && rig.instance(id).slot.empty() &&
                rig.instance(id).subnet.empty());
    EXPECT_EQ(only_slot(rig).phase, SlotPhase::idle);
    EXPECT_EQ(only_slot(rig).claim, claim) << "the same place, kept without a gap";
    EXPECT_EQ(rig.estate.claims.at(claim).use, ClaimUse::stock);
    EXPECT_EQ(rig.estate.claims.at(claim).holder, only_slot(rig).id);
    EXPECT_TRUE(rig.estate.claims.at(claim).tenant.empty());
    delete_instance(rig.desk, id, "again");
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::stopped);
}

TEST(StopInstance, OnePlacedDirectlyReleasesItsClaim) {
    DeskRig rig;
    rig.host("a", "nj", 2);
    ASSERT_TRUE(rig.stock(1));
    ASSERT_TRUE(delete_stock(rig.desk, {.number = 1, .spec_name = "small"}));
    const auto id = rig.running("one");
    delete_instance(rig.desk, id, "test");
    rig.answer(id, {.done = true});
    EXPECT_TRUE(rig.estate.claims.all().empty());
}

TEST(StopInstance, WhileItsStartIsUnderWay) {
    DeskRig rig;
    const auto a = rig.host("a");
    ASSERT_TRUE(rig.stock(1));
    const auto id = rig.started("one");
    const std::string begun = rig.command_of(id)->id;
    note_progress(rig.desk, a, begun, "pulling", "0 %");
    // An image that is pulled is in no report, however many there are.
    for (int i = 0; i < 5; ++i) rig.report(a);
    delete_instance(rig.desk, id, "test");
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::stopping) << "the host must say so first";
    ASSERT_EQ(rig.command_of(id)->verb, Verb::stop_workload) << "the start is superseded";
    note_answer(rig.desk, a, begun, {.done = true});
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::stopping) << "its late answer says nothing";
    rig.answer(id, {.done = true});
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::stopped);
}

TEST(StopInstance, OnALostHostFreesNothingBeforeTheHostSpeaks) {
    DeskRig rig;
    const auto a = rig.host("a", "nj", 1);
    ASSERT_TRUE(rig.stock(1));
    const auto id = rig.running("one");
    rig.disconnect(a);
    rig.pass(40), watch_silence(rig.desk, rig.now);
    EXPECT_EQ(rig.estate.hosts.at(a).phase, HostPhase::unreachable);
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::running) << "silence is not death";
    rig.pass(300), watch_silence(rig.desk, rig.now);
    EXPECT_EQ(rig.estate.hosts.at(a).phase, HostPhase::lost);
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::lost);
    delete_instance(rig.desk, id, "test");
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::stopped);
    EXPECT_EQ(rig.estate.claims.at(rig.instance(id).claim).use, ClaimUse::leaving);
    rig.connect(a), rig.report(a);
    ASSERT_NE(rig.command_of(id), nullptr) << "it runs there still";
    EXPECT_EQ(rig.command_of(id)->verb, Verb::stop_workload);
    rig.said[a].clear();
    rig.answer(id, {.done = true});
    EXPECT_TRUE(rig.instance(id).claim.empty());
    EXPECT_EQ(only_slot(rig).phase, SlotPhase::idle);
}

TEST(StopInstance, HostLostWhileStopping) {
    DeskRig rig;
    const auto a = rig.host("a", "nj", 1);
    ASSERT_TRUE(rig.stock(1));
    const auto id = rig.running("one");
    delete_instance(rig.desk, id, "test");
    rig.disconnect(a);
    rig.pass(400), watch_silence(rig.desk, rig.now), watch_silence(rig.desk, rig.now);
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::stopped);
    EXPECT_EQ(rig.estate.claims.at(rig.instance(id).claim).use, ClaimUse::leaving);
    const std::string before = rig.command_of(id)->id;
    rig.pass(2000), expire_commands(rig.desk);
    rig.connect(a), rig.report(a);
    ASSERT_NE(rig.command_of(id), nullptr);
    EXPECT_NE(rig.command_of(id)->id, before);
    EXPECT_EQ(rig.command_of(id)->verb, Verb::stop_workload) << "the stop that expired is asked for again";
}

// A host that comes back says what became of what was lost.
TEST(Reconcile, ALostInstanceComesBackOrEnds) {
    for (const std::string_view fate : {"alive", "ready", "ended", "killed", "absent"}) {
        DeskRig rig;
        const auto a = rig.host("a", "nj", 1);
        ASSERT_TRUE(rig.stock(1));
        const auto id = rig.running("one");
        rig.disconnect(a);
        rig.pass(40), watch_silence(rig.desk, rig.now);
        rig.pass(400), watch_silence(rig.desk, rig.now);
        ASSERT_EQ(rig.instance(id).phase, InstancePhase::lost);
        if (fate == "alive") rig.run(a, id, false);
        if (fate == "ended") rig.said[a][id] = {.state = "exited", .exit_code = 3};
        if (fate == "killed") rig.said[a][id] = {.state = "exited", .exit_code = 137, .oom_killed = true};
        if (fate == "absent") rig.said[a].clear();
        rig.report(a);
        EXPECT_EQ(rig.instance(id).phase, InstancePhase::lost) << "not connected: an old report, perhaps";
        rig.connect(a), rig.report(a);
        if (fate == "ready") EXPECT_EQ(rig.instance(id).phase, InstancePhase::running);
        if (fate == "alive") {
            EXPECT_EQ(rig.instance(id).phase, InstancePhase::probing);
            rig.report(a);
            EXPECT_EQ(rig.command_of(id)->verb, Verb::start_workload) << "starting what runs probes it";
        }
        if (fate == "ended" || fate == "killed") {
            EXPECT_EQ(rig.instance(id).phase, InstancePhase::failed);
            EXPECT_EQ(rig.instance(id).reason, fate == "ended" ? "exited" : "out_of_memory");
            EXPECT_EQ(rig.instance(id).exit_code, fate == "ended" ? 3 : 137);
            EXPECT_EQ(rig.command_of(id)->verb, Verb::stop_workload) << "what is left of it is cleared away";
        }
        if (fate == "absent") {
            EXPECT_EQ(rig.instance(id).phase, InstancePhase::lost) << "one report may be too early";
            rig.report(a);
            EXPECT_EQ(rig.instance(id).phase, InstancePhase::failed);
            EXPECT_EQ(rig.instance(id).reason, "disappeared");
            EXPECT_EQ(only_slot(rig).phase, SlotPhase::idle);
        }
    }
}

TEST(Reconcile, AContainerThatExitsFreesWhatItHeld) {
    DeskRig rig;
    const auto a = rig.host("a");
    ASSERT_TRUE(rig.stock(1));
    const auto id = rig.running("one");
    rig.said[a][id] = {.state = "exited", .exit_code = 2};
    rig.report(a, false);
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::failed) << "an incomplete report tells of what it has";
    EXPECT_EQ(rig.instance(id).message, "its container exited with code 2");
    EXPECT_EQ(rig.estate.claims.at(rig.instance(id).claim).use, ClaimUse::leaving);
    rig.said[a].clear();
    rig.answer(id, {.done = true});
    EXPECT_EQ(only_slot(rig).phase, SlotPhase::idle);
}

TEST(Reconcile, TwoReportsWithoutItMeanThatItIsGone) {
    DeskRig rig;
    const auto a = rig.host("a");
    ASSERT_TRUE(rig.stock(1));
    const auto id = rig.running("one");
    rig.report(a);
    rig.said[a].clear();
    rig.report(a);
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::running);
    rig.report(a, false), rig.report(a, false);
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::running) << "only complete ones count";
    rig.connect(a), rig.report(a);
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::running) << "and only in a row, of one session";
    rig.report(a);
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::failed);
    EXPECT_TRUE(rig.instance(id).claim.empty());
}

TEST(Reconcile, TwoReportsThatItWasNotStartedMeanThatItMustBe) {
    DeskRig rig;
    const auto a = rig.host("a");
    ASSERT_TRUE(rig.stock(1));
    const auto id = rig.started("one");
    rig.said[a][id] = {.state = "created"};
    rig.report(a), rig.report(a);
    rig.answer(id, {.done = true});
    EXPECT_EQ(rig.command_of(id), nullptr) << "reports made before its start say nothing";
    rig.report(a), rig.report(a, false);
    EXPECT_EQ(rig.command_of(id), nullptr) << "one may be older than its start";
    rig.report(a);
    ASSERT_NE(rig.command_of(id), nullptr) << "its engine could not start it again";
    EXPECT_EQ(rig.command_of(id)->verb, Verb::start_workload);
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::running);
}

TEST(Reconcile, AnotherAddressOfItsSubnetWhereItsOwnIsTaken) {
    DeskRig rig;
    const auto a = rig.host("a");
    ASSERT_TRUE(rig.stock(2));
    const auto id = rig.started("one");
    const auto other = rig.started("other");
    const Instance before = rig.instance(id);
    rig.answer(id, {.code = "conflict", .reason = "address_taken", .message = "it has it"});
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::placed);
    EXPECT_EQ(rig.instance(id).subnet, before.subnet);
    EXPECT_NE(rig.instance(id).address, before.address);
    EXPECT_NE(rig.instance(id).address, rig.instance(other).address);
    EXPECT_GT(rig.instance(id).run_generation, before.run_generation);
    EXPECT_EQ(rig.instance(id).claim, before.claim);
    rig.pass(5), reconcile_instance(rig.desk, id);
    rig.run(a, id);
    rig.answer(id, {.done = true});
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::running);
}

TEST(Reconcile, AnAddressIsLookedForSoOften) {
    DeskRig rig;
    rig.host("a");
    ASSERT_TRUE(rig.stock(1));
    const auto id = rig.started("one");
    for (int i = 0; i < 100 && rig.instance(id).phase != InstancePhase::failed; ++i) {
        rig.answer(id, {.code = "conflict", .reason = "address_taken", .message = "it has it"});
        rig.pass(5), reconcile_instance(rig.desk, id);
    }
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::failed);
    EXPECT_EQ(rig.instance(id).reason, "address_taken");
    EXPECT_EQ(rig.instance(id).message, "it has it");
}

TEST(Reconcile, AnotherSubnetOnlyForWhatStillStarts) {
    DeskRig rig;
    const auto a = rig.host("a");
    ASSERT_TRUE(rig.stock(1));
    const auto id = rig.started("one");
    const std::string before = rig.instance(id).subnet, address = rig.instance(id).address;
    rig.answer(id, {.code = "conflict", .reason = "network_failed", .message = "in use"});
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::placed);
    EXPECT_NE(rig.instance(id).subnet, before);
    EXPECT_NE(rig.instance(id).address, address);
    EXPECT_TRUE(rig.estate.subnets.at(before).unusable);
    rig.pass(5), reconcile_instance(rig.desk, id);
    rig.run(a, id);
    rig.answer(id, {.done = true});
    rig.report(a);
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::running);
    rig.said[a].clear();
    rig.report(a), rig.report(a);
    EXPECT_EQ(rig.instance(id).reason, "disappeared")
        << "reports count for the container that was started last";
    EXPECT_FALSE(move_to_another_subnet(rig.desk, id)) << "what has ended is not started anew";
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::failed);
}

}  // namespace
}  // namespace hostler::master
